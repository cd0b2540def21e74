import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { TeamScreen } from '~/screens/teams/team-screen';

export const Route = createFileRoute('/_app/teams/$teamId')({ component: TeamScreen, loader: words('teams') });
