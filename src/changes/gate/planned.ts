import type { StoredRecord } from '../../cache/record-cache.js';
import { due, turn } from '../../platform/common/turns.js';
import type { Edit } from '../edits/edit.js';
import type { Net } from '../edits/working-copy.js';
import { type ChangedState, creationOf, patchOf, sameState } from '../history/states.js';

export type PlanOp = 'create' | 'update' | 'delete';

/** What a list makes of one record. */
export interface Change {
  op: PlanOp;
  /** of a creation: that of the record which it brings back; null: a new one */
  recordId: number | null;
  before: ChangedState | null;
  after: ChangedState | null;
}

/** A change of a list, with the position of the first edit that makes it; null: no edit names its record. */
export type ListedChange = Change & { position: number | null };

/** A change of a plan. */
export interface PlannedChange extends Change {
  /** what stood at its names: see `baseOf` */
  base: string;
}

/** What a list that was planned comes to. */
interface Planned {
  nets: readonly Net[];
  moved: () => Iterable<{ before: StoredRecord; after: StoredRecord }>;
}

/** The changes of a list, in the order of the edits that make them; behind them the records whose TTLs move along. */
export async function changesOf({ nets, moved }: Planned): Promise<ListedChange[]> {
  const changes: ListedChange[] = [];
  const add = (before: StoredRecord | null, after: StoredRecord | null, revives: number | null, at: number | null) => {
    const op = after ? (before ? 'update' : 'create') : 'delete';
    const states = { before: before && stateOf(before), after: after && stateOf(after) };
    changes.push({ op, recordId: before?.id ?? revives, ...states, position: at });
  };
  for (const { before, after, entry } of nets) {
    if (due()) await turn();
    if (!sameState(before, after)) add(before, after, entry.revives ?? null, entry.positions[0] ?? null);
  }
  for (const { before, after } of moved()) {
    if (due()) await turn();
    add(before, after, null, null);
  }
  return changes;
}

/**
 * Of its end the time: by whose right it ends is known when it is carried out. Named one by one: what rest and spread
 * put together is three times as large.
 */
const stateOf = (row: StoredRecord): ChangedState => ({
  remote_id: row.remote_id,
  host: row.host,
  type: row.type,
  ttl: row.ttl,
  line: row.line,
  proxied: row.proxied,
  priority: row.priority,
  weight: row.weight,
  enabled: row.enabled,
  read_only: row.read_only,
  extra: row.extra ?? null,
  remark: row.remark,
  expires_at: row.expires_at ?? null,
  value: row.value,
});

interface Named {
  host: string;
}

/** The names that a change touches. */
export const hostsOf = ({ before, after }: { before: Named | null; after: Named | null }): string[] => [
  ...new Set([before, after].flatMap((state) => (state ? [state.host] : []))),
];

/** The edit that makes a planned change, if the record is still what it was planned on. */
export function editOf({ op, recordId, before, after }: Change): Edit {
  if (op === 'delete' || !after) return { op: 'delete', id: recordId ?? 0, ifMatch: '*' };
  if (!before) return { op: 'create', ...creationOf(after), ...(recordId !== null && { revives: recordId }) };
  const [from, to] = [patchOf(before), patchOf(after)];
  const keys = (Object.keys(to) as (keyof typeof to)[]).filter((key) => to[key] !== from[key]);
  return {
    op: 'update',
    id: recordId ?? 0,
    ifMatch: '*',
    patch: Object.fromEntries(keys.map((key) => [key, to[key]])),
  };
}
