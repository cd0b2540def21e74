import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { FailoverScreen } from '~/screens/failover/failover-screen';

export const Route = createFileRoute('/_app/domains/$domainId/failover')({
  component: FailoverScreen,
  loader: words('failover', 'domains', 'plans'),
});
