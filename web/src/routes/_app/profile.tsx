import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { ProfileScreen } from '~/screens/profile/profile-screen';

export const Route = createFileRoute('/_app/profile')({ component: ProfileScreen, loader: words('profile') });
