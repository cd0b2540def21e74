import { randomUUID } from 'node:crypto';
import { timeMs } from '../../../platform/common/clock.js';
import { errorHooks } from '../http/errors.js';
import type { OutgoingRequest } from '../http/http-client.js';
import { canonicalHeaders, canonicalPath, canonicalQuery, compactTime, hash, hmac } from './canonical.js';

/** Whose signature, and for what. */
interface Jdcloud2Key {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  service: string;
}

const SIGNED = new Set(['content-type', 'host', 'x-jdcloud-date', 'x-jdcloud-nonce']);

/**
 * A request with the headers of JDCLOUD2-HMAC-SHA256: that of AWS with other names, and a nonce (checked with what JD's
 * SDK computes). The content type is demanded of all requests.
 * @param now the date in the signature
 */
export function signJdcloud2(
  request: OutgoingRequest,
  key: Jdcloud2Key,
  now = new Date(timeMs()),
  nonce: string = randomUUID(),
): OutgoingRequest {
  const { method, url, body = '' } = request;
  const date = compactTime(now);
  const scope = `${date.slice(0, 8)}/${key.region}/${key.service}/jdcloud2_request`;
  const headers: Record<string, string> = { ...request.headers, 'x-jdcloud-date': date, 'x-jdcloud-nonce': nonce };
  headers['content-type'] ??= 'application/json';
  const signed = canonicalHeaders({ ...headers, host: url.host }, (name) => SIGNED.has(name));
  const names = signed.map(([name]) => name).join(';');
  const lines = signed.map(([name, value]) => `${name}:${value}`);
  const canonical = [
    method,
    canonicalPath(url),
    canonicalQuery(url.searchParams),
    ...lines,
    '',
    names,
    hash(body),
  ].join('\n');
  const toSign = ['JDCLOUD2-HMAC-SHA256', date, scope, hash(canonical)].join('\n');
  const derived = scope.split('/').reduce<string | Buffer>(hmac, `JDCLOUD2${key.secretAccessKey}`);
  const credential = `Credential=${key.accessKeyId}/${scope}`;
  const signature = hmac(derived, toSign).toString('hex');
  headers.authorization = `JDCLOUD2-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...request, headers };
}

type Failure = { error?: { code?: number; status?: string; message?: string } | null };

/** Options of a client for a service of JD Cloud: signature, errors, and what they mean. Code 0 is none (lego). */
export const jdcloudClient = (key: Jdcloud2Key) => ({
  sign: (request: OutgoingRequest) => signJdcloud2(request, key),
  ...errorHooks(
    (body) => {
      const { code = 0, status = '', message = status } = (body as Failure | undefined)?.error ?? {};
      return code ? [{ code, message }] : [];
    },
    { auth: [401, 403], not_found: [404], rate_limit: [429], unavailable: [500, 503] },
  ),
});
