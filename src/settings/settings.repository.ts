import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../platform/database/db.js';
import type { DocumentName } from './documents.js';

/** rows of their own, no sections: the secret that signs logins, and those before it */
export const SIGNING_SECRET = 'signing_secret';
export const SIGNED_WITH = 'signing_secrets_before';
type RowName = DocumentName | typeof SIGNING_SECRET | typeof SIGNED_WITH;

/** The table `settings`: one row of text by name. */
@Injectable()
export class SettingsRepository {
  constructor(private readonly db: Db) {}

  async get(name: RowName, manager?: EntityManager): Promise<string | undefined> {
    const sql = 'SELECT content FROM settings WHERE name = ?';
    return (await this.db.row<{ content: string }>(sql, [name], manager))?.content;
  }

  /** Two rows as they are at one moment. */
  async getBoth(names: [RowName, RowName], manager?: EntityManager): Promise<(string | undefined)[]> {
    const sql = 'SELECT name, content FROM settings WHERE name IN (?, ?)';
    const rows = await this.db.rows<{ name: string; content: string }>(sql, names, manager);
    return names.map((name) => rows.find((row) => row.name === name)?.content);
  }

  /** Locks a row until the transaction ends. */
  async lock(name: RowName, manager: EntityManager): Promise<void> {
    await this.db.lock(manager, 'settings', { name });
  }

  /** Updates a row, or inserts it. */
  async put(name: RowName, content: string, manager: EntityManager): Promise<void> {
    if (await this.db.run('UPDATE settings SET content = ? WHERE name = ?', [content, name], manager)) return;
    await this.db.run('INSERT INTO settings (name, content) VALUES (?, ?)', [name, content], manager);
  }

  async remove(name: RowName, manager?: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM settings WHERE name = ?', [name], manager);
  }
}
