import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, creator, foreign, index } from '../columns.js';

const TABLES = ['second_factors', 'recovery_codes', 'passkeys', 'identities', 'challenges', 'mails'];

/**
 * Second factors, passkeys, identities at OpenID providers, short-lived challenges, the outbox of mails. Sessions get a
 * number of their own and limits say whom they are about: both tables are made anew, so everybody logs in once more and
 * locks are forgotten. Safe to repeat.
 */
export class Identity1763700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    const create = creator(runner);

    await addColumns(runner, 'users', [
      c.str('theme', 16, optional),
      c.str('timezone', 64, optional),
      c.bool('email_verified', optional),
    ]);
    const audit = await runner.getTable('audit_logs');
    if (!audit?.indices.some((i) => i.name === 'audit_logs_action_time_ix')) {
      await runner.createIndex(
        'audit_logs',
        new TableIndex(index('audit_logs_action_time_ix', ['action', 'created_at'])),
      );
    }
    await runner.dropTable('sessions', true);
    await create(
      'sessions',
      [
        c.id(),
        c.str('sid', 64),
        c.int('user_id'),
        c.utc('created_at'),
        c.utc('last_active_at'),
        c.utc('expires_at'),
        c.str('ip', 45),
        c.str('user_agent', 255),
        c.str('method', 16),
        c.bool('second_factor'),
      ],
      [
        index('sessions_sid_uq', ['sid'], true),
        index('sessions_user_ix', ['user_id']),
        index('sessions_expiry_ix', ['expires_at']),
      ],
      [foreign('sessions_user_fk', 'user_id', 'users')],
    );
    await runner.dropTable('limits', true);
    await create(
      'limits',
      [
        c.str('name', 64, { isPrimary: true }),
        c.int('hits'),
        c.utc('window_start'),
        c.utc('blocked_until', optional),
        c.int('blocks'),
        c.str('username', 64, optional),
        c.str('network', 64),
      ],
      [index('limits_username_ix', ['username']), index('limits_blocked_ix', ['blocked_until'])],
    );
    await create(
      'second_factors',
      [
        c.int('user_id', { isPrimary: true }),
        c.text('secret', optional),
        c.text('pending', optional),
        c.int('last_step', optional),
        c.utc('created_at'),
      ],
      [],
      [foreign('second_factors_user_fk', 'user_id', 'users')],
    );
    await create(
      'recovery_codes',
      [c.id(), c.int('user_id'), c.str('code_hash', 64)],
      [index('recovery_codes_user_uq', ['user_id', 'code_hash'], true)],
      [foreign('recovery_codes_user_fk', 'user_id', 'users')],
    );
    await create(
      'passkeys',
      [
        c.id(),
        c.int('user_id'),
        c.str('name', 64),
        c.str('credential_key', 64),
        c.text('credential_id'),
        c.text('public_key'),
        c.str('counter', 10),
        c.json('transports'),
        c.bool('backed_up'),
        c.utc('created_at'),
        c.utc('last_used_at', optional),
      ],
      [index('passkeys_credential_uq', ['credential_key'], true), index('passkeys_user_ix', ['user_id'])],
      [foreign('passkeys_user_fk', 'user_id', 'users')],
    );
    await create(
      'identities',
      [
        c.id(),
        c.int('user_id'),
        c.str('provider', 32),
        c.str('issuer', 255),
        c.str('subject', 255),
        c.str('name', 255),
        c.utc('created_at'),
        c.utc('last_used_at', optional),
      ],
      [
        index('identities_subject_uq', ['issuer', 'subject'], true),
        index('identities_user_uq', ['user_id', 'provider'], true),
      ],
      [foreign('identities_user_fk', 'user_id', 'users')],
    );
    await create(
      'challenges',
      [
        c.str('id', 64, { isPrimary: true }),
        c.str('kind', 16),
        c.int('user_id', optional),
        c.text('content'),
        c.int('tries'),
        c.utc('expires_at'),
      ],
      [index('challenges_expiry_ix', ['expires_at']), index('challenges_user_ix', ['user_id', 'kind'])],
      [foreign('challenges_user_fk', 'user_id', 'users')],
    );
    await create(
      'mails',
      [
        c.id(),
        c.str('recipient', 254),
        c.str('template', 32),
        c.text('content'),
        c.str('state', 8),
        c.int('tries'),
        c.utc('next_at'),
        c.utc('created_at'),
        c.utc('sent_at', optional),
        c.text('error', optional),
      ],
      [index('mails_next_ix', ['state', 'next_at'])],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of [...TABLES].reverse()) await runner.dropTable(name, true);
    const c = columns(runner);
    const create = creator(runner);
    await runner.dropIndex('audit_logs', 'audit_logs_action_time_ix');
    await runner.dropTable('limits', true);
    await create('limits', [
      c.str('name', 64, { isPrimary: true }),
      c.int('hits'),
      c.utc('window_start'),
      c.utc('blocked_until', { isNullable: true }),
      c.int('blocks'),
      c.str('label', 255),
    ]);
    await runner.dropTable('sessions', true);
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
    for (const column of ['theme', 'timezone', 'email_verified']) {
      await runner.query(`ALTER TABLE users DROP COLUMN ${column}`);
    }
  }
}
