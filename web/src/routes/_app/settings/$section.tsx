import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { SettingsScreen } from '~/screens/settings/settings-screen';

export const Route = createFileRoute('/_app/settings/$section')({
  component: SettingsScreen,
  loader: words('settings'),
});
