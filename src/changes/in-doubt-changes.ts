import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService } from '../audit/audit.service.js';
import { RecordCache } from '../cache/record-cache.js';
import { now, timeMs } from '../common/clock.js';
import { CODES } from '../common/errors.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { Db, marks, type SqlValue } from '../database/db.js';
import { isHolding, Leases } from '../database/leases.js';
import { SharedZones } from '../domains/shared-zones.service.js';
import type { ChangedRecord, ChangeSet } from './change-set.entity.js';
import { hostsOf, type InDoubtChange } from './evidence.js';
import { lockOf } from './locks.js';
import { actorOf, WHO } from './who.js';

/** ids that one statement names */
const CHUNK = 200;
/** ms until a domain is looked at again whose names in doubt are being changed */
const AGAIN_MS = 5_000;
/** ms from a write without an answer to the first look whether it came late */
const FIRST_LOOK_MS = 1_000;
const NOT_THERE = 'The provider gave no clear answer; what it holds shows that the change was not applied';
const NEITHER =
  'The provider gave no clear answer, and holds neither the record as it was nor as it was to be; make it again';
/** of one from before it was kept what it was to make */
const NOT_KNOWN = 'The provider gave no clear answer; whether it applied the change is not known any more';

/** Of a change set whose process is gone: nobody is at it until somebody takes it up. */
export const NOBODY = '';

/** ms that an accepted list is tried, from then or from its confirmation */
export const LIST_LIFE_MS = 86_400_000;

/** A set that somebody is at, or was. */
interface OpenSet {
  id: number;
  background: boolean | number;
  whole: boolean | number;
  owner: string;
}

interface ChangeRow {
  id: number;
  change_set_id: number;
  record_id: number | null;
  host: string;
  host_before: string | null;
  state_before: string | null;
  value_before: string | null;
  state_after: string | null;
  value_after: string | null;
  expected: string | null;
  settle_after: string | null;
  late: InDoubtChange['late'];
  atomic: boolean | number;
}

/**
 * Changes that were sent to a provider, and of which nobody knows whether they were applied: a call without a clear
 * answer, or a process that died. What a list of the provider proves of them is judged in `evidence.ts`.
 */
@Injectable()
export class InDoubtChanges {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly cache: RecordCache,
    private readonly audit: AuditService,
    private readonly shared: SharedZones,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** `settle_after` of a change that comes into doubt at this moment. */
  settleAfter(): string {
    return now(this.config.unclearAfterMs);
  }

  /**
   * Takes over the change sets of a domain whose process is gone, or has lost its locks. What it had sent is in doubt
   * from now on; the rest was not tried, but stays as it is where the set goes on in the background (`resumable`).
   */
  async adoptDead(domainId: number): Promise<void> {
    const open = await this.db.rows<OpenSet>(
      `SELECT id, background, whole, owner FROM change_sets WHERE state = 'open' AND domain_id = ? AND owner <> ? ORDER BY id`,
      [domainId, NOBODY],
    );
    for (const set of open) if (!(await this.beingDone(domainId, set))) await this.adopt(domainId, set);
  }

  /** A list that its holder could not bring to its end: as of a process that is gone. */
  abandon(domainId: number, set: Pick<OpenSet, 'id' | 'background' | 'owner'>): Promise<void> {
    return this.adopt(domainId, set);
  }

  /**
   * Whether the cache may be wrong about one of these names: some change there has no known end, or its process is gone
   * before it could write down what it did. Who asks holds the locks of the names, so no other one lives at them.
   * @param domainIds all domains that are the zone
   * @param hosts null: all of the zone
   */
  async isAt(domainIds: readonly number[], hosts: readonly string[] | null): Promise<boolean> {
    const which = `domain_id IN (${marks(domainIds.length)}) AND state <> 'done'`;
    if (!(await this.db.row(`SELECT 1 AS one FROM change_sets WHERE ${which} LIMIT 1`, domainIds))) return false;
    const rows = await this.db.rows<{ host: string; host_before: string | null }>(
      `SELECT DISTINCT c.host, c.host_before FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
        WHERE s.domain_id IN (${marks(domainIds.length)}) AND s.state <> 'done' AND (c.state = 'unknown' OR (c.state = 'pending' AND c.tried_at IS NOT NULL))`,
      domainIds,
    );
    const asked = hosts && new Set(hosts);
    return rows.some((row) => !asked || hostsOf(row).some((host) => asked.has(host)));
  }

