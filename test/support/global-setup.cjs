// Runs once before all test files: checks that the service is built and which database servers are available. In the
// gate (TEST_SKIPS=forbidden) a missing server is an error instead of a skip, unless TEST_DATABASES excludes it.
const { spawnSync } = require('node:child_process');
const { existsSync, mkdtempSync, statfsSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { Redis } = require('ioredis');
const mysql = require('mysql2/promise');
const pg = require('pg');

const KINDS = ['sqlite', 'postgresql', 'mysql'];
const KIND_OF = { POSTGRES: 'postgresql', MYSQL: 'mysql' };
const connectTimeout = 2000;

/** Directory for temporary files in memory, if it has enough space: SQLite syncs at the end of every transaction. */
const MEMORY = '/dev/shm';
const ROOM = 2 ** 30;
const free = (folder) => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

const PROBES = {
  POSTGRES: async (connectionString) => {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: connectTimeout });
    await client.connect();
    await client.end();
  },
  MYSQL: async (uri) => (await mysql.createConnection({ uri, connectTimeout })).end(),
  REDIS: async (url) => {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout });
    redis.on('error', () => undefined);
    await redis.connect().finally(() => redis.disconnect());
  },
};

module.exports = async () => {
  const { status } = spawnSync(process.execPath, ['scripts/build-when-needed.mjs', 'clients'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the tests run the built service, and the build failed');
  if (existsSync(MEMORY) && free(MEMORY) > ROOM) process.env.TMPDIR ??= MEMORY;
  process.env.TEST_DATABASES ??= KINDS.join(',');
  const unknown = process.env.TEST_DATABASES.split(',').filter((kind) => !KINDS.includes(kind));
  if (unknown.length) throw new Error(`TEST_DATABASES names ${unknown}; there are ${KINDS}`);
  process.env.TEST_POSTGRES_URL ??= 'postgres://postgres@127.0.0.1:5432/postgres';
  process.env.TEST_MYSQL_URL ??= 'mysql://root@127.0.0.1:3306/mysql';
  process.env.TEST_REDIS_URL ??= 'redis://127.0.0.1:6379';
  process.env.TEST_SCHEMAS = mkdtempSync(join(tmpdir(), 'zoneward-schemas-'));
  process.env.TEST_COSTS = join(process.env.TEST_SCHEMAS, 'costs.ndjson');
  writeFileSync(process.env.TEST_COSTS, '');
  const wanted = process.env.TEST_DATABASES.split(',');
  for (const [name, probe] of Object.entries(PROBES)) {
    try {
      await probe(process.env[`TEST_${name}_URL`]);
    } catch (error) {
      if (process.env.TEST_SKIPS === 'forbidden' && (!KIND_OF[name] || wanted.includes(KIND_OF[name]))) throw error;
      process.env[`TEST_NO_${name}`] = `no server answers (set TEST_${name}_URL)`;
    }
  }
};
