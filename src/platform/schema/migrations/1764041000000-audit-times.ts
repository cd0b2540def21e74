import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { index } from '../columns.js';

type Indices = [name: string, columns: string[]][];

const BY_TIME: Indices = [
  ['audit_logs_domain_time_ix', ['domain', 'created_at']],
  ['audit_logs_user_time_ix', ['username', 'created_at']],
  ['audit_logs_token_time_ix', ['token_id', 'created_at']],
  ['audit_logs_request_time_ix', ['request_id', 'created_at']],
  ['audit_logs_changes_time_ix', ['change_set_id', 'created_at']],
];
/** that of the actions has a twin by time already */
const BY_ID: Indices = [
  ['audit_logs_domain_ix', ['domain', 'id']],
  ['audit_logs_action_ix', ['action', 'id']],
  ['audit_logs_user_ix', ['username', 'id']],
  ['audit_logs_token_ix', ['token_id', 'id']],
  ['audit_logs_request_ix', ['request_id']],
  ['audit_logs_changes_ix', ['change_set_id', 'id']],
];

async function replace(runner: QueryRunner, old: Indices, fresh: Indices): Promise<void> {
  const table = await runner.getTable('audit_logs');
  const has = (name: string) => table?.indices.some((one) => one.name === name);
  for (const [name, columns] of fresh)
    if (!has(name)) await runner.createIndex('audit_logs', new TableIndex(index(name, columns)));
  for (const [name] of old) if (has(name)) await runner.dropIndex('audit_logs', name);
}

/** The audit log is listed by time, so that days narrow every filter in its own index. Safe to repeat. */
export class AuditTimes1764041000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return replace(runner, BY_ID, BY_TIME);
  }

  down(runner: QueryRunner): Promise<void> {
    return replace(runner, BY_TIME, BY_ID);
  }
}
