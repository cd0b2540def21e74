import { createFileRoute } from '@tanstack/react-router';
import { OverviewScreen } from '~/screens/overview/overview-screen';

export const Route = createFileRoute('/_app/')({ component: OverviewScreen });
