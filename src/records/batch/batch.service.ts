import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { doorOf } from '../../changes/change-sets.js';
import { creation, type Edit, type Place, Places, update, upsert } from '../../changes/edits/edit.js';
import { type RecordInput, RecordPatch } from '../../changes/edits/record.dto.js';
import { ChangeEngine } from '../../changes/engine.service.js';
import { readsRecords } from '../../changes/history/who.js';
import type { Result } from '../../changes/results.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { AppError, errors, fieldError } from '../../platform/common/errors.js';
import { validList } from '../../platform/common/validation.js';
import { type FieldError } from '../../platform/common/words/codes.js';
import { say } from '../../platform/common/words/field-text.js';
import type { Conditions } from '../../platform/http/conditions.js';
import { BatchChange, type BatchCounts, type BatchInput, type BatchResult } from './batch.dto.js';

/** changes that are read before everybody else has a turn */
const TURN = 100;

/** Lists of changes as clients send them. */
@Injectable()
export class BatchService {
  constructor(
    private readonly engine: ChangeEngine,
    private readonly places: Places,
  ) {}

  /**
   * @param wait seconds that a long list is waited for
   * @throws AppError 400001 for changes that lack what their `op` needs; of an atomic list for the first that does not
   * fit; 412001 where the domain is not at the revision of `If-Match`
   */
  async run(
    me: Caller,
    domain: OpenDomain,
    { changes: list, atomic, comment }: BatchInput,
    wait: number,
    { ifMatch }: Conditions,
  ): Promise<BatchResult> {
    const place = await this.places.of(domain);
    const edits = await this.editsOf(place, list);
    const how = { atomic: Boolean(atomic), inOnePiece: atomic === 'vendor' };
    const options = { door: doorOf(me), comment: comment ?? '', ...how, ifMatch };
    const { changeSet, results, pieces } = await this.engine.list(
      me,
      domain,
      edits,
      options,
      wait * 1000,
      place.connection,
    );
    return batchResult(me, changeSet, results, atomic ? pieces : null);
  }

  /** Changes as clients send them, as edits. @throws AppError 400001 naming all fields that are wrong */
  async editsOf(place: Place, list: readonly BatchChange[]): Promise<Edit[]> {
    const changes = await validList(BatchChange, list, 'changes');
    const wrong = [...changes.flatMap(oneName), ...changes.flatMap(lacking)];
    if (wrong.length) throw errors.validation(wrong.slice(0, 100));
    const edits: Edit[] = [];
    for (const change of changes) {
      if (edits.length % TURN === TURN - 1) await nextTurn();
      edits.push(editOf(place, change));
    }
    return edits;
  }
}

/** The answer of a list. @param results null: it goes on */
export function batchResult(
  me: Caller,
  changeSet: number | null,
  results: readonly Result[] | null,
  pieces: number | null,
): BatchResult {
  // whether something was to be done would confirm a guess of a caller that may not read
  const reads = readsRecords(me);
  const outcomes = results?.map((result) => {
    if (result.ok) return { ok: true, ...namesOf(result.id), ...(reads && { changed: result.written }) };
    const { code, message: msg, data } = result.error;
    return {
      ok: false,
      state: result.state,
      error: { code, msg, ...(data !== undefined && { data: data as object }) },
    };
  });
  const counts = results ? countsOf(results) : null;
  return { change_set_id: reads || !outcomes ? changeSet : null, outcomes: outcomes ?? null, counts, pieces };
}

function countsOf(results: readonly Result[]): BatchCounts {
  const counts = { applied: 0, failed: 0, unknown: 0, not_tried: 0 };
  for (const result of results) counts[result.ok ? 'applied' : result.state]++;
  return counts;
}

/**
 * The HTTP status of an ended list.
 * @param anyFails whether the caller takes a list that was not applied whole for a failure
 * @throws AppError 422002 with the whole answer, where that is so, or all changes failed
 */
export function statusOf(result: BatchResult, anyFails: boolean): 200 | 202 | 207 {
  const { counts } = result;
  if (!counts) return 202;
  const lost = counts.failed + counts.unknown + counts.not_tried;
  if (!lost) return 200;
  // what is in doubt may have been applied
  if (!anyFails && counts.applied + counts.unknown) return 207;
  throw errors.unapplied(lost, lost + counts.applied, result);
}

const NEEDS: Record<BatchChange['op'], (keyof BatchChange)[]> = {
  create: ['type', 'value'],
  upsert: ['type', 'value'],
  update: ['id'],
  delete: ['id'],
  status: ['id', 'enabled'],
};

const ALLOWS: Partial<Record<BatchChange['op'], (keyof BatchChange)[]>> = {
  delete: ['op', 'id'],
  status: ['op', 'id', 'enabled'],
};

const namesOf = (id: number | null) => (id === null ? {} : { record_id: id, id });

/** Reads the two names of a record's id as one. @returns what is wrong where they differ */
function oneName(change: BatchChange, i: number): FieldError[] {
  const { id, record_id } = change;
  delete change.record_id;
  if (change.op === 'create' || change.op === 'upsert') return [];
  if (record_id != null && id != null && record_id !== id)
    return [fieldError(`changes.${i}.record_id`, 'and id must be the same', 'conflict')];
  if (record_id != null) change.id = record_id;
  return [];
}

/** What a change cannot do without, and what it has no use for. */
function lacking(change: BatchChange, i: number): FieldError[] {
  const given = (Object.keys(change) as (keyof BatchChange)[]).filter((key) => (change[key] ?? null) !== null);
  const path = (key: string) => `changes.${i}.${key}`;
  const { op } = change;
  const missing = NEEDS[op].filter((key) => !given.includes(key));
  const makes = op === 'create' || op === 'upsert';
  if (makes && change.host === undefined && change.name === undefined) missing.push('host');
  const allowed = ALLOWS[op];
  const useless = allowed ? given.filter((key) => !allowed.includes(key)) : [];
  return [
    ...missing.map((key) => fieldError(path(key), say('is required for "{op}"', { op }), 'required')),
    ...useless.map((key) => fieldError(path(key), say('is not known for "{op}"', { op }), 'unknown')),
  ];
}

function editOf(place: Place, { op, id = 0, ...fields }: BatchChange): Edit {
  try {
    if (op === 'create') return { op, ...creation(place, fields as RecordInput) };
    if (op === 'upsert') return upsert(place, fields as RecordInput);
    if (op === 'update') return update(place, id, Object.assign(new RecordPatch(), fields));
    return op === 'status' ? { op, id, enabled: fields.enabled as boolean } : { op, id };
  } catch (misfit) {
    if (misfit instanceof AppError) return { op, misfit };
    throw misfit;
  }
}
