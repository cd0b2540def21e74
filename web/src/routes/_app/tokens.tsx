import { createFileRoute } from '@tanstack/react-router';
import { TokensScreen } from '~/screens/tokens/tokens-screen';

export const Route = createFileRoute('/_app/tokens')({ component: TokensScreen });
