import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { CallbackScreen } from '~/screens/entry/callback-screen';

export const Route = createFileRoute('/oauth/callback')({ component: CallbackScreen, loader: words('entry') });
