import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { TokensScreen } from '~/screens/tokens/tokens-screen';

export const Route = createFileRoute('/_app/tokens')({ component: TokensScreen, loader: words('tokens', 'explain') });
