import { channel } from 'node:diagnostics_channel';
import type { Client, Pool } from 'pg';
import { DataSource, type DataSourceOptions, MigrationExecutor, type QueryRunner } from 'typeorm';
import { DriverFactory } from 'typeorm/driver/DriverFactory.js';
import { StartRefused } from '../common/start-refused.js';
import type { DatabaseChoice } from '../config/config.js';
import { MIGRATIONS } from '../schema/migrations/index.js';
import type { Tell } from '../schema/tell.js';
import { lockMigrations } from './migration-lock.js';
import { Pulse } from './pulse.js';
import { type Alone, KEPT_STATEMENTS, serializeTransactions, sqliteDriver } from './sqlite.js';
import {
  Ages,
  limitMysql,
  limitPool,
  limitPostgres,
  type MysqlPool,
  mysqlSettings,
  type PostgresClient,
  type PostgresPool,
} from './time-limits.js';

/** ms that a connection attempt may take */
const CONNECT_MS = 5000;
/** connections by which it is seen whether an address leads to several servers */
const NODE_LOOKS = 4;
/** ms after which an unused connection is closed */
const IDLE_MS = 600_000;

/** Settings of a connection to PostgreSQL by their names. */
type Settings = Record<string, string>;
const TUNED: Settings = {
  // what its manual advises for a database that is cached in full: the defaults, made for spinning disks, prefer
  // reading a whole table to a hundred look-ups by key
  seq_page_cost: '0.1',
  random_page_cost: '0.1',
  // so that no transaction has to say it; a server may have another default
  default_transaction_isolation: 'read committed',
};

type Entities = NonNullable<DataSourceOptions['entities']>;
type Flavour = 'better-sqlite3' | 'postgres' | 'mysql' | 'mariadb';

/**
 * Publishes each data source before it connects, so that a module given to `node --import` can observe its statements:
 * the classes of TypeORM and of the drivers are inside the bundle, where such a module cannot import them.
 */
const prepared = channel('zoneward:data-source');

/** What is done with each new connection of PostgreSQL, before it is used. */
type OnConnect = (client: Client) => Promise<unknown>;

/**
 * Makes these settings those of a connection, unless it is one of a pooler, whose next transaction may be anybody's.
 * PostgreSQL tells each connection the number of its process; a pooler cannot, since it is another one each time.
 * @returns whether a pooler is there
 */
async function settle(client: Client, settings: Settings): Promise<boolean> {
  const { processID } = client as unknown as { processID: number | null };
  const pooled = `pg_backend_pid() <> ${processID ?? 0}`;
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  // behind a pooler they are those of this one statement
  const { rows } = await client.query<{ pooled: boolean }>(
    `SELECT ${pooled} AS pooled, set_config(name, value, ${pooled})
       FROM (VALUES ${values.join(', ')}) AS settings (name, value)`,
  );
  return Boolean(rows[0]?.pooled);
}

/**
 * TypeORM's options for a choice. `flavour` tells MariaDB from MySQL, which answer the same protocol with different
 * catalogues.
 */
export function toOptions(
  choice: DatabaseChoice,
  entities: Entities,
  flavour: Flavour,
  onConnect: OnConnect = (client) => settle(client, TUNED),
): DataSourceOptions {
  const common = { entities, migrations: MIGRATIONS, migrationsTransactionMode: 'each' as const, logging: false };
  if (choice.type === 'sqlite') {
    return {
      ...common,
      type: 'better-sqlite3',
      database: choice.path,
      enableWAL: true,
      // beyond its size the oldest goes, however often it is used
      statementCacheSize: KEPT_STATEMENTS,
      driver: function Sqlite(path: string) {
        return sqliteDriver(path);
      },
      // with FULL a commit survives a power cut: a revoked token must not come back
      prepareDatabase: (db: { exec(sql: string): void }) => db.exec('PRAGMA synchronous = FULL'),
    };
  }
  const { host, port, database, password } = choice;
  const server = { host, port, database, username: choice.user, password };
  if (choice.type === 'postgresql') {
    return {
      ...common,
      ...server,
      type: 'postgres',
      ssl: choice.ssl ? { rejectUnauthorized: true } : false,
      connectTimeoutMS: CONNECT_MS,
      installExtensions: false,
      // a connection that was left alone for 10 s would be closed, and the next flood would begin with making new ones
      // and preparing its statements there
      extra: {
        max: 20,
        idleTimeoutMillis: IDLE_MS,
        onConnect,
      },
    };
  }
  return {
    ...common,
    ...server,
    type: flavour === 'mariadb' ? 'mariadb' : 'mysql',
    ssl: choice.ssl ? { rejectUnauthorized: true } : undefined,
    connectTimeout: CONNECT_MS,
    timezone: 'Z',
    charset: 'utf8mb4',
    extra: { connectionLimit: 20, maxPreparedStatements: 300 },
  };
}

