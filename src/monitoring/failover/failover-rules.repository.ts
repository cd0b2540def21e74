import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Reader, readableSql } from '../../domains/readable-domains.repository.js';
import { due, turn } from '../../platform/common/turns.js';
import { Db, marks, type SqlValue } from '../../platform/database/db.js';
import { type Counted, countedRows, TOTAL } from '../../platform/database/lists.js';
import { MAX_TIMEOUT_S } from './failover.dto.js';
import type { FollowedRule, Rule } from './rule.js';

/** When a rule was checked last; null: never. */
export interface Checked {
  name: string;
  interval_s: number;
  last: string | null;
}

type Json = 'config' | 'served' | 'intended' | 'checks' | 'recent';
type Stored = Omit<Rule, Json | 'hold'> & Record<Json, string | null> & { hold: boolean | number };

const COLUMNS = `id, domain_id, position, version, name, config, hold, hold_reason, failure, active, served, intended, maker_id,
  maker_token_id, checks, switched_at, switches, recent`;
const ENABLED = 'domain_id IN (SELECT domain_id FROM failovers WHERE enabled = ?)';
/** rules whose checks one statement writes, and domains whose owners one reads */
const CHUNK = 100;

/** The rules of all domains. */
@Injectable()
export class FailoverRulesRepository {
  constructor(private readonly db: Db) {}

  /** Another text after every change of any rule but its checks. */
  async revision(): Promise<string> {
    const row = await this.db.row<Record<'n' | 'last' | 'versions', unknown>>(
      'SELECT COUNT(*) AS n, MAX(id) AS last, SUM(version) AS versions FROM failover_rules',
    );
    return `${row?.n} ${row?.last} ${row?.versions}`;
  }

  /** All rules that are followed, with those on hold, which are checked as well. */
  async followed(): Promise<FollowedRule[]> {
    const owner = '(SELECT owner_id FROM domains WHERE domains.id = failover_rules.domain_id) AS owner_id';
    const sql = `SELECT ${COLUMNS}, ${owner} FROM failover_rules WHERE ${ENABLED}`;
    return (await this.db.rows<Stored & { owner_id: number | null }>(sql, [true])).map((row) => parsed(row));
  }

  /** When the rules that are followed were checked last; a long list does not hold the event loop. */
  async lastChecks(): Promise<Checked[]> {
    const sql = `SELECT name, config, checks FROM failover_rules WHERE ${ENABLED}`;
    const rows = await this.db.rows<Record<'name' | 'config' | 'checks', string>>(sql, [true]);
    const found: Checked[] = [];
    for (const { name, config, checks } of rows) {
      const { interval_s } = (JSON.parse(config) as Rule['config']).check;
      found.push({ name, interval_s, last: lastOf(JSON.parse(checks)) });
      if (due()) await turn();
    }
    return found;
  }

  /** The owners of domains; a domain that is gone is left out. */
  async owners(domainIds: readonly number[]): Promise<Map<number, number | null>> {
    const ids = [...new Set(domainIds)];
    const found = new Map<number, number | null>();
    for (let i = 0; i < ids.length; i += CHUNK) {
      const some = ids.slice(i, i + CHUNK);
      const sql = `SELECT id, owner_id FROM domains WHERE id IN (${marks(some.length)})`;
      for (const { id, owner_id } of await this.db.rows<{ id: number; owner_id: number | null }>(sql, some))
        found.set(id, owner_id);
    }
    return found;
  }

  /** The rules of a domain, in their order. */
  async ofDomain(domainId: number, manager?: EntityManager): Promise<Rule[]> {
    const sql = `SELECT ${COLUMNS} FROM failover_rules WHERE domain_id = ? ORDER BY position, id`;
    return (await this.db.rows<Stored>(sql, [domainId], manager)).map((row) => parsed(row));
  }

  /** Rules that are followed, in domains that somebody may read, and that are on hold, or serve their backup values. */
  async noted(
    reader: Reader,
    why: 'held' | 'backup',
    limit: number,
    offset = 0,
  ): Promise<Counted<Rule & { domain: string; apart: string }>> {
    const [readable, values] = readableSql(reader, 'r.domain_id');
    const columns = COLUMNS.replace(/\w+/g, 'r.$&');
    const { rows, total } = await countedRows<Stored & { domain: string; apart: string }>(
      this.db,
      `SELECT ${columns}, d.name AS domain, d.apart, ${TOTAL}
         FROM failover_rules r JOIN failovers f ON f.domain_id = r.domain_id JOIN domains d ON d.id = r.domain_id
        WHERE f.enabled = ? AND ${why === 'held' ? 'r.hold = ?' : 'r.active = ?'} AND ${readable}
        ORDER BY r.id LIMIT ? OFFSET ?`,
      [true, why === 'held' ? true : 'backup', ...values, limit, offset],
    );
    return { rows: rows.map((row) => parsed(row)), total };
  }

