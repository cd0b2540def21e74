import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

/** Inbound webhooks. Safe to repeat. */
export class Hooks1764460000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await creator(runner)(
      'hooks',
      [
        c.id(),
        c.int('token_id'),
        c.int('domain_id'),
        c.str('host', 253),
        c.str('type', 16),
        c.str('name', 255),
        c.text('secret'),
        c.utc('created_at'),
      ],
      [index('hooks_token_ix', ['token_id']), index('hooks_domain_ix', ['domain_id'])],
      [foreign('hooks_token_fk', 'token_id', 'api_tokens'), foreign('hooks_domain_fk', 'domain_id', 'domains')],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('hooks');
  }
}
