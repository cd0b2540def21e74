import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

/** Deleted domains with their records and permissions, which are kept for some days. Safe to repeat. */
export class Trash1764430000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const create = creator(runner);
    const optional = { isNullable: true };
    const id = { ...c.int('id'), isPrimary: true };
    await create(
      'trashed_domains',
      [
        id,
        c.str('name', 253),
        c.str('apart', 255),
        c.int('account_id'),
        c.int('owner_id', optional),
        c.json('content'),
        c.utc('deleted_at'),
        c.int('deleter_id', optional),
        c.str('deleter', 64, optional),
        c.utc('purged_at'),
        c.bool('leaving'),
      ],
      [
        index('trashed_domains_zone_ix', ['account_id', 'name']),
        index('trashed_domains_owner_ix', ['owner_id']),
        index('trashed_domains_end_ix', ['purged_at']),
      ],
      [
        foreign('trashed_domains_account_fk', 'account_id', 'dns_accounts'),
        foreign('trashed_domains_owner_fk', 'owner_id', 'users', 'SET NULL'),
      ],
    );
    await create(
      'trashed_permissions',
      [
        id,
        c.int('team_id'),
        c.int('domain_id'),
        c.str('permission', 8),
        c.str('host', 255, optional),
        c.int('granted_by', optional),
        c.bool('repeated', optional),
      ],
      [index('trashed_permissions_team_ix', ['team_id']), index('trashed_permissions_domain_ix', ['domain_id'])],
      [
        foreign('trashed_permissions_team_fk', 'team_id', 'teams'),
        foreign('trashed_permissions_domain_fk', 'domain_id', 'trashed_domains'),
      ],
    );
    await create(
      'trashed_records',
      [
        id,
        c.int('domain_id'),
        c.str('remote_id', 255, optional),
        c.str('host', 253),
        c.str('type', 16),
        c.text('value'),
        c.int('ttl'),
        c.str('line', 64),
        c.bool('proxied'),
        c.int('priority', optional),
        c.int('weight', optional),
        c.bool('enabled'),
        c.str('remark', 255),
        c.bool('read_only'),
        c.utc('expires_at', optional),
        c.int('end_maker_id', optional),
        c.int('end_maker_token_id', optional),
        c.text('end_hold_reason', optional),
        c.text('extra', optional),
        c.str('read_only_reason', 255, optional),
        c.bool('pending', { default: runner.dataSource.options.type === 'postgres' ? 'false' : '0' }),
        c.utc('updated_at'),
        c.utc('created_at', optional),
        c.str('search', 2500, optional),
      ],
      [index('trashed_records_domain_ix', ['domain_id', 'id'])],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['trashed_records', 'trashed_permissions', 'trashed_domains']) await runner.dropTable(table);
  }
}