  async one(id: number): Promise<Rule | null> {
    const row = await this.db.row<Stored>(`SELECT ${COLUMNS} FROM failover_rules WHERE id = ?`, [id]);
    return row ? parsed(row) : null;
  }

  /** @returns its id */
  add(rule: Omit<Rule, 'id'>, manager: EntityManager): Promise<number> {
    const row = Object.fromEntries(Object.entries(rule).map(([name, value]) => [name, column(value)]));
    return this.db.insert('failover_rules', row, manager);
  }

  /**
   * Writes these fields of a rule, unless it was changed since it was read.
   * @returns the rule as it is now; null: it was changed
   */
  async change(rule: Rule, fields: Partial<Rule>, manager?: EntityManager): Promise<Rule | null> {
    const changed = { ...fields, version: rule.version + 1 };
    const sets = Object.keys(changed).map((name) => `${name} = ?`);
    const written = await this.db.run(
      `UPDATE failover_rules SET ${sets.join(', ')} WHERE id = ? AND version = ?`,
      [...Object.values(changed).map(column), rule.id, rule.version],
      manager,
    );
    return written ? { ...rule, ...changed } : null;
  }

  /** Writes results of checks. Those of a rule that was changed meanwhile are dropped: they may be of other values. */
  async writeChecks(rules: readonly Pick<Rule, 'id' | 'version' | 'checks'>[]): Promise<void> {
    for (let i = 0; i < rules.length; i += CHUNK) {
      const some = rules.slice(i, i + CHUNK);
      const cases = some.map(() => 'WHEN id = ? AND version = ? THEN ?').join(' ');
      await this.db.run(
        `UPDATE failover_rules SET checks = CASE ${cases} ELSE checks END WHERE id IN (${marks(some.length)})`,
        [
          ...some.flatMap(({ id, version, checks }) => [id, version, JSON.stringify(checks)]),
          ...some.map(({ id }) => id),
        ],
      );
    }
  }

  /** Why the last try to switch a rule failed; null: it did not. What decides of the rule stays as it is. */
  async writeFailure(id: number, failure: string | null): Promise<void> {
    await this.db.run('UPDATE failover_rules SET failure = ? WHERE id = ?', [failure, id]);
  }

  async raiseVersions(domainId: number, manager: EntityManager): Promise<void> {
    await this.db.run('UPDATE failover_rules SET version = version + 1 WHERE domain_id = ?', [domainId], manager);
  }

  async remove(ids: readonly number[], manager: EntityManager): Promise<void> {
    if (ids.length) await this.db.run(`DELETE FROM failover_rules WHERE id IN (${marks(ids.length)})`, ids, manager);
  }

  async removeOfDomain(domainId: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM failover_rules WHERE domain_id = ?', [domainId], manager);
  }

  /** Rules by the side that is served, and those on hold. */
  async countByState(): Promise<Record<string, number>> {
    const rows = await this.db.rows<{ active: string; hold: boolean | number; n: number }>(
      'SELECT active, hold, COUNT(*) AS n FROM failover_rules GROUP BY active, hold',
    );
    const found: Record<string, number> = { primary: 0, backup: 0, held: 0 };
    for (const { active, hold, n } of rows) {
      found[active] = (found[active] ?? 0) + Number(n);
      if (hold) found.held = (found.held ?? 0) + Number(n);
    }
    return found;
  }
}

function parsed<T extends Stored>(row: T): Omit<T, Json | 'hold'> & Rule {
  const json = (text: string | null) => (text === null ? null : JSON.parse(text));
  const { served, intended, checks, recent } = row;
  const config: Rule['config'] = json(row.config);
  // rules from before this bound
  const timeout_s = Math.min(config.check.timeout_s, MAX_TIMEOUT_S);
  return {
    ...row,
    hold: Boolean(row.hold),
    config: { ...config, check: { ...config.check, timeout_s } },
    served: json(served),
    intended: json(intended),
    checks: json(checks),
    recent: json(recent),
  };
}

/** A value as it is stored. */
const column = (value: unknown): SqlValue =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as SqlValue);

const lastOf = (checks: Rule['checks']): string | null =>
  Object.values(checks).reduce<string | null>(
    (last, { last_check_at: at }) => (at !== null && (last === null || at > last) ? at : last),
    null,
  );
