import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';
import type { AuditRuleState } from './rule-state.entity.js';

/** The table `audit_rule_states`. */
@Injectable()
export class AuditRuleStatesRepository {
  constructor(private readonly db: Db) {}

  list(): Promise<AuditRuleState[]> {
    return this.db.rows('SELECT rule_id, checked_at, fired_at FROM audit_rule_states');
  }

  async insert({ rule_id, checked_at, fired_at }: AuditRuleState, manager?: EntityManager): Promise<void> {
    const sql = 'INSERT INTO audit_rule_states (rule_id, checked_at, fired_at) VALUES (?, ?, ?)';
    await this.db.run(sql, [rule_id, checked_at, fired_at], manager);
  }

  /** Replaces a state that was read before. @returns false when somebody else replaced it since */
  async replace(
    read: AuditRuleState,
    { checked_at, fired_at }: Omit<AuditRuleState, 'rule_id'>,
    manager?: EntityManager,
  ): Promise<boolean> {
    const sql = 'UPDATE audit_rule_states SET checked_at = ?, fired_at = ? WHERE rule_id = ? AND checked_at = ?';
    return (await this.db.run(sql, [checked_at, fired_at, read.rule_id, read.checked_at], manager)) > 0;
  }

  async remove(ruleId: string): Promise<void> {
    await this.db.run('DELETE FROM audit_rule_states WHERE rule_id = ?', [ruleId]);
  }
}
