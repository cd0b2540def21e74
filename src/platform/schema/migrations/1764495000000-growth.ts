import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type AddedIndices, addIndices, dropIndices } from '../columns.js';

const INDICES: AddedIndices = [
  ['teams', 'teams_name_ix', ['name', 'id']],
  ['users', 'users_role_ix', ['role', 'id']],
  ['plans', 'plans_any_state_ix', ['state', 'expires_at']],
  ['jobs', 'jobs_kind_ix', ['kind', 'id']],
];

/** What is asked over all teams, users, plans and jobs. Safe to repeat. */
export class Growth1764495000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return addIndices(runner, INDICES);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropIndices(runner, INDICES);
  }
}
