import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { timeMs } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { type ChangeRules, changeRulesOf, strictestRules } from './change-rules/change-rules.js';
import { SharedZonesRepository } from './shared-zones.repository.js';

/** A zone, as one of its domains knows it. */
export interface SharedZone {
  /** all domains that are this zone, ascending; the first one stands for all in the names of locks */
  ids: readonly [number, ...number[]];
  /** the account of this domain, and the provider's id of the zone there */
  accountId: number;
  remoteId: string;
  /** how often the records of this domain were changed */
  revision: number;
  syncedAt: string | null;
  /** another one of them was used to change the zone since this one's cache followed the provider */
  stale: boolean;
  /** a change of the zone is on its way, or in doubt */
  unfinished: boolean;
  /** the strictest rules of all domains of the zone, including those in the trash */
  rules: ChangeRules;
  /** how many records this domain has */
  records: number;
}

/**
 * Zones that several accounts have here. What guards a zone guards it for all its domains, and a change through one of
 * them makes the caches of the others stale.
 */
@Injectable()
export class SharedZones {
  constructor(private readonly zones: SharedZonesRepository) {}

  /** @throws AppError 404001 */
  async of(domainId: number, manager?: EntityManager): Promise<SharedZone> {
    const rows = await this.zones.of(domainId, manager);
    const own = rows.find(({ id }) => id === domainId);
    if (!own) throw errors.notFound('domain');
    const { server_key: server } = own;
    const trashed =
      server === null ? [] : await this.zones.trashed(own.name, { server, remoteId: own.remote_id }, manager);
    const others = [...rows.filter((row) => row !== own), ...trashed];
    const ids = rows.map(({ id }) => id) as unknown as SharedZone['ids'];
    const { revision, synced_at: syncedAt, records_count: records, account_id: accountId, remote_id: remoteId } = own;
    return {
      ids,
      accountId,
      remoteId,
      revision,
      syncedAt,
      stale: own.stale_revision !== null,
      unfinished: rows.some((row) => row.unfinished),
      rules: strictestRules(changeRulesOf(own), others.map(changeRulesOf), timeMs()),
      records,
    };
  }

  /** The caches of these domains are older than the zone. */
  async outdate(manager: EntityManager, ids: readonly number[]): Promise<void> {
    for (const id of ids) await this.zones.outdate(id, manager);
  }

  /** All whose caches are older than their zone, with their accounts. */
  async outdated(): Promise<{ id: number; accountId: number; ownerId: number | null }[]> {
    const rows = await this.zones.outdated();
    return rows.map(({ id, account_id, owner_id }) => ({ id, accountId: account_id, ownerId: owner_id }));
  }
}