  private async adopt(domainId: number, { id, background, owner }: Omit<OpenSet, 'whole'>): Promise<void> {
    await this.db.transaction(async (manager) => {
      // it may have ended since it was looked at, or another process was faster
      const mine = `UPDATE change_sets SET owner = ? WHERE id = ? AND state = 'open' AND owner = ?`;
      if (!(await this.db.run(mine, [NOBODY, id, owner], manager))) return;
      await this.db.run(
        // the provider may be at what the process asked for before it ended
        `UPDATE record_changes SET state = 'unknown', late = 'once', settle_after = ?
          WHERE change_set_id = ? AND state = 'pending' AND tried_at IS NOT NULL`,
        [this.settleAfter(), id],
        manager,
      );
      if (!(await this.goesOn(manager, id, background)))
        await this.db.run(
          `UPDATE record_changes SET state = 'not_tried' WHERE change_set_id = ? AND state = 'pending'`,
          [id],
          manager,
        );
      const unknown = await this.db.rows<{ record_id: number }>(
        `SELECT record_id FROM record_changes WHERE change_set_id = ? AND state = 'unknown' AND record_id IS NOT NULL`,
        [id],
        manager,
      );
      const ids = unknown.map((row) => row.record_id);
      await this.cache.markPending(manager, domainId, ids);
      await this.close(manager, [id]);
      await this.tell(manager, id);
    });
  }

  /** Whether the rest of a list that was cut off is carried on with: of an atomic one only while nothing has failed. */
  private async goesOn(manager: EntityManager, id: number, background: boolean | number): Promise<boolean> {
    if (!background) return false;
    const sql = `SELECT 1 AS one FROM change_sets s JOIN record_changes c ON c.change_set_id = s.id
      WHERE s.id = ? AND s.atomic = ? AND c.state IN ('unknown', 'failed') LIMIT 1`;
    return (await this.db.row(sql, [id, true], manager)) === undefined;
  }

  /** The audit entry of a list that was cut off: who asked for it, and what was written until then. */
  private async tell(manager: EntityManager, id: number): Promise<void> {
    const sql = `SELECT ${WHO}, domain_id, domain, total FROM change_sets WHERE id = ?`;
    const set = (await this.db.row<ChangeSet>(sql, [id], manager)) as ChangeSet;
    const states = await this.db.rows<{ state: string; n: number | string }>(
      'SELECT state, COUNT(*) AS n FROM record_changes WHERE change_set_id = ? GROUP BY state',
      [id],
      manager,
    );
    const domain = { id: set.domain_id, name: set.domain };
    await this.audit.write(manager, actorOf(set), {
      action: 'record.batch',
      domain,
      target: { type: 'domain', ...domain },
      after: { total: set.total, ...Object.fromEntries(states.map(({ state, n }) => [state, Number(n)])) },
      result: 'failed',
      error: 'The list was cut off; what was sent is being asked for at the provider',
      changeSet: id,
    });
  }

  /**
   * Change sets that go on in the background and whose process is gone, oldest first, but for those that are held.
   * Whoever takes one up becomes its `owner` by compare-and-set (from '').
   */
  async resumable(): Promise<{ id: number; domain_id: number }[]> {
    const rows = await this.db.rows<{ id: number; domain_id: number }>(
      `SELECT s.id, s.domain_id FROM change_sets s WHERE s.state IN ('open', 'unknown') AND s.owner = ? AND s.background = ?
           AND s.hold_reason IS NULL AND (s.paused_until IS NULL OR s.paused_until <= ?)
          AND EXISTS (SELECT 1 FROM record_changes c WHERE c.change_set_id = s.id AND c.state = 'pending') ORDER BY s.id`,
      [NOBODY, true, now()],
    );
    return rows.map(({ id, domain_id }) => ({ id, domain_id }));
  }

  /** Whether whoever began an open set lives and still has its locks. */
  private async beingDone(
    domainId: number,
    { id, whole, owner }: Pick<OpenSet, 'id' | 'whole' | 'owner'>,
  ): Promise<boolean> {
    if (isHolding(owner)) return this.leases.isHolding(owner);
    // of a version that wrote the process alone: whoever holds the names
    const zone = lockOf(domainId, null);
    if (whole) return this.leases.isHeld([zone]);
    const rows = await this.db.rows<{ host: string; host_before: string | null }>(
      'SELECT DISTINCT host, host_before FROM record_changes WHERE change_set_id = ?',
      [id],
    );
    const hosts = [...new Set(rows.flatMap(hostsOf))];
    return this.leases.isHeld(hosts.map((host) => lockOf(domainId, host)));
  }

