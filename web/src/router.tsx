import { createRouter } from '@tanstack/react-router';
import { Loading } from './components/state-block';
import { routeTree } from './route-tree.gen';
import { NotFound, ScreenFailure } from './shell/failures';

/** The path of the service; all addresses of the console are below it. */
const basepath = new URL(document.baseURI).pathname.replace(/\/$/, '') || '/';

export const router = createRouter({
  routeTree,
  basepath,
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading />,
  // what is there is shown
  defaultPendingMinMs: 0,
  defaultErrorComponent: ScreenFailure,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
  // values are texts: `?keyword=123` stays as it was typed
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(entries.map(([key, value]) => [key, String(value)])).toString();
    return text && `?${text}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
