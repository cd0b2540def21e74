import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { doorOf } from '../../changes/change-sets.js';
import { creation, type Edit, type Place, update, upsert } from '../../changes/edits/edit.js';
import { Places } from '../../changes/edits/places.js';
import { type RecordInput, RecordPatch } from '../../changes/edits/record.dto.js';
import { ChangeEngine } from '../../changes/engine.service.js';
import { readsRecords } from '../../changes/in-doubt/who.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { AppError, errors, type FieldError, fieldError } from '../../platform/common/errors.js';
import { validList } from '../../platform/common/validation.js';
import { BatchChange, type BatchInput, type BatchResult } from './batch.dto.js';

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
   * fit
   */
  async run(
    me: Caller,
    domain: OpenDomain,
    { changes: list, atomic, comment }: BatchInput,
    wait: number,
  ): Promise<BatchResult> {
    const changes = await validList(BatchChange, list, 'changes');
    const wrong = changes.flatMap(lacking);
    if (wrong.length) throw errors.validation(wrong.slice(0, 100));
    const place = await this.places.of(domain);
    const edits: Edit[] = [];
    for (const change of changes) {
      if (edits.length % TURN === TURN - 1) await nextTurn();
      edits.push(editOf(place, change));
    }
    const options = { door: doorOf(me), comment: comment ?? '', atomic: atomic ?? false };
    const { changeSet, results } = await this.engine.list(me, domain, edits, options, wait * 1000, place.connection);
    // whether something was to be done would confirm a guess of a caller that may not read
    const reads = readsRecords(me);
    const outcomes = results?.map((result) => {
      if (result.ok)
        return { ok: true, ...(result.id !== null && { id: result.id }), ...(reads && { changed: result.written }) };
      const { code, message: msg, data } = result.error;
      return {
        ok: false,
        state: result.state,
        error: { code, msg, ...(data !== undefined && { data: data as object }) },
      };
    });
    return { change_set_id: reads || !outcomes ? changeSet : null, outcomes: outcomes ?? null };
  }
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

/** What a change cannot do without, and what it has no use for. */
function lacking(change: BatchChange, i: number): FieldError[] {
  const given = (Object.keys(change) as (keyof BatchChange)[]).filter((key) => (change[key] ?? null) !== null);
  const path = (key: string) => `changes.${i}.${key}`;
  const missing = NEEDS[change.op].filter((key) => !given.includes(key));
  const makes = change.op === 'create' || change.op === 'upsert';
  if (makes && change.host === undefined && change.name === undefined) missing.push('host');
  const allowed = ALLOWS[change.op];
  const useless = allowed ? given.filter((key) => !allowed.includes(key)) : [];
  if (makes && given.includes('id')) useless.push('id');
  return [
    ...missing.map((key) => fieldError(path(key), `is required for "${change.op}"`, 'required')),
    ...useless.map((key) => fieldError(path(key), `is not known for "${change.op}"`, 'unknown')),
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
