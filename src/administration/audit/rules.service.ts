import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditReader } from '../../audit/audit-reader.service.js';
import { Notices } from '../../notifications/notices.service.js';
import { now } from '../../platform/common/clock.js';
import { Db, isDuplicate } from '../../platform/database/db.js';
import type { Notice } from '../../platform/events/events.js';
import type { AuditRule } from '../../settings/audit-rules.dto.js';
import { SettingsService } from '../../settings/settings.service.js';
import { AuditRuleStatesRepository } from './audit-rule-states.repository.js';
import type { AuditRuleState } from './rule-state.entity.js';

const MINUTE_MS = 60_000;
/** ms by which the linking of an entry may follow its `created_at` */
const LATE_MS = MINUTE_MS;

interface Times {
  created_at: string;
  count: number;
}

/**
 * The largest number of entries within any window of so many ms.
 * @param times newest first
 */
export function mostWithin(times: readonly Times[], ms: number): number {
  let [most, sum, first] = [0, 0, 0];
  for (const { created_at, count } of times) {
    sum += count;
    // drops the newest ones that lie too far from this one
    for (; Date.parse((times[first] as Times).created_at) - Date.parse(created_at) > ms; first++)
      sum -= (times[first] as Times).count;
    most = Math.max(most, sum);
  }
  return most;
}

/** Checks the entries since its last run, and sends a notice for each rule whose threshold was reached. */
@Injectable()
export class AuditRulesCheck {
  constructor(
    private readonly db: Db,
    private readonly states: AuditRuleStatesRepository,
    private readonly settings: SettingsService,
    private readonly reader: AuditReader,
    private readonly notices: Notices,
  ) {}

  async check(): Promise<void> {
    const rules = (await this.settings.read('audit-rules')).rules.filter((rule) => rule.enabled);
    const states = await this.states.list();
    for (const { rule_id: id } of states) if (!rules.some((rule) => rule.id === id)) await this.states.remove(id);
    for (const rule of rules) {
      const state = states.find(({ rule_id }) => rule_id === rule.id);
      await this.judge(rule, state).catch((error) => {
        // another process was the first to insert its state
        if (!isDuplicate(error)) throw error;
      });
      // lets requests run meanwhile: SQLite answers within the same turn
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
    // this many of the newest entries are enough to find the threshold exceeded within the window
    const times = await this.reader.timesOf(rule.match, since, 2 * rule.threshold + 1000);
    const count = mostWithin(times, windowMs);
    if (count < rule.threshold) {
      await this.store(rule.id, state, { checked_at: at, fired_at: fired });
      return;
    }
    await this.db.transaction(async (manager) => {
      // the process that stores it first sends the notice
      if (!(await this.store(rule.id, state, { checked_at: at, fired_at: at }, manager))) return;
      await this.notices.tell(manager, noticeOf(rule, count, times[0]?.created_at ?? null));
    });
  }

  /** @returns whether nobody has stored another state since this one was read */
  private async store(
    id: string,
    read: AuditRuleState | undefined,
    next: Omit<AuditRuleState, 'rule_id'>,
    manager?: EntityManager,
  ): Promise<boolean> {
    if (read) return this.states.replace(read, next, manager);
    await this.states.insert({ rule_id: id, ...next }, manager);
    return true;
  }
}

function noticeOf(rule: AuditRule, count: number, last_at: string | null): Notice {
  const { id: rule_id, name, threshold, window_minutes } = rule;
  const { action, domain, actor } = rule.match;
  return {
    event: 'audit.rule',
    text: `Audit rule "${name}": ${count} matching entries within ${window_minutes} min`,
    domain: domain && !domain.includes('*') ? domain : null,
    channels: rule.channels.length ? rule.channels : undefined,
    details: { rule_id, rule: name, count, threshold, window_minutes, action, actor, last_at },
  };
}
