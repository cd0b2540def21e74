import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** Changes say whether the provider may carry them out later still. Safe to repeat. */
export class LateChanges1763985000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'record_changes', [columns(runner).str('late', 8, { isNullable: true })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE record_changes DROP COLUMN late');
  }
}
