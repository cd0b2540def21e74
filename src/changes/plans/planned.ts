import type { Edit } from '../edits/edit.js';
import { type ChangedState, patchOf } from '../history/states.js';

export type PlanOp = 'create' | 'update' | 'delete';

/** A change of a plan: what it makes of one record. */
export interface PlannedChange {
  op: PlanOp;
  /** of a creation: that of the record which it brings back; null: a new one */
  recordId: number | null;
  before: ChangedState | null;
  after: ChangedState | null;
  /** what stood at its names: see `baseOf` */
  base: string;
}

interface Named {
  host: string;
}

/** The names that a change touches. */
export const hostsOf = ({ before, after }: { before: Named | null; after: Named | null }): string[] => [
  ...new Set([before, after].flatMap((state) => (state ? [state.host] : []))),
];

/** The edit that makes a planned change, if the record is still what it was planned on. */
export function editOf({ op, recordId, before, after }: PlannedChange): Edit {
  if (op === 'delete' || !after) return { op: 'delete', id: recordId ?? 0, ifMatch: '*' };
  const { remote_id: _, read_only: __, remark, ...record } = after;
  if (!before) return { op: 'create', record, ttlGiven: true, remark, ...(recordId !== null && { revives: recordId }) };
  const [from, to] = [patchOf(before), patchOf(after)];
  const keys = (Object.keys(to) as (keyof typeof to)[]).filter((key) => to[key] !== from[key]);
  return {
    op: 'update',
    id: recordId ?? 0,
    ifMatch: '*',
    patch: Object.fromEntries(keys.map((key) => [key, to[key]])),
  };
}
