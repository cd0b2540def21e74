import { createFileRoute } from '@tanstack/react-router';
import { PlansScreen } from '~/screens/plans/plans-screen';

export const Route = createFileRoute('/_app/domains/$domainId/plans')({ component: PlansScreen });
