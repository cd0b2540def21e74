import { endAlike, endOf, type RowValues } from '../../cache/reconcile.js';
import { shownValue } from '../../dns/record.js';
import type { NewRecord } from '../edits/edit.js';
import { defined } from '../edits/record-rules.js';
import type { ChangedRecord } from './change-set.entity.js';

/** A state of a record in a change: all that the cache holds of it. */
export type ChangedState = ChangedRecord & { value: string };

/** A cached record, or what a synchronisation makes of one. */
type Row = RowValues & { remark: string };

/** A state as two columns keep it: the value has one of its own, as in the cache. */
export function storedState(row: Row | null): [state: string | null, value: string | null] {
  if (!row) return [null, null];
  const { remote_id, host, type, ttl, line, proxied, priority, weight, enabled, read_only, remark, value } = row;
  const extra = row.extra ?? null;
  const state = { remote_id, host, type, ttl, line, proxied, priority, weight, enabled, read_only, extra, remark };
  // why it is held says nothing of the record
  const { end_hold_reason: _, ...end } = endOf(row);
  return [JSON.stringify({ ...state, ...(end.expires_at && end) }), value];
}

/** What such columns hold; null: there was no record. */
export const stateOf = (state: string | null, value: string | null): ChangedState | null =>
  state === null ? null : { ...(JSON.parse(state) as ChangedRecord), value: value ?? '' };

/** Whether two states are one to a reader: neither the provider's id of a record nor why it is read-only counts. */
export function sameState(a: Row | null, b: Row | null): boolean {
  if (!a || !b) return a === b;
  return (
    a.host === b.host &&
    a.type === b.type &&
    a.value === b.value &&
    a.ttl === b.ttl &&
    a.line === b.line &&
    a.proxied === b.proxied &&
    a.priority === b.priority &&
    a.weight === b.weight &&
    a.enabled === b.enabled &&
    a.read_only === b.read_only &&
    a.remark === b.remark &&
    endAlike(a, b) &&
    (a.extra ?? null) === (b.extra ?? null)
  );
}

/** A state as the fields of an update that makes it. */
export function patchOf(state: ChangedState) {
  const { host, type, value, ttl, line, proxied, enabled, remark, weight, priority } = state;
  return {
    ...{ host, type, value: shownValue({ type, value }), ttl, line, proxied, enabled, remark },
    ...defined({ weight, priority }),
    expires_at: state.expires_at ?? null,
  };
}

/** A state as a new record that is like it; who makes it is who says when it ends. */
export function creationOf({ remote_id: _, read_only: __, read_only_reason: ___, ...state }: ChangedState): NewRecord {
  const { remark, expires_at, end_maker_id: _m, end_maker_token_id: _t, end_hold_reason: _h, ...record } = state;
  return { record, ttlGiven: true, remark, expires_at };
}
