import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, index } from '../columns.js';

/** Audit entries of record changes say which were written together. Safe to repeat. */
export class ChangeSets1763970000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'audit_logs', [columns(runner).int('change_set_id', { isNullable: true })]);
    const table = await runner.getTable('audit_logs');
    if (!table?.indices.some((i) => i.name === 'audit_logs_changes_ix'))
      await runner.createIndex('audit_logs', new TableIndex(index('audit_logs_changes_ix', ['change_set_id', 'id'])));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('audit_logs', 'audit_logs_changes_ix');
    await runner.query('ALTER TABLE audit_logs DROP COLUMN change_set_id');
  }
}
