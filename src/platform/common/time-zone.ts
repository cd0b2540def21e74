/** A day in a query: `YYYY-MM-DD`. */
export const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
/** More than the largest UTC offset of any zone. */
const FAR_MS = DAY_MS;

/** An IANA time zone that this process knows. */
export function isTimezone(value: unknown): boolean {
  if (typeof value !== 'string' || !/^[\w+/-]{1,64}$/.test(value) || /^[+-]/.test(value)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}

/** Returns the calendar day in an IANA time zone as a number: 20260131. */
function dayIn(zone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  return (time) => {
    const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0 } = parts;
    return year * 10_000 + month * 100 + day;
  };
}

/**
 * The first ms of a day (`YYYY-MM-DD`) plus `later` days in an IANA time zone, which need not be midnight. Days before
 * 1970 begin in UTC.
 */
export function dayStart(day: string, zone: string, later = 0): number {
  const utc = Date.parse(`${day}T00:00:00.000Z`) + later * DAY_MS;
  if (utc < 0) return utc;
  const of = dayIn(zone);
  const wanted = dayIn('UTC')(utc);
  let [before, at] = [utc - FAR_MS, utc + FAR_MS];
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2);
    if (of(middle) >= wanted) at = middle;
    else before = middle;
  }
  return at;
}

/** The calendar day of a time in a time zone: `YYYY-MM-DD`. */
export function dayOf(time: number, zone: string): string {
  const digits = String(dayIn(zone)(time)).padStart(8, '0');
  return `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
}

/**
 * Formats a time in an IANA time zone with its UTC offset: `2026-01-31 13:00 UTC+01:00`.
 * @param time ISO 8601; any other text is returned unchanged
 */
export function zoned(time: string, zone: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  const format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'longOffset',
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, timeZoneName = '' } = parts;
  return `${year}-${month}-${day} ${hour}:${minute} ${timeZoneName.replace(/^GMT(\+00:00$)?/, 'UTC')}`;
}
