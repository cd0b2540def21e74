import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/**
 * Records know since when they are here; of those that were here before nothing earlier is known than their last
 * change. Safe to repeat.
 */
export class RecordCreated1763910000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'dns_records', [columns(runner).utc('created_at', { isNullable: true })]);
    await runner.query('UPDATE dns_records SET created_at = updated_at WHERE created_at IS NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE dns_records DROP COLUMN created_at');
  }
}