/** Asks a MySQL-like server which of the two it is. */
async function flavourOf(choice: DatabaseChoice): Promise<Flavour> {
  if (choice.type === 'sqlite') return 'better-sqlite3';
  if (choice.type === 'postgresql') return 'postgres';
  const probe = new DataSource(toOptions(choice, [], 'mysql'));
  await probe.initialize();
  try {
    const [row] = (await probe.query('SELECT VERSION() AS version')) as [{ version: string }];
    return /mariadb/i.test(row.version) ? 'mariadb' : 'mysql';
  } finally {
    await probe.destroy();
  }
}

/**
 * The one DataSource of the process. It exists from the start, so that everything can be injected, and is opened when
 * the database is known: at start, or by the setup flow.
 */
export class AppDataSource extends DataSource {
  /** whether statements may stay prepared in a connection: not through a pooler that knows nothing of them */
  prepares = true;
  private onlyOne: Alone | null = null;
  /** a pooler may give each transaction another connection, which has none of our settings */
  private pooled = false;
  private tell: Tell = () => undefined;
  /** of the connections; a server that turned read-only may not be the one to write to any more */
  readonly ages = new Ages();
  private migrated = false;
  private pulse = new Pulse('', 0, false);
  /** a migration runs, which may take any time */
  private migrating = false;

  /** Connected, and its schema up to date: connected it is before that. */
  get ready(): boolean {
    return this.isInitialized && this.migrated;
  }

  /** @param limitMs that a statement may take, migrations excepted */
  constructor(
    private readonly schema: Entities,
    private readonly limitMs = 30_000,
  ) {
    super(toOptions({ type: 'sqlite', path: ':memory:' }, schema, 'better-sqlite3')); // a placeholder, never opened
  }

  /**
   * Connects and migrates; after a failure nothing is open and another choice can follow.
   * @throws the driver's error, StartRefused
   */
  async open(choice: DatabaseChoice, tell: Tell = () => undefined): Promise<void> {
    await this.prepare(choice);
    this.tell = tell;
    this.migrated = false;
    await this.initialize();
    const { type } = this.options;
    try {
      if (type === 'mysql' || type === 'mariadb') await this.limitMysql(type === 'mariadb');
      if (type === 'postgres') limitPool(this.pool() as unknown as PostgresPool, this.pulse, this.ages);
      await this.migrate(tell);
      if (this.pooled) await this.tellOfPooler();
      this.migrated = true;
    } catch (error) {
      await this.destroy();
      throw /statement pooling mode/.test((error as Error).message) ? withoutTransactions() : error;
    }
  }

  /** Takes the choice's options and driver without connecting (TypeORM's command line connects by itself). */
  async prepare(choice: DatabaseChoice): Promise<void> {
    this.pulse.stop();
    if (choice.type !== 'sqlite') this.pulse = new Pulse(choice.host, choice.port, choice.type === 'postgresql');
    const options = toOptions(choice, this.schema, await flavourOf(choice), async (client) => {
      limitPostgres(client as unknown as PostgresClient, this.limitMs, () => this.migrating, this.pulse);
      this.ages.made(client);
      this.pooled = await settle(client, this.settings());
    });
    this.pooled = false;
    Object.assign(this, { options });
    Object.assign(this, { driver: new DriverFactory().create(this) }); // setOptions would keep the old driver
    this.prepares = choice.type === 'sqlite' || choice.prepared !== false;
    this.onlyOne = choice.type === 'sqlite' ? serializeTransactions(this) : null;
    prepared.publish(this);
  }

