import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, index } from '../columns.js';

const INDICES = ['remote_id', 'stale_revision'] as const;
const nameOf = (column: (typeof INDICES)[number]) => `domains_${column.replace('_id', '').replace('_revision', '')}_ix`;

/** Which server the zones of an account are at, and which domains share a zone. Safe to repeat. */
export class SharedZones1764100000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await addColumns(runner, 'dns_accounts', [c.str('server_key', 64, { isNullable: true })]);
    await addColumns(runner, 'domains', [c.int('stale_revision', { isNullable: true })]);
    const table = await runner.getTable('domains');
    for (const column of INDICES)
      if (!table?.indices.some(({ name }) => name === nameOf(column)))
        await runner.createIndex('domains', new TableIndex(index(nameOf(column), [column])));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of INDICES) await runner.dropIndex('domains', nameOf(column));
    await runner.query('ALTER TABLE domains DROP COLUMN stale_revision');
    await runner.query('ALTER TABLE dns_accounts DROP COLUMN server_key');
  }
}
