// The built service on a new database of any kind, for measurements on all of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { besides, kindOf } from './sql.mjs';

const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

/** No rate limits: the work is measured. */
export const NO_RATES = { rate_limits: { user: 0, token: 0 } };

/** One URL per database; only DATABASE_URL if it is set. */
function servers() {
  const { DATABASE_URL, TEST_POSTGRES_URL, TEST_MYSQL_URL } = process.env;
  if (DATABASE_URL) return [DATABASE_URL];
  return [
    'sqlite:bench.db',
    TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
    TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/mysql',
  ];
}

/**
 * Runs `measure` with a new service on each available database, one after the other.
 * @param measure gets `{kind, url, pid, token, dataDir, databaseUrl, post(path, body), peakMiB()}`; returns a line to
 *   print
 */
export async function onEachDatabase(measure) {
  for (const server of servers()) {
    const kind = kindOf(server);
    const own = kind === 'sqlite' ? null : await besides(server).catch(() => null);
    if (kind !== 'sqlite' && !own) {
      console.log(`  ${kind}: left out, no server answers`);
      continue;
    }
    const service = await startThrowaway({
      ADMIN_USERNAME: ADMIN.username,
      ADMIN_PASSWORD: ADMIN.password,
      DATABASE_URL: own?.url ?? 'sqlite:bench.db',
    });
    const { url, pid, dataDir } = service;
    let token;
    const send = async (method, path, body) => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
      const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
      const { code, msg, data } = await answer.json();
      if (code !== 0) throw new Error(`${path}: ${msg}`);
      return data;
    };
    const post = (path, body = {}) => send('POST', path, body);
    const peakMiB = () =>
      Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
    const databaseUrl = own?.url ?? `sqlite:${join(dataDir, 'bench.db')}`;
    try {
      ({ token } = await post('/api/auth/login', ADMIN));
      await send('PUT', '/api/settings/security', NO_RATES);
      console.log(`  ${kind}: ${await measure({ kind, url, pid, token, dataDir, databaseUrl, post, peakMiB })}`);
    } finally {
      await service.stop();
      await own?.drop();
    }
  }
}
