import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { TeamsScreen } from '~/screens/teams/teams-screen';

export const Route = createFileRoute('/_app/teams/')({ component: TeamsScreen, loader: words('teams') });
