import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { DomainsScreen } from '~/screens/domains/domains-screen';

export const Route = createFileRoute('/_app/domains/')({ component: DomainsScreen, loader: words('domains') });
