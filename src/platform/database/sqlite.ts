import { closeSync, openSync } from 'node:fs';
import type { DataSource, QueryRunner } from 'typeorm';
import { PIECE_MS, turn } from '../common/turns.js';
import { ownerOnly } from '../config/choice-file.js';
import { sqlite } from './sqlite-module.js';

/** ms that a statement waits while another process writes */
const BUSY_MS = 5000;
/** Prepared statements that are kept; statements with lists of values have as many texts as lists have lengths. */
export const KEPT_STATEMENTS = 1000;
/** of pages: the indices of a large zone are written all over, and fewer are read and written twice */
const CACHE_KIB = 12_288;

/**
 * Ends a statement, outside of a transaction, whose effect need not survive a power cut: it does not wait for the disk.
 * Nothing but a comment elsewhere.
 */
export const BRIEF = ' /* brief */';

/** Node before 22.16 does not tell whether a statement answers rows. */
const READS_ONLY = /^\s*(SELECT|PRAGMA|WITH|EXPLAIN|VALUES)\b/i;
const READS = new RegExp(`${READS_ONLY.source}|\\sRETURNING \\w+$`, 'i');

/** Whether a statement answered an integer that a JavaScript number cannot hold. */
const isTooLarge = (error: unknown): boolean =>
  /too large to be represented as a JavaScript number/.test((error as Error).message);

/** A row, or its cells, with the integers that a number cannot hold as text, as the other databases' drivers answer. */
function withTexts(row: unknown): unknown {
  const cell = (value: unknown) => {
    if (typeof value !== 'bigint') return value;
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  };
  if (Array.isArray(row)) return row.map(cell);
  return Object.fromEntries(Object.entries(row as object).map(([name, value]) => [name, cell(value)]));
}

