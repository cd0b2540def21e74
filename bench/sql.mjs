// The three databases through their own drivers, for seeding and for the lower bound.
import { randomBytes } from 'node:crypto';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { sqlite } from '../dist/src/platform/database/sqlite-module.js';

/** The same pool size as in the service. */
const POOL = 20;

export const kindOf = (url) =>
  url.startsWith('sqlite:') ? 'sqlite' : /^(mysql|mariadb):/.test(url) ? 'mysql' : 'postgresql';

/**
 * Opens a database. `prepare(sql)` returns a function `(values) => rows`, a prepared statement on every database; on
 * SQLite it returns rows, not a promise. Placeholders are `?`.
 */
export function open(url) {
  const kind = kindOf(url);
  if (kind === 'sqlite') {
    const { DatabaseSync } = sqlite();
    const db = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5000 });
    db.exec('PRAGMA synchronous = FULL');
    return {
      kind,
      prepare(sql) {
        const statement = db.prepare(sql);
        return (values) => statement.all(...values);
      },
      run: async (sql, values = []) => void db.prepare(sql).run(...values),
      close: async () => db.close(),
    };
  }
  if (kind === 'postgresql') {
    // the same planner setting as in the service
    const onConnect = (client) => client.query('SET seq_page_cost = 0.1; SET random_page_cost = 0.1');
    const pool = new pg.Pool({ connectionString: url, max: POOL, onConnect });
    const text = (sql) => {
      let n = 0;
      return sql.replace(/\?/g, () => `$${++n}`);
    };
    let statements = 0;
    return {
      kind,
      prepare(sql) {
        const query = { name: `s${++statements}`, text: text(sql) };
        return async (values) => (await pool.query({ ...query, values })).rows;
      },
      run: async (sql, values = []) => void (await pool.query(text(sql), values)),
      close: () => pool.end(),
    };
  }
  const pool = mysql.createPool({ uri: url.replace(/^mariadb:/, 'mysql:'), connectionLimit: POOL, timezone: 'Z' });
  return {
    kind,
    prepare: (sql) => async (values) => (await pool.execute(sql, values))[0],
    run: async (sql, values = []) => void (await pool.query(sql, values)),
    close: () => pool.end(),
  };
}

/**
 * Creates a temporary database on the same server as the URL, whose own database is not touched.
 * @returns its URL, and how to drop it
 */
export async function besides(url) {
  const name = `zoneward_bench_${randomBytes(4).toString('hex')}`;
  const run = async (sql) => {
    const server = open(url);
    await server.run(sql).finally(() => server.close());
  };
  await run(`CREATE DATABASE ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  const force = kindOf(url) === 'postgresql' ? ' WITH (FORCE)' : '';
  return { url: own.href, drop: () => run(`DROP DATABASE ${name}${force}`) };
}
