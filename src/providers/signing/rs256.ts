import { createSign, type KeyObject } from 'node:crypto';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JSON Web Token of these claims (RFC 7519), signed with RSASSA-PKCS1-v1_5 and SHA-256 (RFC 7518 section 3.3). */
export function rs256(claims: object, key: KeyObject, header: object = {}): string {
  const signed = `${part({ alg: 'RS256', typ: 'JWT', ...header })}.${part(claims)}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key).toString('base64url')}`;
}
