import type { ChangedRecord, ChangeState } from '../../src/changes/history/change-set.entity.js';
import { shownValue } from '../../src/dns/record.js';
import type { ProviderDefinition } from '../../src/providers/provider.js';
import type { Told } from './grounds.js';

/** A row of a change set, with what it says of its set. */
export interface Entry {
  set: number;
  request: string;
  position: number;
  op: string;
  state: ChangeState;
  /** of the same zone in another account: a remark that its provider does not keep stays there */
  elsewhere: boolean;
  before: Told | null;
  after: Told | null;
}

export const keyOf = ({ host, type, value, priority }: Told): string => JSON.stringify([host, type, value, priority]);
export const wordsOf = (record: Told): string => {
  const { host, type, value, priority, ttl, enabled, proxied } = record;
  return JSON.stringify([host, type, priority, value, ttl, enabled ? 'on' : 'off', ...(proxied ? ['proxied'] : [])]);
};

/** A stored state of a record in the words of the API. */
export function toldOf(json: string | null, value: string | null): Told | null {
  if (json === null || value === null) return null;
  const { host, type, priority, ttl, enabled, proxied, remark } = JSON.parse(json) as ChangedRecord;
  return { host, type, value: shownValue({ type, value }), priority, ttl, enabled, proxied, remark };
}

/**
 * What must be there: what was there before, and on top of it every change that is said to be applied, in the order in
 * which the names were locked. What is not said to be applied has no part in it.
 * @returns the records, and where a change was not applied, for each set the TTLs and for each record the remarks that
 * it may have: one that was deleted and made again may be the old one still
 */
export function mustBe(
  before: readonly Told[],
  entries: readonly Entry[],
  { capabilities }: ProviderDefinition,
): { records: Map<string, Told>; ttls: Map<string, Set<number>>; remarks: Map<string, Set<string | undefined>> } {
  const records = new Map(before.map((record) => [keyOf(record), record]));
  const remarkBefore = (key: string) => before.find((record) => keyOf(record) === key)?.remark;
  const isHeld = (record: Told) => record.enabled || capabilities.toggle === 'record';
  const setOf = ({ host, type }: Told) => JSON.stringify([host, type]);
  const held = (set: string) => [...records.values()].filter((r) => setOf(r) === set && isHeld(r));
  const ttls = new Map<string, Set<number>>();
  const remarks = new Map<string, Set<string | undefined>>();
  const may = (record: Told) => {
    const known = ttls.get(setOf(record)) ?? new Set(held(setOf(record)).map((r) => r.ttl));
    ttls.set(setOf(record), known.add(record.ttl));
    remarks.set(keyOf(record), (remarks.get(keyOf(record)) ?? new Set()).add(record.remark));
  };
  const unsure = entries.some(({ state }) => state !== 'applied');
  for (const { state, elsewhere, before: old, after } of entries) {
    if (unsure) for (const record of [old, after]) if (record) may(record);
    if (state !== 'applied') continue;
    const known = old && records.get(keyOf(old));
    if (old) records.delete(keyOf(old));
    if (!after) continue;
    const now = { ...after };
    // of a record that was renamed there, this cache sees another one; of one that went and came again, the same
    if (elsewhere) remarks.set(keyOf(now), new Set(['', known?.remark, remarkBefore(keyOf(now))]));
    if (capabilities.ttlOf === 'set' && isHeld(now)) {
      const siblings = held(setOf(now)).filter((r) => keyOf(r) !== keyOf(now));
      // who names no TTL leaves that of the set as it is; what comes from another set says with its own what was named
      const named = !old || old.ttl !== now.ttl || !isHeld(old) || setOf(old) !== setOf(now);
      if (!named) now.ttl = siblings[0]?.ttl ?? known?.ttl ?? now.ttl;
      for (const sibling of siblings) records.set(keyOf(sibling), { ...sibling, ttl: now.ttl });
    }
    records.set(keyOf(now), now);
  }
  return { records, ttls, remarks };
}

/** In what records differ from what must be; empty when in nothing. */
export function differences({ records, ttls, remarks }: ReturnType<typeof mustBe>, now: readonly Told[]): string[] {
  const left = new Map(records);
  const wrong: string[] = [];
  for (const record of now) {
    const wanted = left.get(keyOf(record));
    left.delete(keyOf(record));
    if (!wanted) wrong.push(`is there, and no change that was applied made it: ${wordsOf(record)}`);
    else if (wanted.remark !== record.remark && !remarks.get(keyOf(record))?.has(record.remark))
      wrong.push(`has the remark "${record.remark}" instead of "${wanted.remark}": ${wordsOf(record)}`);
    else if (wordsOf(wanted) !== wordsOf(record)) {
      const ttl = ttls.get(JSON.stringify([record.host, record.type]))?.has(record.ttl) ? record.ttl : wanted.ttl;
      if (wordsOf({ ...wanted, ttl }) !== wordsOf(record))
        wrong.push(`is not as it was made: ${wordsOf(record)} instead of ${wordsOf(wanted)}`);
    }
  }
  for (const record of left.values()) wrong.push(`is lost: ${wordsOf(record)}`);
  return wrong;
}
