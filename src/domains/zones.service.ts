import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DeletionBlockers } from '../accounts/deletion-blockers.service.js';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { log } from '../common/logger.js';
import { Db, marks } from '../database/db.js';
import { zoneName } from '../dns/names.js';
import { isPublicSuffix } from '../dns/public-suffix.js';
import type { RemoteZone } from '../providers/provider.js';
import { Domain } from './domain.entity.js';
import { SharedZones } from './shared-zones.service.js';

/** rows that one statement writes */
const CHUNK = 200;
/** so many lost zones are named; their number is always told */
const NAMED = 100;

interface Known {
  id: number;
  name: string;
  remote_id: string;
  status: string;
}

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
    private readonly sharing: SharedZones,
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
    const known = await this.db.rows<Known>('SELECT id, name, remote_id, status FROM domains WHERE account_id = ?', [
      account.id,
    ]);
    const byName = new Map(known.map((d) => [d.name, d]));
    const names = new Set(zones.map((z) => z.name));
    const fresh = zones.filter((z) => !byName.has(z.name));
    // one that was forgotten a moment ago comes with the next synchronisation
    const late = await this.blockers.lateNames(fresh.map((z) => z.name));
    const added = fresh.filter((z) => !isPublicSuffix(z.name) && !late.has(z.name));
    const leftOut = fresh.filter((z) => isPublicSuffix(z.name)).map((z) => z.name);
    const gone = known.filter((d) => !names.has(d.name));
    const active = known.filter((d) => d.status === 'active').length;
    const lost = gone.filter((d) => d.status === 'active');
    const lostNames = lost.map((d) => d.name);
    if (!confirm) assertCredible(zones.length, active, lostNames);
    const moved = zones.filter((z) => {
      const d = byName.get(z.name);
      return d && (d.remote_id !== z.id || d.status !== 'active');
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
      for (let i = 0; i < added.length; i += CHUNK) {
        const chunk = added.slice(i, i + CHUNK).map((z) => ({ ...row, name: z.name, remote_id: z.id }));
        await manager.insert(Domain, chunk);
      }
      for (let i = 0; i < moved.length; i += CHUNK) {
        const some = moved.slice(i, i + CHUNK).map((z) => [byName.get(z.name)?.id ?? 0, z.id] as const);
        const ids = some.map(([id]) => id);
        await this.db.run(
          `UPDATE domains SET status = 'active', remote_id = CASE id ${some.map(() => 'WHEN ? THEN ?').join(' ')} END
            WHERE id IN (${marks(ids.length)})`,
          [...some.flat(), ...ids],
          manager,
        );
      }
      for (let i = 0; i < lost.length; i += CHUNK) {
        const ids = lost.slice(i, i + CHUNK).map((d) => d.id);
        await this.db.run(`UPDATE domains SET status = 'missing' WHERE id IN (${marks(ids.length)})`, ids, manager);
      }
      if (lost.length) await tell(manager, lostNames);
    });
    const ids = await this.db.rows<{ id: number }>(
      `SELECT id FROM domains WHERE account_id = ? AND status = 'active' ORDER BY id`,
      [account.id],
    );
    const counts = { added: added.length, updated: zones.length - fresh.length, missing: gone.length };
    const shared = await this.sharing.namesIn(account.id);
    return { counts, ids: ids.map((d) => d.id), lost: lostNames, leftOut, shared };
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
