/** Days of the week as windows name them, in the order of `Date.getUTCDay`. */
export const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export type Day = (typeof DAYS)[number];

/**
 * When changes are allowed, by the clock on the wall in its time zone: from `from` (`HH:MM`) on each of the days to
 * `until`, which is on the next day where it is not later; equal ones are a whole day. In the hour that the clock is
 * set forward over nothing is open, and the hour that it repeats counts twice.
 */
export interface Window {
  days: Day[];
  from: string;
  until: string;
  /** IANA */
  timezone: string;
}

/** No change is made from `from` until `until` (ISO 8601, UTC). */
export interface Freeze {
  from: string;
  until: string;
  reason: string;
  /** answers to ACME challenges are frozen, too */
  acme: boolean;
}

/** When the next change may be made, and why none is made now; null: no window is open. */
export interface Closed {
  until: string;
  why: string | null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** a window that the clock is set forward over opens a week later */
const SEARCHED_DAYS = 15;
/** a freeze, then a window, then another freeze … each one is looked at once */
const MAX_STEPS = 4;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The wall clock of a time zone at a moment, as if it were UTC, in ms. */
function wallClock(zone: string, time: number): number {
  let format = formats.get(zone);
  if (!format) {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', { timeZone: zone, hourCycle: 'h23', ...parts });
    formats.set(zone, format);
  }
  const found = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = found;
  return Date.UTC(year, month - 1, day, hour, minute);
}

/** Minutes since midnight of `HH:MM`. */
const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

const hasDay = ({ days }: Window, clock: number): boolean => days.includes(DAYS[new Date(clock).getUTCDay()] as Day);

/** Whether a window is open at a moment. */
export function isOpen(window: Window, time: number): boolean {
  const clock = wallClock(window.timezone, time);
  const minutes = Math.floor((clock % DAY_MS) / MINUTE_MS);
  const [from, until] = [minutesOf(window.from), minutesOf(window.until)];
  if (from < until) return hasDay(window, clock) && minutes >= from && minutes < until;
  return (hasDay(window, clock) && minutes >= from) || (hasDay(window, clock - DAY_MS) && minutes < until);
}

/** The first whole minute in `(before, at]` with another offset from UTC than `before`. */
function changeOfClock(zone: string, before: number, at: number): number {
  const ahead = wallClock(zone, before) - before;
  let [low, high] = [before, at];
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
    if (wallClock(zone, middle) - middle === ahead) low = middle;
    else high = middle;
  }
  return high;
}

/** The moments of one day of the wall clock at which a window may open. */
function openings({ timezone, from }: Window, day: number): number[] {
  const clock = day + minutesOf(from) * MINUTE_MS;
  const [before, behind] = [clock - DAY_MS, clock + DAY_MS];
  const [first, last] = [before, behind].map((time) => wallClock(timezone, time) - time) as [number, number];
  if (first === last) return [clock - first];
  return [clock - first, clock - last, changeOfClock(timezone, before, behind)];
}

/** When one of the windows opens next, behind a moment at which none is open. */
function nextOpening(windows: readonly Window[], time: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const window of windows) {
    const clock = wallClock(window.timezone, time);
    const today = clock - (clock % DAY_MS);
    for (let i = -1; i <= SEARCHED_DAYS; i++) {
      const found = openings(window, today + i * DAY_MS).filter(
        (one) => one > time && one < next && isOpen(window, one),
      );
      if (!found.length) continue;
      next = Math.min(...found);
      break;
    }
  }
  return Number.isFinite(next) ? next : time + SEARCHED_DAYS * DAY_MS;
}

/**
 * Whether changes have to wait.
 * @param time ms @param acme whether all of them answer ACME challenges, which are for certificates that end
 * @returns null: none has to
 */
export function closedAt(
  { freeze, windows }: { freeze: Freeze | null; windows: readonly Window[] },
  time: number,
  acme: boolean,
): Closed | null {
  const frozen = freeze && !(acme && !freeze.acme) ? freeze : null;
  const bound = acme ? [] : windows;
  const isFrozen = (at: number) => frozen !== null && at >= Date.parse(frozen.from) && at < Date.parse(frozen.until);
  const isOutside = (at: number) => bound.length > 0 && !bound.some((window) => isOpen(window, at));
  let at = time;
  for (let step = 0; step < MAX_STEPS; step++) {
    if (isFrozen(at)) at = Date.parse((frozen as Freeze).until);
    else if (isOutside(at)) at = nextOpening(bound, at);
    else break;
  }
  if (at === time) return null;
  return { until: new Date(at).toISOString(), why: isFrozen(time) ? (frozen as Freeze).reason : null };
}
