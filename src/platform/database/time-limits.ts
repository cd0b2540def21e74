import type { Socket } from 'node:net';
import type { Pulse } from './pulse.js';

/** ms that a request waits for a connection of the pool to become free */
const ACQUIRE_MS = 10_000;
/** ms that a statement may be late beyond its limit: the server, which ends it first, then seems to be frozen */
const LATE_MS = 1000;
/** ms without a word on a connection that waits for one, after which it is asked whether the server says anything */
const SILENT_MS = 5000;

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
}
export interface PostgresPool {
  connect(got?: (error: unknown) => void): unknown;
}
type Got = (error: unknown, connection?: MysqlConnection) => void;
export interface MysqlPool {
  _allConnections: { length: number; get(i: number): MysqlConnection };
  on(event: 'connection', listener: (connection: MysqlConnection) => void): void;
  getConnection(got: Got): void;
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

/** Limits the connections of a pool, and how long one waits for them: the driver itself would wait for ever. */
export function limitMysql(
  pool: MysqlPool,
  limitMs: number,
  mayLast: () => boolean,
  isMariadb: boolean,
  pulse: Pulse,
): void {
  const limit = mysqlLimit(limitMs, isMariadb);
  const onConnection = (connection: MysqlConnection) => {
    endWhenSilent(connection.stream, () => Boolean(connection._command) && !mayLast(), limitMs, pulse);
    // a server that does not know it is limited from here alone
    connection.query(limit, () => undefined);
  };
  for (let i = 0; i < pool._allConnections.length; i++) onConnection(pool._allConnections.get(i));
  pool.on('connection', onConnection);
  const get = pool.getConnection.bind(pool);
  pool.getConnection = (got) => {
    if (pulse.silent) return got(frozen());
    let over = false;
    const timer = setTimeout(() => {
      over = true;
      got(frozen());
    }, ACQUIRE_MS);
    get((error, connection) => {
      clearTimeout(timer);
      if (!over) got(error, connection);
      else connection?.release();
    });
  };
}

/** Asks for no connection of PostgreSQL's pool while its server is frozen: each would wait in vain. */
export function limitPool(pool: PostgresPool, pulse: Pulse): void {
  const connect = pool.connect.bind(pool) as (...args: unknown[]) => unknown;
  pool.connect = (got?: (error: unknown) => void) => {
    if (!pulse.silent) return connect(...(got ? [got] : []));
    if (!got) return Promise.reject(frozen());
    got(frozen());
  };
}

/** The server's own limit of a statement; MySQL has it for reading statements only. 0 is none. */
export const postgresLimit = (limitMs: number): string => `SET statement_timeout = ${limitMs}`;
export const mysqlLimit = (limitMs: number, isMariadb: boolean): string =>
  isMariadb ? `SET SESSION max_statement_time = ${limitMs / 1000}` : `SET SESSION max_execution_time = ${limitMs}`;
