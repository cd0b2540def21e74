import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Actor } from '../../audit/audit.service.js';
import { now } from '../../common/clock.js';
import type { AppError } from '../../common/errors.js';
import { Db, marks, type SqlValue } from '../../database/db.js';
import { PROCESS } from '../../database/leases.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { domainState } from '../../domains/domain-state.js';
import { clipped, OutboundError } from '../../outbound/outbound-error.js';
import { rowOfRecord, type StoredRecord } from '../record-cache.js';
import type { ChangeState, Door } from './change-set.entity.js';
import type { Entry, Net, Planned } from './plan.js';
import { NOBODY } from './unclear.js';

/** What is said of a list beside its changes. */
export interface ListOptions {
  door: Door;
  comment: string;
  /** one edit that does not fit refuses all */
  atomic: boolean;
  /** the set that all edits are of: it is refused where the provider holds other records of it than the cache */
  only?: Pick<StoredRecord, 'host' | 'type' | 'line'>;
}

/** How a list is carried out. */
export interface How {
  background: boolean;
  /** under the lock of the zone, not those of its names */
  whole: boolean;
  /** the domain's last synchronisation when its rows were read */
  syncedAt: string | null;
}

/** What became of the change at one place of a list. */
export interface Ended {
  position: number;
  state: ChangeState;
  /** of the cached record; null after a deletion, or when there is none */
  recordId: number | null;
  error: AppError | null;
}

/** The way by which a request comes in. */
export const doorOf = (actor: Actor): Door => (actor === 'system' ? 'job' : actor.principal?.token ? 'token' : 'api');

const COLUMNS = [
  'change_set_id',
  'position',
  'op',
  'record_id',
  'host',
  'host_before',
  'type',
  'state_before',
  'value_before',
  'state_after',
  'value_after',
  'expected',
  'state',
  'error',
  'tried_at',
] as const;
/** characters of an error that are kept, and of its words */
const MAX_ERROR = 4000;
const MAX_WORDS = 1000;
/** rows of one INSERT */
const CHUNK = 50;

/** The tables of change sets, as far as the one who carries them out writes them. */
@Injectable()
export class ChangeSets {
  constructor(private readonly db: Db) {}

  /**
   * Stores a list before the provider is asked. Edits that did not fit are in it as failed, those that leave all as it
   * is as applied.
   * @param first the nets that are sent at once
   * @returns its id; null when the cache has followed the provider since the list was planned
   */
  async open(
    actor: Actor,
    domain: OpenDomain,
    planned: readonly Planned[],
    nets: readonly Net[],
    first: readonly Net[],
    { background, whole, syncedAt, door, comment, atomic }: ListOptions & How,
  ): Promise<number | null> {
    const caller = actor === 'system' ? null : actor;
    const { principal } = caller ?? { principal: null };
    const set = {
      domain_id: domain.id,
      domain: domain.name,
      door,
      comment,
      atomic,
      background,
      whole,
      actor_type: principal?.kind ?? (caller ? 'user' : 'system'),
      user_id: principal?.userId ?? null,
      username: principal?.username ?? null,
      token_id: principal?.token?.id ?? null,
      token_name: principal?.token?.name ?? null,
      request_id: caller?.requestId ?? '',
      owner: PROCESS,
      state: 'open' as const,
      revision: null,
      total: planned.length,
      created_at: now(),
      finished_at: null,
    };
    const expected = expectedOf(nets);
    const sent = new Set(first.map((net) => net.entry));
    return this.db.transaction(async (manager) => {
      // a synchronisation that ends from now on sees the list; one that ended since the rows were read does not know it
      if ((await domainState.lastSync(this.db, manager, domain.id)) !== syncedAt) return null;
      const id = await this.db.insert('change_sets', set, manager);
      const rows = planned.map((edit) => rowOf(edit, id, sent, expected, set.created_at));
      for (let i = 0; i < rows.length; i += CHUNK) {
        const some = rows.slice(i, i + CHUNK);
        const one = `(${marks(COLUMNS.length)})`;
        await this.db.run(
          `INSERT INTO record_changes (${COLUMNS.join(', ')}) VALUES ${some.map(() => one).join(', ')}`,
          some.flat(),
          manager,
        );
      }
      return id;
    });
  }

  /**
   * Takes up a list that another process left, under its locks.
   * @param planned what is left of it, judged anew
   * @param nets what of it is to be done
   * @returns whether it was still to be taken up
   */
  takeUp(
    id: number,
    planned: readonly Planned[],
    nets: readonly Net[],
    first: readonly Net[],
    whole: boolean,
  ): Promise<boolean> {
    const expected = expectedOf(nets);
    return this.db.transaction(async (manager) => {
      const mine = `UPDATE change_sets SET owner = ?, whole = ?, state = 'open' WHERE id = ? AND owner = ?`;
      if (!(await this.db.run(mine, [PROCESS, whole, id, NOBODY], manager))) return false;
      const ended = planned.flatMap(({ position, error, entry }): Ended[] => {
        const state = stateOf(error, entry, expected);
        return state === 'pending' ? [] : [{ position, state, recordId: null, error }];
      });
      await this.end(manager, id, ended, '');
      await this.trying(manager, id, first);
      return true;
    });
  }

