import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../common/clock.js';
import { Db, marks } from '../database/db.js';
import { Leases, PROCESS } from '../database/leases.js';
import { domainState } from '../domains/domain-state.js';
import { RecordIntent } from './record.entity.js';

/** The lock of one name of a zone, or of a whole zone where the provider rewrites it as a whole (host `null`). */
export const lockOf = (domainId: number, host: string | null): string =>
  host === null ? `zone|${domainId}` : `name|${domainId}|${host}`;

const KEEP_MS = 3_600_000;
/** so many are forgotten at a time */
const PRUNE_MAX = 500;

interface Pending {
  id: number;
  hosts: string;
  expected: string;
  state: string;
}

/**
 * What is about to be done at a provider, stored before the call. An intent is open while its writer holds the locks of
 * its names; a writer that died leaves one that is open without a lock, a call without a clear answer leaves one that
 * is `unknown`. Both are settled by asking the provider.
 */
@Injectable()
export class Intents {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
  ) {}

  /** @param expected see `RecordIntent.expected`; @returns the intent's id */
  async store(
    domainId: number,
    op: string,
    hosts: string[],
    expected: [number, string | null][],
    requestId: string,
  ): Promise<number> {
    const row = { domain_id: domainId, op, hosts, expected, owner: PROCESS, state: 'open' as const, revision: null };
    const inserted = await this.db.again(() =>
      this.db.source.manager.insert(RecordIntent, { ...row, request_id: requestId, created_at: now() }),
    );
    return Number(inserted.identifiers[0]?.id);
  }

  /**
   * In the transaction that brings the cache up to date. Raises the domain's revision and remembers it, so that a sync
   * sees what changed while it was listing.
   */
  async resolve(manager: EntityManager, domainId: number, id: number | null): Promise<void> {
    await domainState.raiseRevision(this.db, manager, domainId);
    if (id === null) return;
    await this.db.run(
      `UPDATE record_intents SET state = 'done', revision = (SELECT d.revision FROM domains d WHERE d.id = ?) WHERE id = ?`,
      [domainId, id],
      manager,
    );
  }

  /** Nobody knows whether it was applied: the next look at the provider settles it. */
  async doubt(id: number, manager?: EntityManager): Promise<void> {
    await this.db.run(`UPDATE record_intents SET state = 'unknown' WHERE id = ?`, [id], manager);
  }

  /**
   * Intents that a complete list of the provider, read from now on, will settle, the names that they touch, and what
   * they meant to make of which rows.
   */
  async settleable(
    domainId: number,
  ): Promise<{ ids: number[]; hosts: string[]; expected: Map<number, string | null> }> {
    const pending = await this.db.rows<Pending>(
      `SELECT id, hosts, expected, state FROM record_intents WHERE domain_id = ? AND state <> 'done' ORDER BY id`,
      [domainId],
    );
    const ids: number[] = [];
    const hosts: string[] = [];
    const expected = new Map<number, string | null>();
    for (const intent of pending) {
      const touched = JSON.parse(intent.hosts) as string[];
      if (intent.state === 'open' && (await this.beingDone(domainId, touched))) continue;
      ids.push(intent.id);
      hosts.push(...touched);
      for (const [row, remoteId] of JSON.parse(intent.expected) as [number, string | null][])
        expected.set(row, remoteId);
    }
    return { ids, hosts, expected };
  }

  /** Whether a live writer holds the locks of these names. */
  private beingDone(domainId: number, hosts: string[]): Promise<boolean> {
    return this.leases.isHeld([lockOf(domainId, null), ...hosts.map((host) => lockOf(domainId, host))]);
  }

  /**
   * Hosts that somebody changed since `revision`, or is changing: what a list read meanwhile says of them is not to be
   * trusted.
   */
  async busyHosts(manager: EntityManager, domainId: number, revision: number, settled: number[]): Promise<Set<string>> {
    const not = settled.length ? ` AND id NOT IN (${marks(settled.length)})` : '';
    const rows = await this.db.rows<Pending>(
      `SELECT id, hosts FROM record_intents WHERE domain_id = ? AND (revision > ? OR state <> 'done')${not}`,
      [domainId, revision, ...settled],
      manager,
    );
    return new Set(rows.flatMap((row) => JSON.parse(row.hosts) as string[]));
  }

  async settle(manager: EntityManager, ids: number[]): Promise<void> {
    if (ids.length) await this.db.run(`DELETE FROM record_intents WHERE id IN (${marks(ids.length)})`, ids, manager);
  }

  /** Domains with intents that nobody is at, up to `limit`. */
  async unsettledDomains(limit = 100): Promise<number[]> {
    const rows = await this.db.rows<{ domain_id: number }>(
      `SELECT DISTINCT domain_id FROM record_intents WHERE state IN ('open', 'unknown') ORDER BY domain_id LIMIT ?`,
      [limit],
    );
    const out: number[] = [];
    for (const { domain_id } of rows) {
      if ((await this.settleable(domain_id)).ids.length) out.push(domain_id);
    }
    return out;
  }

  /**
   * Forgets finished intents that no sync can need any more. By id: a deletion that searches would lock the rows that
   * it looks at, those of writers too.
   */
  async prune(): Promise<void> {
    for (;;) {
      const old = await this.db.rows<{ id: number }>(
        `SELECT id FROM record_intents WHERE state = 'done' AND created_at < ? LIMIT ?`,
        [now(-KEEP_MS), PRUNE_MAX],
      );
      const ids = old.map((row) => row.id);
      if (ids.length) await this.db.run(`DELETE FROM record_intents WHERE id IN (${marks(ids.length)})`, ids);
      if (ids.length < PRUNE_MAX) return;
    }
  }
}
