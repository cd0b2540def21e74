import type { DataSource } from 'typeorm';
import { MIGRATIONS } from '../schema/migrations/index.js';
import { unknownMigrations } from './app-data-source.js';
import { isDatabaseDown, isDatabaseSlow } from './db.js';

/**
 * Whether the schema is still the one that this program has found, or made, at its start.
 * @returns why it is not, in words for whoever runs it; null: it is
 * @throws the driver's error when the database does not answer
 */
export async function whyUnfit(source: DataSource): Promise<string | null> {
  let names: string[];
  try {
    const rows = (await source.query('SELECT name FROM migrations')) as { name: string }[];
    names = rows.map(({ name }) => name);
  } catch (error) {
    if (isDatabaseDown(error) || isDatabaseSlow(error)) throw error;
    return 'The schema of the database is gone, or is being put in place anew: start this program again afterwards';
  }
  const unknown = unknownMigrations(names);
  if (unknown.length)
    return (
      `The schema of the database is newer than this program, which does not know ${unknown.join(', ')}: ` +
      'another version has been started on it. This process changes nothing any more; end it'
    );
  const missing = MIGRATIONS.map(({ name }) => name).filter((name) => !names.includes(name));
  return missing.length
    ? `The schema of the database is older than this program, it lacks ${missing.join(', ')}: start this program again`
    : null;
}
