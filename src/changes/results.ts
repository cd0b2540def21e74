import type { AuditEntry } from '../audit/audit.service.js';
import type { StoredRecord } from '../cache/record-cache.js';
import { shownValue } from '../dns/record.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { AppError, because, type ErrorData, errors } from '../platform/common/errors.js';
import { type FieldError } from '../platform/common/words/codes.js';
import { say } from '../platform/common/words/field-text.js';
import type { Ended } from './change-sets.js';
import { type Edit, itemOf, type Source } from './edits/edit.js';
import { recordView } from './edits/record.dto.js';
import type { Net, Planned } from './edits/working-copy.js';
import type { ChangeState, RecordChange } from './history/change-set.entity.js';

/**
 * What became of one edit: the row's id and the row as it is now (null after a deletion; of a list that went on by
 * itself only its id is known), and whether anything was written; or why not.
 */
export type Result =
  | { ok: true; id: number | null; row: StoredRecord | null; written: boolean }
  | { ok: false; error: AppError; state: 'failed' | 'unknown' | 'not_tried' };

/** @param ended what was stored of it; undefined: it came out as it was, and nothing was done */
export function resultOf({ error, entry, before, after }: Planned, ended: Ended | undefined): Result {
  if (error) return { ok: false, error, state: 'failed' };
  if (ended?.error) return { ok: false, error: ended.error, state: ended.state as 'failed' };
  const id = entry?.now ? (ended?.recordId ?? entry.original?.id ?? null) : null;
  return {
    ok: true,
    id,
    row: ended ? ended.row : (entry?.now ?? null),
    written: ended !== undefined && before !== after,
  };
}

/**
 * Refuses a list whole.
 * @param isList whether an only edit is one of a list, too
 * @throws AppError that of the only edit, or of the first that does not fit, with all of them by where they are written
 */
export function assertAllFit(planned: readonly Planned[], isList = planned.length > 1): void {
  const wrong = planned
    .flatMap(({ error, edit, position }) => (error ? [{ error, ...sourceOf(edit, position) }] : []))
    .toSorted((a, b) => a.order - b.order);
  const [first] = wrong;
  if (!first) return;
  if (!isList) throw first.error;
  const list = wrong.flatMap(({ error, tell }) => partsOf(error).map(tell));
  const { status, code } = first.error;
  const words = `Nothing was changed: ${wrong.length} of ${planned.length} changes do not fit; ${first.at}: ${first.error.message}`;
  const params = { wrong: wrong.length, total: planned.length, at: first.at, words: first.error.message };
  throw new AppError(status, code, words, because('changes_do_not_fit', params, { errors: list }));
}

const sourceOf = (edit: Edit, position: number): Source =>
  ('source' in edit && edit.source) || itemOf('changes', position);

const partsOf = (error: AppError) => {
  const told = (error.data as { errors?: FieldError[] } | undefined)?.errors;
  if (told?.length) return told;
  const { reason, params } = (error.data ?? {}) as Partial<ErrorData>;
  // the reason is what a client, and a translation, tells it by
  return [
    { path: '', message: error.message, code: 'conflict' as const, ...(reason && { params: { ...params, reason } }) },
  ];
};

/** Bytes of values that a list keeps, before and after: a short list can name long values thousands of times. */
const MAX_KEPT = 32 * 1024 * 1024;

/** @throws AppError 400001 */
export function assertStorable(planned: readonly Planned[]): void {
  const kept = planned.reduce((sum, { before, after }) => sum + lengthOf(before) + lengthOf(after), 0);
  if (kept <= MAX_KEPT) return;
  const words = say(
    'hold {size} bytes of values before and after, more than the {max} of one list: send shorter lists',
    { size: kept, max: MAX_KEPT },
  );
  throw errors.field('changes', words, 'length', { max: MAX_KEPT });
}

const lengthOf = (row: StoredRecord | null): number => row?.value.length ?? 0;

/** The audit entry of a list with one edit: as of the edit itself. */
export function singleEntries(
  { planned, domain }: { planned: readonly Planned[]; domain: OpenDomain },
  rows: ReadonlyMap<Net, StoredRecord | null>,
  ended: readonly Ended[],
): AuditEntry[] {
  const [{ edit, before, after }] = planned as [Planned];
  const [written] = [...rows.values()];
  const shown = after ?? before;
  return ended.map(({ state, error }) => ({
    action: `record.${edit.op}`,
    target: { type: 'record', id: written?.id ?? before?.id ?? null, name: `${shown?.host} ${shown?.type}` },
    before: before && recordView(before, domain),
    after: state === 'applied' ? (written ? recordView(written, domain) : null) : wanted(after),
    result: state === 'applied' ? 'ok' : 'failed',
    error: error?.message ?? null,
  }));
}

/** The audit entry of a list: counts, and the change set for the rest. */
export function listEntry(
  {
    planned,
    domain,
    ended: before,
  }: { planned: readonly Planned[]; domain: OpenDomain; ended: ReadonlyMap<number, Ended> },
  ended: readonly Ended[],
): AuditEntry {
  const counts = { total: planned.length, applied: 0, failed: 0, unknown: 0, not_tried: 0, unchanged: 0 };
  const all = new Map([...before, ...ended.map((one) => [one.position, one] as const)]);
  for (const { position, error } of planned) {
    const state = error ? 'failed' : (all.get(position)?.state ?? 'unchanged');
    if (state !== 'pending') counts[state]++;
  }
  const lost = counts.total - counts.applied - counts.unchanged;
  return {
    action: 'record.batch',
    target: { type: 'domain', id: domain.id, name: domain.name },
    after: counts,
    result: lost ? 'failed' : 'ok',
    error: lost ? `${lost} of ${counts.total} changes were not applied` : null,
  };
}

/** The same of a list that went on by itself, piece by piece. */
export function storedEntry({ domain }: { domain: OpenDomain }, counts: Record<ChangeState, number>): AuditEntry {
  const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const lost = total - counts.applied;
  return {
    action: 'record.batch',
    target: { type: 'domain', id: domain.id, name: domain.name },
    after: { total, ...counts },
    result: lost ? 'failed' : 'ok',
    error: lost ? `${lost} of ${total} changes were not applied` : null,
  };
}

/** Why what was not begun of a list will not be. */
export const cancelled = (): AppError => errors.conflict('list_cancelled');

/** What became of an edit of a list that went on by itself. @param pending whether something was to be done */
export function storedResult(
  { error, entry, before, after }: Planned,
  row: Pick<RecordChange, 'record_id' | 'state'> & { error: string | null },
  pending: boolean,
): Result {
  if (error) return { ok: false, error, state: 'failed' };
  if (row.state === 'applied')
    return { ok: true, id: entry?.now ? row.record_id : null, row: null, written: pending && before !== after };
  const { code, msg, data } = JSON.parse(row.error ?? '{"code":500002,"msg":""}') as NonNullable<RecordChange['error']>;
  const state = row.state === 'pending' ? 'not_tried' : row.state;
  return { ok: false, error: new AppError(Math.floor(code / 1000), code, msg, data), state };
}

/** What an edit that failed meant to make, its value as it would have been shown. */
const wanted = (after: StoredRecord | null) => {
  if (!after) return null;
  const { host, type, ttl, line, proxied, priority, weight, enabled, remark, expires_at } = after;
  return { host, type, value: shownValue(after), ttl, line, proxied, priority, weight, enabled, remark, expires_at };
};
