import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { ZoneScreen } from '~/screens/zone/zone-screen';

export const Route = createFileRoute('/_app/domains/$domainId/')({
  component: ZoneScreen,
  loader: words('zone', 'domains'),
});
