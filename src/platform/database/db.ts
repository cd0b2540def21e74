import { Injectable } from '@nestjs/common';
import { type EntityManager, QueryFailedError } from 'typeorm';
import { sleep } from '../common/clock.js';
import { sha256 } from '../common/hash.js';
import { Traces } from '../traces/traces.js';
import { AppDataSource } from './app-data-source.js';

/** Values for `?` placeholders. */
export type SqlValue = string | number | boolean | null;

/** A connection, or the pool, of a driver, as far as `Db` needs it. */
interface Postgres {
  query(
    query: { name: string | undefined; text: string },
    values: SqlValue[],
  ): Promise<{ rows: unknown[]; rowCount: number | null }>;
}
type MysqlCall = (sql: string, values: SqlValue[], done: (error: Error | null, result: MysqlResult) => void) => void;
type MysqlResult = unknown[] | { affectedRows: number; insertId: number };
interface Mysql {
  /** text that is parsed each time */
  query: MysqlCall;
  /** a prepared statement, kept by the connection */
  execute: MysqlCall;
}

/** Rows of a SELECT, or how many rows another statement changed. */
interface Answer {
  rows: unknown[];
  affected: number;
  /** MariaDB, MySQL: the id that an INSERT gave to its row */
  inserted?: number;
}

/** A statement as PostgreSQL and MariaDB get it. */
interface Statement {
  text: string;
  uses: number;
  /** of the prepared statement, once it is used often enough to be worth its place in every connection */
  name?: string;
}

/** A text that was used so often is prepared. */
const OFTEN = 3;
/** Statements of one process: more are parsed each time they are used. Each one takes memory in every connection. */
const MAX_PREPARED = 300;
/** Texts that are counted, and the placeholders of the longest: a list of many ids has another length the next time. */
const MAX_COUNTED = 2000;
const MAX_MARKS = 64;

/** names of OpenTelemetry for what its `type` names */
const SYSTEMS: Record<string, string> = { 'better-sqlite3': 'sqlite', postgres: 'postgresql' };

/** PostgreSQL: a newer process changed a table, and what a prepared statement answers with it. */
const STALE = '0A000';
/** PostgreSQL: the same, and behind a pooler one that is not in this connection, or stands there already. */
const UNPREPARED = [STALE, '26000', '42P05'];

// deadlock or serialisation failure, PostgreSQL and MariaDB; a statement that has to be prepared anew
const RETRY = new Set(['40P01', '40001', 'ER_LOCK_DEADLOCK', 'ER_CHECKREAD', ...UNPREPARED]);
const TRIES = 5;

/** Of a node of a Galera cluster that has lost the others: what it is told, and what it was to commit. */
const CUT_OFF = ['ER_UNKNOWN_COM_ERROR', 'ER_ERROR_DURING_COMMIT'];

/** Away, ending, or without a connection for us: 53300 is PostgreSQL's, the limit of a user MariaDB's. */
const DOWN = new RegExp(
  `^(${[
    ...['ECONN', 'EPIPE', 'ETIMEDOUT', 'EHOST', 'ENOTFOUND', 'EAI_AGAIN'],
    ...['08', '57P0', '53300'],
    ...['PROTOCOL_', 'ER_SERVER_SHUTDOWN', 'ER_CON_COUNT', 'ER_CONNECTION_KILLED'],
    ...['ER_USER_LIMIT_REACHED', 'ER_TOO_MANY_USER_CONNECTIONS'],
    ...CUT_OFF,
  ].join('|')})`,
);

/** The driver's own error behind TypeORM's. */
const driverError = (error: unknown) =>
  ((error as { driverError?: unknown }).driverError ?? error) as { code?: string; errno?: number; message?: string };

/** Of a transaction whose connection ended, as the driver of PostgreSQL says it; TypeORM says that it was released. */
const LOST = 'Connection terminated';

/** Whether an error says that the database cannot be reached, rather than that a statement was wrong. */
export function isDatabaseDown(error: unknown): boolean {
  const { code, message } = driverError(error);
  return (
    DOWN.test(String(code ?? '')) ||
    /Connection terminated|^Query runner already released|timeout exceeded when trying to connect|Pool is closed|is in closed state|is not established/.test(
      message ?? '',
    )
  );
}

const FULL = 'The disk of the database is full';
const READ_ONLY = 'The database is read-only';

/**
 * Limits of time, of statements and of waiting for a row, or an operator who ended the statement; 1969 is MariaDB's,
 * which the driver has no name for. And deadlocks that were met each time.
 */
