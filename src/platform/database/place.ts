import { realpathSync, statSync } from 'node:fs';
import type { AppDataSource } from './app-data-source.js';

/**
 * Where a database is, in two ways: what it is by its own word, which a dump does not take along and a standby keeps,
 * and under which address this process has found it, of which an installation may have several.
 */
export interface Place {
  /** empty: it does not say */
  self: string;
  address: string;
}

/**
 * - SQLite: when the file was made, which a copy does not keep; where the file system does not know, its path.
 * - PostgreSQL: the number of the cluster and of the database in it.
 * - MySQL: the number of the server; MariaDB has none that lasts.
 */
export async function placeOf(source: AppDataSource): Promise<Place> {
  const { options } = source;
  if (options.type === 'better-sqlite3') {
    const path = realpathSync(String(options.database));
    const { birthtimeMs, ctimeMs } = statSync(path);
    // without a time of birth the one of the last change stands there, which says nothing
    const self = birthtimeMs > 0 && birthtimeMs !== ctimeMs ? `file/${Math.floor(birthtimeMs)}` : '';
    return { self, address: path };
  }
  const { type, host, port, database } = options as { type: string; host: string; port: number; database: string };
  const ask = async (sql: string) => {
    const rows = await source.query(sql).catch(() => []);
    return String((rows as { self?: unknown }[])[0]?.self ?? '');
  };
  const self =
    type === 'postgres'
      ? await ask(`SELECT c.system_identifier || '/' || d.oid AS self FROM pg_control_system() c, pg_database d
                   WHERE d.datname = current_database()`)
      : type === 'mysql'
        ? await ask(`SELECT CONCAT(@@server_uuid, '/', DATABASE()) AS self`)
        : '';
  return { self, address: `${host}:${port}/${database}` };
}
