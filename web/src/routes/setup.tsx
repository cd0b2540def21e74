import { createFileRoute } from '@tanstack/react-router';
import { SetupScreen } from '~/screens/entry/setup-screen';

export const Route = createFileRoute('/setup')({ component: SetupScreen });
