import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator } from '../columns.js';

/** Sessions at providers, which all processes use, and one-time codes that were sent. Safe to repeat. */
export class ProviderSessions1764190000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await creator(runner)('provider_sessions', [
      c.str('id', 64, { isPrimary: true }),
      c.text('session', optional),
      c.int('last_step'),
      c.utc('expires_at'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('provider_sessions');
  }
}
