import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { errors } from '../common/errors.js';
import { Db } from '../database/db.js';

/** Domains of one zone: the same server's, with the provider's one id of it, each in an account of its own. */
const SHARED = `JOIN domains z ON z.remote_id = d.remote_id JOIN dns_accounts y ON y.id = z.account_id
  WHERE (z.id = d.id OR y.server_key = a.server_key)`;
/** names that are told */
const NAMED = 100;

/** A zone, as one of its domains knows it. */
export interface SharedZone {
  /** all domains that are this zone, ascending; the first one stands for all in the names of locks */
  ids: readonly [number, ...number[]];
  syncedAt: string | null;
  /** another one of them was used to change the zone since this one's cache followed the provider */
  stale: boolean;
}

/**
 * Zones that several accounts have here. What guards a zone guards it for all its domains, and what one of them does
 * makes the caches of the others old.
 */
@Injectable()
export class SharedZones {
  constructor(private readonly db: Db) {}

  /** @throws AppError 404001 */
  async of(domainId: number, manager?: EntityManager): Promise<SharedZone> {
    const rows = await this.db.rows<{ id: number; synced_at: string | null; stale_revision: number | null }>(
      `SELECT z.id, z.synced_at, z.stale_revision FROM domains d JOIN dns_accounts a ON a.id = d.account_id ${SHARED}
        AND d.id = ? ORDER BY z.id`,
      [domainId],
      manager,
    );
    const own = rows.find(({ id }) => id === domainId);
    if (!own) throw errors.notFound('Domain');
    const ids = rows.map(({ id }) => id) as unknown as SharedZone['ids'];
    return { ids, syncedAt: own.synced_at, stale: own.stale_revision !== null };
  }

  /** The domains that are this zone of this server already. */
  at(server: string, remoteId: string, manager?: EntityManager): Promise<{ id: number; name: string }[]> {
    return this.db.rows(
      `SELECT d.id, d.name FROM domains d JOIN dns_accounts a ON a.id = d.account_id
        WHERE d.remote_id = ? AND a.server_key = ? ORDER BY d.id`,
      [remoteId, server],
      manager,
    );
  }

  /** Names of an account's domains that another account has, too. */
  async namesIn(accountId: number): Promise<string[]> {
    const rows = await this.db.rows<{ name: string }>(
      `SELECT DISTINCT d.name FROM domains d JOIN dns_accounts a ON a.id = d.account_id ${SHARED}
        AND d.account_id = ? AND z.id <> d.id ORDER BY d.name LIMIT ${NAMED}`,
      [accountId],
    );
    return rows.map(({ name }) => name);
  }

  /** The caches of these domains are older than the zone. */
  async outdate(manager: EntityManager, ids: readonly number[]): Promise<void> {
    // in this order, since MySQL counts with what it has just set
    const sql = 'UPDATE domains SET stale_revision = revision + 1, revision = revision + 1 WHERE id = ?';
    for (const id of ids) await this.db.run(sql, [id], manager);
  }

  /** All whose caches are older than their zone, with their accounts. */
  async outdated(): Promise<{ id: number; accountId: number; ownerId: number | null }[]> {
    const rows = await this.db.rows<{ id: number; account_id: number; owner_id: number | null }>(
      'SELECT id, account_id, owner_id FROM domains WHERE stale_revision IS NOT NULL',
    );
    return rows.map(({ id, account_id, owner_id }) => ({ id, accountId: account_id, ownerId: owner_id }));
  }
}
