const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
const BRIEF_S = 45;

/** `3 minutes ago`, `in 2 days`. */
export function relative(iso: string, now: number, language: string): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Math.abs(seconds) < BRIEF_S) return format.format(0, 'second');
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['minute', 60];
  return format.format(Math.round(seconds / size), unit);
}
