import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** Long lists pause while a provider is away, and can be cancelled. Safe to repeat. */
export class PausedLists1764115000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    const more = [c.utc('paused_until', optional), c.int('pauses', optional), c.utc('cancelled_at', optional)];
    await addColumns(runner, 'change_sets', more);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of ['paused_until', 'pauses', 'cancelled_at'])
      await runner.query(`ALTER TABLE change_sets DROP COLUMN ${name}`);
  }
}
