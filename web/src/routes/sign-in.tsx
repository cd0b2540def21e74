import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { SignInScreen } from '~/screens/entry/sign-in-screen';

export const Route = createFileRoute('/sign-in')({ component: SignInScreen, loader: words('entry') });
