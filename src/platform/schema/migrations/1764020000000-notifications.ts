import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns, creator, index } from '../columns.js';

/** Notices on their way to channels; tokens remember that somebody was told of their disuse. Safe to repeat. */
export class Notifications1764020000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await creator(runner)(
      'deliveries',
      [
        c.id(),
        c.str('notice', 36),
        c.str('channel', 32),
        c.str('event', 32),
        c.str('domain', 253, optional),
        c.text('content'),
        c.str('state', 8),
        c.int('tries'),
        c.utc('next_at'),
        c.utc('until_at'),
        c.utc('created_at'),
        c.utc('sent_at', optional),
        c.text('error', optional),
      ],
      [
        index('deliveries_notice_uq', ['notice', 'channel'], true),
        index('deliveries_next_ix', ['state', 'channel', 'id']),
      ],
    );
    await addColumns(runner, 'api_tokens', [c.utc('unused_told_at', optional)]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_tokens DROP COLUMN unused_told_at');
    await runner.dropTable('deliveries');
  }
}
