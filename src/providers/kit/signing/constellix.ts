import { createHmac } from 'node:crypto';

/**
 * The value of `x-cns-security-token` (checked with a vector of octoDNS), which signs nothing but the time.
 * @param time ms since 1970
 */
export function constellixToken(key: string, secret: string, time: number): string {
  const hmac = createHmac('sha1', secret).update(String(time)).digest('base64');
  return `${key}:${hmac}:${time}`;
}
