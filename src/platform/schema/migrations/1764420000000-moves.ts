import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

/** Domains on their way to another account. Safe to repeat. */
export class Moves1764420000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await creator(runner)(
      'moves',
      [
        c.id(),
        c.int('domain_id'),
        c.int('target_id', optional),
        c.int('account_id'),
        c.int('from_account_id'),
        c.str('state', 16),
        c.bool('running', optional),
        c.bool('taken_in'),
        c.json('report', optional),
        c.int('revision', optional),
        c.int('target_revision', optional),
        c.int('version', optional),
        c.int('behind'),
        c.utc('behind_since', optional),
        c.int('failures'),
        c.utc('retry_at', optional),
        c.text('error', optional),
        c.int('maker_id', optional),
        c.int('maker_token_id', optional),
        c.text('hold_reason', optional),
        c.utc('created_at'),
        c.utc('updated_at'),
      ],
      [
        index('moves_domain_uq', ['domain_id', 'running'], true),
        index('moves_target_uq', ['target_id', 'running'], true),
        index('moves_state_ix', ['state']),
      ],
      [
        foreign('moves_domain_fk', 'domain_id', 'domains'),
        foreign('moves_target_fk', 'target_id', 'domains', 'SET NULL'),
      ],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('moves');
  }
}