const SLOW = new Set([
  ...['57014', '55P03', '1969', 'ER_QUERY_TIMEOUT', 'ER_QUERY_INTERRUPTED', 'ER_LOCK_WAIT_TIMEOUT'],
  ...['40P01', '40001', 'ER_LOCK_DEADLOCK'],
]);

/** Whether the database ended a statement, or undid a transaction, that could not get done. */
export function isDatabaseSlow(error: unknown): boolean {
  const { code, errno } = driverError(error);
  return SLOW.has(String(code ?? errno ?? ''));
}

/** PostgreSQL and MariaDB, MySQL: disk full, or read-only as a standby or by an operator's word. */
const UNWRITABLE = new Map([
  ['53100', FULL],
  ['ER_DISK_FULL', FULL],
  ['ER_RECORD_FILE_FULL', FULL],
  ['25006', READ_ONLY],
  ['ER_OPTION_PREVENTS_STATEMENT', READ_ONLY],
  ['ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', READ_ONLY],
  ['ER_OPEN_AS_READONLY', READ_ONLY],
  ['ER_READ_ONLY_MODE', READ_ONLY],
]);

/** Why a database that answers cannot write, in words for whoever runs it; null for all other errors. */
export function whyUnwritable(error: unknown): string | null {
  const { code, message } = driverError(error);
  const known = UNWRITABLE.get(String(code ?? ''));
  if (known) return known;
  if (/database or disk is full/.test(message ?? '')) return FULL;
  if (/attempt to write a readonly database/.test(message ?? '')) return READ_ONLY;
  return /disk I\/O error/.test(message ?? '') ? 'The disk of the database fails' : null;
}

/**
 * Whether the same may go well the next time, all of it being undone. SQLite: another process, such as a command of the
 * administration, wrote between what a transaction read and what it wants to write.
 */
export function mayGoWell(error: unknown): boolean {
  const { code, message } = driverError(error);
  return RETRY.has(code ?? '') || /database is locked/.test(message ?? '');
}

/** Whether another server may be the one to ask by now, at the same address. */
const isTheWrongServer = (error: unknown): boolean =>
  whyUnwritable(error) === READ_ONLY || CUT_OFF.includes(driverError(error).code ?? '');

/** Whether a prepared statement was not carried out, which its text will be. */
const isUnprepared = (error: unknown): boolean => UNPREPARED.includes(String(driverError(error).code ?? ''));

/** Whether an error is one of the database, of a statement or of its connection. */
export const isFromDriver = (error: unknown): boolean =>
  error instanceof QueryFailedError ||
  /^([0-9A-Z]{5}|ER_[A-Z_]+|ERR_SQLITE_ERROR)$/.test(String(driverError(error)?.code ?? ''));

/** Whether an error is the violation of a unique index. */
export function isDuplicate(error: unknown): boolean {
  const { code, message } = driverError(error);
  return code === '23505' || code === 'ER_DUP_ENTRY' || /UNIQUE constraint failed/.test(message ?? '');
}

/** Whether an error says that what a row points at is gone. */
export function pointsNowhere(error: unknown): boolean {
  const { code, message } = driverError(error);
  return /^(23503|ER_NO_REFERENCED_ROW.*)$/.test(code ?? '') || /FOREIGN KEY constraint failed/.test(message ?? '');
}

async function sendToMysql(connection: Mysql, { name, text }: Statement, values: SqlValue[]): Promise<Answer> {
  const result = await new Promise<MysqlResult>((resolve, reject) =>
    connection[name ? 'execute' : 'query'](text, values, (error, answer) => (error ? reject(error) : resolve(answer))),
  );
  if (Array.isArray(result)) return { rows: result, affected: 0 };
  return { rows: [], affected: result.affectedRows, inserted: result.insertId };
}

/**
 * Plain SQL for hot paths and for statements that the query builder says worse. One text for all kinds: `?`
 * placeholders, no quoted names, nothing that only one kind knows. Booleans come back as 0/1 or true/false, counts as
 * number or text: map rows explicitly.
 */
@Injectable()
export class Db {
  private readonly statements = new Map<string, Statement>();
  private prepared = 0;
  /** what the statements were written for: the setup flow may choose another kind */
  private driver: unknown;

  /** what waits for the end of the transactions that run */
  private readonly afterwards = new WeakMap<EntityManager, (() => void)[]>();

  constructor(
    readonly source: AppDataSource,
    private readonly traces: Traces,
  ) {}

  /** `?` placeholders as the driver wants them. */
  text(sql: string): string {
    return this.statement(sql).text;
  }

  /** Whether the database answers. @throws the driver's error when it does not */
  async ping(): Promise<void> {
    await this.rows('SELECT 1 AS one');
  }

