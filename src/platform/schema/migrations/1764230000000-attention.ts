import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { index } from '../columns.js';

const INDICES: [table: string, name: string, columns: string[]][] = [
  ['domains', 'domains_expires_ix', ['expires_at']],
  ['domains', 'domains_status_ix', ['status']],
  ['certificates', 'certificates_end_ix', ['valid_to']],
];

/** What ends soon or is gone, over all domains. Safe to repeat. */
export class Attention1764230000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const [table, name, columns] of INDICES) {
      const known = (await runner.getTable(table))?.indices.some((one) => one.name === name);
      if (!known) await runner.createIndex(table, new TableIndex(index(name, columns)));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, name] of INDICES) await runner.dropIndex(table, name);
  }
}
