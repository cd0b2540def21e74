import { timeMs } from '../../platform/common/clock.js';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Time zones by the names that registries write. */
const ZONES: Record<string, string> = { z: 'Z', utc: 'Z', gmt: 'Z', clt: '-04:00', clst: '-03:00', jst: '+09:00' };

/** No registration ends before this year, or so many years from now: such dates, as 9999, mean something else. */
const FIRST_YEAR = 1990;
const MOST_YEARS = 101;

/** Named groups of a pattern: `m` is a number or a month in English, `t` hh:mm[:ss], `z` a time zone. */
export type Parts = Partial<Record<'y' | 'm' | 'd' | 't' | 'z', string | undefined>>;

/**
 * A moment in the stored form; null for anything that is no moment at which a registration may end.
 * @param zone where the text has none: `Z`, or an offset such as `+08:00`; dates without a time begin in UTC
 */
export function momentOf({ y, m, d, t, z }: Parts, zone = 'Z'): string | null {
  const month = /^\d+$/.test(m ?? '') ? Number(m) : MONTHS.indexOf((m ?? '').toLowerCase()) + 1;
  const [year, day] = [Number(y), Number(d)];
  // Date rolls 31 February over to March, and the 13th month to January
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate())) return null;
  const [, hour = '00', minute = '00', second = '00'] = /^(\d\d?):(\d\d)(?::(\d\d))?$/.exec(t ?? '00:00:00') ?? [''];
  const offset = z === undefined ? (t === undefined ? 'Z' : zone) : offsetOf(z);
  if (offset === null || (t !== undefined && !/^\d\d?:\d\d(:\d\d)?$/.test(t))) return null;
  const two = (value: number | string) => String(value).padStart(2, '0');
  const at = Date.parse(`${y}-${two(month)}-${two(day)}T${two(hour)}:${minute}:${second}${offset}`);
  const last = new Date(timeMs()).getUTCFullYear() + MOST_YEARS;
  return Number.isNaN(at) || year < FIRST_YEAR || year > last ? null : new Date(at).toISOString();
}

/** `Z`, `UTC`, `CLST`, `+03`, `+0300`, `+03:00`, `(UTC+8)` as JavaScript reads them; null for all others. */
function offsetOf(zone: string): string | null {
  const named = ZONES[zone.toLowerCase()];
  if (named) return named;
  const [, sign, hours, minutes = '00'] = /^\(?(?:UTC)?([+-])(\d\d?):?(\d\d)?\)?$/i.exec(zone) ?? [];
  return sign && hours ? `${sign}${hours.padStart(2, '0')}:${minutes}` : null;
}

const RFC3339 =
  /^(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)(?:[Tt ](?<t>\d\d:\d\d:\d\d)(?:\.\d{1,9})?\s?(?<z>[Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/** A moment as RDAP and providers write it, with any fraction and offset; without a zone it is UTC. */
export const rfc3339 = (text: string): string | null => momentOf(RFC3339.exec(text.trim())?.groups ?? {});
