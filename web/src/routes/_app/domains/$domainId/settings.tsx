import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { DomainSettingsScreen } from '~/screens/domains/domain-settings-screen';

export const Route = createFileRoute('/_app/domains/$domainId/settings')({
  component: DomainSettingsScreen,
  loader: words('domains'),
});
