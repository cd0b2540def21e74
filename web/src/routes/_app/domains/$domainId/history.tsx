import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { HistoryScreen } from '~/screens/history/history-screen';

export const Route = createFileRoute('/_app/domains/$domainId/history')({
  component: HistoryScreen,
  loader: words('history', 'domains', 'plans'),
});
