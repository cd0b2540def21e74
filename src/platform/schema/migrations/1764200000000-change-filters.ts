import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { index } from '../columns.js';

const INDICES: [table: string, name: string, columns: string[]][] = [
  ['change_sets', 'change_sets_user_ix', ['user_id', 'id']],
  ['change_sets', 'change_sets_any_door_ix', ['door', 'id']],
  ['change_sets', 'change_sets_time_ix', ['created_at']],
  ['record_changes', 'record_changes_host_ix', ['host', 'type', 'change_set_id']],
  ['record_changes', 'record_changes_moved_ix', ['host_before', 'change_set_id']],
  ['record_changes', 'record_changes_type_ix', ['type', 'change_set_id']],
];

/** The filters of change sets over all domains. Safe to repeat. */
export class ChangeFilters1764200000000 implements MigrationInterface {
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
