import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, index } from '../columns.js';

const BEFORE = index('domains_account_name_uq', ['account_id', 'name'], true);
const NOW = index('domains_account_zone_uq', ['account_id', 'name', 'apart'], true);

/** Private zones are domains beside the public one of their name. Safe to repeat. */
export class PrivateZones1764170000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'domains', [columns(runner).str('apart', 255, { default: "''" })]);
    await swap(runner, BEFORE, NOW);
  }

  async down(runner: QueryRunner): Promise<void> {
    // the version before knows one domain of a name
    await runner.query("DELETE FROM domains WHERE apart <> ''");
    await swap(runner, NOW, BEFORE);
    await runner.query('ALTER TABLE domains DROP COLUMN apart');
  }
}

/** The new index comes first: MariaDB needs one that begins with the account for the foreign key. */
async function swap(runner: QueryRunner, old: typeof NOW, next: typeof NOW): Promise<void> {
  const names = (await runner.getTable('domains'))?.indices.map(({ name }) => name);
  if (!names?.includes(next.name)) await runner.createIndex('domains', new TableIndex(next));
  if (names?.includes(old.name)) await runner.dropIndex('domains', old.name as string);
}
