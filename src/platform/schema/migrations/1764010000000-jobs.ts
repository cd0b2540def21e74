import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns, creator, index } from '../columns.js';

/** Jobs, and how often accounts are synchronised by themselves. Safe to repeat. */
export class Jobs1764010000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await creator(runner)(
      'jobs',
      [
        c.id(),
        c.str('name', 64),
        c.str('kind', 12),
        c.str('unique_key', 128),
        c.text('payload'),
        c.int('every_ms', { isNullable: true }),
        c.str('state', 8),
        c.utc('next_at'),
        c.str('owner', 128, { isNullable: true }),
        c.int('runs'),
        c.int('tries'),
        c.text('progress', { isNullable: true }),
        c.text('result', { isNullable: true }),
        c.text('last_error', { isNullable: true }),
        c.utc('created_at'),
        c.utc('started_at', { isNullable: true }),
        c.utc('ended_at', { isNullable: true }),
      ],
      [
        index('jobs_key_uq', ['unique_key'], true),
        index('jobs_next_ix', ['state', 'next_at']),
        index('jobs_name_ix', ['name', 'id']),
      ],
    );
    await addColumns(runner, 'dns_accounts', [
      c.int('sync_interval_minutes', { default: 0 }),
      c.utc('sync_next_at', { isNullable: true }),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE dns_accounts DROP COLUMN sync_next_at');
    await runner.query('ALTER TABLE dns_accounts DROP COLUMN sync_interval_minutes');
    await runner.dropTable('jobs');
  }
}
