import { timeMs } from '../common/clock.js';
/** ms of a `Retry-After` header (seconds or an HTTP date); undefined: none. */
export function retryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - timeMs());
}
