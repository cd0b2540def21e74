import { createFileRoute } from '@tanstack/react-router';
import { DomainSettingsScreen } from '~/screens/domains/domain-settings-screen';

export const Route = createFileRoute('/_app/domains/$domainId/settings')({ component: DomainSettingsScreen });
