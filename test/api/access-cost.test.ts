import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, grant, openDatabase } from '../support/database.js';
import { startService } from '../support/server.js';
import { tellStatements } from '../support/statements.js';
import { addAccount, addDomain, done, made } from '../support/world.js';

const MOST = 3;
/** what the process does by itself meanwhile: its jobs, and the linking of audit entries */
const BY_ITSELF = /\b(audit_\w+|jobs|mails|deliveries|change_sets|sessions WHERE expires)\b|^(BEGIN|COMMIT)/;

describe('what a request costs before its work begins', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let db: Db;
  let close: () => Promise<void>;
  let path: string;
  const credentials = new Map<string, string>();

  beforeAll(async () => {
    service = await startService('sqlite', { LOG_LEVEL: 'error' });
    const { admin, server, token } = service;
    ({ db, close } = await openDatabase(service.databaseUrl, server.dataDir));
    const domain = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'one.example', true);
    path = `/api/domains/${domain}`;
    const login = { username: 'ada', password: 'ada-secret' };
    await grant(db, await addTeam(db, 'dns', [await addUser(db, login)]), domain, 'write');
    const ada = await server.login(login);
    const rules = [{ effect: 'allow', domains: [domain] }];
    credentials.set('administrator', token);
    credentials.set('user of a team', ada);
    credentials.set('token', made(await server.as(ada).post('/api/tokens', { name: 'x' })).token);
    credentials.set('token with rules', made(await server.as(ada).post('/api/tokens', { name: 'x', rules })).token);
  });
  afterAll(async () => {
    await close?.();
    await service?.stop();
  });

  it(`is ${MOST} queries at most, each by an index, and nothing is kept for the next request`, async () => {
    for (const [who, credential] of credentials) {
      // the first use is written down
      done(await service.server.as(credential).get(path));
      const told = tellStatements();
      done(await service.server.as(credential).get(path));
      // the answer is made of what the check has read, so these are all of it
      const queries = told().flatMap(({ sql }) => (BY_ITSELF.test(sql) ? [] : [sql]));
      assert.ok(queries.length > 0 && queries.length <= MOST, `${who}:\n${queries.join('\n')}`);
      assert.ok(
        queries.some((sql) => /FROM (sessions|api_tokens)/.test(sql)) &&
          queries.some((sql) => sql.includes('FROM domains d')),
        who,
      );
      for (const sql of queries) {
        const plan = await db.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll('?', "'1'")}`);
        // `g` is what the grants of this one domain are
        const scans = plan.filter(({ detail }) => /^SCAN (?!g\b|\(|CONSTANT)/.test(detail));
        assert.deepEqual(
          scans.map(({ detail }) => detail),
          [],
          `${who}: ${sql}`,
        );
      }
    }
  });

  it('and a change reads its records and its account once', async () => {
    const { admin } = service;
    const values = ['192.0.2.2', '192.0.2.3'].map((value) => ({ value }));
    const { id } = made(await admin.post(`${path}/records`, { host: 'www', type: 'A', value: '192.0.2.1' })) as {
      id: number;
    };
    for (const change of [
      () => admin.put(`${path}/records/${id}`, { value: '192.0.2.2' }),
      () => admin.patch(`${path}/records/${id}/status`, { enabled: true }),
      () => admin.put(`${path}/rrsets/www/A`, { values }),
      () => admin.delete(`${path}/records/${id}`),
      () => admin.delete(`${path}/rrsets/www/A`),
    ]) {
      const told = tellStatements();
      done(await change());
      const queries = told().map(({ sql }) => sql);
      const reads = (of: RegExp) => queries.filter((sql) => of.test(sql)).length;
      assert.equal(reads(/^SELECT\b.*\bvalue\b.*\bFROM dns_records\b/s), 1, queries.join('\n'));
      assert.equal(reads(/^SELECT\b.*\bcredentials\b.*\bFROM dns_accounts\b/s), 1, queries.join('\n'));
    }
  });
});
