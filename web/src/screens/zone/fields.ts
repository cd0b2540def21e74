/** A part of a value, as `GET /api/meta` tells it. */
export interface Part {
  name: string;
  kind: string;
  required: boolean;
  min: number | null;
  max: number | null;
  values: string[] | null;
  /** it stands in quotes within the value */
  quoted: boolean;
  example: string;
}

/** A record type, and what its values are made of. */
export interface TypeView {
  type: string;
  priority: { default: number } | null;
  value: { parts: Part[]; example: string };
}

/** What can be set of a record. */
export interface Fields {
  host: string;
  type: string;
  value: string;
  /** seconds; null: of a new record, that of its set or of the settings */
  ttl: number | null;
  priority: number | null;
  weight: number | null;
  line: string;
  proxied: boolean;
  enabled: boolean;
  remark: string;
  expires_at: string | null;
}

/** A record that is there. */
export interface RecordRow extends Fields {
  id: number;
  ttl: number;
  unicode_host: string;
  read_only: boolean;
  pending: boolean;
  end_hold_reason: string | null;
}

export const FIELDS = [
  'host',
  'type',
  'value',
  'ttl',
  'priority',
  'weight',
  'line',
  'proxied',
  'enabled',
  'remark',
  'expires_at',
] as const satisfies (keyof Fields)[];

/** What can be set of a record that is there. */
export const fieldsOf = (row: Fields): Fields =>
  Object.fromEntries(FIELDS.map((field) => [field, row[field]])) as unknown as Fields;

/** The fields that differ. */
export const changedFields = (before: Fields, after: Fields): (keyof Fields)[] =>
  FIELDS.filter((field) => before[field] !== after[field]);

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Seconds of `300`, `5m`, `1h30m`; null: it is none. */
export function secondsOf(text: string): number | null {
  const trimmed = text.trim().toLowerCase();
  if (/^\d+$/.test(trimmed)) return Number(trimmed);
  if (!/^(\d+[smhdw])+$/.test(trimmed)) return null;
  return [...trimmed.matchAll(/(\d+)([smhdw])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (UNITS[unit as string] as number),
    0,
  );
}

/** Seconds in the largest units that fit, as zone files have them: `1h30m`. */
export function shortTtl(seconds: number): string {
  let rest = seconds;
  let text = '';
  for (const unit of ['w', 'd', 'h', 'm'] as const) {
    const size = UNITS[unit] as number;
    if (rest >= size && (unit !== 'w' || rest % size === 0)) {
      text += `${Math.floor(rest / size)}${unit}`;
      rest %= size;
    }
  }
  return rest > 0 || text === '' ? `${text}${rest}s` : text;
}
