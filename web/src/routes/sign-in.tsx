import { createFileRoute } from '@tanstack/react-router';
import { SignInScreen } from '~/screens/entry/sign-in-screen';

export const Route = createFileRoute('/sign-in')({ component: SignInScreen });
