import { createHash, randomBytes } from 'node:crypto';

/** SHA-256 of UTF-8 text as 64 lower-case hexadecimal characters. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** SHA-256 of UTF-8 text in base64, as used in Content-Security-Policy. */
export const sha256Base64 = (text: string): string => createHash('sha256').update(text).digest('base64');

/** `bytes` random bytes as lower-case hexadecimal text. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');
