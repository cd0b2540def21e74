// Runs once after all test files: drops the schemas created by the workers (`databases.ts`).
const { readdirSync, readFileSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const pg = require('pg');

module.exports = async () => {
  const { TEST_SCHEMAS: folder, TEST_POSTGRES_URL: connectionString } = process.env;
  const templates = readdirSync(folder).filter((name) => name.startsWith('postgresql-'));
  if (templates.length) {
    const client = new pg.Client({ connectionString });
    await client.connect();
    for (const name of templates) await client.query(`DROP DATABASE ${readFileSync(join(folder, name), 'utf8')}`);
    await client.end();
  }
  rmSync(folder, { recursive: true });
};
