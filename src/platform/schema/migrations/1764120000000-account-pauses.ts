import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** Accounts say until when their provider wants no calls, and why. Safe to repeat. */
export class AccountPauses1764120000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await addColumns(runner, 'dns_accounts', [c.utc('paused_until', optional), c.text('pause_reason', optional)]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE dns_accounts DROP COLUMN pause_reason');
    await runner.query('ALTER TABLE dns_accounts DROP COLUMN paused_until');
  }
}
