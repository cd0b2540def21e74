import { createFileRoute } from '@tanstack/react-router';
import { SearchScreen } from '~/screens/search/search-screen';

export const Route = createFileRoute('/_app/records')({ component: SearchScreen });
