const MINUTE_MS = 60_000;

/** Time zones to choose among: browsers leave UTC out. */
export const zones = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** A time by the clock of a zone, as `<input type="datetime-local">` has it; '' for none. @param zone the browser's */
export function toLocal(iso: string | null | undefined, timeZone?: string): string {
  if (!iso || Number.isNaN(Date.parse(iso))) return '';
  // Swedes write times as ISO 8601 does
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return format.format(Date.parse(iso)).replace(' ', 'T');
}

/** The same back. Of an hour that the clock shows twice it is the first, and one that it skips is moved on. */
export function toIso(local: string, timeZone?: string): string {
  const wall = Date.parse(`${local}Z`);
  if (Number.isNaN(wall)) return '';
  const offsetAt = (ms: number) => {
    const minute = Math.floor(ms / MINUTE_MS) * MINUTE_MS;
    return Date.parse(`${toLocal(new Date(minute).toISOString(), timeZone)}Z`) - minute;
  };
  const offsets = [offsetAt(wall - 86_400_000), offsetAt(wall + 86_400_000)];
  const found = offsets.map((offset) => wall - offset).find((ms) => ms + offsetAt(ms) === wall);
  return new Date(found ?? wall - (offsets[0] as number)).toISOString();
}
