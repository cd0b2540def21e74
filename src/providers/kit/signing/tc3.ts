import { timeMs } from '../../../platform/common/clock.js';
import type { OutgoingRequest } from '../http/http-client.js';
import { hash, hmac } from './canonical.js';

/** Whose signature, and for which service. */
export interface Tc3Key {
  secretId: string;
  secretKey: string;
  /** the first label of the API's host */
  service: string;
}

/**
 * A request with the headers of Tencent Cloud's signature version 3, TC3-HMAC-SHA256 (checked with the published
 * vectors). The content type has to arrive byte for byte as it is signed.
 * @param names of the headers that are signed
 * @param now the time in the signature: a request older than 5 minutes is refused
 */
export function signTc3(
  request: OutgoingRequest,
  { secretId, secretKey, service }: Tc3Key,
  now = new Date(timeMs()),
  names: readonly string[] = ['content-type', 'host'],
): OutgoingRequest {
  const { method, url, body = '' } = request;
  const date = now.toISOString().slice(0, 10);
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const all: Record<string, string> = { ...request.headers, host: url.host };
  const lines = names.map((name) => `${name}:${(all[name] ?? '').trim().toLowerCase()}`);
  const canonical = [method, url.pathname, url.search.slice(1), ...lines, '', names.join(';'), hash(body)].join('\n');
  const scope = `${date}/${service}/tc3_request`;
  const toSign = ['TC3-HMAC-SHA256', timestamp, scope, hash(canonical)].join('\n');
  const signature = hmac(scope.split('/').reduce<string | Buffer>(hmac, `TC3${secretKey}`), toSign).toString('hex');
  const credential = `Credential=${secretId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  const headers = { ...request.headers, 'x-tc-timestamp': timestamp, authorization: `TC3-HMAC-SHA256 ${credential}` };
  return { ...request, headers };
}
