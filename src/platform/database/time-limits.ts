import type { Socket } from 'node:net';
import { after } from '../common/clock.js';
import type { Pulse } from './pulse.js';

/** ms that a request waits for a connection of the pool to become free */
const ACQUIRE_MS = 10_000;
/** ms that a statement may be late beyond its limit: the server, which ends it first, then seems to be frozen */
const LATE_MS = 1000;
/** ms without a word on a connection that waits for one, after which it is asked whether the server says anything */
const SILENT_MS = 5000;

/** ms between two times at which all connections are left */
const LEAVE_MS = 1000;

/** The code makes it one of the failures that mean: the database is down. */
const frozen = () => Object.assign(new Error('the database server does not answer'), { code: 'ETIMEDOUT' });

/** What is needed of a driver's connection, whichever way the driver offers it. */
export interface PostgresClient {
  readyForQuery?: boolean | null;
  connection: { stream: Socket };
}
interface MysqlConnection {
  stream: Socket;
  /** the statement that runs */
  _command?: unknown;
  query(sql: string, done: (error: unknown) => void): void;
  release(): void;
  destroy(): void;
}
type Taken = (error: unknown, client?: object, release?: (gone?: boolean) => void) => void;
export interface PostgresPool {
  connect(got?: Taken): unknown;
}
type Got = (error: unknown, connection?: MysqlConnection) => void;
export interface MysqlPool {
  _allConnections: { length: number; get(i: number): MysqlConnection };
  on(event: 'connection', listener: (connection: MysqlConnection) => void): void;
  getConnection(got: Got): void;
}

/** Which connections of a pool were made before its address may have begun to lead to another server. */
export class Ages {
  private readonly begun = new WeakMap<object, number>();
  private leftAt = 0;

  made(connection: object): void {
    this.begun.set(connection, performance.now());
  }

  /** Those that are there are left as they come back, and new ones ask the address anew; once a second at most. */
  leaveAll(): void {
    if (performance.now() - this.leftAt > LEAVE_MS) this.leftAt = performance.now();
  }

  isLeft(connection: object): boolean {
    return (this.begun.get(connection) ?? 0) < this.leftAt;
  }
}

/**
 * Ends a connection on which a statement has no answer for so long, or sooner when the server says nothing to anybody:
 * one that is frozen, or that went away without a word. What waits there fails, and the pool makes another connection.
 */
function endWhenSilent(socket: Socket, isBusy: () => boolean, limitMs: number, pulse: Pulse): void {
  let silentMs = 0;
  const look = Math.min(SILENT_MS, limitMs + LATE_MS);
  socket.setTimeout(look);
  socket.on('data', () => {
    silentMs = 0;
  });
  socket.on('timeout', () => {
    // of an idle connection nobody knows since when it waits
    silentMs = isBusy() ? silentMs + look : 0;
    socket.setTimeout(look);
    if (!silentMs) return;
    if (silentMs >= limitMs + LATE_MS) return void socket.destroy(frozen());
    void pulse.beats().then((beats) => {
      if (!beats && isBusy()) socket.destroy(frozen());
    });
  });
}

/** @param mayLast whether statements may take any time at the moment */
export function limitPostgres(client: PostgresClient, limitMs: number, mayLast: () => boolean, pulse: Pulse): void {
  endWhenSilent(client.connection.stream, () => client.readyForQuery !== true && !mayLast(), limitMs, pulse);
}

/**
 * Limits the connections of a pool, and how long one waits for them: the driver itself would wait for ever.
 * @param settings the statement with which a connection begins
 */
export function limitMysql(
  pool: MysqlPool,
  limitMs: number,
  mayLast: () => boolean,
  settings: string,
  pulse: Pulse,
  ages: Ages,
): void {
  const onConnection = (connection: MysqlConnection) => {
    ages.made(connection);
    endWhenSilent(connection.stream, () => Boolean(connection._command) && !mayLast(), limitMs, pulse);
    // a server that does not know it is limited from here alone
    connection.query(settings, () => undefined);
  };
  for (let i = 0; i < pool._allConnections.length; i++) onConnection(pool._allConnections.get(i));
  pool.on('connection', onConnection);
  const get = pool.getConnection.bind(pool);
  pool.getConnection = (got) => {
    if (pulse.silent) return got(frozen());
    let over = false;
    const cancel = after(ACQUIRE_MS, () => {
      over = true;
      got(frozen());
    });
    const take: Got = (error, connection) => {
      if (connection && ages.isLeft(connection)) {
        connection.destroy();
        return get(take);
      }
      cancel();
      if (!over) got(error, connection);
      else connection?.release();
    };
    get(take);
  };
}

/**
 * Asks for no connection of PostgreSQL's pool while its server is frozen: each would wait in vain.
 */
export function limitPool(pool: PostgresPool, pulse: Pulse, ages: Ages): void {
  const connect = pool.connect.bind(pool);
  const take = (got: Taken): unknown =>
    connect((error, client, release) => {
      if (!client || !ages.isLeft(client)) return got(error, client, release);
      release?.(true);
      take(got);
    });
  pool.connect = (got?: Taken) => {
    if (!got)
      return new Promise((resolve, reject) =>
        pool.connect((error, client) => (error ? reject(error) : resolve(client))),
      );
    return pulse.silent ? got(frozen()) : take(got);
  };
}

/** Where a server has another one, texts that are too long are cut, or a quote behind a backslash ends a text. */
const MODE = `sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'`;

/**
 * The settings of a connection to MariaDB, MySQL: the mode that statements are written for, and the server's own limit
 * of a statement, where it is for reading statements only. 0 is none.
 */
export const mysqlSettings = (limitMs: number, isMariadb: boolean): string =>
  `SET SESSION ${isMariadb ? `max_statement_time = ${limitMs / 1000}` : `max_execution_time = ${limitMs}`}, ${MODE}`;
