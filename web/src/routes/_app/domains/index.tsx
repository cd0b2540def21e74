import { createFileRoute } from '@tanstack/react-router';
import { DomainsScreen } from '~/screens/domains/domains-screen';

export const Route = createFileRoute('/_app/domains/')({ component: DomainsScreen });
