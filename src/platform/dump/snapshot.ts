import type { AppDataSource } from '../database/app-data-source.js';
import { sqlite } from '../database/sqlite-module.js';

type Cells = Record<string, unknown>;

/** A consistent read-only view of the database. */
export interface Snapshot {
  /** Rows of a SELECT; `?` placeholders. */
  rows(sql: string, values?: readonly unknown[]): Promise<Cells[]>;
  close(): Promise<void>;
}

/** Opens a snapshot on its own connection; it does not block writers on any database. */
export async function openSnapshot(source: AppDataSource): Promise<Snapshot> {
  const { type } = source.options;
  if (type === 'better-sqlite3') return sqliteSnapshot(String(source.options.database));
  const postgres = type === 'postgres';
  const runner = source.createQueryRunner();
  const rows: Snapshot['rows'] = (sql, values = []) => {
    let n = 0;
    return runner.query(postgres ? sql.replace(/\?/g, () => `$${++n}`) : sql, [...values]);
  };
  const close = async () => {
    // if this fails, the connection is gone, and the transaction with it
    await runner.query('ROLLBACK').catch(() => undefined);
    await runner.release();
  };
  try {
    if (postgres) {
      await runner.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      // a slow disk may keep the transaction idle
      await runner.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    } else {
      await runner.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      await runner.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
    }
    return { rows, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A second connection to the file, while the service continues to write on its own. */
function sqliteSnapshot(path: string): Snapshot {
  const { DatabaseSync } = sqlite();
  const db = new DatabaseSync(path, { readOnly: true });
  const close = async () => {
    try {
      // the backport keeps prepared statements, and their read lock, until garbage collection, which would prevent
      // truncating the WAL at shutdown
      db.exec('ROLLBACK');
    } finally {
      db.close();
    }
  };
  try {
    db.exec('PRAGMA busy_timeout = 5000');
    db.exec('BEGIN');
    // the snapshot is taken by the first read
    db.prepare('SELECT COUNT(*) FROM migrations').all();
  } catch (error) {
    db.close();
    throw error;
  }
  return { rows: async (sql, values = []) => db.prepare(sql).all(...values) as Cells[], close };
}
