import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { due, turn } from '../common/turns.js';
import { Db, marks, type SqlValue } from '../database/db.js';
import { provide } from '../metrics/metrics.js';
import type { Health } from './decide.js';
import { MAX_TIMEOUT_S } from './failover.dto.js';
import type { FailoverRule } from './failover.entity.js';

/** A rule as it is stored. */
export type Rule = Omit<FailoverRule, 'domain'>;

/** A rule that is followed, with whose domain it is of. */
export type FollowedRule = Rule & { owner_id: number | null };

/** When a rule was checked last; null: never. */
export interface Checked {
  name: string;
  interval_s: number;
  last: string | null;
}

const lastOf = (checks: Rule['checks']): string | null =>
  Object.values(checks).reduce<string | null>(
    (last, { last_check_at: at }) => (at !== null && (last === null || at > last) ? at : last),
    null,
  );

const COLUMNS = `id, domain_id, position, version, name, config, hold, hold_reason, active, served, intended, maker_id,
  maker_token_id, checks, switched_at, switches, recent`;
/** rules whose checks one statement writes, and domains whose owners one reads */
const CHUNK = 100;

type Json = 'config' | 'served' | 'intended' | 'checks' | 'recent';
type Stored = Omit<Rule, Json | 'hold'> & Record<Json, string | null> & { hold: boolean | number };

const parsed = <T extends Stored>(row: T): Omit<T, Json | 'hold'> & Rule => {
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
};

/** A value as it is stored. */
const column = (value: unknown): SqlValue =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as SqlValue);

/** The tables of failover. */
@Injectable()
export class RuleStore {
  constructor(private readonly db: Db) {
    provide('zoneward_failover_rules', () => this.states());
  }

  /** Another text with every change of any rule but its checks. */
  async mark(): Promise<string> {
    const row = await this.db.row<Record<'n' | 'last' | 'versions', unknown>>(
      'SELECT COUNT(*) AS n, MAX(id) AS last, SUM(version) AS versions FROM failover_rules',
    );
    return `${row?.n} ${row?.last} ${row?.versions}`;
  }

  /** All rules that are to be followed, with those on hold, which are checked as well. */
  async followed(): Promise<FollowedRule[]> {
    const enabled = 'SELECT domain_id FROM failovers WHERE enabled = ?';
    const owner = '(SELECT owner_id FROM domains WHERE domains.id = failover_rules.domain_id) AS owner_id';
    const sql = `SELECT ${COLUMNS}, ${owner} FROM failover_rules WHERE domain_id IN (${enabled})`;
    return (await this.db.rows<Stored & { owner_id: number | null }>(sql, [true])).map((row) => parsed(row));
  }

  /** When the rules that are followed were checked last; of many it is found out in turns with all other work. */
  async checked(): Promise<Checked[]> {
    const enabled = 'SELECT domain_id FROM failovers WHERE enabled = ?';
    const sql = `SELECT name, config, checks FROM failover_rules WHERE domain_id IN (${enabled})`;
    const found: Checked[] = [];
    for (const { name, config, checks } of await this.db.rows<Record<'name' | 'config' | 'checks', string>>(sql, [
      true,
    ])) {
      const { interval_s } = (JSON.parse(config) as Rule['config']).check;
      found.push({ name, interval_s, last: lastOf(JSON.parse(checks)) });
      if (due()) await turn();
    }
    return found;
  }

  /** Whose these domains are; one that is gone is left out. */
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
  async of(domainId: number, manager?: EntityManager): Promise<Rule[]> {
    const sql = `SELECT ${COLUMNS} FROM failover_rules WHERE domain_id = ? ORDER BY position, id`;
    return (await this.db.rows<Stored>(sql, [domainId], manager)).map((row) => parsed(row));
  }

  async enabled(domainId: number, manager?: EntityManager): Promise<boolean | null> {
    const sql = 'SELECT enabled FROM failovers WHERE domain_id = ?';
    const row = await this.db.row<{ enabled: boolean | number }>(sql, [domainId], manager);
    return row ? Boolean(row.enabled) : null;
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
   * Writes these fields of a rule, unless somebody else has written it since it was read.
   * @returns the rule as it is now; null: somebody has
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

  /** What was found out by checks, of many rules. Of one that was written meanwhile it may be about something else. */
  async keep(rules: readonly Pick<Rule, 'id' | 'version' | 'checks'>[]): Promise<void> {
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

  /** With another version of the rules, so that who follows them notices, and no switch that was decided goes on. */
  async enable(domainId: number, enabled: boolean, manager: EntityManager): Promise<void> {
    const known = await this.enabled(domainId, manager);
    if (known === enabled) return;
    if (known === null) {
      // all its rules are new
      await this.db.insert('failovers', { domain_id: domainId, enabled }, manager);
      return;
    }
    await this.db.run('UPDATE failovers SET enabled = ? WHERE domain_id = ?', [enabled, domainId], manager);
    await this.db.run('UPDATE failover_rules SET version = version + 1 WHERE domain_id = ?', [domainId], manager);
  }

  async remove(ids: readonly number[], manager: EntityManager): Promise<void> {
    if (ids.length) await this.db.run(`DELETE FROM failover_rules WHERE id IN (${marks(ids.length)})`, ids, manager);
  }

  /** Removes all that there is of a domain. */
  async clear(domainId: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM failover_rules WHERE domain_id = ?', [domainId], manager);
    await this.db.run('DELETE FROM failovers WHERE domain_id = ?', [domainId], manager);
  }

  private async states(): Promise<Record<string, number>> {
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

/** Of all values of a rule what is known of them, and of no other. */
export const checksOf = ({ primary, backup }: Rule['config'], known: Rule['checks']): Record<string, Health> =>
  Object.fromEntries([...primary, ...backup].flatMap((value) => (known[value] ? [[value, known[value]]] : [])));

/** What a rule believes to be served. */
export const servedBy = ({ served, active, config }: Rule): string[] => served ?? config[active];
