import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, creator, index } from '../columns.js';

const INDEX = 'record_changes_version_ix';

/**
 * Versions of the records of a domain: which change made which. Those of domains that were read before begin with the
 * state that is found now. Safe to repeat.
 */
export class Versions1764300000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await creator(runner)(
      'versions',
      [
        c.id(),
        c.int('domain_id'),
        c.int('version'),
        c.int('change_set_id', optional),
        c.bool('inherited'),
        c.int('created'),
        c.int('updated'),
        c.int('deleted'),
        c.utc('created_at'),
      ],
      [index('versions_domain_uq', ['domain_id', 'version'], true), index('versions_set_ix', ['change_set_id'])],
    );
    await addColumns(runner, 'record_changes', [c.int('domain_id', optional), c.int('version', optional)]);
    const known = (await runner.getTable('record_changes'))?.indices.some((one) => one.name === INDEX);
    if (!known)
      await runner.createIndex('record_changes', new TableIndex(index(INDEX, ['domain_id', 'version', 'record_id'])));
    const yes = runner.dataSource.options.type === 'postgres' ? 'TRUE' : '1';
    await runner.query(
      `INSERT INTO versions (domain_id, version, change_set_id, inherited, created, updated, deleted, created_at)
         SELECT d.id, 1, NULL, ${yes}, d.records_count, 0, 0, d.synced_at FROM domains d
          WHERE d.synced_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.domain_id = d.id)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('record_changes', INDEX);
    await runner.query('ALTER TABLE record_changes DROP COLUMN version');
    await runner.query('ALTER TABLE record_changes DROP COLUMN domain_id');
    await runner.dropTable('versions');
  }
}
