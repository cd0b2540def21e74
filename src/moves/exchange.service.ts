import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DeletionBlockers } from '../accounts/deletion-blockers.service.js';
import { type CacheRow, type Difference, difference, type Expectation } from '../cache/reconcile.js';
import { RecordCache } from '../cache/record-cache.js';
import { ChangeSetsRepository } from '../changes/history/change-sets.repository.js';
import { PastRepository } from '../changes/history/past.repository.js';
import { FoundChanges } from '../changes/in-doubt/found-changes.js';
import { type RemoteRecord, recordKey } from '../dns/record.js';
import type { DomainRow } from '../domains/domain-policy.js';
import { DomainStateRepository } from '../domains/domain-state.repository.js';
import { DomainsRepository } from '../domains/domains.repository.js';
import { DomainsService } from '../domains/domains.service.js';
import { SharedZones } from '../domains/shared-zones.service.js';
import { ZoneFacts } from '../domains/zone-facts.service.js';
import { zoneLock } from '../domains/zone-identity.js';
import { errors } from '../platform/common/errors.js';
import { due, turn } from '../platform/common/turns.js';
import { Db } from '../platform/database/db.js';
import { type Held, Leases } from '../platform/database/leases.js';

/** ms that writers, and synchronisations, of both zones are waited for */
const WAIT_MS = 60_000;

/** A domain with its rows, and what its provider is. */
interface Side {
  domain: DomainRow;
  rows: CacheRow[];
  /** its provider keeps remarks */
  remarks: boolean;
}

/**
 * Gives two domains each other's zones and accounts. Their rows keep their ids, and so does all that is said of them
 * here: history, grants, rules.
 */
@Injectable()
export class Exchange {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly shared: SharedZones,
    private readonly domains: DomainsService,
    private readonly repository: DomainsRepository,
    private readonly state: DomainStateRepository,
    private readonly facts: ZoneFacts,
    private readonly cache: RecordCache,
    private readonly sets: ChangeSetsRepository,
    private readonly blockers: DeletionBlockers,
    private readonly found: FoundChanges,
    private readonly past: PastRepository,
  ) {}

  /** Runs something while nobody else writes a zone: what was sent has ended, and nothing is begun. */
  async alone<T>(domainId: number, work: (held: Held) => Promise<T>): Promise<T> {
    const firstOf = async () => (await this.shared.of(domainId)).ids[0];
    for (;;) {
      const first = await firstOf();
      // another domain of the zone, which named the lock, may have been deleted during the wait
      const still = async (held: Held) => ((await firstOf()) === first ? { done: await work(held) } : null);
      const ran = await this.leases.hold([zoneLock(first)], WAIT_MS, still, { whole: true });
      if (ran) return ran.done;
    }
  }

  /**
   * The exchange itself, while nobody writes either zone.
   * @param seen the revisions at which the zones were the same
   * @param stored what is stored with it, with the domain's version behind it
   * @returns false where one of them was changed since
   * @throws AppError 409001 while a change of one of them has no end
   */
  swap(
    ids: readonly [number, number],
    seen: readonly [number, number],
    locks: readonly Held[],
    stored: (manager: EntityManager, version: number) => Promise<void>,
  ): Promise<boolean> {
    const names = ids.map((id) => `sync|${id}`);
    return this.domains.reload(ids[0]).then(async ({ account_id }) => {
      // neither account is given a list of its zones meanwhile
      const accounts = [account_id, (await this.domains.reload(ids[1])).account_id].map((id) => `account|${id}`);
      return this.leases.hold([...accounts, ...names], WAIT_MS, (held) =>
        this.locked(ids, seen, [...locks, held], stored),
      );
    });
  }

  private async locked(
    ids: readonly [number, number],
    seen: readonly [number, number],
    locks: readonly Held[],
    stored: (manager: EntityManager, version: number) => Promise<void>,
  ): Promise<boolean> {
    const sides = await Promise.all(ids.map((id) => this.side(id)));
    const [one, other] = sides as [Side, Side];
    if (one.domain.revision !== seen[0] || other.domain.revision !== seen[1]) return false;
    if (await this.sets.anyUnfinished(ids)) throw errors.conflict('move_in_flight');
    const changes = await Promise.all([becomes(one, other), becomes(other, one)]);
    return this.db.transaction(async (manager) => {
      for (const held of locks) await held.confirm(manager);
      for (const id of ids.toSorted((a, b) => a - b)) await this.state.hold(id, manager);
      for (const [i, id] of ids.entries()) if ((await this.state.revision(id, manager)) !== seen[i]) return false;
      for (const id of ids) await this.blockers.assertNothingInFlight('id', id, false, manager);
      const [a, b] = [one.domain, other.domain];
      // by a name of its own, since an account has each name once
      await this.repository.update(a.id, { apart: `move ${a.id}` }, manager);
      await this.repository.update(b.id, placeOf(a), manager);
      await this.repository.update(a.id, placeOf(b), manager);
      for (const [i, { domain, rows }] of [one, other].entries()) {
        const done = await this.cache.apply(manager, domain.id, changes[i] as Difference, new Set());
        const steps = await this.found.steps(manager, domain, rows, done);
        // what a switch changes is no drift
        const ours = new Set([...done.insert, ...done.update, ...done.remove].map(({ host }) => host));
        await this.found.store(manager, domain, steps, new Map(), rows, ours);
        await this.state.raiseRevision(domain.id, manager);
      }
      await stored(manager, await this.past.newest(a.id, manager));
      return true;
    });
  }

  private async side(id: number): Promise<Side> {
    const domain = await this.domains.reload(id);
    const { definition } = await this.facts.connection(domain);
    return { domain, rows: await this.cache.following(id), remarks: definition.capabilities.remark };
  }
}

