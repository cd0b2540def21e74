import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, index } from '../columns.js';

const ADDED = {
  plans: ['door', 'wish', 'subject', 'decider_id', 'decider', 'decided_at', 'decision'],
  change_sets: ['approver_id', 'approver', 'override_reason'],
  failover_rules: ['failure'],
};
const STATES = index('plans_state_ix', ['domain_id', 'state', 'id']);

/**
 * Plans that wait for an approval, who gave it, what was done in spite of a freeze, and why a rule does not switch.
 * Safe to repeat.
 */
export class Approval1764390000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await addColumns(runner, 'plans', [
      c.str('door', 16, { default: "'plan'" }),
      c.str('wish', 64, optional),
      c.str('subject', 64, optional),
      c.int('decider_id', optional),
      c.str('decider', 64, optional),
      c.utc('decided_at', optional),
      c.str('decision', 255, optional),
    ]);
    await addColumns(runner, 'change_sets', [
      c.int('approver_id', optional),
      c.str('approver', 64, optional),
      c.str('override_reason', 255, optional),
    ]);
    await addColumns(runner, 'failover_rules', [c.text('failure', optional)]);
    const known = (await runner.getTable('plans'))?.indices.some(({ name }) => name === STATES.name);
    if (!known) await runner.createIndex('plans', new TableIndex(STATES));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('plans', STATES.name as string);
    for (const [table, names] of Object.entries(ADDED))
      for (const name of names) await runner.query(`ALTER TABLE ${table} DROP COLUMN ${name}`);
  }
}
