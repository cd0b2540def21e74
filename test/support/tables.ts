import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { sqlite } from '../../src/platform/database/sqlite-module.js';

/** Where a service stores its data. */
interface Store {
  databaseUrl: string;
  server: { dataDir: string };
}

/** Rows read directly from the database of a service. */
export async function rowsOf({ databaseUrl, server }: Store, sql: string): Promise<Record<string, unknown>[]> {
  if (databaseUrl.startsWith('sqlite:')) {
    const { DatabaseSync } = sqlite();
    const database = new DatabaseSync(join(server.dataDir, databaseUrl.slice('sqlite:'.length)), { readOnly: true });
    try {
      return database.prepare(sql).all() as Record<string, unknown>[];
    } finally {
      database.close();
    }
  }
  if (databaseUrl.startsWith('postgres')) {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    return (await client.query(sql).finally(() => client.end())).rows;
  }
  const client = await mysql.createConnection({ uri: databaseUrl });
  const [rows] = await client.query(sql).finally(() => client.end());
  return rows as Record<string, unknown>[];
}

/** Number of unfinished change sets. */
export const openIntents = async (store: Store): Promise<number> =>
  (await rowsOf(store, `SELECT id FROM change_sets WHERE state <> 'done'`)).length;
