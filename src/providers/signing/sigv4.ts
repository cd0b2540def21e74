import { createHash, createHmac } from 'node:crypto';
import type { OutgoingRequest } from '../http.js';

/** Whose signature, and for what. */
export interface SigV4Key {
  accessKeyId: string;
  secretAccessKey: string;
  /** of temporary credentials */
  sessionToken?: string;
  region: string;
  service: string;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
/** RFC 3986: also `!'()*`, which `encodeURIComponent` leaves alone. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Added on the way, or changed by it: not signed. */
const UNSIGNED = new Set(['accept', 'user-agent']);

/**
 * A request with the headers of AWS Signature Version 4 (checked with the published suite of `aws-c-auth`).
 * @param now the date in the signature: a request older than 5 minutes is refused
 */
export function signV4(request: OutgoingRequest, key: SigV4Key, now = new Date()): OutgoingRequest {
  const { method, url, body = '' } = request;
  const date = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = `${date.slice(0, 8)}/${key.region}/${key.service}/aws4_request`;
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-date': date,
    ...(key.sessionToken && { 'x-amz-security-token': key.sessionToken }),
  };
  const signed = Object.entries({ ...headers, host: url.host })
    .map(([name, value]): [string, string] => [name.toLowerCase(), value.trim().replace(/\s+/g, ' ')])
    .filter(([name]) => !UNSIGNED.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const path = url.pathname.replace(/\/+/g, '/').split('/').map(decodeURIComponent).map(encoded).join('/');
  const query = [...url.searchParams]
    .map((pair) => pair.map(encoded) as [string, string])
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map((pair) => pair.join('='));
  const names = signed.map(([name]) => name).join(';');
  const canonical = [method, path, query.join('&'), ...signed.map(([n, v]) => `${n}:${v}`), '', names, hash(body)];
  const toSign = ['AWS4-HMAC-SHA256', date, scope, hash(canonical.join('\n'))].join('\n');
  const derived = [...scope.split('/')].reduce<string | Buffer>(hmac, `AWS4${key.secretAccessKey}`);
  const signature = hmac(derived, toSign).toString('hex');
  const credential = `Credential=${key.accessKeyId}/${scope}`;
  headers.authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...request, headers };
}
