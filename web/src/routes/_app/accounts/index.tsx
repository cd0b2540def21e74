import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { AccountsScreen } from '~/screens/accounts/accounts-screen';

export const Route = createFileRoute('/_app/accounts/')({ component: AccountsScreen, loader: words('accounts') });
