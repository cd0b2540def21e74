import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns, creator, foreign, index } from '../columns.js';

/** By which doors changes came in; registrations of acme-dns. Safe to repeat. */
export class Doors1764450000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    for (const table of ['change_sets', 'plans']) await addColumns(runner, table, [c.str('door_key', 16, optional)]);
    for (const table of ['audit_pending', 'audit_logs']) await addColumns(runner, table, [c.str('door', 16, optional)]);
    await creator(runner)(
      'acme_registrations',
      [
        c.id(),
        c.int('token_id'),
        c.str('username', 36),
        c.str('key_hash', 64),
        c.str('subdomain', 36),
        c.str('fulldomain', 253),
        c.json('allow_from'),
        c.utc('created_at'),
      ],
      [index('acme_registrations_username_uq', ['username'], true), index('acme_registrations_token_ix', ['token_id'])],
      [foreign('acme_registrations_token_fk', 'token_id', 'api_tokens')],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('acme_registrations');
    for (const table of ['change_sets', 'plans']) await runner.query(`ALTER TABLE ${table} DROP COLUMN door_key`);
    for (const table of ['audit_pending', 'audit_logs']) await runner.query(`ALTER TABLE ${table} DROP COLUMN door`);
  }
}
