import { Buffer } from 'node:buffer';
import { fullName } from '../../dns/names.js';
import { CLASS, TYPE, type WireRecord } from '../../dns/wire.js';
import { typeNumber } from '../../dns/wire-rdata.js';
import { ProviderError } from '../kit/http/errors.js';
import type { RecordSet } from '../kit/rrsets/record-set.js';

/** Types that may stand at a name, but for those that DNSSEC makes. */
const OTHERS = [
  ...['A', 'AAAA', 'MX', 'TXT', 'NS', 'SRV', 'CAA', 'PTR', 'SSHFP', 'TLSA', 'DS', 'NAPTR', 'URI', 'SVCB', 'HTTPS'],
  ...['LOC', 'HINFO', 'RP', 'AFSDB', 'DNAME', 'OPENPGPKEY', 'SMIMEA', 'CSYNC', 'SPF', 'CERT', 'APL', 'EUI48', 'EUI64'],
  'DHCID',
];

/** What must hold at the server, or it leaves a part of an update out in silence and takes the rest. */
export interface Condition {
  /** RFC 2136 section 2.4 */
  prerequisite: WireRecord;
  /** what is wrong when it does not hold */
  words: string;
}

/** A set as it shall be, and as it was. */
interface Edited {
  set: RecordSet;
  old: RecordSet;
}

/**
 * The conditions under which a server takes all of an update. CNAME and other data exclude each other (RFC 2136 section
 * 3.4.2.2). BIND (9.18, seen) takes away each DS without a delegation, and leaves out one at the apex.
 * @param was the same sets, before
 * @throws ProviderError `rejected` when the sets exclude each other
 */
export function conditions(zone: string, sets: readonly RecordSet[], was: readonly RecordSet[]): Condition[] {
  const byKey = new Map(
    sets.map((set, i): [string, Edited] => [`${set.type} ${set.host}`, { set, old: was[i] as RecordSet }]),
  );
  return [...byKey.values()].flatMap((edited) => conditionsOf(zone, edited, byKey));
}

/** @param byKey all sets of the update by type and host */
function conditionsOf(zone: string, { set, old }: Edited, byKey: ReadonlyMap<string, Edited>): Condition[] {
  const found: Condition[] = [];
  const { host, type } = set;
  const name = fullName(host, zone);
  const isThere = set.members.length > 0;
  const must = (kind: 'some' | 'none', other: string, words: string) => {
    const known = byKey.get(`${other} ${host}`)?.set;
    if (known && known.members.length > 0 !== (kind === 'some')) throw new ProviderError('rejected', words);
    if (!known) found.push({ prerequisite: any(name, typeNumber(other), kind), words });
  };
  if (type === 'DS' && isThere) {
    if (host === '@') throw new ProviderError('rejected', `The DS of ${name} belongs into the zone above it`);
    must('some', 'NS', `A DS needs a delegation: create the NS of ${name} before it, or in the same list`);
  }
  if (type === 'NS' && host !== '@' && !isThere)
    must('none', 'DS', `${name} has a DS, which needs its NS: delete the DS before it, or in the same list`);
  if (!isThere || old.members.length) return found;
  const words = `CNAME and other data exclude each other at ${name}`;
  if (type !== 'CNAME') {
    must('none', 'CNAME', words);
    return found;
  }
  const others = [...byKey.values()].filter((one) => one.set.host === host && one.set !== set);
  return [...found, ...nothingBeside(name, others, words)];
}

/** The conditions of a CNAME. @param others what the update makes of other sets at its name */
function nothingBeside(name: string, others: readonly Edited[], words: string): Condition[] {
  if (others.some((one) => one.set.members.length)) throw new ProviderError('rejected', words);
  if (!others.some((one) => one.old.members.length)) return [{ prerequisite: any(name, TYPE.ANY, 'none'), words }];
  // where others give way to it, the rest is named type by type: with one that is left they would go for nothing
  const going = new Set(others.map((one) => one.set.type));
  return OTHERS.filter((other) => !going.has(other)).map((other) => ({
    prerequisite: any(name, typeNumber(other), 'none'),
    words: `${words}: there is ${other} as well`,
  }));
}

/** "RRset exists" of any value, "does not exist"; with ANY "name is not in use". */
const any = (name: string, type: number, kind: 'some' | 'none'): WireRecord => ({
  ...{ name, type, ttl: 0, rdata: Buffer.alloc(0) },
  class: kind === 'some' ? CLASS.ANY : CLASS.NONE,
});
