import { zoneLine } from '../dns/zonefile.js';
import type { PrintedRecord } from './document.js';

/** What every format with comments says of the whole. */
export const NOT_HERE = 'the SOA and the records of DNSSEC are kept by the provider, and are not in here';

/** Text in a comment: in one line of any language. */
const inOneLine = (text: string): string => text.replace(/[^\x20-\x7e\u00a0-\u2027\u202a-\ufffd]/g, '?');

/** What most formats have no form for; empty where there is nothing of it. */
export const beside = ({ line, weight, proxied }: PrintedRecord, holdsProxied = false): string =>
  [
    line === 'default' ? '' : `line ${inOneLine(JSON.stringify(line))}`,
    weight === null ? '' : `weight ${weight}`,
    proxied && !holdsProxied ? 'proxied' : '',
  ]
    .filter(Boolean)
    .join(', ');

/** A record as one line, for comments. */
export function lineOf(record: PrintedRecord, zone: string): string {
  const more = beside(record);
  const line = zoneLine({ ...record, enabled: true }, zone);
  return inOneLine(`${line}${more ? ` ; ${more}` : ''}${record.enabled ? '' : ' ; disabled'}`);
}

/** The records of a printed list by type, in the order of the list; hosts follow one another in it. */
export function* setsOf(records: readonly PrintedRecord[]): Generator<[PrintedRecord, ...PrintedRecord[]][]> {
  let host: string | undefined;
  let sets = new Map<string, [PrintedRecord, ...PrintedRecord[]]>();
  for (const record of records) {
    if (record.host !== host && sets.size) {
      yield [...sets.values()];
      sets = new Map();
    }
    host = record.host;
    const set = sets.get(record.type);
    if (set) set.push(record);
    else sets.set(record.type, [record]);
  }
  if (sets.size) yield [...sets.values()];
}
