import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

/** What the zones above say of our zones. Safe to repeat. */
export class Delegations1764080000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await creator(runner)(
      'delegations',
      [
        c.int('domain_id', { isPrimary: true }),
        c.json('names', optional),
        c.json('names_before', optional),
        c.json('ds', optional),
        c.utc('changed_at', optional),
        c.json('broken', optional),
        c.utc('checked_at', optional),
        c.utc('next_at'),
      ],
      [index('delegations_next_ix', ['next_at'])],
      [foreign('delegations_domain_fk', 'domain_id', 'domains')],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('delegations');
  }
}
