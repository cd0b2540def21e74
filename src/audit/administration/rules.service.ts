import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../../common/clock.js';
import { Db, isDuplicate } from '../../database/db.js';
import { Notices } from '../../notifications/notices.service.js';
import type { AuditRule } from '../../settings/audit-rules.dto.js';
import { SettingsService } from '../../settings/settings.service.js';
import { AuditReader } from '../audit-reader.service.js';
import type { AuditRuleState } from './rule-state.entity.js';

const MINUTE_MS = 60_000;
/** ms that an entry may be linked after the moment that it bears */
const LATE_MS = MINUTE_MS;

interface Times {
  created_at: string;
  count: number;
}

/**
 * The most that happened within any time of so many ms.
 * @param times newest first
 */
export function mostWithin(times: readonly Times[], ms: number): number {
  let [most, sum, first] = [0, 0, 0];
  for (const { created_at, count } of times) {
    sum += count;
    // those at the new end that are too far from this one
    for (; Date.parse((times[first] as Times).created_at) - Date.parse(created_at) > ms; first++)
      sum -= (times[first] as Times).count;
    most = Math.max(most, sum);
  }
  return most;
}

/** Looks at what was written since it last did, and tells of rules whose threshold was reached. */
@Injectable()
export class AuditRulesCheck {
  constructor(
    private readonly db: Db,
    private readonly settings: SettingsService,
    private readonly reader: AuditReader,
    private readonly notices: Notices,
  ) {}

  async check(): Promise<void> {
    const rules = (await this.settings.read('audit-rules')).rules.filter((rule) => rule.enabled);
    const states = await this.db.rows<AuditRuleState>('SELECT rule_id, checked_at, fired_at FROM audit_rule_states');
    for (const { rule_id: id } of states)
      if (!rules.some((rule) => rule.id === id))
        await this.db.run('DELETE FROM audit_rule_states WHERE rule_id = ?', [id]);
    for (const rule of rules) {
      await this.judge(
        rule,
        states.find((state) => state.rule_id === rule.id),
      ).catch((error) => {
        // another process was the first to note anything of it
        if (!isDuplicate(error)) throw error;
      });
      // requests, too: SQLite answers within the same turn
      await nextTurn();
    }
  }

  private async judge(rule: AuditRule, state: AuditRuleState | undefined): Promise<void> {
    const windowMs = rule.window_minutes * MINUTE_MS;
    const at = now();
    const fired = state?.fired_at ?? null;
    if (fired && Date.parse(at) < Date.parse(fired) + windowMs) return;
    const from = Date.parse(state?.checked_at ?? at) - windowMs - LATE_MS;
    const since = new Date(Math.max(from, fired ? Date.parse(fired) : 0)).toISOString();
    // more than the threshold within little more than its time: the newest are enough to find it
    const times = await this.reader.timesOf(rule.match, since, 2 * rule.threshold + 1000);
    const count = mostWithin(times, windowMs);
    const reached = count >= rule.threshold;
    const note = (manager?: EntityManager) => this.note(rule.id, state, at, reached ? at : fired, manager);
    if (!reached) return void (await note());
    const { action, domain, actor } = rule.match;
    await this.db.transaction(async (manager) => {
      // whoever notes it first tells it
      if (!(await note(manager))) return;
      await this.notices.tell(manager, {
        event: 'audit.rule',
        text: `Audit rule "${rule.name}": ${count} matching entries within ${rule.window_minutes} min`,
        domain: domain && !domain.includes('*') ? domain : null,
        ...(rule.channels.length ? { channels: rule.channels } : {}),
        details: {
          rule_id: rule.id,
          rule: rule.name,
          count,
          ...{ threshold: rule.threshold, window_minutes: rule.window_minutes, action, actor },
          last_at: times[0]?.created_at ?? null,
        },
      });
    });
  }

  /** @returns whether nobody has noted anything of it since it was read */
  private async note(
    id: string,
    state: AuditRuleState | undefined,
    checked: string,
    fired: string | null,
    manager?: EntityManager,
  ): Promise<boolean> {
    if (state) {
      const sql = 'UPDATE audit_rule_states SET checked_at = ?, fired_at = ? WHERE rule_id = ? AND checked_at = ?';
      return (await this.db.run(sql, [checked, fired, id, state.checked_at], manager)) > 0;
    }
    const sql = 'INSERT INTO audit_rule_states (rule_id, checked_at, fired_at) VALUES (?, ?, ?)';
    return (await this.db.run(sql, [id, checked, fired], manager)) > 0;
  }
}
