import { constants, createSign, type KeyObject } from 'node:crypto';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

function token(alg: string, claims: object, key: KeyObject, header: object, padding = {}): string {
  const signed = `${part({ alg, typ: 'JWT', ...header })}.${part(claims)}`;
  return `${signed}.${createSign('RSA-SHA256')
    .update(signed)
    .sign({ key, ...padding })
    .toString('base64url')}`;
}

/** A JSON Web Token of these claims (RFC 7519), signed with RSASSA-PKCS1-v1_5 and SHA-256 (RFC 7518 section 3.3). */
export const rs256 = (claims: object, key: KeyObject, header: object = {}): string =>
  token('RS256', claims, key, header);

/** The same signed with RSASSA-PSS, SHA-256 and a salt of its length (RFC 7518 section 3.5). */
export const ps256 = (claims: object, key: KeyObject, header: object = {}): string =>
  token('PS256', claims, key, header, PSS);
