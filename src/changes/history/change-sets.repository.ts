import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Maker } from '../../access/maker.js';
import { Db, marks, type SqlValue } from '../../platform/database/db.js';
import type { ChangedHosts, ChangeSet, Door } from './change-set.entity.js';
import { WHO } from './who.js';

/** `owner` of a change set whose process is gone, or that is paused: nobody works on it until somebody takes it up. */
export const NOBODY = '';

/** A set that somebody works on, or did. */
export interface OpenSet {
  id: number;
  background: boolean | number;
  whole: boolean | number;
  owner: string;
}

type State = ChangeSet['state'];
/** Of a set that is taken away with its domain; `waits`: a change of it that nobody has begun. */
export type Leaving = Pick<ChangeSet, 'id' | 'domain_id' | 'domain' | 'state' | 'background'> & {
  waits: number | null;
};

/** What is shown of a set. */
export const VIEW = `id, domain_id, door, door_key, actor_type, user_id, username, token_id, token_name, request_id, comment, atomic, state,
  total, hold_reason, approver_id, approver, override_reason, created_at, finished_at, paused_until, cancelled_at`;

/** Lists of changes. */
@Injectable()
export class ChangeSetsRepository {
  constructor(private readonly db: Db) {}

  insert(set: Readonly<Record<string, SqlValue>>, manager: EntityManager): Promise<number> {
    return this.db.insert('change_sets', set, manager);
  }

  /** Gives a set that nobody works on, and that may go on now, to a holding of locks. @returns 0 where it may not */
  takeUp(id: number, owner: string, whole: boolean, at: string, manager: EntityManager): Promise<number> {
    const sql = `UPDATE change_sets SET owner = ?, whole = ?, state = 'open', paused_until = NULL
        WHERE id = ? AND owner = ? AND cancelled_at IS NULL AND hold_reason IS NULL
          AND (paused_until IS NULL OR paused_until <= ?)`;
    return this.db.run(sql, [owner, whole, id, NOBODY, at], manager);
  }

  /** Takes an open set from an owner that is gone. @returns 0 where it has ended, or somebody else was faster */
  adopt(id: number, owner: string, manager: EntityManager): Promise<number> {
    const sql = `UPDATE change_sets SET owner = ? WHERE id = ? AND state = 'open' AND owner = ?`;
    return this.db.run(sql, [NOBODY, id, owner], manager);
  }

  /** Who works on a set that has not ended. */
  async ownerOf(id: number, manager: EntityManager): Promise<string | undefined> {
    const sql = "SELECT owner FROM change_sets WHERE id = ? AND state <> 'done'";
    return (await this.db.row<{ owner: string }>(sql, [id], manager))?.owner;
  }

  async update(id: number, fields: Readonly<Record<string, SqlValue>>, manager: EntityManager): Promise<void> {
    const sets = Object.keys(fields).map((name) => `${name} = ?`);
    await this.db.run(
      `UPDATE change_sets SET ${sets.join(', ')} WHERE id = ?`,
      [...Object.values(fields), id],
      manager,
    );
  }

  /** Ends the pause and the hold of a set that nobody works on, with this state. */
  async close(id: number, state: State, finishedAt: string | null, manager: EntityManager): Promise<void> {
    const sql = `UPDATE change_sets SET state = ?, finished_at = ?, paused_until = NULL, hold_reason = NULL
      WHERE id = ? AND owner = ?`;
    await this.db.run(sql, [state, finishedAt, id, NOBODY], manager);
  }

  /** The state of a set that nobody works on, or that was in doubt, when what was in doubt of it has an end. */
  async settled(id: number, state: State, finishedAt: string | null, manager: EntityManager): Promise<void> {
    const sql = `UPDATE change_sets SET state = ?, finished_at = ? WHERE id = ? AND (state = 'unknown' OR owner = ?)`;
    await this.db.run(sql, [state, finishedAt, id, NOBODY], manager);
  }

  /** A set in doubt is left to whoever takes it up. */
  async free(id: number, manager: EntityManager): Promise<void> {
    const sql = `UPDATE change_sets SET owner = ? WHERE id = ? AND state = 'unknown'`;
    await this.db.run(sql, [NOBODY, id], manager);
  }

  async finish(id: number, at: string): Promise<void> {
    await this.db.run(`UPDATE change_sets SET state = 'done', finished_at = ? WHERE id = ?`, [at, id]);
  }

  /** @returns 0 where somebody works on it, or it has ended or was cancelled */
  unpause(id: number, manager: EntityManager): Promise<number> {
    const sql = `UPDATE change_sets SET paused_until = NULL
        WHERE id = ? AND owner = ? AND state <> 'done' AND cancelled_at IS NULL`;
    return this.db.run(sql, [id, NOBODY], manager);
  }

  /** Ends the pauses of a domain's lists that nobody works on. */
  async unfreeze(domainId: number): Promise<void> {
    const sql = `UPDATE change_sets SET paused_until = NULL
      WHERE state IN ('open', 'unknown') AND domain_id = ? AND owner = ? AND paused_until IS NOT NULL`;
    await this.db.run(sql, [domainId, NOBODY]);
  }

