import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { TunnelsScreen } from '~/screens/tunnels/tunnels-screen';

export const Route = createFileRoute('/_app/tunnels')({ component: TunnelsScreen, loader: words('tunnels') });
