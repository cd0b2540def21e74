import type { Credentials } from '../../provider.js';
import { errorHooks, type VendorError } from '../http/errors.js';
import type { CallOptions, Http, Method } from '../http/http-client.js';
import { allPages } from '../http/pages.js';
import { signAcs3 } from './acs3.js';
import { signAlibabaRpc } from './alibaba-rpc.js';

/** One of Alibaba Cloud's APIs whose parameters are all in the query. */
interface AlibabaApi {
  version: string;
  /** `rpc` is the older signature, version 1; `acs3` is version 3 */
  style: 'rpc' | 'acs3';
  /** codes that mean: there is no such zone, or record */
  gone?: readonly string[];
  /** codes that mean: not now, and nothing was done; besides the common ones */
  busy?: readonly string[];
}

/** Errors come with HTTP 400 to 503 (recorded 2019). */
function errorsOf(body: unknown): VendorError[] {
  const { Code, Message = Code } = (body ?? {}) as { Code?: unknown; Message?: unknown };
  return typeof Code === 'string' && Code ? [{ code: Code, message: `${Message}` }] : [];
}

// common codes of Alibaba Cloud's documentation
const KINDS = {
  auth: [
    ...['InvalidAccessKeyId.NotFound', 'InvalidAccessKeyId.Inactive', 'InvalidAccessKeyId', 'MissingAccessKeyId'],
    ...['SignatureDoesNotMatch', 'IncompleteSignature', 'InvalidTimeStamp.Expired', 'InvalidAccessKeySecret'],
    ...['Forbidden', 'Forbidden.RAM', 'Forbidden.AccessKeyDisabled', 'Forbidden.SubUser', 'NoPermission'],
  ],
  rate_limit: ['Throttling', 'Throttling.User', 'Throttling.Api'],
  unavailable: ['InternalError', 'ServiceUnavailable', 'ServiceUnavailableTemporary', 'SystemBusy'],
};

/** A client for such an API. */
export function alibaba(
  base: Http,
  { access_key_id: accessKeyId = '', access_key_secret: accessKeySecret = '' }: Credentials,
  { version, style, gone = [], busy = [] }: AlibabaApi,
) {
  const key = { accessKeyId, accessKeySecret };
  const signer = style === 'rpc' ? signAlibabaRpc : signAcs3;
  const kinds = { not_found: gone, ...KINDS, rate_limit: [...KINDS.rate_limit, ...busy] };
  const hooks = errorHooks(errorsOf, kinds);
  const http = base.extend({ sign: (request) => signer(request, key), ...hooks });
  const call = <T>(method: Method, action: string, more: CallOptions['query'], idempotent = true): Promise<T> => {
    const own = { Action: action, Version: version, Format: 'json' };
    const headers = { 'x-acs-action': action, 'x-acs-version': version };
    const options = style === 'rpc' ? { query: { ...own, ...more } } : { query: more ?? {}, headers };
    return http.call<T>(method, '/', { ...options, idempotent });
  };
  const read = <T>(action: string, more: CallOptions['query'] = {}) => call<T>('GET', action, more);
  return {
    read,
    /** @param idempotent it may be repeated when its answer is lost */
    write: <T>(action: string, more: CallOptions['query'], idempotent = true) =>
      call<T>('POST', action, more, idempotent),
    /** All entries of a list whose pages are numbered from 1. */
    list: <T, A>(
      action: string,
      more: CallOptions['query'],
      idOf: (entry: T) => string,
      in_: (answer: A) => T[] | undefined,
    ) =>
      allPages(idOf, async ({ page }) => {
        const answer = await read<(A & { TotalCount?: number }) | undefined>(action, { ...more, PageNumber: page });
        return { entries: answer && in_(answer), total: answer?.TotalCount ?? Number.NaN };
      }),
  };
}
