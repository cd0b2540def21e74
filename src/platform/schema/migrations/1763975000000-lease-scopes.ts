import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** Locks of names say which zone's lock they exclude. Safe to repeat. */
export class LeaseScopes1763975000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'leases', [columns(runner).str('scope', 64, { isNullable: true })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE leases DROP COLUMN scope');
  }
}
