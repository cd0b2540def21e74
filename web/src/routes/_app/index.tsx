import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { OverviewScreen } from '~/screens/overview/overview-screen';

export const Route = createFileRoute('/_app/')({ component: OverviewScreen, loader: words('overview') });
