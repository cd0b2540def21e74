/**
 * How long something lives, by the clock of the service: that of the browser may be hours off.
 * @param date header `Date` of the answer; null: there is none
 * @returns ms
 */
export function lifetimeMs(expiresAt: string, date: string | null): number {
  const then = Date.parse(date ?? '');
  return Date.parse(expiresAt) - (Number.isNaN(then) ? Date.now() : then);
}