  /** These are sent next. */
  async trying(manager: EntityManager, id: number, nets: readonly Net[]): Promise<void> {
    const positions = nets.flatMap((net) => net.entry.positions);
    if (!positions.length) return;
    await this.db.run(
      `UPDATE record_changes SET tried_at = ? WHERE change_set_id = ? AND position IN (${marks(positions.length)})`,
      [now(), id, ...positions],
      manager,
    );
  }

  /** @param settleAfter of those without a clear end: only a list begun later proves that they were not applied */
  async end(manager: EntityManager, id: number, ended: readonly Ended[], settleAfter: string): Promise<void> {
    const alike = new Map<string, Ended[]>();
    for (const one of ended) {
      const key = `${one.state} ${lateOf(one)} ${one.error ? wordsOf(one.error) : ''}`;
      alike.set(key, [...(alike.get(key) ?? []), one]);
    }
    for (const list of alike.values()) {
      const { state, error } = list[0] as Ended;
      const words = error && wordsOf(error);
      const made = list.filter((one) => one.recordId !== null);
      const ids = made.length
        ? `, record_id = CASE position ${made.map(() => 'WHEN ? THEN ?').join(' ')} ELSE record_id END`
        : '';
      await this.db.run(
        `UPDATE record_changes SET state = ?, error = ?, settle_after = ?, late = ?${ids}
         WHERE change_set_id = ? AND position IN (${marks(list.length)})`,
        [
          state,
          words,
          state === 'unknown' ? settleAfter : null,
          lateOf(list[0] as Ended),
          ...made.flatMap(({ position, recordId }) => [position, recordId]),
          id,
          ...list.map(({ position }) => position),
        ],
        manager,
      );
    }
  }

  /** A sync that lists meanwhile sees that these names have changed. Locks the domain's row. @returns its revision */
  async touch(manager: EntityManager, domainId: number): Promise<number> {
    await domainState.raiseRevision(this.db, manager, domainId);
    return domainState.revision(this.db, manager, domainId);
  }

  /** @param last nothing more of it is tried; `unclear`: some change may have no clear end */
  async commit(manager: EntityManager, id: number, revision: number, last: boolean, unclear: boolean): Promise<void> {
    const sql = `SELECT 1 AS one FROM record_changes WHERE change_set_id = ? AND state = 'unknown' LIMIT 1`;
    const open = last && unclear && (await this.db.row(sql, [id], manager)) !== undefined;
    const end = last ? 'state = ?, finished_at = ?, ' : '';
    await this.db.run(
      `UPDATE change_sets SET ${end}revision = ? WHERE id = ?`,
      [...(last ? (open ? ['unknown', null] : ['done', now()]) : []), revision, id],
      manager,
    );
  }
}

/** Whether the provider may still carry it out. */
const lateOf = ({ state, error }: Ended) => (state === 'unknown' && error instanceof OutboundError ? error.late : null);

const expectedOf = (nets: readonly Net[]): ReadonlyMap<Entry | null, string | null> =>
  new Map(nets.map((net) => [net.entry, net.expected]));

/** Of an edit that is judged: `pending` where something is to be done. */
const stateOf = (error: AppError | null, entry: Entry | null, expected: ReadonlyMap<Entry | null, unknown>) =>
  error ? 'failed' : expected.has(entry) ? 'pending' : 'applied';

function rowOf(
  { position, edit, error, entry, before, after }: Planned,
  id: number,
  sent: ReadonlySet<unknown>,
  expected: ReadonlyMap<Entry | null, string | null>,
  at: string,
): SqlValue[] {
  const shown = after ?? before;
  const wanted = 'record' in edit ? edit.record : null;
  const recordId = entry?.original?.id ?? ('id' in edit ? edit.id : null);
  return [
    id,
    position,
    edit.op,
    recordId,
    (shown ?? wanted)?.host ?? '@',
    before && after && before.host !== after.host ? before.host : null,
    (shown ?? wanted)?.type ?? '',
    ...halves(before),
    ...halves(after),
    entry ? (expected.get(entry) ?? null) : null,
    stateOf(error, entry, expected),
    error && wordsOf(error),
    entry && sent.has(entry) ? at : null,
  ];
}

/** A failure as it is kept: cut, since thousands of one list may have it. */
function wordsOf({ code, message, data }: AppError): string {
  const msg = clipped(message, MAX_WORDS);
  const whole = JSON.stringify({ code, msg, data });
  return whole.length > MAX_ERROR ? JSON.stringify({ code, msg }) : whole;
}

/** A state of a record in two columns: the value has one of its own, as in the cache. */
function halves(row: StoredRecord | null): [string | null, string | null] {
  if (!row) return [null, null];
  const { value, ...rest } = rowOfRecord(row);
  return [JSON.stringify({ ...rest, remark: row.remark }), value];
}
