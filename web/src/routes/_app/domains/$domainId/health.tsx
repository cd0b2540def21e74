import { createFileRoute } from '@tanstack/react-router';
import { HealthScreen } from '~/screens/health/health-screen';

export const Route = createFileRoute('/_app/domains/$domainId/health')({ component: HealthScreen });
