import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DeletionBlockers } from '../accounts/deletion-blockers.service.js';
import { zoneName } from '../dns/names.js';
import { isPublicSuffix } from '../dns/public-suffix.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { log } from '../platform/common/logger.js';
import { Db } from '../platform/database/db.js';
import type { RemoteZone } from '../providers/provider.js';
import { DomainsRepository } from './domains.repository.js';
import { SharedZonesRepository } from './shared-zones.repository.js';

/** lost zones that an error names; their number is always given */
const NAMED = 100;

/** What came of a list of zones. */
export interface ZonesFollowed {
  counts: { added: number; updated: number; missing: number };
  /** the account's active domains afterwards */
  ids: number[];
  /** names of those that were active and are missing now */
  lost: string[];
  /** names of public suffixes that are listed and not added: an administrator adds such a domain by itself */
  leftOut: string[];
  /** names of zones that another account has here, too */
  shared: string[];
}

/** Makes the domains of an account those that its provider lists. */
@Injectable()
export class Zones {
  constructor(
    private readonly db: Db,
    private readonly domains: DomainsRepository,
    private readonly sharing: SharedZonesRepository,
    private readonly blockers: DeletionBlockers,
  ) {}

  /**
   * @param listed all zones of the account; new ones belong to its owner
   * @param confirm the list is right, whatever it lacks
   * @param tell of names that were active and are missing now, in the transaction that notes it
   * @throws AppError 409002 for a list that lacks too much: then nothing was changed
   */
  async follow(
    account: { id: number; owner_id: number | null },
    listed: readonly RemoteZone[],
    confirm: boolean,
    tell: (manager: EntityManager, lost: readonly string[]) => Promise<void>,
  ): Promise<ZonesFollowed> {
    const zones = dedupe(listed);
    const known = await this.domains.ofAccount(account.id);
    const byName = new Map(known.map((d) => [d.name, d]));
    const names = new Set(zones.map((z) => z.name));
    const fresh = zones.filter((z) => !byName.has(z.name));
    // one that was deleted a moment ago comes with the next synchronisation
    const late = await this.blockers.lateNames(fresh.map((z) => z.name));
    const added = fresh.filter((z) => !isPublicSuffix(z.name) && !late.has(z.name));
    const leftOut = fresh.filter((z) => isPublicSuffix(z.name)).map((z) => z.name);
    const gone = known.filter((d) => !names.has(d.name));
    const active = known.filter((d) => d.status === 'active').length;
    const lost = gone.filter((d) => d.status === 'active');
    const lostNames = lost.map((d) => d.name);
    if (!confirm) assertCredible(zones.length, active, lostNames);
    const moved = zones.flatMap(({ name, id }) => {
      const domain = byName.get(name);
      return domain && (domain.remote_id !== id || domain.status !== 'active') ? [[domain.id, id] as const] : [];
    });
    await this.db.transaction(async (manager) => {
      const row = {
        account_id: account.id,
        owner_id: account.owner_id,
        status: 'active',
        remark: '',
        created_at: now(),
        records_count: 0,
        revision: 0,
      };
      const rows = added.map(({ name, id }) => ({ ...row, name, remote_id: id }));
      await this.domains.addAll(rows, manager);
      await this.domains.markListed(moved, manager);
      await this.domains.markMissing(
        lost.map(({ id }) => id),
        manager,
      );
      if (lost.length) await tell(manager, lostNames);
    });
    const ids = await this.domains.activeIds(account.id);
    const counts = { added: added.length, updated: zones.length - fresh.length, missing: gone.length };
    const shared = await this.sharing.namesIn(account.id);
    return { counts, ids, lost: lostNames, leftOut, shared };
  }
}

/** @throws AppError 409002 when a list of zones lacks all, or more than half of at least four, of the known ones */
function assertCredible(listed: number, known: number, lost: readonly string[]): void {
  if (!lost.length || (listed > 0 && (known < 4 || lost.length <= known / 2))) return;
  const names = lost.slice(0, NAMED);
  const few = names.slice(0, 5).join(', ') + (lost.length > 5 ? ' …' : '');
  const words = `The provider lists ${known - lost.length} of ${known} known zones; nothing was changed.`;
  throw errors.suspicious(`${words} ?confirm=true marks as missing: ${few}`, { count: lost.length, of: known, names });
}

/** Providers may list a name twice (split-horizon zones); the first one counts, since an account holds a name once. */
function dedupe(zones: readonly RemoteZone[]): RemoteZone[] {
  const seen = new Map<string, RemoteZone>();
  for (const zone of zones) {
    try {
      const name = zoneName(zone.name);
      if (!seen.has(name)) seen.set(name, { ...zone, name });
    } catch {
      log().warn({ zone: zone.name }, 'a zone of the provider has no valid name; left out');
    }
  }
  return [...seen.values()];
}
