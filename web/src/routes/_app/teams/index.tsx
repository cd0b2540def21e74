import { createFileRoute } from '@tanstack/react-router';
import { TeamsScreen } from '~/screens/teams/teams-screen';

export const Route = createFileRoute('/_app/teams/')({ component: TeamsScreen });
