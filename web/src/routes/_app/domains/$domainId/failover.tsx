import { createFileRoute } from '@tanstack/react-router';
import { FailoverScreen } from '~/screens/failover/failover-screen';

export const Route = createFileRoute('/_app/domains/$domainId/failover')({ component: FailoverScreen });
