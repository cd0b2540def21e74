import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

/** Keys of dynamic updates, and the updates that came. Safe to repeat. */
export class TsigKeys1764475000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await creator(runner)(
      'tsig_keys',
      [c.id(), c.int('token_id'), c.str('name', 64), c.str('algorithm', 16), c.text('secret'), c.utc('created_at')],
      [
        { ...index('tsig_keys_token_uq', ['token_id']), isUnique: true },
        { ...index('tsig_keys_name_uq', ['name']), isUnique: true },
      ],
      [foreign('tsig_keys_token_fk', 'token_id', 'api_tokens')],
    );
    await creator(runner)(
      'tsig_seen',
      [c.str('id', 64, { isPrimary: true }), c.utc('expires_at')],
      [index('tsig_seen_expires_ix', ['expires_at'])],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tsig_seen');
    await runner.dropTable('tsig_keys');
  }
}
