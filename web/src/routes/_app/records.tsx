import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { SearchScreen } from '~/screens/search/search-screen';

export const Route = createFileRoute('/_app/records')({ component: SearchScreen, loader: words('search') });