  /** The changes in doubt of a domain, oldest first. */
  async of(domainId: number, manager?: EntityManager): Promise<InDoubtChange[]> {
    const rows = await this.db.rows<ChangeRow>(
      `SELECT c.id, c.change_set_id, c.record_id, c.host, c.host_before, c.state_before, c.value_before, c.state_after,
              c.value_after, c.expected, c.settle_after, c.late, s.atomic
         FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
        WHERE s.state <> 'done' AND s.domain_id = ? AND c.state = 'unknown' ORDER BY c.id`,
      [domainId],
      manager,
    );
    return rows.map(({ state_before, value_before, state_after, value_after, ...row }) => {
      const before = state(state_before, value_before);
      const after = state(state_after, value_after);
      const remark = after && { from: before?.remark ?? '', to: after.remark };
      const states = { before: before?.values ?? null, after: after?.values ?? null };
      return { ...row, ...states, remark, atomic: Boolean(row.atomic) };
    });
  }

  /**
   * When the next look at a domain's changes in doubt is worth its call, in ms of `timeMs()`: when a list can prove
   * more than one of now, and before that at times which grow further apart, since what comes late is proved at once.
   * @returns null: there are none
   */
  async nextLook(domainId: number): Promise<number | null> {
    const row = await this.db.row<{ at: string | null }>(
      `SELECT MIN(COALESCE(c.settle_after, '')) AS at FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
        WHERE s.state <> 'done' AND s.domain_id = ? AND c.state = 'unknown'`,
      [domainId],
    );
    if (row?.at == null) return null;
    const ripe = Date.parse(row.at) || 0;
    if (ripe < timeMs()) return timeMs() + AGAIN_MS;
    const waited = timeMs() - (ripe - this.config.unclearAfterMs);
    return Math.min(ripe + 1, timeMs() + Math.max(FIRST_LOOK_MS, waited));
  }

  /**
   * Hosts that somebody changed since `revision`, or is changing: what a list read meanwhile says of them is not to be
   * trusted. In a transaction that has locked the domain's row.
   */
  async busyHosts(manager: EntityManager, domainId: number, revision: number): Promise<Set<string>> {
    const hosts = new Set<string>();
    const add = async (which: string, values: SqlValue[]) => {
      const sql = `SELECT DISTINCT c.host, c.host_before FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id WHERE ${which}`;
      const rows = await this.db.rows<{ host: string; host_before: string | null }>(sql, values, manager);
      for (const host of rows.flatMap(hostsOf)) hosts.add(host);
    };
    await add('s.domain_id = ? AND s.revision > ?', [domainId, revision]);
    await add(`s.state = 'open' AND s.domain_id = ? AND s.owner <> ?`, [domainId, NOBODY]);
    return hosts;
  }

  /**
   * Writes down what came of changes in doubt, and takes the mark from rows that no other one touches.
   * @param gone those of `failed` of whose record neither the old nor the new state is there
   * @param applied with the id of the row that each made or changed, null where there is none any more
   */
  async settle(
    manager: EntityManager,
    domainId: number,
    applied: ReadonlyMap<InDoubtChange, number | null>,
    failed: readonly InDoubtChange[],
    gone: ReadonlySet<number> = new Set(),
  ): Promise<void> {
    for (const [{ id, record_id }, row] of applied)
      await this.db.run(
        `UPDATE record_changes SET state = 'applied', error = NULL, record_id = ? WHERE id = ?`,
        [row ?? record_id, id],
        manager,
      );
    for (const change of failed) {
      const { id, before, after, expected } = change;
      const known = before || after || expected !== null;
      if (known && !gone.has(id) && (await this.againLater(manager, change))) continue;
      const msg = gone.has(id) ? NEITHER : known ? NOT_THERE : NOT_KNOWN;
      const error = JSON.stringify({ code: CODES.provider.code, msg });
      await this.db.run(`UPDATE record_changes SET state = 'failed', error = ? WHERE id = ?`, [error, id], manager);
    }
    const settled = [...applied.keys(), ...failed];
    const rows = [...new Set(settled.flatMap((change) => change.record_id ?? []))];
    const waiting = await this.inDoubtAmong(manager, rows);
    const clear = rows.filter((id) => !waiting.has(id));
    await this.cache.markPending(manager, domainId, clear, false);
    await this.close(manager, [...new Set(settled.map((change) => change.change_set_id))]);
  }

