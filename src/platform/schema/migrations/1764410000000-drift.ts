import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

/** What is wanted of record sets that others changed at the provider, and where that is taken back. Safe to repeat. */
export class Drift1764410000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const create = creator(runner);
    const optional = { isNullable: true };
    await create(
      'drift_sets',
      [
        c.id(),
        c.int('domain_id'),
        c.str('host', 253),
        c.str('type', 16),
        c.utc('found_at'),
        c.int('plan_id', optional),
        c.text('hold_reason', optional),
        c.bool('told'),
      ],
      [index('drift_sets_set_uq', ['domain_id', 'host', 'type'], true)],
      [foreign('drift_sets_domain_fk', 'domain_id', 'domains')],
    );
    await create(
      'drift_states',
      [c.id(), c.int('set_id'), c.int('record_id'), c.json('state'), c.text('value')],
      [index('drift_states_set_ix', ['set_id', 'record_id'])],
      [foreign('drift_states_set_fk', 'set_id', 'drift_sets')],
    );
    await create(
      'drift_reverts',
      [
        c.id(),
        c.int('domain_id'),
        c.int('maker_id', optional),
        c.int('maker_token_id', optional),
        c.text('hold_reason', optional),
        c.utc('created_at'),
      ],
      [index('drift_reverts_domain_uq', ['domain_id'], true)],
      [foreign('drift_reverts_domain_fk', 'domain_id', 'domains')],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['drift_reverts', 'drift_states', 'drift_sets']) await runner.dropTable(table);
  }
}
