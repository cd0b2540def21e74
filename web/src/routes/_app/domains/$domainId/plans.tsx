import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { PlansScreen } from '~/screens/plans/plans-screen';

export const Route = createFileRoute('/_app/domains/$domainId/plans')({
  component: PlansScreen,
  loader: words('plans', 'domains'),
});
