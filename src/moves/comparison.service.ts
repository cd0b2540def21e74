import { Injectable } from '@nestjs/common';
import type { CacheRow } from '../cache/reconcile.js';
import { RecordCache } from '../cache/record-cache.js';
import { type Edit, type Place, Places } from '../changes/edits/edit.js';
import { type ChangeOf, PastRepository } from '../changes/history/past.repository.js';
import { type ChangedState, stateOf } from '../changes/history/states.js';
import { systemAccess } from '../domains/access-rights.js';
import type { DomainRow } from '../domains/domain-policy.js';
import { ZoneFacts } from '../domains/zone-facts.service.js';
import { due, turn } from '../platform/common/turns.js';
import type { Capabilities } from '../providers/provider.js';
import { deletionsFirst, toward } from '../records/plans/plan-edits.js';
import { carriedOver, heldAs, isOfProvider, reportOf, wantedOf } from './carry-over.js';
import type { MoveReport } from './move-report.dto.js';
import type { MoveRow } from './moves.repository.js';

/** records that changed since the switch, read at once */
const SOME = 500;
const CONTENT = ['host', 'type', 'line', 'value', 'priority'] as const;
/** what makes a record the same one in both zones */
const contentOf = ({ host, type, line, value, priority }: Pick<CacheRow, (typeof CONTENT)[number]>): string =>
  JSON.stringify([host, type, line, value, priority]);
/** what of a record a change may have changed besides */
const REST = ['ttl', 'proxied', 'weight', 'enabled', 'remark'] as const;

/** How two zones of a move differ. */
export interface Comparison {
  /** what makes the other one like the domain */
  edits: Edit[];
  /** what it cannot hold as it is; null: it was the domain's zone, and keeps what it has */
  report: MoveReport | null;
  /** of the domain when they were compared, after the switch */
  version: number | null;
}

/** Compares the two zones of a move, as far as their caches are known. */
@Injectable()
export class MoveComparison {
  constructor(
    private readonly cache: RecordCache,
    private readonly past: PastRepository,
    private readonly places: Places,
    private readonly facts: ZoneFacts,
  ) {}

  /** @param move with the domain as it is now, and the other one */
  async of({ version }: MoveRow, domain: DomainRow, other: DomainRow): Promise<Comparison> {
    const { capabilities } = (await this.facts.connection(domain)).definition;
    const place = await this.places.of({ ...other, access: systemAccess });
    const rows = await this.cache.following(other.id);
    if (version !== null) {
      // what is changed while it is compared is compared once more
      const newest = await this.past.newest(domain.id);
      return { edits: await this.since(version, domain.id, capabilities, place, rows), report: null, version: newest };
    }
    const carried = await carriedOver(await this.cache.following(domain.id), capabilities, place);
    const { edits } = await toward(carried.wanted, rows, true);
    return { edits, report: reportOf(carried), version: null };
  }

  /**
   * What was changed since the switch, for the zone that the domain had before: all else of it stays, also what the new
   * provider cannot hold.
   */
  private async since(
    version: number,
    domainId: number,
    from: Capabilities,
    place: Place,
    rows: readonly CacheRow[],
  ): Promise<Edit[]> {
    const at = new Map(rows.map((row) => [contentOf(row), row]));
    // one that was deleted and made again is there
    const kept = new Set((await this.cache.following(domainId)).map(contentOf));
    const edits: Edit[] = [];
    for (const { before, after, contents } of await this.changedSince(domainId, version)) {
      if (due()) await turn();
      // what it was meanwhile, and is no more, may be there by an earlier comparison
      const old = [...contents].flatMap((content) => (kept.has(content) ? [] : (at.get(content) ?? [])));
      edits.push(...changed(before, old, after && heldAs(after, from, place), after, at));
    }
    return deletionsFirst(edits);
  }

  /** What became of each record behind a version, with all contents that it had. */
  private async changedSince(domainId: number, version: number): Promise<Iterable<Changed>> {
    const records = new Map<number, Changed>();
    const next = (at: readonly [number, number]) => this.past.changesBehind(domainId, at, SOME);
    for (let rows = await next([version + 1, 0]); rows.length; ) {
      for (const row of rows) {
        if (due()) await turn();
        const [before, after] = [ours(row, 'before'), ours(row, 'after')];
        const record = records.get(row.record_id) ?? { before, after, contents: new Set() };
        for (const state of [before, after]) if (state) record.contents.add(contentOf(state));
        records.set(row.record_id, { ...record, after });
      }
      const { version: last, id } = rows.at(-1) as ChangeOf;
      rows = await next([last, id]);
    }
    return records.values();
  }
}

/** What became of a record. */
interface Changed {
  before: ChangedState | null;
  after: ChangedState | null;
  contents: Set<string>;
}

/** A state of a record that a change has kept; null where there was none, or it is the provider's own. */
function ours(row: ChangeOf, which: 'before' | 'after'): ChangedState | null {
  const state = stateOf(row[`state_${which}`], row[`value_${which}`]);
  return state && !isOfProvider(state) ? state : null;
}

const deleted = (rows: readonly CacheRow[]): Edit[] =>
  rows.flatMap(({ id, read_only }) => (read_only ? [] : [{ op: 'delete', id }]));

/**
 * What one record's change asks of the zone that the domain had.
 * @param old records there that it was, and is no more @param held how it can be held there now
 */
function changed(
  before: ChangedState | null,
  old: readonly CacheRow[],
  held: ReturnType<typeof heldAs> | null,
  after: ChangedState | null,
  at: ReadonlyMap<string, CacheRow>,
): Edit[] {
  if (!after || !held || 'why' in held) return deleted(old);
  const { record } = held;
  const wanted = wantedOf(record, after.remark);
  const there = at.get(contentOf(record));
  if (!there) return [...deleted(old), { ...wanted, op: 'create' }];
  const named = REST.filter((field) => wanted.patch[field] !== undefined && before?.[field] !== after[field]);
  const patch = Object.fromEntries(named.map((field) => [field, wanted.patch[field]]));
  const agrees = named.every((field) => there[field] === wanted.patch[field]);
  return [
    ...deleted(old.filter(({ id }) => id !== there.id)),
    ...(agrees ? [] : [{ op: 'update' as const, id: there.id, patch }]),
  ];
}
