import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { sleep } from '../common/clock.js';
import { AppDataSource } from './app-data-source.js';

/** Values for `?` placeholders. */
export type SqlValue = string | number | boolean | null;

// deadlock or serialisation failure: PostgreSQL, MariaDB
const RETRY = new Set(['40P01', '40001', 'ER_LOCK_DEADLOCK', 'ER_CHECKREAD']);
const TRIES = 5;

const DOWN =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENOTFOUND|EAI_AGAIN|08|57P0|PROTOCOL_|ER_SERVER_SHUTDOWN|ER_CON_COUNT|ER_CONNECTION_KILLED)/;

/** The driver's own error behind TypeORM's. */
const driverError = (error: unknown) =>
  ((error as { driverError?: unknown }).driverError ?? error) as { code?: string; message?: string };

/** Whether an error says that the database cannot be reached, rather than that a statement was wrong. */
export function isDatabaseDown(error: unknown): boolean {
  const { code, message } = driverError(error);
  return (
    DOWN.test(String(code ?? '')) ||
    /Connection terminated|timeout exceeded when trying to connect|Pool is closed|is in closed state|is not established/.test(
      message ?? '',
    )
  );
}

/** Whether an error is the violation of a unique index. */
export function isDuplicate(error: unknown): boolean {
  const { code, message } = driverError(error);
  return code === '23505' || code === 'ER_DUP_ENTRY' || /UNIQUE constraint failed/.test(message ?? '');
}

/**
 * Plain SQL for hot paths and for statements that the query builder says worse. One text for all kinds: `?` placeholders, no quoted names,
 * nothing that only one kind knows. Booleans come back as 0/1 or true/false, counts as number or text: map rows explicitly.
 */
@Injectable()
export class Db {
  private readonly numbered = new Map<string, string>();

  constructor(readonly source: AppDataSource) {}

  /** `?` placeholders as the driver wants them. */
  text(sql: string): string {
    if (this.source.options.type !== 'postgres') return sql;
    let out = this.numbered.get(sql);
    if (out === undefined) {
      let n = 0;
      out = sql.replace(/\?/g, () => `$${++n}`);
      if (this.numbered.size < 500) this.numbered.set(sql, out);
    }
    return out;
  }

  /** Rows of a SELECT. */
  rows<T>(
    sql: string,
    values: readonly SqlValue[] = [],
    manager: { query: EntityManager['query'] } = this.source,
  ): Promise<T[]> {
    return manager.query(this.text(sql), values as SqlValue[]) as Promise<T[]>;
  }

  /** First row of a SELECT, if any. */
  async row<T>(sql: string, values: readonly SqlValue[] = [], manager?: EntityManager): Promise<T | undefined> {
    return (await this.rows<T>(sql, values, manager))[0];
  }

  /** Runs an INSERT, UPDATE or DELETE, by itself again after a deadlock. @returns how many rows it changed */
  run(sql: string, values: readonly SqlValue[] = [], manager?: EntityManager): Promise<number> {
    return manager ? this.runOnce(sql, values, manager) : this.again(() => this.runOnce(sql, values));
  }

  private async runOnce(sql: string, values: readonly SqlValue[], manager?: EntityManager): Promise<number> {
    const runner = manager?.queryRunner ?? this.source.createQueryRunner();
    try {
      const result = (await runner.query(this.text(sql), values as SqlValue[], true)) as unknown as {
        affected?: number;
        raw?: { affectedRows?: number };
      };
      return result.affected ?? result.raw?.affectedRows ?? 0;
    } finally {
      if (!manager) await runner.release();
    }
  }

  /**
   * All or nothing. The work may run again after a deadlock, so it must not touch anything but the database, and never a provider:
   * on SQLite it holds the one connection, elsewhere row locks. Inside, use only the manager that is handed in.
   */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    // MariaDB's default, repeatable read, locks gaps, and parallel writers of one domain would deadlock
    return this.again(() =>
      this.source.options.type === 'better-sqlite3'
        ? this.source.transaction(work)
        : this.source.transaction('READ COMMITTED', work),
    );
  }

  /** Does it again after a deadlock, which undid all of it: a whole transaction, or one statement outside of any. */
  async again<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (attempt >= TRIES || !RETRY.has(driverError(error).code ?? '')) throw error;
        await sleep(Math.random() * 20 * attempt);
      }
    }
  }
}

/** `?, ?, ?` for an IN list of this length. */
export const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ');
