import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { HealthScreen } from '~/screens/health/health-screen';

export const Route = createFileRoute('/_app/domains/$domainId/health')({
  component: HealthScreen,
  loader: words('health', 'domains'),
});
