import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** Which lists were shown as plans: what somebody changes between their pieces stays as it is. Safe to repeat. */
export class PlannedLists1764440000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const no = runner.dataSource.options.type === 'postgres' ? 'false' : '0';
    await addColumns(runner, 'change_sets', [columns(runner).bool('planned', { default: no })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE change_sets DROP COLUMN planned');
  }
}
