import { cutShort, type errorHooks } from './errors.js';
import type { Http } from './http-client.js';
import { cachedToken, withBearerToken } from './token-cache.js';

/** The answer of a token server (RFC 6749 section 5); some write the seconds as text. */
interface TokenAnswer {
  access_token?: string;
  expires_in?: number | string;
}

/**
 * Options of a client whose calls carry an OAuth 2.0 token, which is kept (see `cachedToken`) until the API refuses it.
 * @param http the client of the token server
 * @param form what the token is asked for with, made anew each time
 * @param hooks the others of the client that calls the API
 */
export function oauth2(
  http: Http,
  path: string,
  form: () => Record<string, string>,
  hooks: ReturnType<typeof errorHooks>,
) {
  const tokens = http.extend({
    errorMessage: (body) => (body as { error_description?: string } | null)?.error_description,
    // 400 and 401 alike say that the client, its secret or its key is unknown (RFC 6749 section 5.2)
    errorKind: (status) => (status < 429 ? 'auth' : undefined),
  });
  const token = cachedToken(async () => {
    const answer = await tokens.post<TokenAnswer | undefined>(path, { form: form(), reads: true });
    if (!answer?.access_token) throw cutShort('token');
    return { token: answer.access_token, seconds: Number(answer.expires_in) || 0 };
  });
  return withBearerToken(token, hooks);
}
