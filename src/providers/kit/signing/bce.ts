import { timeMs } from '../../../platform/common/clock.js';
import type { OutgoingRequest } from '../http/http-client.js';
import { canonicalHeaders, canonicalPath, canonicalQuery, encoded, hmac } from './canonical.js';

interface BceKey {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Seconds that a signature holds; the SDK's default. */
const EXPIRES = 1800;
const isSigned = (name: string): boolean =>
  ['host', 'content-length', 'content-type', 'content-md5'].includes(name) || name.startsWith('x-bce-');

/**
 * The `Authorization` of Baidu's bce-auth-v1 (checked with the test suite of its SDK, and with what that computes). The
 * body is not signed.
 * @param headers of the request as they are, `host` among them
 */
export function bceAuthorization(
  { method, url, headers }: Pick<OutgoingRequest, 'method' | 'url' | 'headers'>,
  { accessKeyId, secretAccessKey }: BceKey,
  timestamp: string,
): string {
  const signed = canonicalHeaders(headers, isSigned).filter(([, value]) => value !== '');
  // sorted once encoded
  const lines = signed.map(([name, value]) => `${encoded(name)}:${encoded(value)}`).sort();
  const prefix = `bce-auth-v1/${accessKeyId}/${timestamp}/${EXPIRES}`;
  const canonical = [method, canonicalPath(url), canonicalQuery(url.searchParams), ...lines].join('\n');
  const signature = hmac(hmac(secretAccessKey, prefix).toString('hex'), canonical).toString('hex');
  return `${prefix}/${signed.map(([name]) => name).join(';')}/${signature}`;
}

/** A request with the headers of bce-auth-v1. */
export function signBce(request: OutgoingRequest, key: BceKey, now = new Date(timeMs())): OutgoingRequest {
  const timestamp = now.toISOString().replace(/\.\d{3}/, '');
  const headers = { ...request.headers, 'x-bce-date': timestamp };
  const all = { ...request, headers: { ...headers, host: request.url.host } };
  return { ...request, headers: { ...headers, authorization: bceAuthorization(all, key, timestamp) } };
}
