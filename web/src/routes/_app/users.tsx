import { createFileRoute } from '@tanstack/react-router';
import { UsersScreen } from '~/screens/users/users-screen';

export const Route = createFileRoute('/_app/users')({ component: UsersScreen });