/** Where a domain's zone is, and how it stands there. */
const placeOf = ({ account_id, remote_id, apart, status, synced_at }: DomainRow) => ({
  ...{ account_id, remote_id, apart, status, synced_at },
});

/** What the rows of a domain become when it gets another one's zone: those of the same content stay the same rows. */
export async function becomes(
  { rows }: Pick<Side, 'rows'>,
  other: Pick<Side, 'rows' | 'remarks'>,
): Promise<Difference> {
  const theirs = new Map<string, CacheRow>();
  const byId = new Map<string, CacheRow>();
  for (const row of other.rows) {
    theirs.set(recordKey(row), row);
    if (row.remote_id !== null) byId.set(row.remote_id, row);
  }
  const expected = new Map<number, Expectation>();
  const own: CacheRow[] = [];
  for (const row of rows) {
    if (due()) await turn();
    const twin = theirs.get(recordKey(row));
    // disabled there, where it is kept here alone
    if (row.remote_id !== null && twin?.remote_id === null)
      expected.set(row.id, { ids: [], contents: [], here: { enabled: false }, keep: false });
    // the same id of another provider means another record, unless it says the same
    const same = row.remote_id === null || byId.get(row.remote_id) === twin;
    own.push(same ? row : { ...row, remote_id: `move ${row.id}` });
  }
  const remote = other.rows.flatMap((row) =>
    row.remote_id === null ? [] : remoteOf(row, row.remote_id, other.remarks),
  );
  const changes = await difference(own, remote, expected);
  // what only this domain has had: its remark and its end go with it
  const kept = new Map(other.rows.map((row) => [row.remote_id, row]));
  const insert = changes.insert.map((row) => {
    const { remark, expires_at, end_maker_id, end_maker_token_id } = kept.get(row.remote_id) as CacheRow;
    const end = expires_at ? { expires_at, end_maker_id, end_maker_token_id } : {};
    return { ...row, remark, ...(end as Partial<CacheRow>) };
  });
  return { ...changes, insert };
}

/** A cached record as its provider holds it. */
function remoteOf(row: CacheRow, remoteId: string, remarks: boolean): RemoteRecord {
  const { host, type, value, ttl, priority, weight, line, proxied, enabled, extra, read_only, read_only_reason } = row;
  return {
    ...{ remoteId, host, type, value, ttl, priority, weight, line, proxied, enabled, extra: extra ?? null },
    readOnly: read_only,
    ...(read_only_reason && { readOnlyReason: read_only_reason }),
    ...(remarks && { remark: row.remark }),
  };
}
