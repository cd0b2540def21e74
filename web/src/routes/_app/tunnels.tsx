import { createFileRoute } from '@tanstack/react-router';
import { TunnelsScreen } from '~/screens/tunnels/tunnels-screen';

export const Route = createFileRoute('/_app/tunnels')({ component: TunnelsScreen });
