import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

/** Tunnels at providers. Safe to repeat. */
export class Tunnels1764070000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await creator(runner)(
      'tunnels',
      [
        c.id(),
        c.int('account_id'),
        c.str('remote_account', 64),
        c.str('tunnel_id', 64, optional),
        c.str('target', 255, optional),
        c.str('mark', 36),
        c.str('name', 128),
        c.str('state', 8),
        c.bool('forced'),
        c.str('status', 16),
        c.json('ingress'),
        c.int('version', optional),
        c.bool('dns_managed'),
        c.json('unmanaged'),
        c.json('connections'),
        c.json('unsettled', optional),
        c.utc('settle_after', optional),
        c.text('last_error', optional),
        c.utc('created_at'),
      ],
      [index('tunnels_account_ix', ['account_id']), index('tunnels_tunnel_uq', ['tunnel_id'], true)],
      [foreign('tunnels_account_fk', 'account_id', 'dns_accounts')],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tunnels');
  }
}
