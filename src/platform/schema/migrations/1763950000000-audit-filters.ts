import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { index } from '../columns.js';

const INDICES: [name: string, columns: string[]][] = [
  ['audit_logs_user_ix', ['username', 'id']],
  ['audit_logs_token_ix', ['token_id', 'id']],
  ['audit_logs_request_ix', ['request_id']],
];

/** For the filters of the audit log: who did it, with which token, in which request. Safe to repeat. */
export class AuditFilters1763950000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const table = await runner.getTable('audit_logs');
    for (const [name, columns] of INDICES) {
      if (!table?.indices.some((i) => i.name === name))
        await runner.createIndex('audit_logs', new TableIndex(index(name, columns)));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of INDICES) await runner.dropIndex('audit_logs', name);
  }
}
