import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { TokensService } from '../../src/tokens/tokens.service.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { applicationOf, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`PUT of an API token, on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    let ada: Client;
    let adaId: number;
    let account: number;
    /** Ada owns the first two, and has nothing in the third */
    const ids: number[] = [];
    const at = (id: number) => `/api/tokens/${id}` as const;
    const create = async (who: Client, more: object = {}) => {
      const { token, tokenData } = made(await who.post('/api/tokens', { name: 'ci', ...more }));
      return { client: service.server.as(token), token, id: tokenData.id, path: at(tokenData.id) };
    };
    const tag = async (path: `/api/tokens/${number}`) => ({
      'if-match': (await ada.get(path)).headers.get('etag') as string,
    });
    const paths = (answer: { data: unknown }) =>
      (answer.data as { errors: { path: string }[] }).errors.map(({ path }) => path).sort();
    const entries = async (id: number) =>
      done(await admin.get('/api/audit/logs?action=token.update&limit=100')).list.filter(
        ({ target }) => (target as { id: number } | null)?.id === id,
      );

    beforeAll(async () => {
      service = await startService(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      account = await addAccount(admin, 'zonefile', {});
      for (const name of ['one.example', 'two.example', 'other.example'])
        ids.push(await addDomain(admin, account, name, true));
      adaId = await addUser(db, { username: 'ada', password: 'ada-secret' });
      for (const id of ids.slice(0, 2)) await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [adaId, id]);
      ada = service.server.as(await service.server.login({ username: 'ada', password: 'ada-secret' }));
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('takes back what GET shows, and writes nothing then', async () => {
      const { id, path, client } = await create(ada, {
        allowed_domains: [ids[0]],
        preset: 'acme',
        end_time: '2099-01-01',
      });
      const read = await ada.get(path);
      const shown = done(read);
      done(await client.get('/api/domains'));
      const answer = await ada.put(path, shown, { 'if-match': read.headers.get('etag') as string });
      assert.deepEqual({ ...done(answer), last_used_at: null, last_used_network: null }, shown);
      assert.deepEqual(await entries(id), []);
    });

    it('changes what is given at the very next request, and keeps the secret', async () => {
      const { id, path, client, token } = await create(ada);
      const records = `/api/domains/${ids[0]}/records` as const;
      const record = { host: 'www', type: 'A', value: '192.0.2.1' };
      made(await client.post(records, record));
      const rules = [{ effect: 'allow', hosts: ['www'], actions: ['read'] }];
      const narrow = { name: ' reader ', allowed_domains: [ids[0]], rules, max_role: 1 };
      const view = done(await ada.put(path, narrow));
      assert.deepEqual([view.name, view.allowed_domains, view.rules], ['reader', [ids[0]], rules]);
      assert.deepEqual(done(await ada.get(path)), { ...view, last_used_at: done(await ada.get(path)).last_used_at });
      refused(await client.post(records, { ...record, value: '192.0.2.2' }), 403, 403001);
      refused(await client.get(`/api/domains/${ids[1]}/records`), 403, 403001);
      done(await ada.put(path, { rules: null }));
      made(await client.post(records, { ...record, value: '192.0.2.2' }));
      done(await ada.put(path, { allowed_services: ['domains:read'] }));
      refused(await client.get(records), 403, 403001);
      done(await ada.put(path, { allowed_cidrs: ['192.0.2.0/24'] }));
      refused(await client.get('/api/domains'), 403, 403001);
      done(await ada.put(path, { allowed_cidrs: [], end_time: now(-1000) }));
      refused(await client.get('/api/domains'), 401, 401001);
      const [last, ...earlier] = await entries(id);
      assert.equal(earlier.length, 4);
      const [before, after] = [last?.before, last?.after] as unknown as Record<string, unknown>[];
      assert.deepEqual([before?.allowed_cidrs, after?.allowed_cidrs, before?.end_time], [['192.0.2.0/24'], [], null]);
      assert.ok(!JSON.stringify([last, earlier]).includes(token.slice(4)));
      assert.doesNotMatch(JSON.stringify([before, after]), /hash/);
    });

    it('names every field that is wrong', async () => {
      const { path } = await create(ada);
      const WRONG: [object, string][] = [
        [{ name: ' ' }, 'name'],
        [{ name: null }, 'name'],
        [{ allowed_domains: null }, 'allowed_domains'],
        [{ allowed_domains: [ids[2]] }, 'allowed_domains'],
        [{ allowed_services: [] }, 'allowed_services'],
        [{ allowed_cidrs: ['x'] }, 'allowed_cidrs'],
        [{ rules: [] }, 'rules'],
        [{ rules: [{ effect: 'allow', domains: [ids[2]] }] }, 'rules'],
        [{ start_time: '2030-01-02', end_time: '2030-01-01' }, 'end_time'],
        [{ max_role: 2 }, 'max_role'],
        [{ max_role: 4 }, 'max_role'],
        [{ preset: 'acme' }, 'preset'],
        [{ user_id: 1 }, 'user_id'],
        [{ created_at: '2020-01-01' }, 'created_at'],
        [{ token_hash: 'x' }, 'token_hash'],
        [{ overlap_minutes: 5 }, 'overlap_minutes'],
      ];
      for (const [body, field] of WRONG)
        assert.deepEqual(paths(refused(await ada.put(path, body), 400, 400001)), [field]);
      const both = refused(await ada.put(path, { max_role: 3, allowed_domains: [ids[2]] }), 400, 400001);
      assert.deepEqual(paths(both), ['allowed_domains', 'max_role']);
    });

    it('is for its owner alone', async () => {
      const { path } = await create(ada);
      refused(await admin.put(path, { name: 'x' }), 404, 404001);
      refused(await ada.put('/api/tokens/999999', { name: 'x' }), 404, 404001);
      const { client } = await create(ada);
      refused(await client.put(path, { name: 'x' }), 403, 403001);
    });

    it('asks of what widens what creating asks, and of what narrows nothing', async () => {
      const lost = await addDomain(admin, account, 'lost.example', true);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [adaId, lost]);
      const { id, path } = await create(ada, {
        allowed_domains: [ids[0], lost],
        allowed_services: ['records:read'],
        allowed_cidrs: ['127.0.0.0/8', '::1'],
        max_unused_days: 30,
        start_time: '2020-01-01',
        end_time: '2090-01-01',
        rules: [{ effect: 'allow', hosts: ['www'] }],
      });
      await db.run('UPDATE domains SET owner_id = NULL WHERE id = ?', [lost]);
      const NARROWER = [
        { name: 'other' },
        { allowed_cidrs: ['127.0.0.1', '::1'] },
        { max_unused_days: 20 },
        { start_time: '2021-01-01', end_time: '2089-01-01' },
        { rules: [{ effect: 'allow', hosts: ['www'], types: ['A', 'TXT'] }] },
        { is_active: false },
        { is_active: true },
      ];
      for (const body of NARROWER) done(await ada.put(path, body));
      const WIDER = [
        { allowed_services: ['*'] },
        { allowed_services: ['records:read', 'domains:read'] },
        { allowed_cidrs: [] },
        { allowed_cidrs: ['127.0.0.0/8', '::1'] },
        { max_unused_days: null },
        { max_unused_days: 21 },
        { start_time: null },
        { end_time: '2089-01-02' },
        { end_time: null },
        { rules: null },
        { rules: [{ effect: 'allow', types: ['A', 'TXT'] }] },
        { allowed_domains: [ids[0], ids[1], lost] },
      ];
      for (const body of WIDER)
        assert.deepEqual(
          paths(refused(await ada.put(path, body), 400, 400001)),
          ['allowed_domains'],
          JSON.stringify(body),
        );
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [adaId, lost]);
      for (const body of WIDER) done(await ada.put(path, body));
      assert.deepEqual(done(await ada.put(path, { allowed_domains: [] })).allowed_domains, []);
      assert.ok((await entries(id)).length >= NARROWER.length + WIDER.length);
    });

    it('tells channels of what widens', async () => {
      const config = { url: 'https://127.0.0.1:9/' };
      const channel = { name: 'ops', type: 'webhook', config, events: ['token.widened'], enabled: true };
      done(await admin.put('/api/settings/notifications', { channels: [channel] }));
      const { path } = await create(ada, { allowed_domains: [ids[0]] });
      done(await ada.put(path, { name: 'other' }));
      done(await ada.put(path, { allowed_domains: [ids[0], ids[1]] }));
      const queued = done(await admin.get('/api/system/notifications')).list.filter(
        ({ event }) => event === 'token.widened',
      );
      assert.equal(queued.length, 1);
      done(await admin.put('/api/settings/notifications', { channels: [] }));
    });

    it('keeps a role above that of its creator as it is, and does not raise it', async () => {
      const { id, path } = await create(ada);
      await db.run('UPDATE api_tokens SET max_role = 3 WHERE id = ?', [id]);
      assert.equal(done(await ada.put(path, { name: 'old', max_role: 3 })).max_role, 3);
      refused(await ada.put(path, { max_role: 2 }), 400, 400001);
      assert.equal(done(await ada.put(path, { max_role: 1 })).max_role, 1);
      refused(await ada.put(path, { max_role: 3 }), 400, 400001);
    });

    it('holds for both secrets of a rotated token', async () => {
      const { client, path, id } = await create(ada);
      const { token } = done(await ada.post(`/api/tokens/${id}/rotate`, { overlap_minutes: 10 }));
      const view = done(await ada.put(path, { allowed_services: ['domains:read'] }));
      assert.ok(view.previous_until);
      for (const one of [client, service.server.as(token)]) {
        done(await one.get('/api/domains'));
        refused(await one.get(`/api/domains/${ids[0]}/records`), 403, 403001);
      }
    });

    it('changes disabled and expired tokens, and brings them back', async () => {
      const { client, path } = await create(ada, { end_time: now(-1000) });
      refused(await client.get('/api/domains'), 401, 401001);
      done(await ada.put(path, { is_active: false, end_time: '2090-01-01' }));
      refused(await client.get('/api/domains'), 401, 401001);
      done(await ada.put(path, { is_active: true }));
      done(await client.get('/api/domains'));
    });

    it('an empty list that deletions left does not become one of all domains', async () => {
      const gone = await addDomain(admin, account, 'gone.example', true);
      const { client, path } = await create(admin, { allowed_domains: [gone] });
      done(await admin.delete(`/api/domains/${gone}`));
      const left = done(await admin.get(path));
      assert.deepEqual([left.is_active, left.allowed_domains], [false, []]);
      done(await admin.put(path, left));
      done(await admin.put(path, { name: 'renamed', allowed_domains: [] }));
      refused(await admin.put(path, { is_active: true }), 409, 409001);
      refused(await admin.put(path, { allowed_domains: [gone] }), 400, 400001);
      done(await admin.put(path, { is_active: true, allowed_domains: [ids[0]] }));
      assert.deepEqual(
        done(await client.get('/api/domains')).map(({ id }) => id),
        [ids[0]],
      );
    });

    it('of changes that have seen the same one is made, and a stale deletion is refused', async () => {
      const { path } = await create(ada);
      const seen = await tag(path);
      const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => ada.put(path, { name: `of ${i}` }, seen)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(5).fill(412)]);
      refused(await ada.delete(path, undefined, seen), 412, 412001);
      done(await ada.delete(path, undefined, await tag(path)));
    });

    it('a change that meets a deletion is made before it or refused', async () => {
      for (let i = 0; i < 5; i++) {
        const { path, client } = await create(ada);
        const [changed, deleted] = await Promise.all([ada.put(path, { name: `of ${i}` }), ada.delete(path)]);
        assert.equal(deleted.status, 200);
        assert.ok([200, 404].includes(changed.status), `${changed.status}`);
        refused(await ada.get(path), 404, 404001);
        refused(await client.get('/api/domains'), 401, 401001);
      }
    });

    it('a change that meets the deletion of a domain leaves none that is gone, and widens nothing', async () => {
      for (let i = 0; i < 4; i++) {
        const going = await addDomain(admin, account, `going-${i}.example`, true);
        const { path } = await create(admin, { allowed_domains: [ids[0]] });
        const list = i % 2 ? [going] : [ids[0], going];
        const [changed, deleted] = await Promise.all([
          admin.put(path, { allowed_domains: list }),
          admin.delete(`/api/domains/${going}`),
        ]);
        assert.equal(deleted.status, 200);
        assert.ok([200, 400].includes(changed.status), `${changed.status}`);
        const { allowed_domains, is_active } = done(await admin.get(path));
        assert.ok(!allowed_domains.includes(going));
        assert.equal(is_active, allowed_domains.length > 0);
      }
    });

    it('a list that was changed since a deletion looked at it loses nothing but what is gone', async () => {
      const tokens = applicationOf(service.server.dataDir)?.get(TokensService) as TokensService;
      const { domains } = tokens as unknown as { domains: { existing: (ids: number[]) => Promise<Set<number>> } };
      const { existing } = domains;
      const gone = await addDomain(admin, account, 'raced.example', true);
      const { path } = await create(admin, { allowed_domains: [gone] });
      const other = await create(admin, { allowed_domains: [gone, ids[0]] });
      await db.run('DELETE FROM domains WHERE id = ?', [gone]);
      // its look is over, and the lists are changed before it locks them
      domains.existing = async (named) => {
        domains.existing = existing;
        const known = await existing.call(domains, named);
        done(await admin.put(path, { allowed_domains: [ids[1]] }));
        done(await admin.put(other.path, { allowed_domains: [] }));
        return known;
      };
      await tokens.forgetGone();
      const [narrow, whole] = [done(await admin.get(path)), done(await admin.get(other.path))];
      assert.deepEqual([narrow.allowed_domains, narrow.is_active], [[ids[1]], true]);
      assert.deepEqual([whole.allowed_domains, whole.is_active], [[], true]);
    });
  });
}