  private async limitMysql(isMariadb: boolean): Promise<void> {
    const cluster = (await this.query(`SHOW VARIABLES LIKE 'wsrep_on'`)) as { Value: string }[];
    const isCluster = cluster[0]?.Value === 'ON';
    if (isCluster) await this.assertOneNode();
    // a node reads what others have committed, as far as it was carried out there: it waits for that
    const settings = mysqlSettings(this.limitMs, isMariadb) + (isCluster ? ', SESSION wsrep_sync_wait = 1' : '');
    const mayLast = () => this.migrating;
    limitMysql(this.pool() as MysqlPool, this.limitMs, mayLast, settings, this.pulse, this.ages);
  }

  /** Nodes of a Galera cluster do not know of each other's locks of rows. @throws StartRefused */
  private async assertOneNode(): Promise<void> {
    const ask = async () => {
      const [row] = (await this.query('SELECT @@wsrep_node_name AS node')) as [{ node: string }];
      return row.node;
    };
    const nodes = new Set(await Promise.all(Array.from({ length: NODE_LOOKS }, ask)));
    if (nodes.size > 1) throw severalNodes([...nodes]);
  }

  private settings(): Settings {
    return { ...TUNED, statement_timeout: String(this.limitMs) };
  }

  /** What a transaction begins with where its connection may have none of our settings; null: it has them. */
  get opening(): string | null {
    if (!this.pooled) return null;
    const locals = Object.entries(this.settings()).map(([name, value]) => `SET LOCAL ${name} = '${value}'`);
    return ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', ...locals].join('; ');
  }

  /** Statements go as text from now on: a prepared one was not found in its connection, or stood there before. */
  stopPreparing(): void {
    if (this.prepares)
      this.tell({}, 'the pooler in front of the database keeps no prepared statements: they go as text', 'warn');
    this.prepares = false;
  }

  /** What a pooler leaves to its operator: single statements get no settings from us. */
  private async tellOfPooler(): Promise<void> {
    const [row] = (await this.query(`SELECT current_setting('statement_timeout') AS ms`)) as [{ ms: string }];
    this.tell({}, 'a pooler is in front of the database: each transaction brings its settings along');
    if (row.ms === '0')
      this.tell(
        {},
        'its server ends no single statement that takes too long: ALTER ROLE … SET statement_timeout',
        'warn',
      );
  }

  /** The connections of a server kind. @throws Error while the database is not open */
  pool(): unknown {
    const { master, pool } = this.driver as { master?: unknown; pool?: unknown };
    if (!master && !pool) throw new Error('The connection is not established');
    return master ?? pool;
  }

  /** SQLite, which has no pool: carries out a statement of no transaction. @throws the driver's error */
  single(sql: string, values: unknown[]): ReturnType<Alone> {
    if (!this.onlyOne) throw new Error('The connection is not established');
    return this.onlyOne(sql, values);
  }

  /** How many connections the pool of a server kind has, and how many wait for one. */
  connections(): Record<string, number> {
    if (!this.isInitialized || this.options.type === 'better-sqlite3') return {};
    if (this.options.type === 'postgres') {
      const { totalCount, idleCount, waitingCount } = this.pool() as Pool;
      return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
    }
    // the driver has no word for it
    const pool = this.pool() as Record<'_allConnections' | '_freeConnections' | '_connectionQueue', { length: number }>;
    const [all, idle, waiting] = [pool._allConnections, pool._freeConnections, pool._connectionQueue];
    return { busy: all.length - idle.length, idle: idle.length, waiting: waiting.length };
  }

  /**
   * Several processes may start at once: one of them changes the schema, the others wait.
   * @throws StartRefused when a newer program has changed it already
   */
  private async migrate(tell: Tell): Promise<void> {
    await this.alone(tell, async (runner) => {
      if (await isHalfRestored(runner)) throw halfRestored();
      await this.migrateWith(runner, tell);
    });
  }

