import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** Records that are shown read-only say why. Safe to repeat. */
export class ReadOnlyReasons1764180000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await addColumns(runner, 'dns_records', [c.str('read_only_reason', 255, { isNullable: true })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE dns_records DROP COLUMN read_only_reason');
  }
}
