import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** A list that was held is tried from its confirmation on. Safe to repeat. */
export class ConfirmedLists1764150000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await addColumns(runner, 'change_sets', [c.utc('confirmed_at', { isNullable: true })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE change_sets DROP COLUMN confirmed_at');
  }
}
