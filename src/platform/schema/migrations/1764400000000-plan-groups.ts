import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, creator, index } from '../columns.js';

const GROUPS = index('plans_group_ix', ['group_id', 'id']);

/** Plans over many domains: a group of plans, one for each domain. Safe to repeat. */
export class PlanGroups1764400000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const create = creator(runner);
    const optional = { isNullable: true };
    await create(
      'plan_groups',
      [
        c.id(),
        c.str('state', 16),
        c.str('comment', 255),
        c.json('failed'),
        c.int('user_id', optional),
        c.str('username', 64, optional),
        c.int('token_id', optional),
        c.str('token_name', 255, optional),
        c.int('applier_id', optional),
        c.int('applier_token_id', optional),
        c.str('request_id', 64),
        c.str('forced', 255),
        c.str('reason', 255),
        c.str('override_reason', 255, optional),
        c.utc('applied_at', optional),
        c.utc('created_at'),
        c.utc('expires_at'),
      ],
      [index('plan_groups_state_ix', ['state', 'id']), index('plan_groups_end_ix', ['expires_at'])],
    );
    await addColumns(runner, 'plans', [c.int('group_id', optional), c.json('outcome', optional)]);
    const known = (await runner.getTable('plans'))?.indices.some(({ name }) => name === GROUPS.name);
    if (!known) await runner.createIndex('plans', new TableIndex(GROUPS));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('plans', GROUPS.name as string);
    for (const name of ['group_id', 'outcome']) await runner.query(`ALTER TABLE plans DROP COLUMN ${name}`);
    await runner.dropTable('plan_groups');
  }
}
