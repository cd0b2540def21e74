import { randomUUID } from 'node:crypto';
import { timeMs } from '../../../platform/common/clock.js';
import type { OutgoingRequest } from '../http/http-client.js';
import { canonicalHeaders, canonicalQuery, hash, hmac } from './canonical.js';

/** Whose signature. */
export interface AlibabaKey {
  accessKeyId: string;
  accessKeySecret: string;
}

/**
 * A request with the headers of Alibaba Cloud's signature version 3, ACS3-HMAC-SHA256 (checked with the published
 * vector). Signed are the host, the content type and the headers `x-acs-…`.
 * @param nonce another one for each request
 */
export function signAcs3(
  request: OutgoingRequest,
  key: AlibabaKey,
  now = new Date(timeMs()),
  nonce: string = randomUUID(),
): OutgoingRequest {
  const { method, url, body = '' } = request;
  const headers: Record<string, string> = {
    ...request.headers,
    'x-acs-date': now.toISOString().replace(/\.\d{3}/, ''),
    'x-acs-signature-nonce': nonce,
    'x-acs-content-sha256': hash(body),
  };
  const signed = canonicalHeaders({ ...headers, host: url.host }, (name) =>
    /^(host|content-type|x-acs-.*)$/.test(name),
  );
  const names = signed.map(([name]) => name).join(';');
  const query = canonicalQuery(url.searchParams);
  const lines = signed.map(([name, value]) => `${name}:${value}`);
  const canonical = [method, url.pathname, query, ...lines, '', names, hash(body)].join('\n');
  const toSign = `ACS3-HMAC-SHA256\n${hash(canonical)}`;
  const signature = hmac(key.accessKeySecret, toSign).toString('hex');
  const credential = `Credential=${key.accessKeyId},SignedHeaders=${names},Signature=${signature}`;
  const sent = new URL(url);
  // as it was signed, byte by byte
  sent.search = query;
  return { ...request, url: sent, headers: { ...headers, authorization: `ACS3-HMAC-SHA256 ${credential}` } };
}
