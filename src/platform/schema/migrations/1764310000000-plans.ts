import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

/** Plans: changes that were worked out, and have not run. Safe to repeat. */
export class Plans1764310000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const create = creator(runner);
    const optional = { isNullable: true };
    await create(
      'plans',
      [
        c.id(),
        c.int('domain_id'),
        c.str('state', 16),
        c.str('comment', 255),
        c.int('version'),
        c.str('base', 64),
        c.int('unchanged'),
        c.text('warnings'),
        c.int('user_id', optional),
        c.str('username', 64, optional),
        c.int('token_id', optional),
        c.str('token_name', 255, optional),
        c.int('change_set_id', optional),
        c.utc('created_at'),
        c.utc('expires_at'),
      ],
      [index('plans_domain_ix', ['domain_id', 'id']), index('plans_end_ix', ['expires_at'])],
      [foreign('plans_domain_fk', 'domain_id', 'domains')],
    );
    await create(
      'plan_changes',
      [
        c.id(),
        c.int('plan_id'),
        c.int('position'),
        c.str('op', 16),
        c.int('record_id', optional),
        c.json('state_before', optional),
        c.text('value_before', optional),
        c.json('state_after', optional),
        c.text('value_after', optional),
        c.str('base', 64),
        c.str('guards', 255),
      ],
      [index('plan_changes_plan_uq', ['plan_id', 'position'], true)],
      [foreign('plan_changes_plan_fk', 'plan_id', 'plans')],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('plan_changes');
    await runner.dropTable('plans');
  }
}
