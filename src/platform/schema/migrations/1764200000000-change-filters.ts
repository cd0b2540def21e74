import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type AddedIndices, addIndices, dropIndices } from '../columns.js';

const INDICES: AddedIndices = [
  ['change_sets', 'change_sets_user_ix', ['user_id', 'id']],
  ['change_sets', 'change_sets_any_door_ix', ['door', 'id']],
  ['change_sets', 'change_sets_time_ix', ['created_at']],
  ['record_changes', 'record_changes_host_ix', ['host', 'type', 'change_set_id']],
  ['record_changes', 'record_changes_moved_ix', ['host_before', 'change_set_id']],
  ['record_changes', 'record_changes_type_ix', ['type', 'change_set_id']],
];

/** The filters of change sets over all domains. Safe to repeat. */
export class ChangeFilters1764200000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return addIndices(runner, INDICES);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropIndices(runner, INDICES);
  }
}
