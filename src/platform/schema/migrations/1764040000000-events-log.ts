import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator } from '../columns.js';

/** What is told to those who listen at any replica, for as long as somebody may come back for it. Safe to repeat. */
export class EventsLog1764040000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await creator(runner)('events_log', [
      c.id(),
      c.utc('created_at'),
      c.str('type', 32),
      c.int('domain_id', optional),
      c.json('readers', optional),
      c.json('data'),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('events_log');
  }
}
