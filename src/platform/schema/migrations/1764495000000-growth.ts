import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { index } from '../columns.js';

const INDICES: [table: string, name: string, columns: string[]][] = [
  ['teams', 'teams_name_ix', ['name', 'id']],
  ['users', 'users_role_ix', ['role', 'id']],
  ['plans', 'plans_any_state_ix', ['state', 'expires_at']],
  ['jobs', 'jobs_kind_ix', ['kind', 'id']],
];

/** What is asked over all teams, users, plans and jobs. Safe to repeat. */
export class Growth1764495000000 implements MigrationInterface {
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
