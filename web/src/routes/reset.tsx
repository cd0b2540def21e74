import { createFileRoute } from '@tanstack/react-router';
import { ResetScreen } from '~/screens/entry/reset-screen';

export const Route = createFileRoute('/reset')({ component: ResetScreen });
