import { timeMs } from '../../../platform/common/clock.js';
import type { OutgoingRequest } from '../http/http-client.js';
import { canonicalPath, canonicalQuery, compactTime, hash, hmac } from './canonical.js';

/** Whose signature, and for what. */
export interface SigV4Key {
  accessKeyId: string;
  secretAccessKey: string;
  /** of temporary credentials */
  sessionToken?: string;
  region: string;
  service: string;
}

/** Added on the way, or changed by it: not signed. */
const UNSIGNED = new Set(['accept', 'user-agent']);

/**
 * A request with the headers of AWS Signature Version 4 (checked with the published suite of `aws-c-auth`).
 * @param now the date in the signature: a request older than 5 minutes is refused
 */
export function signV4(request: OutgoingRequest, key: SigV4Key, now = new Date(timeMs())): OutgoingRequest {
  const { method, url, body = '' } = request;
  const date = compactTime(now);
  const scope = `${date.slice(0, 8)}/${key.region}/${key.service}/aws4_request`;
  const headers: Record<string, string> = { ...request.headers, 'x-amz-date': date };
  if (key.sessionToken) headers['x-amz-security-token'] = key.sessionToken;
  const signed = Object.entries({ ...headers, host: url.host })
    .map(([name, value]): [string, string] => [name.toLowerCase(), value.trim().replace(/\s+/g, ' ')])
    .filter(([name]) => !UNSIGNED.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const path = canonicalPath({ pathname: url.pathname.replace(/\/+/g, '/') });
  const query = canonicalQuery(url.searchParams);
  const names = signed.map(([name]) => name).join(';');
  const canonical = [method, path, query, ...signed.map(([n, v]) => `${n}:${v}`), '', names, hash(body)];
  const toSign = ['AWS4-HMAC-SHA256', date, scope, hash(canonical.join('\n'))].join('\n');
  const derived = [...scope.split('/')].reduce<string | Buffer>(hmac, `AWS4${key.secretAccessKey}`);
  const signature = hmac(derived, toSign).toString('hex');
  const credential = `Credential=${key.accessKeyId}/${scope}`;
  headers.authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...request, headers };
}