  /** Its pauses since something of it was applied. */
  async pauses(id: number, manager: EntityManager): Promise<number> {
    const sql = 'SELECT pauses FROM change_sets WHERE id = ?';
    return Number((await this.db.row<{ pauses: number | null }>(sql, [id], manager))?.pauses ?? 0);
  }

  async pause(id: number, until: string | null, pauses: number, manager: EntityManager): Promise<void> {
    const sql = 'UPDATE change_sets SET paused_until = ?, pauses = ? WHERE id = ?';
    await this.db.run(sql, [until, pauses, id], manager);
  }

  /** Of a set with changes that nobody has begun whether it is held; undefined: of another one. */
  goesOn(id: number): Promise<Pick<ChangeSet, 'hold_reason'> | undefined> {
    const sql = `SELECT s.hold_reason FROM change_sets s WHERE s.id = ?
      AND EXISTS (SELECT 1 FROM record_changes c WHERE c.change_set_id = s.id AND c.state = 'pending')`;
    return this.db.row(sql, [id]);
  }

  /** By which way it came in. */
  async doorOf(id: number, manager: EntityManager): Promise<Door> {
    const sql = 'SELECT door FROM change_sets WHERE id = ?';
    return (await this.db.row<Pick<ChangeSet, 'door'>>(sql, [id], manager))?.door ?? 'api';
  }

  async isCancelled(id: number, manager: EntityManager): Promise<boolean> {
    const sql = 'SELECT 1 AS one FROM change_sets WHERE id = ? AND cancelled_at IS NOT NULL';
    return (await this.db.row(sql, [id], manager)) !== undefined;
  }

  /** @returns 0 where it has ended, or was cancelled before */
  cancel(id: number, at: string, manager: EntityManager): Promise<number> {
    const sql = "UPDATE change_sets SET cancelled_at = ? WHERE id = ? AND state <> 'done' AND cancelled_at IS NULL";
    return this.db.run(sql, [at, id], manager);
  }

  /** What decides who may cancel it. */
  toCancel(
    id: number,
    domainId: number,
  ): Promise<Pick<ChangeSet, 'user_id' | 'token_id' | 'state' | 'cancelled_at'> | undefined> {
    const sql = 'SELECT user_id, token_id, state, cancelled_at FROM change_sets WHERE id = ? AND domain_id = ?';
    return this.db.row(sql, [id, domainId]);
  }

  /** The sets of these domains that have not ended. */
  leaving(domainIds: readonly number[]): Promise<Leaving[]> {
    const sql = `SELECT s.id, s.domain_id, s.domain, s.state, s.background, (SELECT MIN(c.id) FROM record_changes c
          WHERE c.change_set_id = s.id AND c.state = 'pending' AND c.tried_at IS NULL) AS waits
        FROM change_sets s WHERE s.state <> 'done' AND s.domain_id IN (${marks(domainIds.length)}) ORDER BY s.id`;
    return this.db.rows(sql, domainIds);
  }

  /** Whether some set of these domains has not ended. */
  async anyUnfinished(domainIds: readonly number[]): Promise<boolean> {
    const which = `domain_id IN (${marks(domainIds.length)}) AND state <> 'done'`;
    return (await this.db.row(`SELECT 1 AS one FROM change_sets WHERE ${which} LIMIT 1`, domainIds)) !== undefined;
  }

  /** The open sets of a domain that somebody works on, or did. */
  open(domainId: number): Promise<OpenSet[]> {
    return this.db.rows(
      `SELECT id, background, whole, owner FROM change_sets WHERE state = 'open' AND domain_id = ? AND owner <> ? ORDER BY id`,
      [domainId, NOBODY],
    );
  }

  /** All sets in doubt, and the open ones that somebody works on, with the accounts of domains that are still there. */
  unfinished(): Promise<
    (Pick<OpenSet, 'id' | 'whole' | 'owner'> & {
      state: string;
      domain_id: number;
      account_id: number | null;
      owner_id: number | null;
    })[]
  > {
    return this.db.rows(
      `SELECT s.id, s.state, s.whole, s.owner, s.domain_id, d.account_id, d.owner_id
         FROM change_sets s LEFT JOIN domains d ON d.id = s.domain_id
        WHERE s.state = 'unknown' OR (s.state = 'open' AND s.owner <> ?)`,
      [NOBODY],
    );
  }

  /** Whether a change of a set that is atomic has failed, or is in doubt. */
  async hasFailedWhole(id: number, manager: EntityManager): Promise<boolean> {
    const sql = `SELECT 1 AS one FROM change_sets s JOIN record_changes c ON c.change_set_id = s.id
      WHERE s.id = ? AND s.atomic = ? AND c.state IN ('unknown', 'failed') LIMIT 1`;
    return (await this.db.row(sql, [id, true], manager)) !== undefined;
  }

  /** Who asked for it, of which domain, and of how many changes. */
  async forAudit(id: number, manager: EntityManager): Promise<ChangeSet> {
    const sql = `SELECT ${WHO}, domain_id, domain, total FROM change_sets WHERE id = ?`;
    return (await this.db.row<ChangeSet>(sql, [id], manager)) as ChangeSet;
  }

