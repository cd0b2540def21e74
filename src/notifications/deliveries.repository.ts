import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../platform/common/clock.js';
import { Db } from '../platform/database/db.js';
import { listRows } from '../platform/database/lists.js';
import type { DeliveryQuery, DeliveryView } from './deliveries.dto.js';
import type { Delivery } from './delivery.entity.js';

const COLUMNS =
  'id, notice, channel, event, domain, content, state, tries, next_at, created_at, sent_at, ended_at, error';
const SORTS = { id: 'id', created_at: 'created_at', channel: 'channel', tries: 'tries' };

type Key = Pick<Delivery, 'id' | 'next_at'>;

/** A waiting delivery as it is sent. */
export type DueDelivery = Omit<Delivery, 'state' | 'sent_at' | 'ended_at' | 'error'>;

/** A delivery as it is shown. */
export type ShownDelivery = Omit<Delivery, 'event' | 'state' | 'until_at'> & Pick<DeliveryView, 'event' | 'state'>;

/** How a try ended. */
type DeliveryOutcome = Pick<Delivery, 'next_at' | 'sent_at' | 'ended_at' | 'error'> & Pick<DeliveryView, 'state'>;

/** The table `deliveries`. One is leased by its `next_at`: only who knows it may store what became of the delivery. */
@Injectable()
export class DeliveriesRepository {
  constructor(private readonly db: Db) {}

  /** Inserts a delivery that is due at once. */
  async insert(
    delivery: Pick<Delivery, 'notice' | 'channel' | 'event' | 'domain' | 'content' | 'until_at' | 'created_at'>,
    manager?: EntityManager,
  ): Promise<void> {
    const { notice, channel, event, domain, content, until_at, created_at } = delivery;
    await this.db.run(
      `INSERT INTO deliveries (notice, channel, event, domain, content, state, tries, next_at, until_at, created_at)
       VALUES (?, ?, ?, ?, ?, 'waiting', 0, ?, ?, ?)`,
      [notice, channel, event, domain, content, created_at, until_at, created_at],
      manager,
    );
  }

  async countWaiting(channel: string, event: string, manager?: EntityManager): Promise<number> {
    const sql = `SELECT COUNT(*) AS n FROM deliveries WHERE state = 'waiting' AND channel = ? AND event = ?`;
    return Number((await this.db.row<{ n: number }>(sql, [channel, event], manager))?.n);
  }

  /** The channels that deliveries wait for. */
  async waitingChannels(): Promise<string[]> {
    const heads = await this.db.rows<{ channel: string }>(
      `SELECT channel, MIN(id) AS id FROM deliveries WHERE state = 'waiting' GROUP BY channel`,
    );
    return heads.map(({ channel }) => channel);
  }

  oldestWaiting(channel: string): Promise<DueDelivery | undefined> {
    return this.db.row(
      `SELECT id, notice, channel, event, domain, content, tries, next_at, until_at, created_at FROM deliveries
       WHERE state = 'waiting' AND channel = ? ORDER BY id LIMIT 1`,
      [channel],
    );
  }

  /** Takes the lease of a delivery for one more try. @returns false when another process has it */
  async claim({ id, next_at }: Key, lease: string): Promise<boolean> {
    const sql = `UPDATE deliveries SET next_at = ?, tries = tries + 1 WHERE id = ? AND state = 'waiting' AND next_at = ?`;
    return (await this.db.run(sql, [lease, id, next_at])) === 1;
  }

  /** Stores how a try ended. @returns false when the lease is no longer ours */
  async storeOutcome(
    delivery: Key,
    { state, next_at, sent_at, ended_at, error }: DeliveryOutcome,
    manager?: EntityManager,
  ): Promise<boolean> {
    const sql = `UPDATE deliveries SET state = ?, next_at = ?, sent_at = ?, ended_at = ?, error = ?
      WHERE id = ? AND state = 'waiting' AND next_at = ?`;
    const values = [state, next_at, sent_at, ended_at, error, delivery.id, delivery.next_at];
    return (await this.db.run(sql, values, manager)) > 0;
  }

  /** Marks a sent delivery as dead, since its mail could not be sent. */
  async failSent(id: number | null, error: string): Promise<void> {
    const sql = `UPDATE deliveries SET state = 'dead', error = ?, ended_at = ? WHERE id = ? AND state = 'sent'`;
    await this.db.run(sql, [error, now(), id]);
  }

  /** Lets a dead delivery wait again. @returns false when there is no dead one with this id */
  async revive(
    id: number,
    { next_at, until_at }: Pick<Delivery, 'next_at' | 'until_at'>,
    manager?: EntityManager,
  ): Promise<boolean> {
    const changed = await this.db.run(
      `UPDATE deliveries SET state = 'waiting', tries = 0, next_at = ?, until_at = ?, ended_at = NULL
       WHERE id = ? AND state = 'dead'`,
      [next_at, until_at, id],
      manager,
    );
    return changed > 0;
  }

  /** Removes deliveries that ended and were written before a moment. */
  async removeEndedBefore(time: string): Promise<void> {
    await this.db.run(`DELETE FROM deliveries WHERE state IN ('sent', 'dead') AND created_at < ?`, [time]);
  }

  get(id: number, manager?: EntityManager): Promise<ShownDelivery | undefined> {
    return this.db.row(`SELECT ${COLUMNS} FROM deliveries WHERE id = ?`, [id], manager);
  }

  /** Newest first unless sorted otherwise. @throws AppError 400001 */
  list(query: DeliveryQuery): Promise<{ total: number; list: ShownDelivery[] }> {
    const filters = (['state', 'channel', 'event'] as const).filter((field) => query[field] !== undefined);
    return listRows<ShownDelivery>(this.db, query, {
      columns: COLUMNS,
      from: 'deliveries',
      where: filters.map((field) => `${field} = ?`).join(' AND ') || '1 = 1',
      values: filters.map((field) => query[field] as string),
      sorts: SORTS,
      fallback: '-id',
      id: 'id',
      search: ['LOWER(domain)', 'LOWER(content)'],
    });
  }
}
