import { createFileRoute } from '@tanstack/react-router';
import { TeamScreen } from '~/screens/teams/team-screen';

export const Route = createFileRoute('/_app/teams/$teamId')({ component: TeamScreen });
