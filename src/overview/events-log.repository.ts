import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../platform/database/db.js';
import { BRIEF } from '../platform/database/sqlite.js';
import type { LoggedEvent } from './event.entity.js';

export type NewEvent = Pick<LoggedEvent, 'type' | 'domain_id' | 'readers' | 'data'>;

type Stored = Omit<LoggedEvent, 'readers' | 'data'> & { readers: string | null; data: string };

const parsed = ({ readers, data, ...row }: Stored): LoggedEvent => ({
  ...row,
  id: Number(row.id),
  readers: readers && JSON.parse(readers),
  data: JSON.parse(data),
});

/** The table `events_log`. */
@Injectable()
export class EventsLogRepository {
  constructor(private readonly db: Db) {}

  /** A power cut may take what was inserted outside of a transaction. */
  async insert(events: readonly NewEvent[], at: string, manager?: EntityManager): Promise<void> {
    const values = events.flatMap(({ type, domain_id, readers, data }) => [
      at,
      type,
      domain_id,
      readers && JSON.stringify(readers),
      JSON.stringify(data),
    ]);
    const rows = events.map(() => '(?, ?, ?, ?, ?)').join(', ');
    const sql = `INSERT INTO events_log (created_at, type, domain_id, readers, data) VALUES ${rows}${manager ? '' : BRIEF}`;
    await this.db.run(sql, values, manager);
  }

  /** Locks an event until the transaction ends. */
  async lock(id: number, manager: EntityManager): Promise<void> {
    await this.db.lock(manager, 'events_log', { id });
  }

  /** The newest id; 0 when there is no event. */
  async newestId(manager?: EntityManager): Promise<number> {
    const row = await this.db.row<{ id: number | null }>('SELECT MAX(id) AS id FROM events_log', [], manager);
    return Number(row?.id ?? 0);
  }

  /** The oldest id that is kept; 0 when there is no event. */
  async oldestId(): Promise<number> {
    const row = await this.db.row<{ id: number | null }>('SELECT MIN(id) AS id FROM events_log');
    return Number(row?.id ?? 0);
  }

  /** The oldest events behind an id, in order. */
  async after(id: number, most: number): Promise<LoggedEvent[]> {
    const sql = `SELECT id, created_at, type, domain_id, readers, data FROM events_log WHERE id > ? ORDER BY id LIMIT ${most}`;
    return (await this.db.rows<Stored>(sql, [id])).map(parsed);
  }

  /** Removes the events up to an id, and those before a moment that are older than the newest. */
  async removeOld(upTo: number, before: string, newest: number): Promise<void> {
    const sql = 'DELETE FROM events_log WHERE id <= ? OR (created_at < ? AND id < ?)';
    await this.db.run(sql, [upTo, before, newest]);
  }
}