/** SQLite for TypeORM without a compiler: `node:sqlite` or its backport, in the shape of better-sqlite3. */
export function sqliteDriver(path: string, { DatabaseSync } = sqlite()) {
  if (path !== ':memory:') makePrivate(path);
  // kept by the closures below: a database that is collected closes under its statements
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA cache_size = -${CACHE_KIB}`);
  const prepare = (sql: string) => {
    const statement = db.prepare(sql);
    const lasting = (...values: unknown[]) => statement.run(...values);
    const brief = (...values: unknown[]) => {
      db.exec('PRAGMA synchronous = NORMAL');
      try {
        return statement.run(...values);
      } finally {
        db.exec('PRAGMA synchronous = FULL');
      }
    };
    const run = sql.endsWith(BRIEF) ? brief : lasting;
    const cells = (values: unknown[]): unknown[] => {
      try {
        return statement.all(...values);
      } catch (error) {
        // what writes is not done twice
        if (!READS_ONLY.test(sql) || !isTooLarge(error)) throw error;
        statement.setReadBigInts(true);
        try {
          return statement.all(...values).map(withTexts);
        } finally {
          statement.setReadBigInts(false);
        }
      }
    };
    const names = statement.columns?.().map((column) => column.name);
    if (!names) {
      const all = (...values: unknown[]) => cells(values).map((row) => ({ ...(row as object) }));
      return { reader: READS.test(sql), run, all };
    }
    // rows cross from native code as arrays a third faster than as objects
    statement.setReturnArrays?.(names.length > 0);
    const all = (...values: unknown[]) =>
      (cells(values) as unknown[][]).map((cells) => {
        const row: Record<string, unknown> = {};
        for (let i = 0; i < names.length; i++) row[names[i] as string] = cells[i];
        return row;
      });
    return { reader: names.length > 0, run, all };
  };
  const pragma = (text: string) => {
    const statement = prepare(`PRAGMA ${text}`);
    return statement.reader ? statement.all() : statement.run();
  };
  const close = () => {
    try {
      // the file alone is whole then: the backport leaves the log to the next start while statements are prepared.
      // This waits for no other process, and empties the log when none is in its way
      db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      db.close();
    }
  };
  return { prepare, pragma, exec: (sql: string) => db.exec(sql), close };
}

/** The file is for its owner only, before anything is in it; SQLite gives the files beside it the same rights. */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch {
    return; // opening the database says why
  }
  for (const suffix of ['', '-wal', '-shm']) ownerOnly(path + suffix);
}

// biome-ignore lint/suspicious/noExplicitAny: the query runner's class is not exported by TypeORM
type RunnerClass = new (driver: unknown) => any;

type Prepare = ReturnType<typeof sqliteDriver>['prepare'];

/** Carries one statement out, outside of transactions. */
export type Alone = (sql: string, values: unknown[]) => Promise<{ rows: unknown[]; affected: number }>;

/**
 * Makes transactions safe on SQLite, where TypeORM has one connection for everybody. Each caller gets a runner of its
 * own; a transaction holds the connection from start to end, any other statement holds it for itself, first come first
 * served. Without this, parallel transactions fail and foreign statements are swept into a rollback. Call it on a fresh
 * driver, before `initialize()`.
 * @returns how to have a single statement done without a runner, which costs as much as a short statement
 */
export function serializeTransactions(dataSource: DataSource): Alone {
  const driver = dataSource.driver as unknown as {
    createQueryRunner(mode: string): QueryRunner;
    databaseConnection?: { prepare: Prepare };
  };
  const Base = driver.createQueryRunner('master').constructor as RunnerClass;
  const statements = new Map<string, ReturnType<Prepare>>();
  const waiting: (() => void)[] = [];
  let busy = false;
  const take = (): Promise<void> | undefined => {
    if (busy) return new Promise<void>((resolve) => waiting.push(resolve));
    busy = true;
    return undefined;
  };
  const free = () => {
    const next = waiting.shift();
    if (next) next();
    else busy = false;
  };

  class SerializedRunner extends Base {
    // one statement cache for all runners, else every request would prepare its statements again
    stmtCache = statements;
    private mine = false;
    /** when everybody else had a turn */
    private turned = 0;

    async startTransaction(level?: unknown) {
      if (!this.mine) {
        await take();
        this.mine = true;
        this.turned = performance.now();
      }
      try {
        await super.startTransaction(level);
      } catch (error) {
        this.end();
        throw error;
      }
    }

    async commitTransaction() {
      try {
        await super.commitTransaction();
      } finally {
        this.end();
      }
    }

    async rollbackTransaction() {
      try {
        await super.rollbackTransaction();
      } catch (error) {
        // a COMMIT that found the disk full has undone the transaction already, and so may any other failure of a disk
        this.isTransactionActive = false;
        this.transactionDepth = 0;
        throw error;
      } finally {
        this.end();
      }
    }

    async query(...args: unknown[]) {
      if (this.mine) {
        // statements here are done at once, and thousands of them would follow each other without a turn between them;
        // while the schema changes nobody else is served, and another process waits for the lock that this one has
        const { migrating } = dataSource as { migrating?: boolean };
        if (!migrating && performance.now() - this.turned > PIECE_MS) {
          await turn(true);
          this.turned = performance.now();
        }
        return super.query(...args);
      }
      const mine = take();
      if (mine) await mine;
      try {
        return await super.query(...args);
      } finally {
        free();
      }
    }

    private end() {
      if (this.mine && !this.isTransactionActive) {
        this.mine = false;
        free();
      }
    }
  }
  driver.createQueryRunner = () => new SerializedRunner(driver) as unknown as QueryRunner;
  return async (sql, values) => {
    const mine = take();
    if (mine) await mine;
    try {
      let statement = statements.get(sql);
      if (!statement) {
        const { databaseConnection } = driver;
        if (!databaseConnection) throw new Error('The connection is not established');
        statement = databaseConnection.prepare(sql);
        statements.set(sql, statement);
        // TypeORM's runners keep theirs in the same place, by the same rule
        if (statements.size > KEPT_STATEMENTS) statements.delete(statements.keys().next().value as string);
      }
      const given = values.map((value) => (typeof value === 'boolean' ? Number(value) : value));
      if (statement.reader) return { rows: statement.all(...given), affected: 0 };
      return { rows: [], affected: Number(statement.run(...given).changes) };
    } finally {
      free();
    }
  };
}
