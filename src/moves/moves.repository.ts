import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Maker } from '../access/maker.js';
import { Db, type SqlValue } from '../platform/database/db.js';
import { ENDED, type Move, type MoveState, RUNNING } from './move.entity.js';

/** A stored move. */
export type MoveRow = Omit<Move, 'domain' | 'target'>;
/** What may change of it. */
export type MoveChange = Partial<Omit<MoveRow, 'id' | 'domain_id' | 'account_id' | 'from_account_id' | 'created_at'>>;

const COLUMNS = `m.id, m.domain_id, m.target_id, m.account_id, m.from_account_id, m.state, m.running, m.taken_in, m.report,
  m.revision, m.target_revision, m.version, m.behind, m.behind_since, m.failures, m.retry_at, m.error, m.maker_id,
  m.maker_token_id, m.hold_reason, m.created_at, m.updated_at`;
const GOING = `m.state IN ('following', 'switched')`;

type Raw = { [K in keyof MoveRow]: SqlValue };

const parsed = ({ report, running, taken_in, ...row }: Raw): MoveRow => ({
  ...(row as Pick<MoveRow, keyof typeof row>),
  report: report === null ? null : JSON.parse(report as string),
  running: running ? RUNNING : ENDED,
  taken_in: Boolean(taken_in),
});

const written = ({ report, ...change }: MoveChange): Record<string, SqlValue> => ({
  ...(change as Record<string, SqlValue>),
  ...(report !== undefined && { report: report && JSON.stringify(report) }),
});

/** SQL of `moves`. */
@Injectable()
export class MovesRepository {
  constructor(private readonly db: Db) {}

  /** The newest move of a domain. */
  async newest(domainId: number, manager?: EntityManager): Promise<MoveRow | null> {
    const sql = `SELECT ${COLUMNS} FROM moves m WHERE m.domain_id = ? ORDER BY m.id DESC LIMIT 1`;
    const row = await this.db.row<Raw>(sql, [domainId], manager);
    return row ? parsed(row) : null;
  }

  /** Whether a move that runs takes a domain as its other one. */
  async isTarget(domainId: number): Promise<boolean> {
    const sql = 'SELECT 1 AS one FROM moves m WHERE m.target_id = ? AND m.running = TRUE';
    return (await this.db.row(sql, [domainId])) !== undefined;
  }

  /** Whether a domain is on its way itself. */
  async isMoving(domainId: number): Promise<boolean> {
    const sql = 'SELECT 1 AS one FROM moves m WHERE m.domain_id = ? AND m.running = TRUE';
    return (await this.db.row(sql, [domainId])) !== undefined;
  }

  /** @returns its id */
  insert(move: Omit<MoveRow, 'id'>, manager: EntityManager): Promise<number> {
    return this.db.insert('moves', written(move), manager);
  }

  /** Changes a move that is in one of these states. @returns whether it was */
  async update(
    id: number,
    states: readonly MoveState[],
    change: MoveChange,
    manager?: EntityManager,
  ): Promise<boolean> {
    const values = written(change);
    const columns = Object.keys(values).map((column) => `${column} = ?`);
    const sql = `UPDATE moves SET ${columns.join(', ')} WHERE id = ? AND state IN (${states.map(() => '?').join(', ')})`;
    return (await this.db.run(sql, [...Object.values(values), id, ...states], manager)) > 0;
  }

  /** Changes are not followed any more. @returns false where they were not already */
  async hold(id: number, reason: string, manager: EntityManager): Promise<boolean> {
    const sql = 'UPDATE moves SET hold_reason = ? WHERE id = ? AND hold_reason IS NULL AND running = TRUE';
    return (await this.db.run(sql, [reason, id], manager)) > 0;
  }

  /** The domains whose changes are followed. */
  async followed(): Promise<number[]> {
    const sql = `SELECT m.domain_id FROM moves m WHERE ${GOING} AND m.hold_reason IS NULL`;
    return (await this.db.rows<{ domain_id: number }>(sql)).map(({ domain_id }) => domain_id);
  }

  /** Of those, those where something was changed since they were compared, or that are tried again by now. */
  due(at: string): Promise<Pick<MoveRow, 'domain_id' | 'maker_id'>[]> {
    return this.db.rows<Pick<MoveRow, 'domain_id'> & Maker>(
      `SELECT m.domain_id, m.maker_id FROM moves m JOIN domains d ON d.id = m.domain_id JOIN domains t ON t.id = m.target_id
        WHERE ${GOING} AND m.hold_reason IS NULL AND (m.retry_at IS NULL OR m.retry_at <= ?)
          AND (m.failures > 0 OR m.revision IS NULL OR m.revision <> d.revision OR m.target_revision <> t.revision)
        ORDER BY m.id`,
      [at],
    );
  }
}
