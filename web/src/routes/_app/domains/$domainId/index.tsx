import { createFileRoute } from '@tanstack/react-router';
import { ZoneScreen } from '~/screens/zone/zone-screen';

export const Route = createFileRoute('/_app/domains/$domainId/')({ component: ZoneScreen });
