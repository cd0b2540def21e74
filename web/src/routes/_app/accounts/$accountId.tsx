import { createFileRoute } from '@tanstack/react-router';
import { AccountScreen } from '~/screens/accounts/account-screen';

export const Route = createFileRoute('/_app/accounts/$accountId')({ component: AccountScreen });