  /**
   * What the provider answered with a failure, and certainly did not carry out, is tried again where its list goes on
   * by itself. What was on its way when a process died is not. @returns whether it is
   */
  private async againLater(manager: EntityManager, { id, change_set_id }: InDoubtChange): Promise<boolean> {
    const again = await this.db.run(
      `UPDATE record_changes SET state = 'pending', tried_at = NULL, error = NULL, settle_after = NULL, late = NULL
        WHERE id = ? AND error IS NOT NULL AND change_set_id IN (
          SELECT id FROM change_sets WHERE background = ? AND atomic = ? AND cancelled_at IS NULL AND COALESCE(confirmed_at, created_at) > ?)`,
      [id, true, false, now(-LIST_LIFE_MS)],
      manager,
    );
    const free = `UPDATE change_sets SET owner = ? WHERE id = ? AND state = 'unknown'`;
    if (again) await this.db.run(free, [NOBODY, change_set_id], manager);
    return again > 0;
  }

  /** Those of these rows that a change in doubt touches. */
  private async inDoubtAmong(manager: EntityManager, ids: readonly number[]): Promise<Set<number>> {
    const found = new Set<number>();
    for (let i = 0; i < ids.length; i += CHUNK) {
      const some = ids.slice(i, i + CHUNK);
      const sql = `SELECT DISTINCT record_id FROM record_changes WHERE state = 'unknown' AND record_id IN (${marks(some.length)})`;
      for (const row of await this.db.rows<{ record_id: number }>(sql, some, manager)) found.add(row.record_id);
    }
    return found;
  }

  /** The states of sets that nobody is at, after those of their changes. */
  private async close(manager: EntityManager, ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      const rows = await this.db.rows<{ state: string }>(
        `SELECT DISTINCT state FROM record_changes WHERE change_set_id = ? AND state IN ('unknown', 'pending')`,
        [id],
        manager,
      );
      const left = new Set(rows.map((row) => row.state));
      // one that goes on in the background waits, open, for whoever takes it up
      const next = left.has('unknown') ? 'unknown' : left.size ? 'open' : 'done';
      const sql = `UPDATE change_sets SET state = ?, finished_at = ? WHERE id = ? AND (state = 'unknown' OR owner = ?)`;
      await this.db.run(sql, [next, next === 'done' ? now() : null, id, NOBODY], manager);
    }
  }

  /** Nobody is asked any more what became of the changes of a domain that is gone. */
  private async endOfGone(id: number): Promise<void> {
    await this.db.run(
      `UPDATE record_changes SET state = CASE WHEN tried_at IS NULL THEN 'not_tried' ELSE 'unknown' END
        WHERE change_set_id = ? AND state = 'pending'`,
      [id],
    );
    await this.db.run(`UPDATE change_sets SET state = 'done', finished_at = ? WHERE id = ?`, [now(), id]);
  }

  /**
   * Domains, with their accounts, that have changes without a known end which nobody is at, or whose zone was changed
   * as another domain. Sets of domains that are gone end here.
   */
  async domains(): Promise<{ id: number; accountId: number; ownerId: number | null }[]> {
    const rows = await this.db.rows<
      Pick<OpenSet, 'id' | 'whole' | 'owner'> & {
        state: string;
        domain_id: number;
        account_id: number | null;
        owner_id: number | null;
      }
    >(
      `SELECT s.id, s.state, s.whole, s.owner, s.domain_id, d.account_id, d.owner_id FROM change_sets s LEFT JOIN domains d ON d.id = s.domain_id
        WHERE s.state = 'unknown' OR (s.state = 'open' AND s.owner <> ?)`,
      [NOBODY],
    );
    const outdated = await this.shared.outdated();
    const found = new Map(outdated.map(({ id, accountId, ownerId }) => [id, { accountId, ownerId }]));
    for (const { id, state, whole, owner, domain_id, account_id, owner_id } of rows) {
      if (account_id !== null && found.has(domain_id)) continue;
      if (state === 'open' && (await this.beingDone(domain_id, { id, whole, owner }))) continue;
      if (account_id !== null) found.set(domain_id, { accountId: account_id, ownerId: owner_id });
      else await this.endOfGone(id);
    }
    return [...found].map(([id, whose]) => ({ id, ...whose }));
  }
}

/** A stored state as the values of a row. */
function state(json: string | null, value: string | null): { values: InDoubtChange['before']; remark: string } | null {
  if (json === null || value === null) return null;
  const { remark, ...values } = JSON.parse(json) as ChangedRecord;
  return { values: { ...values, value }, remark };
}
