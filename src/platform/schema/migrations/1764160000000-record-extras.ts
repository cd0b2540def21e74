import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** What else a provider holds of a record stays with it while it is disabled. Safe to repeat. */
export class RecordExtras1764160000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await addColumns(runner, 'dns_records', [c.text('extra', { isNullable: true })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE dns_records DROP COLUMN extra');
  }
}
