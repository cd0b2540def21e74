import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`tokens that do one thing, on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    let domain: number;
    let other: number;
    const records = (of = domain) => `/api/domains/${of}/records` as const;
    const token = async (more: object) => {
      const { token: secret, tokenData } = made(await admin.post('/api/tokens', { name: 'ci', ...more }));
      return { client: service.server.as(secret), secret, id: tokenData.id, tokenData };
    };
    const ruled = async (...rules: object[]) => token({ rules });
    const add = async (body: object, of = domain) => made(await admin.post(records(of), body)).id;
    const denied = (answer: Answer, required: string) =>
      assert.equal(refused(answer, 403, 403001).data.required, required);
    const txt = (host: string, value = 'x') => ({ host, type: 'TXT', value });
    const from = (secret: string, path: string, ip: string) =>
      service.server.call('GET', path, undefined, secret, { 'x-forwarded-for': ip });

    beforeAll(async () => {
      service = await startService(kind, { TRUSTED_PROXIES: '127.0.0.1/32' });
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      const account = await addAccount(admin, 'zonefile', {});
      domain = await addDomain(admin, account, 'one.example', true);
      other = await addDomain(admin, account, 'two.example', true);
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('the acme preset writes its challenge, and nothing else', async () => {
      const secretId = await add(txt('secret', 'do not tell'));
      const { client, tokenData } = await token({ preset: { name: 'acme' }, allowed_domains: [domain] });
      assert.deepEqual(tokenData.rules, [
        {
          effect: 'allow',
          hosts: ['_acme-challenge'],
          types: ['TXT'],
          actions: ['read', 'create', 'update', 'delete'],
        },
      ]);
      const { id } = made(await client.post(records(), txt('_acme-challenge', 'abc')));
      const list = done(await client.get(records()));
      assert.deepEqual([list.total, list.list.map((r) => r.host)], [1, ['_acme-challenge']]);
      assert.equal(done(await client.get(`${records()}/${id}`)).value, 'abc');
      // what the rules hide is as what is not there
      refused(await client.get(`${records()}/${secretId}`), 404, 404001);
      refused(await client.delete(`${records()}/${secretId}`), 404, 404001);
      denied(await client.post(records(), txt('www')), 'record:create:TXT:www');
      denied(
        await client.post(records(), { host: '_acme-challenge', type: 'A', value: '192.0.2.1' }),
        'record:create:A:_acme-challenge',
      );
      denied(await client.post(records(), txt('_acme-challenge.www')), 'record:create:TXT:_acme-challenge.www');
      // a record of one's own renamed out of the rule, and a foreign one renamed into it
      denied(await client.put(`${records()}/${id}`, { host: 'www' }), 'record:update:TXT:www');
      refused(await client.put(`${records()}/${secretId}`, { host: '_acme-challenge' }), 404, 404001);
      refused(await client.patch(`${records()}/${secretId}/status`, { enabled: false }), 404, 404001);
      refused(await client.post(records(other), txt('_acme-challenge')), 403, 403001);
      refused(await client.put(`/api/domains/${domain}`, { remark: 'mine' }), 403, 403001);
      refused(await client.delete(`/api/domains/${domain}`), 403, 403001);
      for (const path of ['/api/accounts', '/api/audit/logs', '/api/tokens', '/api/settings'])
        refused(await client.get(path), 403, 403001);
      assert.deepEqual(
        done(await client.get('/api/domains')).map((d) => d.id),
        [domain],
      );
      done(await client.put(`${records()}/${id}`, { value: 'def' }));
      done(await client.delete(`${records()}/${id}`));
      assert.equal(done(await admin.get(`${records()}/${secretId}`)).value, 'do not tell');
    });

    it('presets make rules, and demand their fields', async () => {
      const rules = async (preset: unknown) => (await token({ preset })).tokenData.rules ?? [];
      assert.deepEqual((await rules({ name: 'acme', host: 'www' }))[0].hosts, ['_acme-challenge.www']);
      assert.deepEqual((await rules({ name: 'acme', host: '*.dev' }))[0].hosts, ['_acme-challenge.dev']);
      assert.deepEqual((await rules('acme'))[0].hosts, ['_acme-challenge']);
      assert.deepEqual((await rules({ name: 'ddns', host: 'Home' }))[0], {
        effect: 'allow',
        hosts: ['home'],
        types: ['A', 'AAAA'],
        actions: ['read', 'create', 'update', 'delete'],
      });
      assert.deepEqual(await rules({ name: 'read-only' }), [{ effect: 'allow', actions: ['read'] }]);
      for (const preset of [
        { name: 'ddns' },
        { name: 'nonsense' },
        { name: 'acme', host: 'a b' },
        'x',
        5,
        { name: 'acme', more: 1 },
      ])
        refused(await admin.post('/api/tokens', { name: 'x', preset }), 400, 400001);
      refused(
        await admin.post('/api/tokens', { name: 'x', preset: 'acme', rules: [{ effect: 'allow' }] }),
        400,
        400001,
      );
    });

    it('a read-only token reads and changes nothing', async () => {
      const id = await add(txt('ro'));
      const { client } = await token({ preset: 'read-only' });
      assert.ok(done(await client.get(records())).total > 0);
      refused(await client.post(records(), txt('ro2')), 403, 403001);
      refused(await client.put(`${records()}/${id}`, { value: 'y' }), 403, 403001);
      refused(await client.delete(`${records()}/${id}`), 403, 403001);
      refused(await client.post('/api/domains', { name: 'x.example', account_id: 1 }), 403, 403001);
    });

    it('values and TTL hold for the old and the new state of an update', async () => {
      const { client } = await ruled(
        { effect: 'allow', types: ['A'], values: { cidrs: ['10.0.0.0/8'] }, ttl: { min: 60, max: 600 } },
        { effect: 'allow', actions: ['read'] },
      );
      const mine = await add({ host: 'in', type: 'A', value: '10.1.1.1', ttl: 300 });
      const theirs = await add({ host: 'out', type: 'A', value: '192.0.2.1', ttl: 300 });
      done(await client.put(`${records()}/${mine}`, { value: '10.2.2.2', ttl: 60 }));
      refused(await client.put(`${records()}/${mine}`, { value: '192.0.2.2' }), 403, 403001);
      refused(await client.put(`${records()}/${mine}`, { ttl: 30 }), 403, 403001);
      refused(await client.put(`${records()}/${theirs}`, { value: '10.3.3.3' }), 403, 403001);
      refused(await client.post(records(), { host: 'new', type: 'A', value: '10.1.1.9', ttl: 3600 }), 403, 403001);
      assert.equal(done(await admin.get(`${records()}/${mine}`)).value, '10.2.2.2');
      assert.equal(done(await admin.get(`${records()}/${theirs}`)).value, '192.0.2.1');
    });

    it('a TTL that belongs to the set is not changed for neighbours that the token may not touch', async () => {
      await add({ host: 'set', type: 'A', value: '192.0.2.7', ttl: 300 });
      const { client } = await ruled({ effect: 'allow', types: ['A'], values: { cidrs: ['10.0.0.0/8'] } });
      refused(await client.post(records(), { host: 'set', type: 'A', value: '10.0.0.7', ttl: 60 }), 403, 403001);
      const { id } = made(await client.post(records(), { host: 'set', type: 'A', value: '10.0.0.7' }));
      refused(await client.put(`${records()}/${id}`, { ttl: 60 }), 403, 403001);
      const ttls = done(await admin.get(`${records()}?host=set`)).list.map((r) => r.ttl);
      assert.deepEqual(ttls, [300, 300]);
    });

    it('deny beats allow, and rules name their domains', async () => {
      const { client } = await ruled(
        { effect: 'allow', domains: [other] },
        { effect: 'deny', hosts: ['prod', '**.prod'] },
      );
      made(await client.post(records(other), txt('dev')));
      assert.equal(refused(await client.post(records(other), txt('a.prod')), 403, 403001).data.rule, 1);
      refused(await client.post(records(), txt('dev')), 403, 403001);
      assert.deepEqual(
        done(await client.get('/api/domains')).map((d) => d.id),
        [other],
      );
    });

    it('malformed rules are refused, naming the field', async () => {
      const WRONG: [object, string][] = [
        [{ effect: 'maybe' }, 'rules.0.effect'],
        [{}, 'rules.0.effect'],
        [{ effect: 'allow', hosts: ['a b'] }, 'rules.0.hosts'],
        [{ effect: 'allow', hosts: [] }, 'rules.0.hosts'],
        [{ effect: 'allow', types: ['NOPE'] }, 'rules.0.types'],
        [{ effect: 'allow', actions: ['status'] }, 'rules.0.actions'],
        [{ effect: 'allow', values: { cidrs: ['x'] } }, 'rules.0.values.cidrs'],
        [{ effect: 'allow', values: { text: { pattern: '(' } } }, 'rules.0.values.text.pattern'],
        [{ effect: 'allow', values: { text: { pattern: '(a)\\1' } } }, 'rules.0.values.text.pattern'],
        [{ effect: 'allow', ttl: { min: -1 } }, 'rules.0.ttl.min'],
        [{ effect: 'allow', host: 'www' }, 'rules.0.host'],
        [{ effect: 'allow', domains: [999_999] }, 'rules'],
      ];
      for (const [rule, path] of WRONG) {
        const answer = refused(await admin.post('/api/tokens', { name: 'x', rules: [rule] }), 400, 400001);
        assert.ok(
          answer.data.errors.some((e) => e.path === path),
          `${path}: ${answer.msg}`,
        );
      }
      for (const more of [
        { rules: [] },
        { allowed_services: ['nope'] },
        { allowed_services: [] },
        { allowed_cidrs: ['x'] },
        { max_unused_days: 0 },
      ])
        refused(await admin.post('/api/tokens', { name: 'x', ...more }), 400, 400001);
    });

    it('scopes open their routes and no others', async () => {
      const id = await add(txt('scoped'));
      const READS: [string, string][] = [
        ['/api/domains', 'domains:read'],
        [`/api/domains/${domain}`, 'domains:read'],
        [records(), 'records:read'],
        [`${records()}/${id}`, 'records:read'],
        ['/api/accounts', 'accounts:read'],
        ['/api/audit/logs', 'audit:read'],
      ];
      for (const scope of ['domains:read', 'records:read', 'records:write', 'accounts:read', 'audit:read', 'acme']) {
        const { client } = await token({ allowed_services: [scope] });
        for (const [path, needed] of READS) {
          const answer = await client.get(path);
          if (needed === scope) done(answer);
          else denied(answer, needed);
        }
        const write = await client.put(`${records()}/${id}`, { value: scope });
        if (scope === 'records:write') done(write);
        else denied(write, 'records:write');
        denied(await client.put(`/api/domains/${domain}`, { remark: 'x' }), '*');
        done(await client.get('/api/auth/me'));
        assert.deepEqual(done(await client.get('/api/tokens/self')).allowed_services, [scope]);
      }
    });

    it('works from its networks only', async () => {
      const { secret } = await token({ allowed_cidrs: ['192.0.2.0/24', '2001:db8::/32'] });
      done(await from(secret, '/api/domains', '192.0.2.9'));
      done(await from(secret, '/api/domains', '2001:db8::9'));
      denied(await from(secret, '/api/domains', '203.0.113.9'), 'network');
    });

    it('expires when it was not used for too long', async () => {
      const { client, id } = await token({ max_unused_days: 7 });
      done(await client.get('/api/domains'));
      await db.run('UPDATE api_tokens SET last_used_at = ? WHERE id = ?', [now(-6 * 86_400_000), id]);
      done(await client.get('/api/domains'));
      await db.run('UPDATE api_tokens SET last_used_at = ? WHERE id = ?', [now(-8 * 86_400_000), id]);
      refused(await client.get('/api/domains'), 401, 401001);
      const fresh = await token({ max_unused_days: 7 });
      await db.run('UPDATE api_tokens SET created_at = ? WHERE id = ?', [now(-8 * 86_400_000), fresh.id]);
      refused(await fresh.client.get('/api/domains'), 401, 401001);
    });

    it('is rotated with and without an overlap', async () => {
      const { client, id } = await token({ preset: 'read-only' });
      const rotate = async (body: object) => done(await admin.post(`/api/tokens/${id}/rotate`, body));
      const second = await rotate({ overlap_minutes: 30 });
      assert.match(second.token, /^svc_[0-9a-f]{64}$/);
      assert.equal(second.tokenData.id, id);
      assert.ok((second.tokenData.previous_until ?? '') > now());
      done(await client.get(records()));
      done(await service.server.as(second.token).get(records()));
      refused(await service.server.as(second.token).post(records(), txt('x')), 403, 403001);
      await db.run('UPDATE api_tokens SET previous_until = ? WHERE id = ?', [now(-1), id]);
      refused(await client.get(records()), 401, 401001);
      const third = await rotate({});
      assert.equal(third.tokenData.previous_until, null);
      refused(await service.server.as(second.token).get(records()), 401, 401001);
      done(await service.server.as(third.token).get(records()));
      refused(await admin.post(`/api/tokens/${id}/rotate`, { overlap_minutes: 1441 }), 400, 400001);
      refused(await admin.post('/api/tokens/999999/rotate', {}), 404, 404001);
      const both = await Promise.all([1, 2].map(() => admin.post(`/api/tokens/${id}/rotate`, {})));
      const winners = both.filter((answer) => answer.status === 200);
      assert.ok(winners.length >= 1);
      // the one that was carried out last, whichever was answered last
      const good = await Promise.all(winners.map(({ data }) => service.server.as(data.token).get(records())));
      assert.equal(good.filter(({ status }) => status === 200).length, 1);
    });

    it('reads what it may do, and its uses are counted by day and network', async () => {
      const { client, id, secret, tokenData } = await token({
        preset: { name: 'ddns', host: 'home' },
        allowed_domains: [domain],
      });
      const self = done(await client.get('/api/tokens/self'));
      assert.deepEqual(
        [self.id, self.role, self.username, self.rules, self.allowed_domains],
        [id, 3, 'admin', tokenData.rules, [domain]],
      );
      refused(await admin.get('/api/tokens/self'), 403, 403001);
      await from(secret, records(), '198.51.100.7');
      await from(secret, records(), '198.51.100.7');
      const uses = done(await admin.get(`/api/tokens/${id}/uses`));
      const today = now().slice(0, 10);
      assert.deepEqual(
        uses.find((u) => u.network === '198.51.100.7'),
        { day: today, network: '198.51.100.7', count: 2 },
      );
      assert.ok(!JSON.stringify(done(await admin.get('/api/tokens'))).includes(secret.slice(4)));
      await until('the network is shown', async () =>
        done(await admin.get('/api/tokens?limit=500')).some((t) => t.id === id && t.last_used_network !== null),
      );
    });

    it('is explained as requests are decided', async () => {
      const { id } = await token({ preset: 'acme', allowed_domains: [domain], allowed_cidrs: ['192.0.2.0/24'] });
      const ask = async (more: object, of = id) =>
        done(
          await admin.post(`/api/tokens/${of}/explain`, {
            domain_id: domain,
            action: 'create',
            host: '_acme-challenge',
            type: 'TXT',
            value: 'x',
            ip: '192.0.2.1',
            ...more,
          }),
        );
      const yes = await ask({});
      assert.deepEqual([yes.allowed, yes.rule, yes.source], [true, 0, 'token']);
      assert.match(yes.reason, /Rule 0 .* allows: create TXT at _acme-challenge/);
      const CASES: [object, string, number | null][] = [
        [{ ip: '203.0.113.1' }, 'network', null],
        [{ domain_id: other }, 'token', null],
        [{ host: 'www' }, 'token', null],
        [{ type: 'a', value: '192.0.2.1' }, 'token', null],
      ];
      for (const [more, source, rule] of CASES) {
        const { allowed, ...no } = await ask(more);
        assert.deepEqual([allowed, no.source, no.rule], [false, source, rule], JSON.stringify(more));
        assert.ok(no.reason.length > 5);
      }
      const late = await token({ end_time: now(3_600_000) });
      await db.run('UPDATE api_tokens SET end_time = ? WHERE id = ?', [now(-1000), late.id]);
      assert.deepEqual((await ask({}, late.id)).source, 'window');
      const reader = await token({ allowed_services: ['records:read'] });
      assert.deepEqual((await ask({}, reader.id)).source, 'scope');
      assert.equal((await ask({ action: 'read' }, reader.id)).allowed, true);
      refused(
        await admin.post(`/api/tokens/${id}/explain`, {
          domain_id: domain,
          action: 'create',
          host: 'a b',
          type: 'TXT',
          value: 'x',
          ip: '192.0.2.1',
        }),
        400,
        400001,
      );
      refused(
        await admin.post('/api/tokens/999999/explain', { domain_id: domain, action: 'read', host: '@', type: 'A' }),
        404,
        404001,
      );
    });

    it('loses what it had when its only domain is deleted, rules included', async () => {
      const gone = await addDomain(admin, 1, 'gone.example', true);
      const narrowed = await token({ allowed_domains: [gone] });
      const byRules = await ruled({ effect: 'allow', domains: [gone] });
      done(await narrowed.client.get(records(gone)));
      done(await byRules.client.get(records(gone)));
      done(await admin.delete(`/api/domains/${gone}`));
      refused(await narrowed.client.get('/api/domains'), 401, 401001);
      assert.deepEqual(done(await byRules.client.get('/api/domains')), []);
      refused(await byRules.client.get(records()), 403, 403001);
    });
  });
}
