import { Injectable } from '@nestjs/common';
import type { RowValues } from '../../cache/reconcile.js';
import type { StoredRecord } from '../../cache/record-cache.js';
import { recordKey } from '../../dns/record.js';
import { now } from '../../platform/common/clock.js';
import type { Capabilities } from '../../providers/provider.js';
import type { Net } from '../edits/working-copy.js';
import { type InDoubtChange, InDoubtRepository } from '../history/in-doubt.repository.js';
import { asSent, hostsOf } from './evidence.js';
import { InDoubtChanges } from './in-doubt-changes.js';

/** Writes that went unanswered: the provider may still apply them, even after later ones have been answered. */
@Injectable()
export class InFlightWrites {
  constructor(
    private readonly changes: InDoubtRepository,
    private readonly inDoubt: InDoubtChanges,
  ) {}

  /**
   * Until when a list has to wait, because the provider may carry out an earlier change as late as then, which would
   * take away what the list has made meanwhile: of the same record, in the same set of records, or anywhere in a zone
   * that is written as a whole. Who repeats the very same wish need not wait; then only time tells whether it comes
   * once more.
   * @param domainIds all domains that are the zone
   * @param names where the list finds all as it shall be, and would not, if such a change came
   * @param standing records in doubt that come out of the list as they went in
   * @returns null: not at all
   */
  async until(
    domainIds: readonly number[],
    nets: readonly Net[],
    names: readonly string[],
    standing: readonly StoredRecord[],
    replaces: Capabilities['replaces'],
  ): Promise<string | null> {
    const all = (await Promise.all(domainIds.map((id) => this.inDoubt.of(id)))).flat();
    const late = asSent(all.filter((change) => change.late && (change.settle_after ?? '') > now()));
    const wishes = new Set(late.map(({ change }) => wish(change.record_id, change.after)));
    const touches = touched(nets, names, standing, wishes);
    let until: string | null = null;
    const repeated: number[] = [];
    for (const { change, parts } of late) {
      const found = placesOf(change, parts, replaces).flatMap((place) => touches.get(place) ?? []);
      if (!found.length) continue;
      if (found.every((same) => same)) repeated.push(...parts.map(({ id }) => id));
      else if ((change.settle_after ?? '') > (until ?? '')) until = change.settle_after;
    }
    if (until === null) await this.changes.maybeTwice(repeated);
    return until;
  }
}

const ZONE = 'zone';

/** What makes two wishes one: the record, and all that it shall be. */
function wish(recordId: number | null, row: RowValues | null): string {
  if (!row) return JSON.stringify([recordId]);
  const { host, type, value, line, priority, ttl, proxied, weight, enabled } = row;
  return JSON.stringify([recordId, host, type, value, line, priority, ttl, proxied, weight, enabled]);
}

const contentOf = (row: RowValues): string => `content ${recordKey(row)}`;

/** The keys of what a list touches, and of each whether all that it wants there repeats a write in flight. */
function touched(
  nets: readonly Net[],
  names: readonly string[],
  standing: readonly StoredRecord[],
  wishes: ReadonlySet<string>,
): ReadonlyMap<string, boolean> {
  const places = new Map<string, boolean>();
  const touch = (place: string, same: boolean) => places.set(place, same && (places.get(place) ?? true));
  for (const name of names) for (const place of [ZONE, `name ${name}`]) touch(place, false);
  for (const row of standing)
    for (const place of [ZONE, `name ${row.host}`, ...ownPlaces(row, row, false)]) touch(place, false);
  for (const { before, after } of nets) {
    const same = wishes.has(wish(before?.id ?? null, after));
    touch(ZONE, same);
    for (const row of [before, after]) if (row) touch(`name ${row.host}`, same);
    for (const place of ownPlaces(before, after, same)) touch(place, same);
  }
  return places;
}

/** The keys of the record itself that a change touches. @param same it repeats a write in flight */
function ownPlaces(before: Net['before'], after: Net['after'], same: boolean): string[] {
  // another domain of the zone knows the record by another number
  if (before) return [`record ${before.id}`, contentOf(before), `remote ${before.remote_id}`];
  // made once more, it does no harm; but what is seen of it from now on proves nothing of the first
  return after && same ? [contentOf(after)] : [];
}

/** Where a list meets what a change that comes late would write. */
function placesOf(
  { record_id: id, before, after }: InDoubtChange,
  parts: readonly InDoubtChange[],
  replaces: Capabilities['replaces'],
): string[] {
  if (replaces === 'zone') return [ZONE];
  if (replaces === 'set') return parts.flatMap(hostsOf).map((host) => `name ${host}`);
  if (id !== null) return [`record ${id}`, ...(before?.remote_id ? [`remote ${before.remote_id}`] : [])];
  // it would bring back what the list takes away
  return after ? [contentOf(after)] : [];
}
