import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** When deliveries ended; of those that were sent it is known. Safe to repeat. */
export class DeliveriesEnded1764250000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'deliveries', [columns(runner).utc('ended_at', { isNullable: true })]);
    await runner.query(`UPDATE deliveries SET ended_at = sent_at WHERE ended_at IS NULL AND state = 'sent'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE deliveries DROP COLUMN ended_at');
  }
}
