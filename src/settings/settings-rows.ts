import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { errors } from '../common/errors.js';
import { Db } from '../database/db.js';
import { Events } from '../events/events.js';
import type { DocumentName, Row } from './documents.js';

/** rows of their own, no sections: the secret that signs logins, and those before it */
export const SIGNING_SECRET = 'signing_secret';
export const SIGNED_WITH = 'signing_secrets_before';
export type RowName = DocumentName | typeof SIGNING_SECRET | typeof SIGNED_WITH;

/** bytes of a section, as it is stored */
const MAX_DOCUMENT = 60_000;

/** The `settings` table: one row of text by name. */
@Injectable()
export class SettingsRows {
  constructor(
    private readonly db: Db,
    private readonly events: Events,
  ) {}

  async row(name: DocumentName, manager?: EntityManager): Promise<Row | undefined> {
    const text = await this.text(name, manager);
    return text ? JSON.parse(text) : undefined;
  }

  async text(name: RowName, manager?: EntityManager): Promise<string | undefined> {
    const sql = 'SELECT content FROM settings WHERE name = ?';
    return (await this.db.row<{ content: string }>(sql, [name], manager))?.content;
  }

  /** Two rows as they are at one moment. */
  async both(names: [RowName, RowName], manager?: EntityManager): Promise<(string | undefined)[]> {
    const sql = 'SELECT name, content FROM settings WHERE name IN (?, ?)';
    const rows = await this.db.rows<{ name: string; content: string }>(sql, names, manager);
    return names.map((name) => rows.find((row) => row.name === name)?.content);
  }

  /**
   * One transaction on a document. All changes of settings follow each other: the row that they lock is there from the
   * first user on, while a document has none before its first change.
   */
  change<T>(name: DocumentName, work: (row: Row | undefined, manager: EntityManager) => Promise<T>): Promise<T> {
    return this.db.transaction(async (manager) => work(await this.locked(name, manager), manager));
  }

  /** A document, which nobody else changes until the transaction ends. */
  async locked(name: DocumentName, manager: EntityManager): Promise<Row | undefined> {
    await this.db.lock(manager, 'settings', { name: SIGNING_SECRET });
    return this.row(name, manager);
  }

  /** Stores a document, and tells of it. @throws AppError 400001 when it is too long */
  store(name: DocumentName, row: Row, manager: EntityManager): Promise<void> {
    this.tell(name, manager);
    const content = JSON.stringify(row);
    // texts of MariaDB end a little behind
    if (Buffer.byteLength(content) > MAX_DOCUMENT)
      throw errors.field('body', `is too much for one section: ${MAX_DOCUMENT} bytes are the most`, 'length');
    return this.replace(name, content, manager);
  }

  /** Back to the defaults. */
  async remove(name: DocumentName, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM settings WHERE name = ?', [name], manager);
    this.tell(name, manager);
  }

  /** The text of a row, whatever it was before; nobody is told. */
  async replace(name: RowName, content: string, manager: EntityManager): Promise<void> {
    if (await this.db.run('UPDATE settings SET content = ? WHERE name = ?', [content, name], manager)) return;
    await this.db.run('INSERT INTO settings (name, content) VALUES (?, ?)', [name, content], manager);
  }

  private tell(name: DocumentName, manager: EntityManager): void {
    this.db.afterCommit(manager, () => void this.events.emit('settings.changed', name));
  }
}
