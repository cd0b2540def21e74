import { createFileRoute } from '@tanstack/react-router';
import { CallbackScreen } from '~/screens/entry/callback-screen';

export const Route = createFileRoute('/oauth/callback')({ component: CallbackScreen });
