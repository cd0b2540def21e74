import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { index } from '../columns.js';

const INDICES: [name: string, columns: string[]][] = [
  ['audit_logs_domain_id_time_ix', ['domain_id', 'created_at']],
  ['audit_logs_ip_time_ix', ['ip', 'created_at']],
];

/** The audit log by the id of a domain, and by the address of a client. Safe to repeat. */
export class AuditOrigins1764210000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const known = (await runner.getTable('audit_logs'))?.indices.map(({ name }) => name);
    for (const [name, columns] of INDICES)
      if (!known?.includes(name)) await runner.createIndex('audit_logs', new TableIndex(index(name, columns)));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of INDICES) await runner.dropIndex('audit_logs', name);
  }
}
