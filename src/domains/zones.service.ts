import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DeletionBlockers } from '../accounts/deletion-blockers.service.js';
import { zoneName } from '../dns/names.js';
import { isPublicSuffix } from '../dns/public-suffix.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { due, sifted, turn } from '../platform/common/turns.js';
import { Db } from '../platform/database/db.js';
import type { RemoteZone } from '../providers/provider.js';
import { DomainEndsRepository } from './domain-ends.repository.js';
import { DomainsRepository } from './domains.repository.js';
import { NewDomains } from './new-domains.js';
import { SharedZonesRepository } from './shared-zones.repository.js';
import { matchZones, shownName, type ZoneConflict } from './zone-identity.js';

/** lost zones that an error names; their number is always given */
const NAMED = 100;
/** new domains that are added in one transaction */
const AT_ONCE = 400;

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
  conflicts: ZoneConflict[];
  /** domains whose zones are gone, and that are bound to other ones of their names */
  rebound: Rebound[];
  /** names of domains whose zones turned out to be private */
  hidden: string[];
  /** names of private domains whose zones turned out to be public, and that have the name now */
  opened: string[];
}

/** A domain that is bound to another zone than before. */
interface Rebound {
  name: string;
  from: string;
  to: string;
}

/** Makes the domains of an account those that its provider lists. */
@Injectable()
export class Zones {
  constructor(
    private readonly db: Db,
    private readonly domains: DomainsRepository,
    private readonly added: NewDomains,
    private readonly ends: DomainEndsRepository,
    private readonly sharing: SharedZonesRepository,
    private readonly blockers: DeletionBlockers,
    private readonly logger: Logger,
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
    const zones = await valid(listed, this.logger);
    const known = await this.domains.ofAccount(account.id);
    const { listed: found, fresh, gone, yielding, conflicts } = matchZones(known, zones);
    // one that was deleted a moment ago comes with the next synchronisation
    const late = await this.blockers.lateNames(fresh.map((z) => z.name));
    const isSuffix = ({ name, apart }: (typeof fresh)[0]) => !apart && isPublicSuffix(name);
    const suffixes = new Set(await sifted(fresh, isSuffix));
    const added = fresh.filter((z) => !suffixes.has(z) && !late.has(z.name));
    const leftOut = [...suffixes].map((z) => z.name);
    const active = known.filter((d) => d.status === 'active').length;
    const lost = gone.filter((d) => d.status === 'active');
    const lostNames = lost.map(shownName);
    if (!confirm) assertCredible(zones.length, active, lostNames);
    const moved = found.filter(
      ({ domain, remote_id, apart }) =>
        domain.remote_id !== remote_id || domain.apart !== apart || domain.status !== 'active',
    );
    const hidden = moved.filter(({ domain, apart }) => apart && !domain.apart).map(({ domain }) => domain);
    const opened = moved.filter(({ domain, apart }) => domain.apart && !apart).map(({ domain }) => domain);
    const row = {
      account_id: account.id,
      owner_id: account.owner_id,
      status: 'active',
      remark: '',
      created_at: now(),
      records_count: 0,
      revision: 0,
    };
    const rowOf = ({ name, id, apart }: (typeof fresh)[0]) => ({ ...row, name, apart, remote_id: id });
    const returning = await this.added.withHistory(account.id, added);
    await this.db.transaction(async (manager) => {
      // first those that leave their names to others: without a zone, then private ones
      for (const { id, remote_id } of yielding) await this.domains.standApart(id, remote_id, manager);
      for (const closed of [true, false])
        await this.domains.markListed(
          moved.filter(({ apart }) => Boolean(apart) === closed),
          manager,
        );
      await this.ends.forget(
        [...hidden, ...yielding].map(({ id }) => id),
        manager,
      );
      await this.domains.markMissing(
        lost.map(({ id }) => id),
        manager,
      );
      if (lost.length) await tell(manager, lostNames);
    });
    const first = added.filter((zone) => !returning.has(zone));
    // on SQLite all others wait for the end of a transaction; after a failure the next synchronisation adds the rest
    for (let i = 0; i < first.length; i += AT_ONCE) {
      const rows = first.slice(i, i + AT_ONCE).map(rowOf);
      await this.db.transaction((manager) => this.domains.addAll(rows, manager));
    }
    for (const zone of returning) await this.db.transaction((manager) => this.added.add(rowOf(zone), manager));
    return {
      counts: { added: added.length, updated: found.length, missing: gone.length },
      ids: await this.domains.activeIds(account.id),
      lost: lostNames,
      leftOut,
      shared: await this.sharing.namesIn(account.id),
      conflicts,
      rebound: moved.flatMap(({ domain: { name, remote_id: from }, remote_id: to }) =>
        from === to ? [] : { name, from, to },
      ),
      hidden: hidden.map(({ name }) => name),
      opened: opened.map(({ name }) => name),
    };
  }
}

/** @throws AppError 409002 when a list of zones lacks all, or more than half of at least four, of the known ones */
function assertCredible(listed: number, known: number, lost: readonly string[]): void {
  if (!lost.length || (listed > 0 && (known < 4 || lost.length <= known / 2))) return;
  const names = lost.slice(0, NAMED);
  const few = names.slice(0, 5).join(', ') + (lost.length > 5 ? ' …' : '');
  throw errors.suspicious(
    'zones_suspicious',
    { listed: known - lost.length, known, few },
    { count: lost.length, of: known, names },
  );
}

/** The zones whose names are valid, in canonical form, each once. */
async function valid(zones: readonly RemoteZone[], logger: Logger): Promise<RemoteZone[]> {
  const seen = new Map<string, RemoteZone>();
  for (const zone of zones) {
    if (due()) await turn();
    try {
      const name = zoneName(zone.name);
      const key = `${name} ${zone.id}`;
      if (!seen.has(key)) seen.set(key, { ...zone, name });
    } catch {
      logger.warn({ zone: zone.name }, 'a zone of the provider has no valid name; left out');
    }
  }
  return [...seen.values()];
}
