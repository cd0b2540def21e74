import { sleep, timeMs } from '../../platform/common/clock.js';
import { withoutDeadline } from '../../platform/common/deadline.js';
import { withinDeadline } from '../kit/http/deadline-context.js';
import { cachedToken } from '../kit/http/token-cache.js';
import type { KnownSession, SharedSessions } from '../shared-sessions.js';

/** A code of the second factor holds so long, and is taken once (issues of several clients). */
export const WINDOW_MS = 30_000;
/** ms between two looks for a session that another process has opened */
const LOOK_MS = 1000;

/** Either a session that another process has opened, or a window of which nobody has sent the code. */
export type Turn = { session: KnownSession } | { window: number };

/** The sessions of this process, by what it shares with others and by their credentials. */
const sessions = new WeakMap<SharedSessions, Map<string, ReturnType<typeof cachedToken>>>();

/**
 * The one session of these credentials; it is opened to the end, whichever call began it.
 * @param keys of the session, and of the secret that codes are made of
 */
export function sharedSession(
  kept: SharedSessions,
  keys: { session: string; codes: string },
  open: (turn: () => Promise<Turn>) => Promise<KnownSession>,
): ReturnType<typeof cachedToken> {
  const all = sessions.get(kept) ?? new Map<string, ReturnType<typeof cachedToken>>();
  sessions.set(kept, all);
  const known = all.get(keys.session);
  if (known) return known;
  let refused: string | undefined;
  const found = async () => {
    const session = await kept.get(keys.session);
    return session?.token === refused ? undefined : session;
  };
  const turn = async (): Promise<Turn> => {
    for (;;) {
      const session = await found();
      if (session) return { session };
      const window = Math.floor(timeMs() / WINDOW_MS);
      if (await kept.claim(keys.codes, window)) return { window };
      // in short steps, since the shared time may be corrected meanwhile
      await sleep(Math.min(LOOK_MS, WINDOW_MS - (timeMs() % WINDOW_MS)));
    }
  };
  const fetch = async () => {
    if (refused !== undefined) await kept.forget(keys.session, refused);
    const old = await found();
    if (old) return old;
    const opened = await open(turn);
    await kept.set(keys.session, opened);
    return opened;
  };
  const cached = cachedToken(() =>
    withoutDeadline(() => withinDeadline(Number.POSITIVE_INFINITY, fetch, () => Number.POSITIVE_INFINITY)),
  );
  const session = {
    get: () => cached.get(),
    forget(token?: string) {
      refused = token ?? refused;
      cached.forget(token);
    },
  };
  all.set(keys.session, session);
  return session;
}
