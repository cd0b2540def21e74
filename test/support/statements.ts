import { jest } from '@jest/globals';
import mysql from 'mysql2';
import pg from 'pg';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import type { SqlValue } from '../../src/platform/database/db.js';

interface Statement {
  sql: string;
  values: SqlValue[];
}
type Sent = string | { text?: string; sql?: string; values?: SqlValue[] };

/**
 * Records the statements that this process sends to its databases.
 * @returns a function that stops recording and returns them
 */
export function tellStatements(): () => Statement[] {
  const spies = [
    jest.spyOn(BetterSqlite3QueryRunner.prototype, 'query'),
    jest.spyOn(pg.Client.prototype, 'query'),
    jest.spyOn(mysql.Connection.prototype, 'query'),
    jest.spyOn(mysql.Connection.prototype, 'execute'),
  ];
  return () =>
    spies.flatMap((spy) => {
      const calls = spy.mock.calls as unknown as [Sent, SqlValue[] | undefined][];
      spy.mockRestore();
      return calls.map(([sent, values]) => {
        const { text, sql, values: inside } = typeof sent === 'string' ? { sql: sent } : sent;
        return { sql: text ?? sql ?? '', values: Array.isArray(values) ? values : (inside ?? []) };
      });
    });
}
