import { type DnsRecord, rdataOf, recordKey } from './record.js';
import { rdataToText, rdataToWire } from './wire-rdata.js';

type Data = Pick<DnsRecord, 'type' | 'value' | 'priority'>;

/** The rdata of a record in wire form; null when it has none. */
export function wireDataOf(record: Data): Buffer | null {
  // what is not understood is stored as its presentation form
  for (const text of [() => rdataOf(record), () => record.value]) {
    try {
      return rdataToWire(record.type, text());
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return null;
}

/** Types whose data can be written in several ways that all are stored as they come. */
const MANY_FORMS: ReadonlySet<string> = new Set(['SVCB', 'HTTPS', 'LOC']);

/** The value of a record, the same for the same data in DNS. */
export function sameValueOf(record: Data): string {
  const wire = MANY_FORMS.has(record.type) ? wireDataOf(record) : null;
  return wire ? rdataToText(record.type, wire, 0, wire.length) : record.value;
}

/** Equal for two records exactly when they are one in DNS. */
export const dataKey = (record: Parameters<typeof recordKey>[0]): string =>
  recordKey(MANY_FORMS.has(record.type) ? { ...record, value: sameValueOf(record) } : record);
