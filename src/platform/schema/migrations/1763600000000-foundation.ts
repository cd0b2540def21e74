import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

const TABLES = [
  'users',
  'sessions',
  'api_tokens',
  'teams',
  'team_members',
  'dns_accounts',
  'domains',
  'domain_permissions',
  'dns_records',
  'record_intents',
  'leases',
  'limits',
  'settings',
  'audit_chain',
  'audit_logs',
];

/** Everything of version 0.1.0. Safe to repeat: DDL does not roll back on MariaDB. */
export class Foundation1763600000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    const create = creator(runner);

    await create(
      'users',
      [
        c.id(),
        c.str('username', 64),
        c.str('username_key', 64),
        c.str('nickname', 128),
        c.str('email', 254, optional),
        c.str('email_key', 254, optional),
        c.str('password_hash', 128),
        c.int('role'),
        c.int('status'),
        c.str('language', 16),
        c.bool('totp_enabled'),
        c.utc('created_at'),
        c.utc('last_login_at', optional),
      ],
      [index('users_username_uq', ['username_key'], true), index('users_email_uq', ['email_key'], true)],
    );
    await create(
      'sessions',
      [
        c.str('id', 32, { isPrimary: true }),
        c.int('user_id'),
        c.utc('created_at'),
        c.utc('last_active_at'),
        c.utc('expires_at'),
        c.str('ip', 45),
        c.str('user_agent', 255),
        c.str('method', 16),
      ],
      [index('sessions_user_ix', ['user_id']), index('sessions_expiry_ix', ['expires_at'])],
      [foreign('sessions_user_fk', 'user_id', 'users')],
    );
    await create(
      'api_tokens',
      [
        c.id(),
        c.int('user_id'),
        c.str('name', 255),
        c.str('token_hash', 64),
        c.bool('narrowed'),
        c.json('allowed_domains'),
        c.json('allowed_services'),
        c.utc('start_time', optional),
        c.utc('end_time', optional),
        c.int('max_role'),
        c.bool('is_active'),
        c.utc('created_at'),
        c.utc('last_used_at', optional),
      ],
      [index('api_tokens_hash_uq', ['token_hash'], true), index('api_tokens_user_ix', ['user_id'])],
      [foreign('api_tokens_user_fk', 'user_id', 'users')],
    );
    await create('teams', [
      c.id(),
      c.str('name', 128),
      c.str('description', 255),
      c.int('created_by', optional),
      c.utc('created_at'),
    ]);
    await create(
      'team_members',
      [
        c.int('team_id', { isPrimary: true }),
        c.int('user_id', { isPrimary: true }),
        c.str('role', 16),
        c.utc('joined_at'),
      ],
      [index('team_members_user_ix', ['user_id', 'team_id'])],
      [foreign('team_members_team_fk', 'team_id', 'teams'), foreign('team_members_user_fk', 'user_id', 'users')],
    );
    await create(
      'dns_accounts',
      [
        c.id(),
        c.str('provider', 32),
        c.str('name', 128),
        c.str('remark', 255),
        c.text('credentials'),
        c.int('owner_id', optional),
        c.int('team_id', optional),
        c.utc('last_sync_at', optional),
        c.text('last_error', optional),
        c.utc('created_at'),
        c.utc('updated_at'),
      ],
      [index('dns_accounts_team_ix', ['team_id']), index('dns_accounts_owner_ix', ['owner_id'])],
      [
        foreign('dns_accounts_owner_fk', 'owner_id', 'users', 'SET NULL'),
        foreign('dns_accounts_team_fk', 'team_id', 'teams', 'SET NULL'),
      ],
    );
    await create(
      'domains',
      [
        c.id(),
        c.str('name', 253),
        c.int('account_id'),
        c.str('remote_id', 255),
        c.int('owner_id', optional),
        c.str('status', 16),
        c.str('remark', 255),
        c.int('records_count'),
        c.int('revision'),
        c.utc('expires_at', optional),
        c.utc('created_at'),
        c.utc('synced_at', optional),
      ],
      [
        index('domains_account_name_uq', ['account_id', 'name'], true),
        index('domains_name_ix', ['name']),
        index('domains_owner_ix', ['owner_id']),
      ],
      [
        foreign('domains_account_fk', 'account_id', 'dns_accounts'),
        foreign('domains_owner_fk', 'owner_id', 'users', 'SET NULL'),
      ],
    );
    await create(
      'domain_permissions',
      [
        c.id(),
        c.int('team_id'),
        c.int('domain_id'),
        c.str('domain_name', 253),
        c.str('permission', 8),
        c.str('host', 255, optional),
      ],
      [
        index('domain_permissions_team_ix', ['team_id', 'domain_name', 'domain_id']),
        index('domain_permissions_domain_ix', ['domain_id', 'team_id']),
      ],
      [
        foreign('domain_permissions_team_fk', 'team_id', 'teams'),
        foreign('domain_permissions_domain_fk', 'domain_id', 'domains'),
      ],
    );
    await create(
      'dns_records',
      [
        c.id(),
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
        c.utc('updated_at'),
      ],
      [
        index('dns_records_remote_uq', ['domain_id', 'remote_id'], true),
        index('dns_records_page_ix', ['domain_id', 'id']),
        index('dns_records_name_ix', ['domain_id', 'host', 'type']),
      ],
      [foreign('dns_records_domain_fk', 'domain_id', 'domains')],
    );
    await create(
      'record_intents',
      [
        c.id(),
        c.int('domain_id'),
        c.str('op', 16),
        c.json('hosts'),
        c.json('expected'),
        c.str('owner', 128),
        c.str('state', 8),
        c.int('revision', optional),
        c.str('request_id', 64),
        c.utc('created_at'),
      ],
      [
        index('record_intents_state_ix', ['state', 'domain_id']),
        index('record_intents_domain_ix', ['domain_id', 'revision']),
      ],
      [foreign('record_intents_domain_fk', 'domain_id', 'domains')],
    );
    await create('leases', [c.str('name', 64, { isPrimary: true }), c.str('owner', 128), c.utc('expires_at')]);
    await create('limits', [
      c.str('name', 64, { isPrimary: true }),
      c.int('hits'),
      c.utc('window_start'),
      c.utc('blocked_until', optional),
      c.int('blocks'),
      c.str('label', 255),
    ]);
    await create('settings', [c.str('name', 64, { isPrimary: true }), c.text('content')]);
    await create('audit_chain', [c.int('id', { isPrimary: true }), c.int('seq'), c.str('hash', 64)]);
    // the one row that everybody locks; the condition makes a repeated run harmless
    await runner.query(
      "INSERT INTO audit_chain (id, seq, hash) SELECT 1, 0, '' FROM (SELECT 1 AS one) source WHERE NOT EXISTS (SELECT 1 FROM audit_chain)",
    );
    await create(
      'audit_logs',
      [
        c.id(),
        c.int('seq'),
        c.utc('created_at'),
        c.str('actor_type', 8),
        c.int('user_id', optional),
        c.str('username', 64, optional),
        c.int('token_id', optional),
        c.str('token_name', 255, optional),
        c.str('action', 64),
        c.str('domain', 253, optional),
        c.int('domain_id', optional),
        c.json('target', optional),
        c.json('state_before', optional),
        c.json('state_after', optional),
        c.str('result', 8),
        c.text('error', optional),
        c.str('ip', 45),
        c.str('user_agent', 255),
        c.str('request_id', 64),
        c.str('prev_hash', 64),
        c.str('hash', 64),
      ],
      [
        index('audit_logs_seq_uq', ['seq'], true),
        index('audit_logs_time_ix', ['created_at']),
        index('audit_logs_domain_ix', ['domain', 'id']),
        index('audit_logs_action_ix', ['action', 'id']),
      ],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of [...TABLES].reverse()) await runner.dropTable(name, true);
  }
}
