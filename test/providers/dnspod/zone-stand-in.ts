/** One record as DNSPod keeps it, whichever of its two APIs shows it. */
export interface Kept {
  id: number;
  name: string;
  type: string;
  value: string;
  lineId: string;
  line: string;
  ttl: number;
  mx: number;
  weight: number | null;
  enabled: boolean;
  remark: string;
  system: boolean;
}

/** Ids and names of lines (documented samples); one group without an id. */
export const LINES: readonly [id: string, name: string][] = [
  ['0', '默认'],
  ['10=0', '电信'],
  ['10=1', '联通'],
  ['90=0', '百度'],
];

export type Refusal = 'exists' | 'conflict' | 'value' | 'line' | 'no record' | 'system' | 'mx' | 'weight';

/** A text as it is, or strings in quotes: of 255 bytes each at most. */
const isText = (value: string): boolean => {
  const strings = /^(?:"(?:[^"\\]|\\.)*"(?: |$))+$/s.test(value) ? value.match(/"(?:[^"\\]|\\.)*"/gs) : null;
  if (!strings) return !value.includes('"') && Buffer.byteLength(value) <= 255;
  return strings.every((one) => Buffer.byteLength(one.slice(1, -1).replace(/\\(.)/gs, '$1')) <= 255);
};

/** The zone behind both APIs: what it refuses, and what it makes of values. */
export function dnspodZone() {
  const records: Kept[] = [];
  let ids = 189_592_919;
  const find = (id: unknown) => records.find((record) => record.id === Number(id));

  const refusal = (r: Kept): Refusal | null => {
    if (!r.value || /^(MX|SRV) (.+ )?\.$/.test(`${r.type} ${r.value}`)) return 'value';
    if (r.type === 'TXT' && !isText(r.value)) return 'value';
    if (!LINES.some(([id, name]) => id === r.lineId && name === r.line)) return 'line';
    if (r.type === 'MX' && !(r.mx >= 0 && r.mx <= 65535)) return 'mx';
    if (r.weight !== null && !(Number.isInteger(r.weight) && r.weight >= 0 && r.weight <= 100)) return 'weight';
    const beside = records.filter((other) => other.name === r.name && other.lineId === r.lineId && other.id !== r.id);
    if (beside.some((o) => o.type === r.type && o.value === r.value && o.mx === r.mx)) return 'exists';
    return beside.some((o) => o.type === 'CNAME' || r.type === 'CNAME') ? 'conflict' : null;
  };
  /** Targets are shown with a final dot, with or without one when they were sent. */
  const shown = ({ type, value }: Kept) => {
    if (/^(CNAME|MX|NS|SRV)$/.test(type) && !value.endsWith('.')) return `${value}.`;
    return value;
  };

  return {
    records,
    find,
    /** A record as it shall be: with an id it takes the place of the one that has it. */
    put(fields: Omit<Kept, 'id' | 'system'>, id?: unknown): Kept | Refusal {
      const before = id === undefined ? undefined : find(id);
      if (id !== undefined && !before) return 'no record';
      if (before?.system) return 'system';
      const made: Kept = { ...fields, id: before?.id ?? ids, system: false };
      made.value = shown(made);
      const why = refusal(made);
      if (why) return why;
      if (before) records[records.indexOf(before)] = made;
      else {
        records.push(made);
        ids += 13;
      }
      return made;
    },
    remove(id: unknown): Refusal | null {
      const found = find(id);
      if (!found) return 'no record';
      if (found.system) return 'system';
      records.splice(records.indexOf(found), 1);
      return null;
    },
  };
}
