import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns, creator, index } from '../columns.js';

const HELD = ['tunnels', 'change_sets', 'dns_accounts'];

/** What acts later knows who made it, and why it is held; questions of checkers are taken once. Safe to repeat. */
export class Makers1764130000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    for (const table of ['failover_rules', ...HELD])
      await addColumns(runner, table, [c.int('maker_id', optional), c.int('maker_token_id', optional)]);
    for (const table of HELD) await addColumns(runner, table, [c.text('hold_reason', optional)]);
    // nobody knows any more who made them: the owner of the domain answers for them
    await runner.query(
      `UPDATE failover_rules SET maker_id = (SELECT owner_id FROM domains WHERE domains.id = failover_rules.domain_id)
        WHERE maker_id IS NULL`,
    );
    const create = creator(runner);
    await create('checker_nodes', [c.int('id', { isPrimary: true }), c.str('node', 32)]);
    await create(
      'checker_questions',
      [c.str('signature', 64, { isPrimary: true }), c.utc('until_at')],
      [index('checker_questions_until_ix', ['until_at'])],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['checker_questions', 'checker_nodes']) await runner.dropTable(table);
    for (const table of HELD) await runner.query(`ALTER TABLE ${table} DROP COLUMN hold_reason`);
    for (const table of ['failover_rules', ...HELD])
      for (const name of ['maker_id', 'maker_token_id']) await runner.query(`ALTER TABLE ${table} DROP COLUMN ${name}`);
  }
}
