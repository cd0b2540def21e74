import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns, creator } from '../columns.js';

/** Which installation a database is of, and whether it waits for a word; jobs that were told to have stopped. */
export class Installation1764140000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await creator(runner)('installation', [
      c.int('one', { isPrimary: true }),
      c.str('id', 36),
      c.text('places'),
      c.utc('paused_at', optional),
      c.text('pause_reason', optional),
      c.utc('seen_at', optional),
    ]);
    await addColumns(runner, 'jobs', [c.utc('stopped_at', optional)]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE jobs DROP COLUMN stopped_at');
    await runner.dropTable('installation');
  }
}
