import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks } from '../platform/database/db.js';
import type { Domain } from './domain.entity.js';
import { shownName } from './zone-identity.js';

/** Domains of one zone: the same server's, with the provider's one id of it, each in an account of its own. */
const SHARED = `JOIN domains z ON z.remote_id = d.remote_id JOIN dns_accounts y ON y.id = z.account_id
  WHERE (z.id = d.id OR y.server_key = a.server_key)`;

/** A zone at a provider: its server, and the provider's id of it there. */
export interface Zone {
  server: string;
  remoteId: string;
}

/** The owner and the rules of a domain. */
export type RuledDomain = Pick<Domain, 'id' | 'name' | 'owner_id' | 'change_rules'>;

/** names of a list */
const NAMED = 100;

/** SQL of `domains`: those of several accounts that are one zone. */
@Injectable()
export class SharedZonesRepository {
  constructor(private readonly db: Db) {}

  /**
   * All domains that are the zone of this one, itself among them, ascending; `unfinished`: some change set of it has no
   * end that is known.
   */
  of(
    domainId: number,
    manager?: EntityManager,
  ): Promise<
    (Pick<
      Domain,
      | 'id'
      | 'name'
      | 'account_id'
      | 'remote_id'
      | 'revision'
      | 'synced_at'
      | 'stale_revision'
      | 'records_count'
      | 'change_rules'
    > & { unfinished: boolean | number; server_key: string | null })[]
  > {
    return this.db.rows(
      `SELECT z.id, z.name, z.account_id, z.remote_id, z.revision, z.synced_at, z.stale_revision, z.records_count,
        z.change_rules, a.server_key,
        EXISTS (SELECT 1 FROM change_sets c WHERE c.domain_id = z.id AND c.state <> 'done') AS unfinished
        FROM domains d JOIN dns_accounts a ON a.id = d.account_id ${SHARED} AND d.id = ? ORDER BY z.id`,
      [domainId],
      manager,
    );
  }

  /** Domains in the trash that are this zone, in any account of its server. */
  async trashed(name: string, zone: Zone, manager?: EntityManager): Promise<RuledDomain[]> {
    const rows = await this.db.rows<Pick<Domain, 'id' | 'name' | 'owner_id'> & { content: string }>(
      `SELECT t.id, t.name, t.owner_id, t.content FROM trashed_domains t JOIN dns_accounts y ON y.id = t.account_id
        WHERE t.name = ? AND t.leaving = ? AND y.server_key = ?`,
      [name, false, zone.server],
      manager,
    );
    return rows.flatMap(({ content, ...row }) => {
      const { remote_id, change_rules } = JSON.parse(content) as Pick<Domain, 'remote_id' | 'change_rules'>;
      return remote_id === zone.remoteId ? [{ ...row, change_rules: change_rules ?? null }] : [];
    });
  }

  /** The owners and rules of the public domains of these names. */
  named(names: readonly string[], manager?: EntityManager): Promise<RuledDomain[]> {
    return this.db.rows(
      `SELECT id, name, owner_id, change_rules FROM domains WHERE apart = '' AND name IN (${marks(names.length)})`,
      [...names],
      manager,
    );
  }

  /** The domains that are this zone of this server already. */
  at({ server, remoteId }: Zone, manager?: EntityManager): Promise<RuledDomain[]> {
    return this.db.rows(
      `SELECT d.id, d.name, d.owner_id, d.change_rules FROM domains d JOIN dns_accounts a ON a.id = d.account_id
        WHERE d.remote_id = ? AND a.server_key = ? ORDER BY d.id`,
      [remoteId, server],
      manager,
    );
  }

  /** Names of an account's domains that another account has, too. */
  async namesIn(accountId: number): Promise<string[]> {
    const rows = await this.db.rows<Pick<Domain, 'name' | 'apart'>>(
      `SELECT DISTINCT d.name, d.apart FROM domains d JOIN dns_accounts a ON a.id = d.account_id ${SHARED}
        AND d.account_id = ? AND z.id <> d.id ORDER BY d.name LIMIT ${NAMED}`,
      [accountId],
    );
    return rows.map(shownName);
  }

  /** Marks the cache of a domain as older than its zone. */
  async outdate(id: number, manager: EntityManager): Promise<void> {
    // in this order, since MySQL counts with what it has just set
    const sql = 'UPDATE domains SET stale_revision = revision + 1, revision = revision + 1 WHERE id = ?';
    await this.db.run(sql, [id], manager);
  }

  /** The domains whose caches are older than their zones. */
  outdated(): Promise<Pick<Domain, 'id' | 'account_id' | 'owner_id'>[]> {
    // of all numbers, and not IS NOT NULL: SQLite reads all domains for that
    return this.db.rows('SELECT id, account_id, owner_id FROM domains WHERE stale_revision >= 0');
  }
}
