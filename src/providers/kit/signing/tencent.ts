import { cutShort, errorHooks, type ProviderErrorKind, type VendorError } from '../http/errors.js';
import type { Http } from '../http/http-client.js';
import { allPages, counted } from '../http/pages.js';
import { signTc3, type Tc3Key } from './tc3.js';

/** Every answer, with HTTP 200, be it an error or not (documentation). */
type Envelope<T> = { Response?: T & { Error?: { Code?: string; Message?: string } } };

function errorsOf(body: unknown): VendorError[] {
  const { Error: error } = (body as Envelope<object> | null)?.Response ?? {};
  return error ? [{ code: error.Code ?? '', message: error.Message ?? 'no message' }] : [];
}

/** What codes mean by how they begin: the parts behind the first dot are more than anybody lists. */
function kindOf(body: unknown, gone: readonly string[]): ProviderErrorKind | undefined {
  const code = String(errorsOf(body)[0]?.code ?? '');
  if (gone.includes(code)) return 'not_found';
  if (/^(AuthFailure|UnauthorizedOperation)\b/.test(code)) return 'auth';
  if (/^RequestLimitExceeded\b/.test(code)) return 'rate_limit';
  return /^(InternalError|ServiceUnavailable|FailedOperation\.UnknowError)\b/.test(code) ? 'unavailable' : undefined;
}

/**
 * A client for an API of Tencent Cloud, version 3: each call is a POST that names its action.
 * @param gone codes that mean: there is no such zone, or record
 */
export function tencent(base: Http, key: Tc3Key, version: string, gone: readonly string[]) {
  const http = base.extend({
    sign: (request) => signTc3(request, key),
    ...errorHooks(errorsOf, {}),
    errorKind: (_status, body) => kindOf(body, gone),
  });
  async function call<T>(action: string, json: object, more: { reads?: boolean; idempotent?: boolean }): Promise<T> {
    const headers = { 'x-tc-action': action, 'x-tc-version': version };
    const answer = await http.post<Envelope<T> | undefined>('/', { json, headers, ...more });
    if (!answer?.Response) throw cutShort('Response');
    return answer.Response;
  }
  const read = <T>(action: string, json: object) => call<T>(action, json, { reads: true });
  return {
    read,
    /** @param idempotent it may be repeated when its answer is lost */
    write: <T>(action: string, json: object, idempotent = true) => call<T>(action, json, { idempotent }),
    /** All entries of a list that is read from an offset on. */
    list: <T, A>(
      action: string,
      json: { Limit: number; [name: string]: unknown },
      idOf: (entry: T) => string | number,
      of: (answer: A) => { entries: T[] | null | undefined; total: number | undefined },
    ): Promise<T[]> =>
      allPages(idOf, async ({ offset: Offset }) => {
        const { entries, total } = of(await read<A>(action, { ...json, Offset }));
        return counted(entries, total);
      }),
  };
}
