import type { CacheRow } from '../cache/reconcile.js';
import type { Place } from '../changes/edits/edit.js';
import { defined, newRecord } from '../changes/edits/record-rules.js';
import { type DnsRecord, recordKey, shownValue } from '../dns/record.js';
import { InvalidRecord } from '../platform/common/errors.js';
import { due, turn } from '../platform/common/turns.js';
import type { FieldError } from '../platform/common/words/codes.js';
import { clipped } from '../platform/outbound/outbound-error.js';
import type { Capabilities } from '../providers/provider.js';
import type { Wanted } from '../records/plans/plan-edits.js';
import type { MoveReport, NotAsItIs } from './move-report.dto.js';

/** characters of a list of the report, as JSON: a column holds both */
const MOST = 20_000;
const SHOWN = 100;

/** The records that a zone shall have at another provider, and what is not as it was. */
export interface CarriedOver {
  wanted: Wanted[];
  lost: NotAsItIs[];
  changed: NotAsItIs[];
}

/** The SOA and the name servers of the zone itself are those of its provider. */
export const isOfProvider = ({ type, host }: Pick<DnsRecord, 'type' | 'host'>): boolean =>
  type === 'SOA' || (type === 'NS' && host === '@');

/**
 * What of some records a provider takes, each as it can hold it. What would be answered otherwise than before (another
 * type, a line of its own) is not taken.
 */
export async function carriedOver(rows: readonly CacheRow[], from: Capabilities, to: Place): Promise<CarriedOver> {
  const carried: CarriedOver = { wanted: [], lost: [], changed: [] };
  const seen = new Set<string>();
  const ttls = new Map<string, number>();
  for (const row of rows) {
    if (due()) await turn();
    if (isOfProvider(row)) continue;
    const { host, type } = row;
    const held = seenOnce(heldAs(row, from, to), seen);
    if ('why' in held) {
      carried.lost.push({ host, type, what: clipped(row.value, SHOWN), why: held.why });
      continue;
    }
    const { record, changed } = held;
    const ttl = alike(record, to.definition.capabilities, ttls);
    if (ttl !== record.ttl) {
      changed.push({ what: `ttl ${record.ttl} to ${ttl}`, why: 'a set has one TTL there' });
      record.ttl = ttl;
    }
    for (const one of changed) carried.changed.push({ host, type, ...one });
    carried.wanted.push(wantedOf(record, row.remark));
  }
  return carried;
}

/** Of two records that have become the same one, the first. */
function seenOnce(held: Held, seen: Set<string>): Held {
  if ('why' in held) return held;
  const key = recordKey(held.record);
  if (seen.has(key)) return { why: 'the same record is there already' };
  seen.add(key);
  return held;
}

/** The one TTL of a record's set, where it has one. */
function alike(record: DnsRecord, { ttlOf, toggle }: Capabilities, ttls: Map<string, number>): number {
  if (ttlOf !== 'set' || !(record.enabled || toggle === 'record')) return record.ttl;
  const set = JSON.stringify([record.host, record.type, record.line]);
  const first = ttls.get(set) ?? record.ttl;
  ttls.set(set, first);
  return first;
}

/** A record that shall be there, all of whose fields count. */
export function wantedOf(record: DnsRecord, remark: string): Wanted {
  const { ttl, line, proxied, enabled, weight, priority } = record;
  const patch = { ttl, line, proxied, enabled, remark, ...defined({ weight, priority }) };
  return { op: 'upsert', record, ttlGiven: true, remark, patch };
}

type Changed = Pick<NotAsItIs, 'what' | 'why'>;
/** A record as a provider can hold it, and what is another in it; or why it cannot. */
type Held = { record: DnsRecord; changed: Changed[] } | { why: string };

/** A record as a provider can hold it, and what is another in it; or why it cannot. */
export function heldAs(row: Omit<CacheRow, 'id'>, from: Capabilities, { definition, zone, defaultTtl }: Place): Held {
  if (row.read_only) return { why: row.read_only_reason ?? 'it is read-only where it is' };
  const { capabilities: to } = definition;
  const { host, type, ttl, line, proxied, priority, weight, enabled } = row;
  const input = { host, type, value: shownValue(row), ttl, line, proxied, weight, enabled };
  const changed: Changed[] = [];
  input.ttl = withoutAutomatic(ttl, defaultTtl, from, to);
  if (input.ttl !== ttl) changed.push({ what: `ttl ${ttl} to ${input.ttl}`, why: 'there is no automatic TTL there' });
  for (;;) {
    try {
      const record = newRecord(definition, zone, {
        ...input,
        ...defined({ priority }),
        weight: input.weight ?? undefined,
      });
      if (record.ttl !== input.ttl)
        changed.push({ what: `ttl ${input.ttl} to ${record.ttl}`, why: 'a proxied record has this TTL there' });
      return { record, changed: [...changed, ...besides(row, from, to)] };
    } catch (error) {
      if (!(error instanceof InvalidRecord)) throw error;
      const wrong = error.mistakes.find((mistake) => !given(input, mistake, to, changed));
      if (wrong) return { why: `${wrong.path}: ${wrong.message}` };
    }
  }
}

/** A TTL that means "automatic" at one provider alone is the default one at another. */
const withoutAutomatic = (ttl: number, otherwise: number, from: Capabilities, to: Capabilities): number =>
  ttl === from.automaticTtl && ttl !== to.automaticTtl ? Math.min(to.maxTtl, Math.max(to.minTtl, otherwise)) : ttl;

/** Gives a field that a provider cannot hold another value. @returns false where the record would mean another */
function given(
  input: { ttl: number; proxied: boolean; weight: number | null },
  { path, message }: FieldError,
  { minTtl, maxTtl }: Capabilities,
  changed: Changed[],
): boolean {
  const { ttl } = input;
  if (path === 'ttl') {
    input.ttl = Math.min(maxTtl, Math.max(minTtl, ttl));
    if (input.ttl === ttl) return false;
    changed.push({ what: `ttl ${ttl} to ${input.ttl}`, why: message });
  } else if (path === 'proxied' && input.proxied) {
    input.proxied = false;
    changed.push({ what: 'proxied to not proxied', why: message });
  } else if (path === 'weight' && input.weight !== null) {
    changed.push({ what: `weight ${input.weight} to none`, why: message });
    input.weight = null;
  } else return false;
  return true;
}

/** What of a record is kept elsewhere from then on, or not at all. */
function besides(row: Omit<CacheRow, 'id'>, from: Capabilities, to: Capabilities): Changed[] {
  const changed: Changed[] = [];
  if (row.remark && from.remark && !to.remark)
    changed.push({ what: 'remark', why: 'the provider keeps none: it is kept here alone' });
  if (!row.enabled && to.toggle !== 'record')
    changed.push({
      what: 'disabled',
      why: 'the provider disables no record: it is kept here alone until it is enabled',
    });
  if (row.extra)
    changed.push({ what: 'settings of the provider', why: 'they are known to the present provider alone' });
  return changed;
}

/** The report of what was carried over, as long as it may be. */
export function reportOf({ lost, changed }: CarriedOver): MoveReport {
  return {
    ...{ lost: first(lost), changed: first(changed) },
    ...{ lost_count: lost.length, changed_count: changed.length },
  };
}

function first(list: readonly NotAsItIs[]): NotAsItIs[] {
  let left = MOST;
  const some: NotAsItIs[] = [];
  for (const { why, ...one } of list) {
    const shown = { ...one, why: clipped(why, 2 * SHOWN) };
    left -= Buffer.byteLength(JSON.stringify(shown));
    if (left < 0) break;
    some.push(shown);
  }
  return some;
}