  /** Those in the background that nobody works on and that may go on now, oldest first. */
  resumable(at: string): Promise<{ id: number; domain_id: number }[]> {
    return this.db.rows(
      `SELECT s.id, s.domain_id FROM change_sets s WHERE s.state IN ('open', 'unknown') AND s.owner = ? AND s.background = ?
           AND s.hold_reason IS NULL AND (s.paused_until IS NULL OR s.paused_until <= ?)
          AND EXISTS (SELECT 1 FROM record_changes c WHERE c.change_set_id = s.id AND c.state = 'pending') ORDER BY s.id`,
      [NOBODY, true, at],
    );
  }

  toResume(id: number): Promise<ChangeSet | undefined> {
    return this.db.row(
      `SELECT ${WHO}, door, comment, atomic, planned, owner, hold_reason, override_reason, paused_until,
         cancelled_at, confirmed_at, created_at
         FROM change_sets WHERE id = ?`,
      [id],
    );
  }

  /** Whether a set goes on, after a piece of it. */
  progress(id: number): Promise<Pick<ChangeSet, 'owner' | 'hold_reason' | 'paused_until'> | undefined> {
    return this.db.row('SELECT owner, hold_reason, paused_until FROM change_sets WHERE id = ?', [id]);
  }

  /** Whose right counts for a set. */
  makerOf(id: number): Promise<(Maker & Pick<ChangeSet, 'user_id' | 'token_id' | 'door_key'>) | undefined> {
    const sql = 'SELECT user_id, token_id, maker_id, maker_token_id, door_key FROM change_sets WHERE id = ?';
    return this.db.row(sql, [id]);
  }

  /** @param by who works on it @returns 0 where somebody else does, or it has ended, is cancelled or held */
  hold(id: number, reason: string, by: string, manager: EntityManager): Promise<number> {
    return this.db.run(
      `UPDATE change_sets SET hold_reason = ?, owner = ?
          WHERE id = ? AND owner = ? AND hold_reason IS NULL AND cancelled_at IS NULL AND state <> 'done'`,
      [reason, NOBODY, id, by],
      manager,
    );
  }

  holdReason(
    id: number,
    domainId: number,
    manager?: EntityManager,
  ): Promise<Pick<ChangeSet, 'hold_reason'> | undefined> {
    const sql = 'SELECT hold_reason FROM change_sets WHERE id = ? AND domain_id = ?';
    return this.db.row(sql, [id, domainId], manager);
  }

  /** A held set goes on with the right of this maker. @returns 0 where it is not held */
  confirm(id: number, { maker_id, maker_token_id }: Maker, at: string, manager: EntityManager): Promise<number> {
    return this.db.run(
      `UPDATE change_sets SET hold_reason = NULL, maker_id = ?, maker_token_id = ?, confirmed_at = ?
          WHERE id = ? AND hold_reason IS NOT NULL AND state <> 'done'`,
      [maker_id, maker_token_id, at, id],
      manager,
    );
  }

  /** The oldest that had ended by then. */
  async endedBefore(time: string, limit: number): Promise<number[]> {
    const sql = `SELECT id FROM change_sets WHERE state = 'done' AND finished_at < ? ORDER BY id LIMIT ${limit}`;
    return (await this.db.rows<{ id: number }>(sql, [time])).map(({ id }) => id);
  }

  /** With their changes. */
  async remove(ids: readonly number[], manager: EntityManager): Promise<void> {
    await this.db.run(`DELETE FROM change_sets WHERE id IN (${marks(ids.length)})`, ids, manager);
  }

  one(id: number, domainId: number): Promise<ChangeSet | undefined> {
    return this.db.row(`SELECT ${VIEW} FROM change_sets WHERE id = ? AND domain_id = ?`, [id, domainId]);
  }

  /** The newest of a domain, 0 when there is none. */
  async newest(domainId: number): Promise<number> {
    const sql = 'SELECT MAX(id) AS id FROM change_sets WHERE domain_id = ?';
    return Number((await this.db.row<{ id: number | null }>(sql, [domainId]))?.id ?? 0);
  }

  /** What sets of a request that are newer than `after` have changed, or may have. */
  touched(domainId: number, requestId: string, after: number): Promise<(ChangedHosts & { type: string })[]> {
    return this.db.rows(
      `SELECT DISTINCT c.host, c.host_before, c.type FROM change_sets s JOIN record_changes c ON c.change_set_id = s.id
        WHERE s.domain_id = ? AND s.id > ? AND s.request_id = ? AND c.state IN ('applied', 'unknown')`,
      [domainId, after, requestId],
    );
  }

  /** How many have not ended, by their state. */
  async countUnfinished(): Promise<Record<string, number>> {
    const rows = await this.db.rows<{ state: string; n: number }>(
      "SELECT state, COUNT(*) AS n FROM change_sets WHERE state IN ('open', 'unknown') GROUP BY state",
    );
    return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
  }
}
