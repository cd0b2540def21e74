import { createHmac, randomUUID } from 'node:crypto';
import { timeMs } from '../../../platform/common/clock.js';
import type { OutgoingRequest } from '../http/http-client.js';
import type { AlibabaKey } from './acs3.js';
import { canonicalQuery, encoded } from './canonical.js';

/**
 * A request with all its parameters in the query, signed as Alibaba Cloud's RPC APIs want it (HMAC-SHA1, signature
 * version 1.0; checked with the published vector).
 * @param nonce another one for each request
 */
export function signAlibabaRpc(
  request: OutgoingRequest,
  key: AlibabaKey,
  now = new Date(timeMs()),
  nonce: string = randomUUID(),
): OutgoingRequest {
  const all: Record<string, string> = {
    ...Object.fromEntries(request.url.searchParams),
    AccessKeyId: key.accessKeyId,
    SignatureMethod: 'HMAC-SHA1',
    SignatureVersion: '1.0',
    SignatureNonce: nonce,
    Timestamp: now.toISOString().replace(/\.\d{3}/, ''),
  };
  const query = canonicalQuery(Object.entries(all));
  const toSign = `${request.method}&%2F&${encoded(query)}`;
  const signature = createHmac('sha1', `${key.accessKeySecret}&`).update(toSign).digest('base64');
  const url = new URL(request.url);
  url.search = `${query}&Signature=${encoded(signature)}`;
  return { ...request, url };
}
