import { createHmac, timingSafeEqual } from 'node:crypto';

/** HTTP headers of calls between checkers. */
export const TIMESTAMP = 'x-zoneward-timestamp';
export const SIGNATURE = 'x-zoneward-signature';
/** ms by which the clocks of two nodes may differ */
const WINDOW_MS = 60_000;

/**
 * HMAC-SHA-256 in hexadecimal of `<first>.<text>`: of a request its time in ms, of an answer the request's signature.
 */
export const sign = (secret: string, first: string, text: string): string =>
  createHmac('sha256', secret).update(`${first}.${text}`).digest('hex');

/** Compares in a time that tells nothing. */
export function isSigned(secret: string, first: string, text: string, signature: string): boolean {
  const wanted = Buffer.from(sign(secret, first, text));
  const given = Buffer.from(signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

/** Takes each signed request once. */
export class Once {
  private readonly seen = new Map<string, number>();

  /** Whether a request of this time was not seen before, and is neither old nor of the future. */
  take(timestamp: string, signature: string): boolean {
    const now = Date.now();
    for (const [one, until] of this.seen) {
      if (until > now) break;
      this.seen.delete(one);
    }
    const at = /^\d{1,15}$/.test(timestamp) ? Number(timestamp) : 0;
    if (Math.abs(now - at) > WINDOW_MS || this.seen.has(signature)) return false;
    this.seen.set(signature, now + 2 * WINDOW_MS);
    return true;
  }
}
