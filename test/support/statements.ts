import { jest } from '@jest/globals';
import mysql from 'mysql2';
import pg from 'pg';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import { requestDeadline } from '../../src/platform/common/deadline.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import type { SqlValue } from '../../src/platform/database/db.js';

interface Statement {
  sql: string;
  values: SqlValue[];
  /** Whether a request that is not answered yet waits for it; otherwise a job or what goes on behind an answer does. */
  ofRequest: boolean;
}
type Sent = string | { text?: string; sql?: string; values?: SqlValue[] };
type Send = (this: object, sent: Sent, values?: SqlValue[], ...more: unknown[]) => unknown;

/**
 * Records the statements that this process sends to its databases.
 * @returns a function that stops recording and returns them, in the order in which they were sent
 */
export function tellStatements(): () => Statement[] {
  const told: Statement[] = [];
  const spies = [
    [BetterSqlite3QueryRunner.prototype, 'query'],
    [AppDataSource.prototype, 'single'],
    [pg.Client.prototype, 'query'],
    [mysql.Connection.prototype, 'query'],
    [mysql.Connection.prototype, 'execute'],
  ].map(([prototype, method]) => {
    const of = prototype as Record<'query', Send>;
    const send = of[method as 'query'];
    return jest.spyOn(of, method as 'query').mockImplementation(function (this: object, sent, values, ...more) {
      const { text, sql, values: inside } = typeof sent === 'string' ? { sql: sent } : sent;
      const ofRequest = Number.isFinite(requestDeadline().answer);
      told.push({ sql: text ?? sql ?? '', values: Array.isArray(values) ? values : (inside ?? []), ofRequest });
      return send.call(this, sent, values, ...more);
    });
  });
  return () => {
    for (const spy of spies) spy.mockRestore();
    return told;
  };
}
