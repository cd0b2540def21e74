import { createHash, createHmac, randomUUID } from 'node:crypto';
import { timeMs } from '../../../platform/common/clock.js';
import type { OutgoingRequest } from '../http/http-client.js';
import { compactTime } from './canonical.js';

/** Whose signature. */
export interface EdgegridKey {
  clientToken: string;
  clientSecret: string;
  accessToken: string;
}

/** So much of a body is signed (dnscontrol 2025); that of the published vectors is 2048. */
const MAX_BODY = 131_072;

const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('base64');

/** A request with Akamai's signature EG1-HMAC-SHA256 (checked with the published vectors): of bodies those of POST. */
export function signEdgegrid(
  request: OutgoingRequest,
  { clientToken, clientSecret, accessToken }: EdgegridKey,
  now = new Date(timeMs()),
  nonce: string = randomUUID(),
  maxBody = MAX_BODY,
): OutgoingRequest {
  const { method, url, body } = request;
  // `20260301T08:09:10+0000`
  const timestamp = compactTime(now).replace(/T(\d\d)(\d\d)(\d\d)Z/, 'T$1:$2:$3+0000');
  const tokens = `client_token=${clientToken};access_token=${accessToken};timestamp=${timestamp};nonce=${nonce};`;
  const authorization = `EG1-HMAC-SHA256 ${tokens}`;
  const bytes = method === 'POST' && body ? Buffer.from(body).subarray(0, maxBody) : null;
  const hash = bytes ? createHash('sha256').update(bytes).digest('base64') : '';
  const scheme = url.protocol.replace(':', '');
  const text = [method, scheme, url.host, url.pathname + url.search, '', hash, authorization].join('\t');
  const signature = hmac(hmac(clientSecret, timestamp), text);
  return { ...request, headers: { ...request.headers, authorization: `${authorization}signature=${signature}` } };
}