  /** Rows of a SELECT. */
  async rows<T>(sql: string, values: readonly SqlValue[] = [], manager?: EntityManager): Promise<T[]> {
    const once = () => this.send(sql, values as SqlValue[], manager);
    return (await (manager ? once() : this.again(once))).rows as T[];
  }

  /** First row of a SELECT, if any. */
  async row<T>(sql: string, values: readonly SqlValue[] = [], manager?: EntityManager): Promise<T | undefined> {
    return (await this.rows<T>(sql, values, manager))[0];
  }

  /** Runs an INSERT, UPDATE or DELETE, by itself again after a deadlock. @returns how many rows it changed */
  async run(sql: string, values: readonly SqlValue[] = [], manager?: EntityManager): Promise<number> {
    const once = () => this.send(sql, values as SqlValue[], manager);
    return (await (manager ? once() : this.again(once))).affected;
  }

  /**
   * The same for what is only worth knowing, such as when something was used last: where the database cannot write, who
   * reads goes on without it.
   */
  async note(sql: string, values: readonly SqlValue[]): Promise<void> {
    await this.run(sql, values).catch((error) => {
      if (!whyUnwritable(error)) throw error;
    });
  }

  /** Inserts one row into a table whose database numbers its rows. @returns its `id` */
  async insert(table: string, row: Readonly<Record<string, SqlValue>>, manager: EntityManager): Promise<number> {
    const columns = Object.keys(row);
    const returning = this.isMysql() ? '' : ' RETURNING id';
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks(columns.length)})${returning}`;
    const { rows, inserted } = await this.send(sql, Object.values(row), manager);
    return Number(inserted ?? (rows as { id: number }[])[0]?.id);
  }

  /**
   * Adds one to a number of a row, which locks the row until the transaction ends.
   * @returns the number then; undefined where there is no such row
   */
  async raise(manager: EntityManager, table: string, column: string, id: number): Promise<number | undefined> {
    const mysql = this.isMysql();
    const next = mysql ? `LAST_INSERT_ID(${column} + 1)` : `${column} + 1`;
    const sql = `UPDATE ${table} SET ${column} = ${next} WHERE id = ?${mysql ? '' : ` RETURNING ${column}`}`;
    const { rows, affected, inserted } = await this.send(sql, [id], manager);
    if (mysql) return affected ? inserted : undefined;
    return (rows as Record<string, number>[])[0]?.[column];
  }

  /** Whether transactions that write follow each other from their first statement that does. */
  get isSerial(): boolean {
    return this.source.options.type === 'better-sqlite3';
  }

  private isMysql(): boolean {
    return this.source.options.type === 'mysql' || this.source.options.type === 'mariadb';
  }

  /**
   * One statement on the transaction's connection, else on any of the pool. Straight at the driver: TypeORM's runner
   * sends every statement as text, which the server parses and plans anew.
   */
  private async send(sql: string, values: SqlValue[], manager?: EntityManager): Promise<Answer> {
    const runner = manager?.queryRunner;
    // one that did not end itself has lost its connection
    if (runner?.isReleased) throw new Error(runner.isTransactionActive ? LOST : 'the transaction is over');
    const { type } = this.source.options;
    if (type === 'better-sqlite3') {
      if (!runner) return this.source.single(sql, values);
      const { records, affected } = await runner.query(sql, values, true);
      return { rows: records, affected: affected ?? 0 };
    }
    const connection: unknown = runner ? await runner.connect() : this.source.pool();
    const statement = this.statement(sql);
    if (type !== 'postgres') return sendToMysql(connection as Mysql, statement, values);
    try {
      return await this.sendToPostgres(connection as Postgres, statement, values);
    } catch (error) {
      // a transaction is over with its first error, and begins again by itself
      if (runner || !isUnprepared(error)) throw error;
      return this.sendToPostgres(connection as Postgres, { text: statement.text, uses: 0 }, values);
    }
  }

  private async sendToPostgres(connection: Postgres, statement: Statement, values: SqlValue[]): Promise<Answer> {
    const { text } = statement;
    const name = this.source.prepares ? statement.name : undefined;
    try {
      const { rows, rowCount } = await connection.query({ name, text }, values);
      return { rows, affected: rowCount ?? 0 };
    } catch (error) {
      if (name && isUnprepared(error)) {
        if (driverError(error).code !== STALE) this.source.stopPreparing();
        else if (statement.name === name) statement.name = this.newName(text);
      }
      throw error;
    }
  }

  private statement(sql: string): Statement {
    if (this.driver !== this.source.driver) {
      this.driver = this.source.driver;
      this.statements.clear();
      this.prepared = 0;
    }
    let known = this.statements.get(sql);
    if (!known) {
      let n = 0;
      const numbered = sql.replace(/\?/g, () => `$${++n}`);
      known = { text: this.source.options.type === 'postgres' ? numbered : sql, uses: 0 };
      if (n <= MAX_MARKS && this.statements.size < MAX_COUNTED) this.statements.set(sql, known);
    }
    known.uses += 1;
    if (known.uses === OFTEN && this.source.prepares && this.prepared < MAX_PREPARED)
      known.name = this.newName(known.text);
    return known;
  }

  /**
   * Of the text, since a pooler may hand out the connection of another process: what it prepared under this name is the
   * same, or nothing.
   */
  private newName(text: string): string {
    return `z${++this.prepared}-${sha256(text).slice(0, 24)}`;
  }

  /**
   * All or nothing. The work may run again after a deadlock, so it must not touch anything but the database, and never
   * a provider: on SQLite it holds the one connection, elsewhere row locks. Inside, use only the manager that is handed
   * in.
   */
  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const { type } = this.source.options;
    const attributes = { 'db.system.name': SYSTEMS[type] ?? type };
    const [result, afterwards] = await this.traces.span(
      'transaction',
      { client: true, place: 'child', attributes },
      () => this.again(() => this.once(work)),
    );
    for (const task of afterwards) task();
    return result;
  }

  /** @returns with what is to be done after the commit */
  private async once<T>(work: (manager: EntityManager) => Promise<T>): Promise<[T, (() => void)[]]> {
    const afterwards: (() => void)[] = [];
    const { type } = this.source.options;
    const noted = async (manager: EntityManager) => {
      this.afterwards.set(manager, afterwards);
      if (this.source.opening) await manager.query(this.source.opening);
      return work(manager);
    };
    // MariaDB's default, repeatable read, locks gaps, and parallel writers of one domain would deadlock; connections to
    // PostgreSQL are told it once
    const known = type === 'better-sqlite3' || type === 'postgres';
    const result = await (known ? this.source.transaction(noted) : this.source.transaction('READ COMMITTED', noted));
    return [result, afterwards];
  }

  /**
   * Does this once the transaction is committed, and not at all when it is not; without a transaction at once. It must
   * not throw.
   */
  afterCommit(manager: EntityManager | undefined, task: () => void): void {
    const waiting = manager && this.afterwards.get(manager);
    if (waiting) waiting.push(task);
    else task();
  }

  /**
   * Locks the rows with these values until the transaction ends, and waits for whoever holds them: what is read
   * afterwards is what the one before left. Lock first, read then.
   * - PostgreSQL: `FOR NO KEY UPDATE`, the lock of an UPDATE of other columns; rows that point at it by a key can be
   *   added meanwhile.
   * - MariaDB, MySQL: `FOR UPDATE`, the same lock as an UPDATE's.
   * - SQLite locks no rows: an update that changes nothing takes the one write lock, and waits for another process that
   *   has it. A transaction that reads first would fail when it comes to write after somebody else did.
   * @returns whether there is such a row
   */
  async lock(manager: EntityManager, table: string, where: Record<string, SqlValue>): Promise<boolean> {
    const columns = Object.keys(where);
    const values = Object.values(where);
    const which = `WHERE ${columns.map((column) => `${column} = ?`).join(' AND ')}`;
    const { type } = this.source.options;
    if (type === 'better-sqlite3')
      return (await this.run(`UPDATE ${table} SET ${columns[0]} = ${columns[0]} ${which}`, values, manager)) > 0;
    const mode = type === 'postgres' ? 'NO KEY UPDATE' : 'UPDATE';
    return (await this.rows(`SELECT 1 AS one FROM ${table} ${which} FOR ${mode}`, values, manager)).length > 0;
  }

  /** A text in SQL that compares and sorts by its bytes in UTF-8, that is by code points, on every database. */
  inBytes(text: string): string {
    const { type } = this.source.options;
    if (type === 'better-sqlite3') return text;
    return type === 'postgres' ? `${text} COLLATE "C"` : `CAST(${text} AS BINARY)`;
  }

  /** Does it again after a deadlock, which undid all of it: a whole transaction, or one statement outside of any. */
  async again<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (isTheWrongServer(error)) this.source.ages.leaveAll();
        if (attempt >= TRIES || !mayGoWell(error)) throw error;
        await sleep(Math.random() * 20 * attempt);
      }
    }
  }
}

/** `?, ?, ?` for an IN list of this length. */
export const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ');
