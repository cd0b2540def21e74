import { signedInAgain } from './ended';

let user: number | null = null;

/** What the pages of this browser tell each other: who has signed in; null: somebody has signed out. */
const pages = new BroadcastChannel(`zoneward.session:${new URL(document.baseURI).pathname}`);
pages.onmessage = ({ data }: MessageEvent<number | null>) => {
  if (user === null) return;
  if (data === user) signedInAgain();
  // what is on the page is not for whoever looks at it now
  else location.reload();
};
// a page that the way back brings up as it was left
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted && user !== null) location.reload();
});

/** Says that the session is in the cookie, which pages of others cannot send, and for whom the page was opened. */
export const sessionHeaders = (): Record<string, string> => ({
  'X-Zoneward-Session': 'cookie',
  ...(user !== null && { 'X-Zoneward-User': String(user) }),
});

/** The page is of this user, until it is loaded again. */
export const openFor = (id: number): void => {
  user ??= id;
};

/** Tells the other pages of this browser who has signed in; null: somebody has signed out. */
export const tellPages = (id: number | null): void => pages.postMessage(id);
