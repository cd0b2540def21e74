import { createHash, type KeyObject, sign } from 'node:crypto';
import type { OutgoingRequest } from '../http/http-client.js';

/** Headers that are signed of each request, and besides of one with a body. */
const ALWAYS = ['date', '(request-target)', 'host'];
const OF_BODY = ['content-length', 'content-type', 'x-content-sha256'];

/**
 * A request with Oracle's signature, version 1: that of draft-cavage-http-signatures-08 with RSA and SHA-256 (checked
 * with the vectors of Oracle's documentation).
 * @param keyId tenancy, user and fingerprint of the key, with a slash between
 */
export function signOci(request: OutgoingRequest, keyId: string, key: KeyObject, date: string): OutgoingRequest {
  const { method, url, headers, body } = request;
  const ofBody = body !== undefined && {
    'content-length': String(Buffer.byteLength(body)),
    'x-content-sha256': createHash('sha256').update(body).digest('base64'),
  };
  const own: Record<string, string> = { ...headers, host: url.host, date, ...ofBody };
  const target = `${method.toLowerCase()} ${url.pathname}${url.search}`;
  const names = ofBody ? [...ALWAYS, ...OF_BODY] : ALWAYS;
  const text = names.map((name) => `${name}: ${name === '(request-target)' ? target : own[name]}`).join('\n');
  const signature = sign('sha256', Buffer.from(text), key).toString('base64');
  own.authorization =
    `Signature version="1",headers="${names.join(' ')}",keyId="${keyId}",algorithm="rsa-sha256",` +
    `signature="${signature}"`;
  return { ...request, headers: own };
}
