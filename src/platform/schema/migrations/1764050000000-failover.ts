import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

const HISTORY = 'change_sets_door_ix';

/** Rules of failover, how each stands, and what they changed. Safe to repeat. */
export class Failover1764050000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const create = creator(runner);
    const optional = { isNullable: true };
    await create(
      'failovers',
      [c.id(), c.int('domain_id'), c.bool('enabled')],
      [index('failovers_domain_uq', ['domain_id'], true)],
      [foreign('failovers_domain_fk', 'domain_id', 'domains')],
    );
    await create(
      'failover_rules',
      [
        c.id(),
        c.int('domain_id'),
        c.int('position'),
        c.int('version'),
        c.str('name', 255),
        c.json('config'),
        c.bool('hold'),
        c.text('hold_reason', optional),
        c.str('active', 8),
        c.json('served', optional),
        c.json('intended', optional),
        c.json('checks'),
        c.utc('switched_at', optional),
        c.int('switches'),
        c.json('recent'),
      ],
      [index('failover_rules_domain_ix', ['domain_id', 'position'])],
      [foreign('failover_rules_domain_fk', 'domain_id', 'domains')],
    );
    const table = await runner.getTable('change_sets');
    if (!table?.indices.some(({ name }) => name === HISTORY))
      await runner.createIndex('change_sets', new TableIndex(index(HISTORY, ['domain_id', 'door', 'id'])));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('change_sets', HISTORY);
    await runner.dropTable('failover_rules');
    await runner.dropTable('failovers');
  }
}