  /** Work on the schema, on one connection on which statements may take any time, while no other process is at it. */
  private async alone(tell: Tell, work: (runner: QueryRunner) => Promise<void>): Promise<void> {
    const unlock = await lockMigrations(this, tell);
    try {
      const runner = this.createQueryRunner();
      if (this.options.type === 'postgres') unlimited(runner);
      try {
        await this.limitStatements(runner, 0);
        this.migrating = true;
        await work(runner);
      } finally {
        this.migrating = false;
        await this.limitStatements(runner, this.limitMs).catch(() => undefined);
        await runner.release();
      }
    } finally {
      await unlock();
    }
  }

  /**
   * Connects for a restore, which decides by itself what becomes of the schema; nothing stays open.
   * @throws the driver's error, StartRefused
   */
  async openAlone(choice: DatabaseChoice, work: (runner: QueryRunner) => Promise<void>): Promise<void> {
    await this.prepare(choice);
    await this.initialize();
    try {
      await this.alone(() => undefined, work);
    } finally {
      await this.destroy();
    }
  }

  /**
   * Brings the schema up to date, each step in a transaction of its own unless one is open.
   * @param only the names of the migrations to go up to, instead of all
   * @throws StartRefused when a newer program has changed it already
   */
  async migrateWith(runner: QueryRunner, tell: Tell, only?: readonly string[]): Promise<void> {
    const all = this.migrations;
    if (only) Object.assign(this, { migrations: all.filter((one) => only.includes(one.name ?? one.constructor.name)) });
    Object.assign(runner.data, { tell });
    const executor = new MigrationExecutor(this, runner);
    executor.transaction = 'each';
    const names = async () => (await executor.getExecutedMigrations()).map(({ name }) => name);
    try {
      const before = await names();
      const unknown = unknownMigrations(before);
      if (unknown.length) throw newerSchema(unknown);
      try {
        await executor.executePendingMigrations();
      } finally {
        // also those before one that failed
        const after = await names().catch(() => [] as string[]);
        for (const { name } of MIGRATIONS)
          if (after.includes(name) && !before.includes(name)) tell({ migration: name }, 'migration applied');
      }
    } finally {
      Object.assign(this, { migrations: all });
    }
  }

  private async limitStatements(runner: QueryRunner, ms: number): Promise<void> {
    const { type } = this.options;
    if (type === 'mariadb' || type === 'mysql') await runner.query(mysqlSettings(ms, type === 'mariadb'));
  }
}

/** Statements of a runner's transactions of PostgreSQL may take any time. */
function unlimited(runner: QueryRunner): void {
  const begin = runner.startTransaction.bind(runner);
  runner.startTransaction = async (level) => {
    await begin(level);
    await runner.query('SET LOCAL statement_timeout = 0');
  };
}

/** Those that this program does not know: a newer one has made them. */
export const unknownMigrations = (names: readonly string[]): string[] =>
  names.filter((name) => !MIGRATIONS.some((migration) => migration.name === name));

/**
 * Stands in a database of MariaDB or MySQL, where DDL does not roll back, from the first to the last step of a restore:
 * what a restore that died has left must not be taken for an installation without users.
 */
export const HALF_RESTORED = 'restore_unfinished';
const isHalfRestored = (runner: QueryRunner) => runner.hasTable(HALF_RESTORED);
const halfRestored = () =>
  new StartRefused(
    'A restore into this database did not get to its end. Run it again: npm run admin -- restore <file> --force',
    'A restore into this database did not get to its end',
  );

const severalNodes = (nodes: string[]) =>
  new StartRefused(
    `The address of the database leads to several nodes of a Galera cluster (${nodes.join(', ')}), which do not know of ` +
      "each other's locks. Have its proxy lead all connections of all replicas to one node, and to another one only " +
      'when that is away',
  );

const withoutTransactions = () =>
  new StartRefused(
    'The pooler in front of the database allows no transactions (pool_mode = statement). Set pool_mode = transaction',
  );

function newerSchema(unknown: string[]): StartRefused {
  const which = unknown.length > 1 ? `the migrations ${unknown.join(', ')}` : `the migration ${unknown[0]}`;
  return new StartRefused(
    `The schema of the database is newer than this program, which does not know ${which}. Start the version that ` +
      'made it, or a newer one; to go back, restore the backup of before the upgrade. Nothing was changed',
    'The database was written by a newer version of this program',
  );
}
