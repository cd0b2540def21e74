import { createHmac } from 'node:crypto';
import { timeMs } from '../../../platform/common/clock.js';
import type { OutgoingRequest } from '../http/http-client.js';

/** s for which a signature is taken, as Exoscale's own clients have it */
const SIGNED_SECONDS = 600;

/**
 * A request with the header of Exoscale's EXO2-HMAC-SHA256: values of the query by their names (checked with the
 * vectors of Exoscale's own `exoscale-auth`).
 * @param expires time, in seconds, until which it is taken
 */
export function signExoscale(request: OutgoingRequest, key: string, secret: string, expires: number): OutgoingRequest {
  const { method, url, headers, body = '' } = request;
  const args = [...url.searchParams].sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [`${method} ${url.pathname}`, body, args.map(([, value]) => value).join(''), '', expires];
  const signature = createHmac('sha256', secret).update(parts.join('\n')).digest('base64');
  const names = args.length ? [`signed-query-args=${args.map(([name]) => name).join(';')}`] : [];
  const fields = [`credential=${key}`, ...names, `expires=${expires}`, `signature=${signature}`];
  return { ...request, headers: { ...headers, authorization: `EXO2-HMAC-SHA256 ${fields.join(',')}` } };
}

/** Signs what is sent from now on. */
export const exoscaleSigner =
  (key = '', secret = '') =>
  (request: OutgoingRequest): OutgoingRequest =>
    signExoscale(request, key, secret, Math.floor(timeMs() / 1000) + SIGNED_SECONDS);
