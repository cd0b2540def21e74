import { createFileRoute } from '@tanstack/react-router';
import { HistoryScreen } from '~/screens/history/history-screen';

export const Route = createFileRoute('/_app/domains/$domainId/history')({ component: HistoryScreen });
