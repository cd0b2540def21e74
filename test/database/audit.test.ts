import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { ADMIN, type Answer, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

// biome-ignore lint/suspicious/noExplicitAny: entries have states of every shape
type Entry = Record<string, any>;

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`audit log on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let account: number;
    let domain: number;
    const list = async (query = ''): Promise<{ total: number; total_exact: boolean; list: Entry[] }> =>
      done(await service.admin.get(`/api/audit/logs?limit=500${query}`));
    /** The entries of one request. */
    const of = async (answer: Answer): Promise<Entry[]> => {
      const id = answer.headers.get('x-request-id');
      return (await list()).list.filter((entry) => entry.request_id === id);
    };
    /** The one entry of a request. */
    const entry = async (answer: Answer): Promise<Entry> => {
      const entries = await of(answer);
      assert.equal(entries.length, 1, `${answer.status} ${answer.msg}: ${entries.length} entries`);
      return entries[0] as Entry;
    };
    const verify = async () => done(await service.admin.get('/api/audit/verify'));
    beforeAll(async () => {
      service = await startService(kind);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      account = await addAccount(service.admin, 'zonefile', {});
      domain = await addDomain(service.admin, account, 'example.com', true);
      await addUser(db, { username: 'ada', password: 'ada-secret' });
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('is searched by domain, address and target', async () => {
      const { total, list: entries } = await list(`&domain_id=${domain}`);
      assert.ok(total > 0 && entries.every((one) => one.domain_id === domain));
      assert.equal((await list(`&domain_id=${domain}&target=domain:${domain}`)).list.at(-1)?.action, 'domain.create');
      assert.equal((await list('&domain_id=999999')).total, 0);
      assert.ok((await list('&ip=127.0.0.1')).total > 0);
      assert.equal((await list('&ip=192.0.2.9')).total, 0);
      const accounts = (await list('&target=account')).list;
      assert.ok(accounts.length > 0 && accounts.every(({ target }) => target?.type === 'account'));
      assert.deepEqual((await list(`&target=account:${account}`)).list, accounts);
      assert.equal((await list(`&target=account:${account}9`)).total, 0);
      for (const wrong of ['ip=here', 'domain_id=x', 'target=Token', 'target=token:']) {
        const { data } = refused(await service.admin.get(`/api/audit/logs?${wrong}`), 400, 400001);
        assert.equal(data.errors[0]?.path, wrong.split('=')[0]);
      }
    });

    it('begins with the first administrator', async () => {
      const first = (await list('&sort=created_at')).list[0] as Entry;
      assert.deepEqual([first.seq, first.action, first.actor.type, first.result], [1, 'init.admin', 'system', 'ok']);
      assert.equal(first.prev_hash, '');
      assert.match(first.hash, /^[0-9a-f]{64}$/);
    });

    it('has an entry for each change, with actor and states', async () => {
      const { admin, server } = service;
      const path = `/api/domains/${domain}/records` as const;
      const created = await admin.post(path, { host: 'www', type: 'A', value: '192.0.2.1' });
      const record = made(created).id;
      const token = await admin.post('/api/tokens', { name: 'ci' });
      const CHANGES: [Answer, string, (e: Entry) => unknown][] = [
        [created, 'record.create', (e) => [e.before, e.after.value]],
        [
          await admin.put(`${path}/${record}`, { value: '192.0.2.2' }),
          'record.update',
          (e) => [e.before.value, e.after.value],
        ],
        [
          await admin.patch(`${path}/${record}/status`, { enabled: false }),
          'record.status',
          (e) => [e.before.enabled, e.after.enabled],
        ],
        [await admin.delete(`${path}/${record}`), 'record.delete', (e) => [e.before.value, e.after]],
        [
          await admin.put(`/api/domains/${domain}`, { remark: 'mine' }),
          'domain.update',
          (e) => [e.before.remark, e.after.remark],
        ],
        [
          await admin.put(`/api/accounts/${account}`, { remark: 'files' }),
          'account.update',
          (e) => [e.before.remark, e.after.remark],
        ],
        [await admin.post(`/api/accounts/${account}/sync`), 'account.sync', (e) => [e.before, typeof e.after]],
        [token, 'token.create', (e) => [e.before, e.after.name]],
        [
          await admin.patch(`/api/tokens/${made(token).tokenData.id}/status`, { is_active: false }),
          'token.status',
          (e) => [e.before.is_active, e.after.is_active],
        ],
        [
          await admin.delete(`/api/tokens/${made(token).tokenData.id}`),
          'token.delete',
          (e) => [e.before.name, e.after],
        ],
        [await server.call('POST', '/api/auth/login', ADMIN), 'auth.login', (e) => [e.before, e.after.method]],
      ];
      const EXPECTED = [
        [null, '192.0.2.1'],
        ['192.0.2.1', '192.0.2.2'],
        [true, false],
        ['192.0.2.2', null],
        ['', 'mine'],
        ['', 'files'],
        [null, 'object'],
        [null, 'ci'],
        [true, false],
        ['ci', null],
        [null, 'password'],
      ];
      for (const [i, [answer, action, states]] of CHANGES.entries()) {
        assert.equal(answer.code, 0, `${action}: ${answer.msg}`);
        const found = await entry(answer);
        assert.deepEqual([found.action, found.result, found.error], [action, 'ok', null]);
        assert.deepEqual([found.actor.type, found.actor.user_id, found.actor.username], ['user', 1, 'admin'], action);
        assert.deepEqual(states(found), EXPECTED[i], action);
        assert.equal(found.ip, '127.0.0.1');
        assert.deepEqual(done(await admin.get(`/api/audit/logs/${found.id}`)), found);
        if (/^(record|domain)/.test(action)) assert.deepEqual([found.domain, found.domain_id], ['example.com', domain]);
      }
    });

    it('has an entry for each change that failed, and why', async () => {
      const { admin } = service;
      const ada = service.server.as(await service.server.login({ username: 'ada', password: 'ada-secret' }));
      const records = `/api/domains/${domain}/records`;
      const FAILED: [Promise<Answer>, number, string, string][] = [
        [admin.post(records, { host: 'www', type: 'A', value: 'nonsense' }), 400001, 'record.create', 'admin'],
        [admin.post(records, { unknown: 1 }), 400001, 'record.create', 'admin'],
        [admin.delete(`${records}/999999`), 404001, 'record.delete', 'admin'],
        [admin.put(`${records}/x`, {}), 400001, 'record.update', 'admin'],
        [ada.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }), 403001, 'record.create', 'ada'],
        [ada.delete(`/api/domains/${domain}`), 403001, 'domain.delete', 'ada'],
        [
          ada.post('/api/accounts', { provider: 'zonefile', name: 'x', credentials: {} }),
          403001,
          'account.create',
          'ada',
        ],
        [admin.delete(`/api/accounts/${account}`), 409001, 'account.delete', 'admin'],
        [admin.post('/api/domains', { name: 'none.example', account_id: account }), 404001, 'domain.create', 'admin'],
        [admin.post('/api/tokens', { name: 5 }), 400001, 'token.create', 'admin'],
      ];
      for (const [call, code, action, username] of FAILED) {
        const answer = await call;
        assert.equal(answer.code, code, `${action}: ${answer.msg}`);
        const found = await entry(answer);
        assert.deepEqual([found.action, found.result, found.actor.username], [action, 'failed', username]);
        assert.equal(found.error, answer.msg);
      }
    });

    it('has an entry for a provider that failed', async () => {
      const credentials = { url: 'http://127.0.0.1:9', api_key: 'planted-key' };
      const answer = await service.admin.post('/api/accounts', { provider: 'powerdns', name: 'down', credentials });
      refused(answer, 500, 500002);
      const found = await entry(answer);
      assert.deepEqual([found.action, found.result, found.error], ['account.create', 'failed', answer.msg]);
    });

    it('names the token that acted', async () => {
      const { token, tokenData } = made(await service.admin.post('/api/tokens', { name: 'pipeline' }));
      const answer = await service.server.as(token).put(`/api/domains/${domain}`, { remark: 'by token' });
      const { actor } = await entry(answer);
      assert.deepEqual(actor, {
        type: 'token',
        user_id: 1,
        username: 'admin',
        token_id: tokenData.id,
        token_name: 'pipeline',
      });
    });

    it('can be filtered by person, token and request', async () => {
      const { admin, server } = service;
      const ada = server.as(await server.login({ username: 'ada', password: 'ada-secret' }));
      const { token, tokenData } = made(await ada.post('/api/tokens', { name: 'adas' }));
      refused(await server.as(token).delete(`/api/domains/${domain}`), 403, 403001);
      const team = await ada.post('/api/teams', { name: 'of ada' });
      const mine = (await list('&user=ada')).list;
      assert.ok(mine.length >= 3);
      assert.deepEqual([...new Set(mine.map((e) => e.actor.username))], ['ada']);
      // actions of her token count as hers
      assert.ok(mine.some((e) => e.actor.token_id === tokenData.id));
      const by = (await list(`&token_id=${tokenData.id}`)).list;
      assert.deepEqual(
        by.map((e) => [e.action, e.actor.type, e.actor.token_id]),
        [['domain.delete', 'token', tokenData.id]],
      );
      const id = team.headers.get('x-request-id');
      const one = await list(`&request_id=${id}`);
      assert.deepEqual([one.total, one.list.map((e) => e.action)], [1, ['team.create']]);
      assert.equal((await list(`&request_id=${id}&user=admin`)).total, 0);
      assert.equal((await list(`&request_id=${id}&user=ada&action=team.*`)).total, 1);
      for (const query of ['user=ad', 'user=*', 'user=ADA', 'token_id=2147483647', 'request_id=none'])
        assert.equal((await list(`&${query}`)).total, 0, query);
      const [last] = (await list('&action=record.create&result=ok')).list;
      assert.ok(last);
      const together = (await list(`&change_set_id=${last.change_set_id}`)).list;
      assert.deepEqual(
        together.map((e) => e.id),
        [last.id],
      );
      for (const query of [
        'token_id=0',
        'token_id=x',
        'change_set_id=x',
        'user=a&user=b',
        `request_id=${'x'.repeat(65)}`,
      ])
        refused(await admin.get(`/api/audit/logs?${query}`), 400, 400001);
    });

    it('logs failed logins, and nothing else of anonymous callers', async () => {
      const failed = await service.server.call('POST', '/api/auth/login', { username: 'admin', password: 'wrong' });
      const found = await entry(failed);
      assert.deepEqual([found.action, found.result, found.target.name], ['auth.login_failed', 'failed', 'admin']);
      assert.deepEqual(found.actor.username, null);
      assert.deepEqual(await of(await service.server.call('POST', '/api/tokens', { name: 'x' })), []);
    });

    it('has an entry for actions that change nothing', async () => {
      const { id } = made(await service.admin.post('/api/tokens', { name: 'told' })).tokenData;
      const asked = { domain_id: domain, action: 'create', host: 'www', type: 'A' };
      const found = await entry(await service.admin.post(`/api/tokens/${id}/explain`, asked));
      assert.deepEqual(
        [found.action, found.result, found.actor.username, found.after],
        ['token.explain', 'ok', ADMIN.username, null],
      );
    });

    it('has no entry for reading', async () => {
      assert.deepEqual(await of(await service.admin.get(`/api/domains/${domain}`)), []);
      assert.deepEqual(await of(await service.admin.get('/api/tokens')), []);
    });

    it('can be filtered by domain, action, day and result', async () => {
      const total = (await list()).total;
      const today = new Date().toISOString().slice(0, 10);
      const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
      const count = async (query: string) => (await list(`&${query}`)).total;
      assert.ok((await count('domain=example.com')) > 0);
      assert.equal(await count('domain=*.com'), await count('domain=Example.COM'));
      assert.equal(await count('domain=example'), 0);
      assert.ok((await list('&action=record.*')).list.every((e) => e.action.startsWith('record.')));
      assert.ok((await count('action=record.*')) > (await count('action=record.create')));
      assert.equal(await count('action=record'), 0);
      assert.equal(await count('action=record_*'), 0);
      assert.equal((await count('result=ok')) + (await count('result=failed')), total);
      assert.equal(await count('end_date=9999-12-31'), total);
      assert.equal(await count(`end_date=${yesterday}`), 0);
      assert.equal(await count(`start_date=${yesterday}&end_date=${today}`), total);
      assert.equal(await count('start_date=9999-01-01'), 0);
      for (const query of [
        'start_date=2026-02-31',
        'end_date=today',
        'start_date=2026-01-01T00:00:00Z',
        'result=good',
        'sort=hash',
        'page=0',
        'limit=501',
        'actor=x',
      ]) {
        refused(await service.admin.get(`/api/audit/logs?${query}`), 400, 400001);
      }
    });

    it('counts all matches, also new ones', async () => {
      const count = async () => (await list('&action=token.create')).total;
      const before = await count();
      assert.equal(await count(), before);
      made(await service.admin.post('/api/tokens', { name: 'counted' }));
      made(await service.admin.post('/api/tokens', { name: 'counted, too' }));
      assert.equal(await count(), before + 2);
      assert.equal((await list('&action=token.create&keyword=too')).total, 1);
    });

    it('comes in pages of twenty, newest first', async () => {
      const { list: newest } = await list();
      const place = ({ created_at, id }: Entry) => `${created_at} ${String(id).padStart(9, '0')}`;
      assert.deepEqual(newest.map(place), newest.map(place).toSorted().toReversed());
      const all = newest.map((e) => e.id);
      const first = await service.admin.get('/api/audit/logs');
      assert.deepEqual(
        done(first).list.map((e: Entry) => e.id),
        all.slice(0, 20),
      );
      assert.match(first.headers.get('link') ?? '', /page=2.*rel="next"/);
      assert.equal(first.headers.get('x-total-count'), String(all.length));
      const second = done(await service.admin.get('/api/audit/logs?page=2&limit=5'));
      assert.deepEqual(
        second.list.map((e: Entry) => e.id),
        all.slice(5, 10),
      );
      assert.equal(second.total, all.length);
      refused(await service.admin.get('/api/audit/logs/999999'), 404, 404001);
    });

    it('is for administrators', async () => {
      const ada = service.server.as(await service.server.login({ username: 'ada', password: 'ada-secret' }));
      for (const path of ['logs', 'logs/1', 'verify', 'export'])
        refused(await ada.get(`/api/audit/${path}`), 403, 403001);
    });

    it('verifies after parallel changes and odd texts', async () => {
      const names = Array.from({ length: 12 }, (_, i) => `ünï 😀 "'\\ ${i}`);
      await Promise.all(names.map((name) => service.admin.post('/api/tokens', { name })));
      await service.admin.post('/api/tokens', { name: '\ud800' });
      const { total } = await list();
      const { ok, entries, first_bad_seq, reason, checkpoint } = await verify();
      assert.deepEqual([ok, entries, first_bad_seq, reason], [true, total, null, null]);
      assert.equal(checkpoint?.seq, total);
    });

    // the last test: the rows that it inserts are in no chain
    it('is searched in parts when it is large', async () => {
      const page = async (path: string) => {
        const answer = await service.admin.get(path as '/api/audit/logs');
        const next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
        return { ...done(answer), next, links: answer.headers.get('link') ?? '' };
      };
      const { total: few, list: known } = await list();
      const columns = 'actor_type, username, target, result, ip, user_agent, request_id, prev_hash, hash';
      let rows = few;
      for (; rows < 5_300; rows *= 2)
        await db.run(
          `INSERT INTO audit_logs (seq, created_at, action, ${columns})
             SELECT seq + ${rows}, created_at, 'bulk.copy', ${columns} FROM audit_logs`,
        );
      const copies = rows - few;
      assert.deepEqual([(await list()).total, (await list()).total_exact], [rows, true]);
      const broad = await page('/api/audit/logs?action=bulk.copy&page=11&limit=500');
      assert.deepEqual([broad.total, broad.total_exact, broad.next_until], [5_000, false, null]);
      assert.equal(broad.list.length, Math.min(500, copies - 5_000));
      assert.doesNotMatch(broad.links, /rel="last"/);
      // of two filters, the one with few entries answers in one part
      const one = await page('/api/audit/logs?action=bulk.copy&user=nobody');
      assert.deepEqual([one.total, one.total_exact, one.next, one.next_until], [0, true, undefined, null]);
      // every entry is found once, part by part
      for (const filter of ['action=bulk.*&result=ok', 'keyword=ADMIN&action=bulk.copy']) {
        const found: number[] = [];
        let parts = 1;
        let next: string | undefined = `/api/audit/logs?${filter}&limit=500`;
        while (next) {
          const part = await page(next);
          if (part.next?.includes('until=') && !next.includes('until=')) parts += 1;
          found.push(...part.list.map((e: Entry) => e.id));
          next = part.next;
        }
        const same = (e: Entry) =>
          filter.includes('result')
            ? e.result === 'ok'
            : `${e.actor.username} ${JSON.stringify(e.target)}`.toLowerCase().includes('admin');
        assert.equal(parts, 2);
        assert.equal(new Set(found).size, found.length, filter);
        assert.equal(found.length, known.filter(same).length * (rows / few - 1), filter);
      }
      refused(await service.admin.get('/api/audit/logs?until=x'), 400, 400001);
    });
  });
}
