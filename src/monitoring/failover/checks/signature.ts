import { createHmac, timingSafeEqual } from 'node:crypto';
import { timeMs } from '../../../platform/common/clock.js';

/** HTTP headers of calls between checkers. */
export const TIMESTAMP = 'x-zoneward-timestamp';
export const SIGNATURE = 'x-zoneward-signature';
/** the name of the node that a question is for; in a refusal: of the node that refused */
export const NODE = 'x-zoneward-node';
/** ms by which the clocks of two nodes may differ */
export const WINDOW_MS = 60_000;

/**
 * HMAC-SHA-256 in hexadecimal of `<first>.<text>`. `first` is, for a question, its time in ms and the node that it is
 * for, joined by a dot; for an answer, the question's signature.
 */
export const sign = (secret: string, first: string, text: string): string =>
  createHmac('sha256', secret).update(`${first}.${text}`).digest('hex');

/** Compares in constant time. */
export function isSigned(secret: string, first: string, text: string, signature: string): boolean {
  const wanted = Buffer.from(sign(secret, first, text));
  const given = Buffer.from(signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

/** Whether a time in ms, as text, is neither too old nor in the future. */
export function isTimely(timestamp: string): boolean {
  const at = /^\d{1,15}$/.test(timestamp) ? Number(timestamp) : 0;
  return Math.abs(timeMs() - at) <= WINDOW_MS;
}
