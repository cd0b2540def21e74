import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { ResetScreen } from '~/screens/entry/reset-screen';

export const Route = createFileRoute('/reset')({ component: ResetScreen, loader: words('entry') });
