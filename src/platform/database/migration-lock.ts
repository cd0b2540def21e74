import type { DataSource, QueryRunner } from 'typeorm';
import { sleep, wallMs } from '../common/clock.js';
import type { Tell } from '../schema/tell.js';

/** any constant, the same in every process; PostgreSQL keeps such locks by database */
const LOCK = 748_113_901;
/** MariaDB, MySQL: locks are the server's, and there may be a second installation on it */
const LOCK_NAME = `CONCAT('zoneward/', SHA1(DATABASE()))`;
const LOOK_MS = 200;
/** ms after which the caller goes on without the database, and tries again later */
const WAIT_MS = 60_000;

/** By looks, not by a statement that waits: it would meet the time limit of statements. */
async function take(runner: QueryRunner, sql: string, tell: Tell): Promise<void> {
  const until = wallMs() + WAIT_MS;
  for (let looks = 0; ; looks++) {
    const [row] = (await runner.query(sql)) as [{ got: unknown }];
    if (Number(row.got)) return;
    if (!looks) tell({}, 'another process changes the schema of the database; waiting for it');
    if (wallMs() > until) throw new Error('another process has been changing the schema for a minute');
    await sleep(LOOK_MS);
  }
}

/**
 * The lock of whoever changes the schema; it ends with its connection. SQLite has none: its file is of one process.
 * @returns what gives it back
 */
export async function lockMigrations(source: DataSource, tell: Tell): Promise<() => Promise<void>> {
  const { type } = source.options;
  if (type === 'better-sqlite3') return async () => undefined;
  const postgres = type === 'postgres';
  const runner = source.createQueryRunner();
  const unlock = async () => {
    // what fails here went with its connection, and the lock with it
    await (postgres ? runner.commitTransaction() : runner.query(`SELECT RELEASE_LOCK(${LOCK_NAME})`)).catch(
      () => undefined,
    );
    await runner.release();
  };
  try {
    if (postgres) {
      // of a transaction: behind a pooler the next statement may come to another connection
      await runner.startTransaction();
      await runner.query('SET LOCAL idle_in_transaction_session_timeout = 0');
      await take(runner, `SELECT pg_try_advisory_xact_lock(${LOCK})::int AS got`, tell);
    } else await take(runner, `SELECT GET_LOCK(${LOCK_NAME}, 0) AS got`, tell);
    return unlock;
  } catch (error) {
    await unlock();
    throw error;
  }
}
