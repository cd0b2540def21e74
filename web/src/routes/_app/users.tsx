import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { UsersScreen } from '~/screens/users/users-screen';

export const Route = createFileRoute('/_app/users')({ component: UsersScreen, loader: words('users', 'explain') });
