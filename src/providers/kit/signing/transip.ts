import { createPrivateKey, type KeyObject, sign } from 'node:crypto';

/**
 * A private key in PEM form; blanks in the place of its line ends, as forms make of them, do no harm.
 * @throws Error when it is none
 */
export function privateKeyOf(pem: string): KeyObject {
  const [, kind, body] = /-----BEGIN ([A-Z ]+)-----([^-]+)-----END \1-----/.exec(pem) ?? [];
  const lines = body?.replace(/\s+/g, '').match(/.{1,64}/g) ?? [];
  return createPrivateKey(`-----BEGIN ${kind}-----\n${lines.join('\n')}\n-----END ${kind}-----\n`);
}

/** The header `Signature` of a request for a token: RSA with SHA-512 (PKCS #1 v1.5) over the bytes of its body. */
export const signTransip = (body: string, key: KeyObject): string =>
  sign('sha512', Buffer.from(body), key).toString('base64');
