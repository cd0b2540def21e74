import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import { now } from '../../src/platform/common/clock.js';
import { sha256 } from '../../src/platform/common/hash.js';
import type { Db } from '../../src/platform/database/db.js';
import type { TokenRule } from '../../src/tokens/rules/token-rules.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, each, made, refused } from '../support/world.js';

const CHUNK = 500;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`what rules may say and cost, on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    let domain: number;
    const records = (of = domain) => `/api/domains/${of}/records` as const;
    const ruled = async (...rules: object[]) =>
      service.server.as(made(await admin.post('/api/tokens', { name: 'ci', rules })).token);
    const errorsOf = (answer: Answer): string[] =>
      refused(answer, 400, 400001).data.errors.map((e) => `${e.path} ${e.code}`);
    const create = (client: Client, host: string, type: string, value: string) =>
      client.post(records(), { host, type, value });
    /** Rows of a domain, past the service. */
    const fill = async (of: number, rows: { host: string; type: string; value: string; ttl?: number }[]) => {
      for (let i = 0; i < rows.length; i += CHUNK) {
        const chunk = rows.slice(i, i + CHUNK);
        const one = "(?, ?, ?, ?, ?, ?, 'default', ?, ?, '', ?, ?)";
        await db.run(
          `INSERT INTO dns_records (domain_id, remote_id, host, type, value, ttl, line, proxied, enabled, remark, read_only, updated_at)
           VALUES ${chunk.map(() => one).join(', ')}`,
          chunk.flatMap(({ host, type, value, ttl = 300 }, j) => {
            const state = [false, true, false, now()] as const;
            return [of, `r${i + j}`, host, type, value, ttl, ...state];
          }),
        );
      }
      const counted = 'SELECT COUNT(*) FROM dns_records WHERE domain_id = ?';
      await db.run(`UPDATE domains SET records_count = (${counted}) WHERE id = ?`, [of, of]);
    };

    beforeAll(async () => {
      service = await startService(kind, { LOG_LEVEL: 'error' });
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      done(await admin.put('/api/settings/security', { rate_limits: { user: 0, token: 0, public: 0 } }));
      const account = await addAccount(admin, 'zonefile', {});
      domain = await addDomain(admin, account, 'one.example', true);
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('rules that would cost too much are refused, naming the field', async () => {
      const post = async (...rules: object[]) => errorsOf(await admin.post('/api/tokens', { name: 'x', rules }));
      const text = (pattern: string) => ({ effect: 'allow', values: { text: { pattern } } });
      assert.deepEqual(await post(text('(.?){1000}')), ['rules.0.values.text.pattern range']);
      // compiled, it would hold everybody else up for half a second
      const long = `(${'a'.repeat(240)}){1000}`;
      assert.deepEqual(await post(text(long)), ['rules.0.values.text.pattern length']);
      const globs = Array.from({ length: 100 }, (_, i) => `*a${i}*`);
      assert.deepEqual(await post(...Array(50).fill({ effect: 'allow', hosts: globs })), ['rules.5.hosts length']);
      assert.equal((await post(...Array(51).fill({ effect: 'allow' }))).length, 1);
    });

    it('rules that contradict themselves are refused, all of them at once', async () => {
      const rules = [
        { effect: 'deny', ttl: { min: 60, max: 30 } },
        { effect: 'allow', types: ['TXT'], values: { cidrs: ['10.0.0.0/8'] } },
        { effect: 'allow', values: { text: { min_length: 9, max_length: 8 } } },
      ];
      assert.deepEqual(errorsOf(await admin.post('/api/tokens', { name: 'x', rules })), [
        'rules.0.ttl.min conflict',
        'rules.1.values conflict',
        'rules.2.values.text.min_length conflict',
      ]);
    });

    it('a line break does not lead past a deny', async () => {
      const client = await ruled({ effect: 'allow' }, { effect: 'deny', values: { text: { pattern: '.*secret.*' } } });
      made(await create(client, 'plain', 'TXT', 'public'));
      refused(await create(client, 'plain', 'TXT', 'a secret'), 403, 403001);
      refused(await create(client, 'plain', 'TXT', 'a\nsecret'), 403, 403001);
    });

    it('a star does not name the wildcard record', async () => {
      const star = await ruled({ effect: 'allow', hosts: ['*.dev'] });
      made(await create(star, 'a.dev', 'TXT', 'x'));
      refused(await create(star, '*.dev', 'TXT', 'x'), 403, 403001);
      const literal = await ruled({ effect: 'allow', hosts: ['\\*.dev'] });
      const { id } = made(await create(literal, '*.dev', 'TXT', 'x'));
      refused(await create(literal, 'b.dev', 'TXT', 'x'), 403, 403001);
      refused(await star.get(`${records()}/${id}`), 404, 404001);
      const all = await ruled({ effect: 'allow', hosts: ['**'] });
      done(await all.delete(`${records()}/${id}`));
      const { rules } = made(
        await admin.post('/api/tokens', { name: 'x', preset: { name: 'ddns', host: '*.home' } }),
      ).tokenData;
      assert.deepEqual(rules?.[0].hosts, ['\\*.home']);
    });

    it('a delegation is not meant by an allow of hosts', async () => {
      const hosts = ['sub', 'more'];
      const value = 'ns.elsewhere.example';
      refused(await create(await ruled({ effect: 'allow', hosts }), 'sub', 'NS', value), 403, 403001);
      made(await create(await ruled({ effect: 'allow', hosts, types: ['NS'] }), 'sub', 'NS', value));
      made(await create(await ruled({ effect: 'allow' }), 'more', 'NS', value));
      const denies = await ruled({ effect: 'allow' }, { effect: 'deny', hosts: ['third'] });
      refused(await create(denies, 'third', 'NS', value), 403, 403001);
    });

    it('an IPv4 network cannot be bypassed by IPv6', async () => {
      const inside = ['::ffff:10.1.2.3', '64:ff9b::10.1.2.3', '2002:a01:203::1'];
      const values = { cidrs: ['10.0.0.0/8'] };
      const denies = await ruled({ effect: 'allow' }, { effect: 'deny', values });
      for (const value of inside) refused(await create(denies, 'v6', 'AAAA', value), 403, 403001);
      made(await create(denies, 'v6', 'AAAA', '2001:db8::1'));
      const allows = await ruled({ effect: 'allow', types: ['AAAA'], values });
      for (const value of inside) made(await create(allows, 'in6', 'AAAA', value));
      refused(await create(allows, 'in6', 'AAAA', '64:ff9b::192.0.2.1'), 403, 403001);
    });

    it('rules that are older than the limits deny what they cannot decide', async () => {
      const insert = async (rules: TokenRule[]) => {
        const secret = `svc_${sha256(JSON.stringify(rules))}`;
        await db.run(
          `INSERT INTO api_tokens (user_id, name, token_hash, narrowed, allowed_domains, allowed_services, rules,
            max_role, is_active, created_at)
           SELECT id, 'old', ?, ?, '[]', '["*"]', ?, 3, ?, ? FROM users WHERE username = 'admin'`,
          [sha256(secret), false, JSON.stringify(rules), true, now()],
        );
        return service.server.as(secret);
      };
      const text = { text: { pattern: '(.?){1000}' } };
      const allows = await insert([{ effect: 'allow', values: text }]);
      assert.match(refused(await create(allows, 'old', 'TXT', 'x'), 403, 403001).msg, /rule 0 cannot be tried/);
      const denies = await insert([{ effect: 'allow' }, { effect: 'deny', values: text }]);
      assert.equal(refused(await create(denies, 'old', 'TXT', 'x'), 403, 403001).data.rule, 1);
      made(await create(denies, 'old', 'A', '192.0.2.1'));
      const hosts = Array.from({ length: 600 }, (_, i) => `host-number-${i}.dev`);
      const crowd = await insert([{ effect: 'allow' }, { effect: 'deny', hosts }]);
      const [first] = done(await admin.get(records())).list;
      refused(await crowd.get(`${records()}/${first.id}`), 404, 404001);
      assert.equal(done(await crowd.get(records())).total, 0, 'a list says what single reads say');
    });

    it('a list shows exactly the records that may be read one by one, in every order and page', async () => {
      const zone = await addDomain(admin, 1, 'mixed.example', true);
      const hosts = ['@', '*', '*.dev', 'a.dev', 'b.a.dev', 'dev', 'www', 'x_y.dev', 'x-y.dev', 'adev', 'app-1'];
      const rows = hosts.flatMap((host, i) => [
        { host, type: 'A', value: i % 2 ? '10.0.0.1' : '192.0.2.1', ttl: 60 * (1 + (i % 3)) },
        { host, type: 'TXT', value: i % 3 ? 'abc' : 'a\nb', ttl: 300 },
        { host, type: 'NS', value: 'ns.x.example', ttl: 600 },
        { host, type: 'CNAME', value: i % 2 ? 'a.x.example' : 'b.y.example', ttl: 600 },
      ]);
      await fill(zone, rows);
      const all = done(await admin.get(records(zone))).list;
      const allow = { effect: 'allow' };
      const many = Array.from({ length: 12 }, (_, i) => ({ effect: 'allow', hosts: [hosts[i % 11], `*.h${i}`] }));
      const SETS: object[][] = [
        [allow],
        [{ ...allow, hosts: ['a.dev', '@'] }],
        [{ ...allow, hosts: ['*.dev'] }],
        [{ ...allow, hosts: ['**.dev', '\\*'], types: ['A', 'NS'] }],
        [{ ...allow, hosts: ['app-*', '*'] }],
        [
          { ...allow, ttl: { min: 120 } },
          { effect: 'deny', hosts: ['*.dev'] },
        ],
        [allow, { effect: 'deny', hosts: ['x*', '**.a.dev'], types: ['A'] }],
        [allow, { effect: 'deny', values: { text: { pattern: 'a.b' } } }],
        [
          { ...allow, values: { cidrs: ['10.0.0.0/8'], suffixes: ['x.example'] } },
          { ...allow, types: ['TXT'] },
        ],
        [
          { ...allow, actions: ['create'] },
          { effect: 'deny', types: ['A'] },
        ],
        [
          { ...allow, domains: [domain] },
          { ...allow, domains: [zone], types: ['TXT'] },
          { effect: 'deny', domains: [domain] },
        ],
        many,
      ];
      const orders: [string, RecordView[]][] = [];
      for (const sort of ['id', '-host', 'ttl'])
        orders.push([sort, done(await admin.get(`${records(zone)}?sort=${sort}`)).list]);
      for (const rules of SETS) {
        const client = await ruled(...rules);
        const mine = new Set<number>();
        await each(all, 8, async ({ id }) => {
          if ((await client.get(`${records(zone)}/${id}`)).status === 200) mine.add(id);
        });
        for (const [sort, list] of orders) {
          const wanted = list.filter(({ id }) => mine.has(id));
          const got = done(await client.get(`${records(zone)}?sort=${sort}`));
          assert.equal(got.total, mine.size, JSON.stringify({ rules, sort }));
          assert.deepEqual(got.list, wanted, JSON.stringify({ rules, sort }));
          const page = done(await client.get(`${records(zone)}?sort=${sort}&limit=3&page=2`));
          assert.deepEqual([page.total, page.list], [mine.size, wanted.slice(3, 6)], JSON.stringify({ rules, sort }));
        }
      }
    });

    it('a list goes on over its batches, in an order with ties', async () => {
      const zone = await addDomain(admin, 1, 'batches.example', true);
      const rows = Array.from({ length: 1300 }, (_, i) => ({
        host: `h${i % 7}`,
        type: 'TXT',
        value: i % 3 ? 'yes' : 'no',
      }));
      await fill(zone, rows);
      const client = await ruled({ effect: 'allow', values: { text: { pattern: 'y.*' } } });
      for (const sort of ['id', '-id', 'host', '-ttl']) {
        const wanted = [1, 2, 3].map(
          (page) => `${records(zone)}?sort=${sort}&value=yes&limit=500&page=${page}` as const,
        );
        const pages = await Promise.all(wanted.map(async (path) => done(await admin.get(path)).list));
        assert.deepEqual(done(await client.get(`${records(zone)}?sort=${sort}`)).list, pages.flat(), sort);
      }
    });
  });
}

describe('a long list of a token with rules', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let client: Client;
  let path: `/api/domains/${number}/records`;
  beforeAll(async () => {
    service = await startService('sqlite', { LOG_LEVEL: 'error' });
    const { admin, server } = service;
    const { db, close } = await openDatabase(service.databaseUrl, server.dataDir);
    done(await admin.put('/api/settings/security', { rate_limits: { user: 0, token: 0, public: 0 } }));
    const zone = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'long.example', true);
    path = `/api/domains/${zone}/records`;
    await db.transaction(async (manager) => {
      for (let i = 0; i < 3000; i++)
        await db.run(
          `INSERT INTO dns_records (domain_id, remote_id, host, type, value, ttl, line, proxied, enabled, remark, read_only, updated_at)
           VALUES (?, ?, ?, 'TXT', ?, 300, 'default', 0, 1, '', 0, ?)`,
          [zone, `r${i}`, `h${i}`, 'ab'.repeat(100) + i, now()],
          manager,
        );
    });
    await close();
    const pattern = (i: number) => `(a|b)*a(a|b){20}${i}x`;
    const rules = Array.from({ length: 20 }, (_, i) => ({
      effect: 'allow',
      values: { text: { pattern: pattern(i) } },
    }));
    client = server.as(made(await admin.post('/api/tokens', { name: 'slow', rules })).token);
  });
  afterAll(() => service?.stop());

  it('does not hold up other requests', async () => {
    let ended = false;
    const list = client.get(`${path}?limit=10`).finally(() => {
      ended = true;
    });
    let answers = 0;
    while (!ended) {
      assert.equal((await service.server.call('GET', '/health/live')).status, 200);
      if (!ended) answers += 1;
    }
    assert.equal(done(await list).total, 0);
    assert.ok(answers >= 5, `${answers} answers while the list was made`);
  });

  it('is aborted when the service stops', async () => {
    const list = client.get(`${path}?limit=10`);
    await service.server.call('GET', '/health/live');
    assert.equal(await service.server.stop(), 0);
    assert.equal((await list).status, 503);
  });
});
