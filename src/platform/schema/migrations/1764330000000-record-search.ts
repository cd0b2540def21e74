import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { index } from '../columns.js';

const TABLE = 'dns_records';
const INDICES: [name: string, columns: string[]][] = [
  ['dns_records_any_host_ix', ['host', 'id']],
  ['dns_records_any_type_ix', ['type', 'id']],
];

/** Records are searched over all domains. Safe to repeat. */
export class RecordSearch1764330000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const [name, columns] of INDICES) {
      const known = (await runner.getTable(TABLE))?.indices.some((one) => one.name === name);
      if (!known) await runner.createIndex(TABLE, new TableIndex(index(name, columns)));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of INDICES) await runner.dropIndex(TABLE, name);
  }
}
