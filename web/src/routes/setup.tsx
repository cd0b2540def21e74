import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { SetupScreen } from '~/screens/entry/setup-screen';

export const Route = createFileRoute('/setup')({ component: SetupScreen, loader: words('entry') });
