import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, creator, foreign, index } from '../columns.js';

/** Limits of API tokens, their rotation, and how often they are used. Safe to repeat. */
export class Access1763800000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await addColumns(runner, 'api_tokens', [
      c.json('allowed_cidrs', optional),
      c.json('rules', optional),
      c.int('max_unused_days', optional),
      c.str('preset', 64, optional),
      c.str('previous_hash', 64, optional),
      c.utc('previous_until', optional),
      c.str('last_used_network', 64, optional),
    ]);
    const tokens = await runner.getTable('api_tokens');
    if (!tokens?.indices.some((i) => i.name === 'api_tokens_previous_ix'))
      await runner.createIndex('api_tokens', new TableIndex(index('api_tokens_previous_ix', ['previous_hash'])));
    await addColumns(runner, 'domain_permissions', [c.bool('repeated', optional)]);
    const permissions = await runner.getTable('domain_permissions');
    if (!permissions?.indices.some((i) => i.name === 'domain_permissions_count_ix'))
      await runner.createIndex(
        'domain_permissions',
        new TableIndex(index('domain_permissions_count_ix', ['team_id', 'repeated'])),
      );
    await creator(runner)(
      'token_uses',
      [
        c.int('token_id', { isPrimary: true }),
        c.str('day', 10, { isPrimary: true }),
        c.str('network', 64, { isPrimary: true }),
        c.int('hits'),
      ],
      [],
      [foreign('token_uses_token_fk', 'token_id', 'api_tokens')],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('token_uses', true);
    await runner.dropIndex('domain_permissions', 'domain_permissions_count_ix');
    await runner.query('ALTER TABLE domain_permissions DROP COLUMN repeated');
    await runner.dropIndex('api_tokens', 'api_tokens_previous_ix');
    const names = [
      'allowed_cidrs',
      'rules',
      'max_unused_days',
      'preset',
      'previous_hash',
      'previous_until',
      'last_used_network',
    ];
    for (const name of names) await runner.query(`ALTER TABLE api_tokens DROP COLUMN ${name}`);
  }
}
