import { wallMs } from '../../../platform/common/clock.js';
import { reading } from './deadline-context.js';
import type { HttpOptions, OutgoingRequest } from './http-client.js';

/** A token as a vendor answers it. */
interface FetchedToken {
  token: string;
  /** for which it is good from now on */
  seconds: number;
}

/** No token is used in its last minute: a call may wait for its turn so long. */
const EARLY_MS = 60_000;

/**
 * A token that calls are made with: fetched when the first needs it, once for all that ask meanwhile, and kept until
 * shortly before it expires. What fails is not kept. For `beforeRequest`, which runs before a call waits for its turn.
 * @param fetch a call that changes nothing (`reads`)
 */
export function cachedToken(fetch: () => Promise<FetchedToken>) {
  let kept: { token: Promise<string>; until: number; value?: string } | undefined;
  return {
    /** @throws ProviderError */
    get(): Promise<string> {
      if (kept && wallMs() < kept.until) return kept.token;
      const fetched = reading(fetch);
      const mine: NonNullable<typeof kept> = {
        token: fetched.then(({ token }) => token),
        until: Number.POSITIVE_INFINITY,
      };
      kept = mine;
      fetched.then(
        // one that is good for less than two minutes is kept for half of its time
        ({ token, seconds }) => {
          mine.value = token;
          mine.until = wallMs() + Math.max(seconds * 1000 - EARLY_MS, seconds * 500);
        },
        () => {
          if (kept === mine) kept = undefined;
        },
      );
      return mine.token;
    },
    /** The provider refused it: the next call fetches another one. @param refused only where it still is this one */
    forget(refused?: string): void {
      if (refused === undefined || kept?.value === refused) kept = undefined;
    },
  };
}

/**
 * Options of a client whose calls carry such a token, until the API refuses it with HTTP 401: then another one.
 * @param hooks the others of the client
 */
export const withBearerToken = <H extends Pick<HttpOptions, 'errorKind' | 'errorMessage'>>(
  token: ReturnType<typeof cachedToken>,
  hooks: H,
) => ({
  ...hooks,
  beforeRequest: async (request: OutgoingRequest): Promise<OutgoingRequest> => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${await token.get()}` },
  }),
  renews: (status: number) => {
    if (status === 401) token.forget();
    return status === 401;
  },
});
