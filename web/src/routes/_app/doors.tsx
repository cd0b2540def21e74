import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { DoorsScreen } from '~/screens/doors/doors-screen';

export const Route = createFileRoute('/_app/doors')({ component: DoorsScreen, loader: words('doors') });
