import { Injectable } from '@nestjs/common';
import { turn } from '../platform/common/turns.js';
import { Db } from '../platform/database/db.js';
import { kindOfSource } from '../platform/dump/dump.js';

const SQL = {
  sqlite: {
    version: 'SELECT sqlite_version() AS answer',
    size: 'SELECT page_count * page_size AS answer FROM pragma_page_count(), pragma_page_size()',
  },
  postgresql: {
    version: "SELECT current_setting('server_version') AS answer",
    size: 'SELECT pg_database_size(current_database()) AS answer',
  },
  mysql: {
    version: 'SELECT VERSION() AS answer',
    size: `SELECT SUM(data_length + index_length) AS answer FROM information_schema.tables
            WHERE table_schema = DATABASE()`,
  },
};

/** What the database says of itself. */
@Injectable()
export class DatabaseStatusRepository {
  constructor(private readonly db: Db) {}

  /** The shortest statement, for the time that it takes. */
  async ping(): Promise<void> {
    await this.db.ping();
  }

  async version(): Promise<string> {
    return String(await this.answer('version'));
  }

  /** In bytes. */
  async size(): Promise<number> {
    return Number(await this.answer('size'));
  }

  /** Names of the migrations that were applied, the oldest first. */
  async migrations(): Promise<string[]> {
    const rows = await this.db.rows<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp');
    return rows.map(({ name }) => name);
  }

  /** The rows of each table, counted one by one: on SQLite nothing else runs during a statement. */
  async tables(): Promise<{ name: string; rows: number }[]> {
    const tables: { name: string; rows: number }[] = [];
    for (const name of this.db.source.entityMetadatas.map(({ tableName }) => tableName).sort()) {
      const count = await this.db.row<{ n: number | string }>(`SELECT COUNT(*) AS n FROM ${name}`);
      tables.push({ name, rows: Number(count?.n) });
      await turn();
    }
    return tables;
  }

  private async answer(what: 'version' | 'size'): Promise<unknown> {
    return (await this.db.row<{ answer: unknown }>(SQL[kindOfSource(this.db.source)][what]))?.answer;
  }
}
