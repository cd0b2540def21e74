import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { AccountScreen } from '~/screens/accounts/account-screen';

export const Route = createFileRoute('/_app/accounts/$accountId')({
  component: AccountScreen,
  loader: words('accounts'),
});
