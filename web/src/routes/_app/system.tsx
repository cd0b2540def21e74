import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { SystemScreen } from '~/screens/system/system-screen';

export const Route = createFileRoute('/_app/system')({ component: SystemScreen, loader: words('system') });
