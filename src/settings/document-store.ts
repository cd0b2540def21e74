import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { errors } from '../platform/common/errors.js';
import { say } from '../platform/common/words/field-text.js';
import { Db } from '../platform/database/db.js';
import { Events } from '../platform/events/events.js';
import type { DocumentName, Row } from './documents.js';
import { SettingsRepository, SIGNING_SECRET } from './settings.repository.js';

/** bytes of a section, as it is stored */
const MAX_DOCUMENT = 60_000;

/** The documents of the settings: read one by one, changed in a transaction, and announced after each change. */
@Injectable()
export class DocumentStore {
  constructor(
    private readonly db: Db,
    private readonly settings: SettingsRepository,
    private readonly events: Events,
  ) {}

  async row(name: DocumentName, manager?: EntityManager): Promise<Row | undefined> {
    const text = await this.text(name, manager);
    return text ? JSON.parse(text) : undefined;
  }

  text(name: DocumentName, manager?: EntityManager): Promise<string | undefined> {
    return this.settings.get(name, manager);
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
    await this.settings.lock(SIGNING_SECRET, manager);
    return this.row(name, manager);
  }

  /** Stores a document, and announces it. @throws AppError 400001 when it is too long */
  store(name: DocumentName, row: Row, manager: EntityManager): Promise<void> {
    this.announce(name, manager);
    const content = JSON.stringify(row);
    // a TEXT column of MariaDB holds 65 535 bytes
    if (Buffer.byteLength(content) > MAX_DOCUMENT)
      throw errors.field(
        'body',
        say('is too much for one section: {max} bytes are the most', { max: MAX_DOCUMENT }),
        'length',
      );
    return this.settings.put(name, content, manager);
  }

  /** Restores the defaults. */
  async remove(name: DocumentName, manager: EntityManager): Promise<void> {
    await this.settings.remove(name, manager);
    this.announce(name, manager);
  }

  private announce(name: DocumentName, manager: EntityManager): void {
    this.db.afterCommit(manager, () => void this.events.emit('settings.changed', name));
  }
}
