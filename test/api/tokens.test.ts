import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, grant, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const DENIED = 'Token does not have permission for this domain';
const RECORD = { host: 'www', type: 'A', value: '192.0.2.1' };

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`API tokens on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    let ada: Client;
    let adaId: number;
    /** the domains: Ada reads the first, writes the second, owns the third, and has nothing in the fourth */
    const ids: number[] = [];
    const [readable, writable, owned, foreign] = [0, 1, 2, 3];
    const id = (which: number) => ids[which] as number;
    const records = (which: number) => `/api/domains/${id(which)}/records`;
    const create = async (who: Client, more: object = {}) => {
      const { token, tokenData } = made(await who.post('/api/tokens', { name: 'ci', ...more }));
      return { client: service.server.as(token), token, tokenId: tokenData.id, tokenData };
    };
    const dead = async (client: Client) =>
      assert.equal(refused(await client.get('/api/domains'), 401, 401001).msg, 'Invalid or expired token');
    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      const account = await addAccount(admin, 'zonefile', {});
      for (const name of ['read.example', 'write.example', 'own.example', 'other.example']) {
        ids.push(await addDomain(admin, account, name, true));
      }
      adaId = await addUser(db, { username: 'ada', password: 'ada-secret' });
      const team = await addTeam(db, 'dns', [adaId]);
      await grant(db, team, id(readable), 'read');
      await grant(db, team, id(writable), 'write');
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [adaId, id(owned)]);
      ada = service.server.as(await service.server.login({ username: 'ada', password: 'ada-secret' }));
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('are shown once and stored as a hash', async () => {
      const { token, tokenData } = await create(admin, { name: ' deploy ' });
      assert.match(token, /^svc_[0-9a-f]{64}$/);
      assert.deepEqual(
        { ...tokenData, id: 0, created_at: '' },
        {
          id: 0,
          user_id: 1,
          name: 'deploy',
          allowed_domains: [],
          allowed_services: ['*'],
          allowed_cidrs: [],
          max_unused_days: null,
          rules: null,
          preset: null,
          start_time: null,
          end_time: null,
          max_role: 3,
          is_active: true,
          created_at: '',
          last_used_at: null,
          last_used_network: null,
          previous_until: null,
        },
      );
      const listed = await admin.get('/api/tokens');
      assert.deepEqual(done(listed).at(-1), tokenData);
      const row = await db.row<{ token_hash: string }>('SELECT * FROM api_tokens WHERE id = ?', [tokenData.id]);
      assert.equal(row?.token_hash, createHash('sha256').update(token).digest('hex'));
      assert.equal(JSON.stringify(row).includes(token.slice(4)), false);
    });

    it('refuse what they do not know', async () => {
      const WRONG: [object, string][] = [
        [{ name: '' }, 'name'],
        [{ name: '   ' }, 'name'],
        [{ name: 'x'.repeat(256) }, 'name'],
        [{ name: undefined }, 'name'],
        [{ scope: 'all' }, 'scope'],
        [{ max_role: 3 }, 'max_role'],
        [{ allowed_domains: [0] }, 'allowed_domains'],
        [{ allowed_domains: ['1'] }, 'allowed_domains'],
        [{ allowed_domains: [999999] }, 'allowed_domains'],
        [{ allowed_domains: [99999999999] }, 'allowed_domains'],
        [{ start_time: 'tomorrow' }, 'start_time'],
        [{ end_time: '2026-02-31' }, 'end_time'],
        [{ start_time: '2030-01-02', end_time: '2030-01-01' }, 'end_time'],
      ];
      for (const [more, field] of WRONG) {
        const answer = refused(await admin.post('/api/tokens', { name: 'ci', ...more }), 400, 400001);
        assert.ok(
          answer.data.errors.some((e) => e.path.startsWith(field)),
          `${field}: ${answer.msg}`,
        );
      }
    });

    it('grant only what the creator may reach', async () => {
      const answer = refused(
        await ada.post('/api/tokens', { name: 'x', allowed_domains: [id(owned), id(foreign)] }),
        400,
        400001,
      );
      assert.match(answer.msg, new RegExp(`${id(foreign)}`));
      const mine = done(await ada.get('/api/tokens/domains')).map((d) => [d.name, d.permission]);
      assert.deepEqual(mine, [
        ['own.example', 'write'],
        ['read.example', 'read'],
        ['write.example', 'write'],
      ]);
      const page = await ada.get('/api/tokens/domains?limit=2&page=2&sort=-name');
      assert.deepEqual(
        done(page).map((d) => d.name),
        ['own.example'],
      );
      assert.equal(page.headers.get('x-total-count'), '3');
    });

    it('have at most the rights of their creator', async () => {
      const { client } = await create(ada);
      const names = done(await client.get('/api/domains')).map((d) => d.name);
      assert.deepEqual(names, ['own.example', 'read.example', 'write.example']);
      done(await client.get(records(readable)));
      assert.equal(refused(await client.post(records(readable), RECORD), 403, 403001).msg, DENIED);
      made(await client.post(records(writable), RECORD));
      assert.equal(refused(await client.get(records(foreign)), 403, 403001).msg, DENIED);
      refused(await client.get('/api/domains/999999'), 403, 403001);
      refused(await client.get('/api/accounts'), 403, 403001);
      refused(await client.get('/api/audit/logs'), 403, 403001);
      assert.equal(done(await client.get('/api/auth/me')).username, 'ada');
    });

    it('see the same as a login', async () => {
      const names = done(await ada.get('/api/domains')).map((d) => d.name);
      assert.deepEqual(names, ['own.example', 'read.example', 'write.example']);
      for (const call of [
        ada.get(records(foreign)),
        ada.get('/api/domains/999999'),
        ada.post(records(readable), RECORD),
      ]) {
        refused(await call, 403, 403001);
      }
      for (const path of [`/api/domains/${id(readable)}`]) {
        done(await ada.get(path));
        refused(await ada.put(path, { remark: 'x' }), 403, 403001);
        refused(await ada.delete(path), 403, 403001);
      }
    });

    it('reach only routes of the domains that they are limited to', async () => {
      const { client } = await create(admin, { allowed_domains: [id(writable)] });
      const list = await client.get('/api/domains');
      assert.deepEqual(
        done(list).map((d) => d.id),
        [id(writable)],
      );
      done(await client.get(`/api/domains/${id(writable)}`));
      done(await client.get(records(writable)));
      for (const path of [records(owned), `/api/domains/${id(owned)}`, '/api/domains/999999']) {
        assert.equal(refused(await client.get(path), 403, 403001).msg, DENIED);
      }
      for (const path of ['/api/accounts', '/api/audit/logs', '/api/teams']) {
        refused(await client.get(path), 403, 403001);
      }
      // what its domains can hold is for it to know
      done(await client.get('/api/providers'));
      refused(await client.post('/api/domains', { name: 'new.example', account_id: 1, create: true }), 403, 403001);
      refused(await client.post('/api/accounts/1/sync'), 403, 403001);
    });

    it('never manage tokens, nor end sessions', async () => {
      const { client, tokenId } = await create(admin);
      refused(await client.get('/api/tokens'), 403, 403001);
      refused(await client.get('/api/tokens/domains'), 403, 403001);
      refused(await client.post('/api/tokens', { name: 'more' }), 403, 403001);
      refused(await client.patch(`/api/tokens/${tokenId}/status`, { is_active: false }), 403, 403001);
      refused(await client.delete(`/api/tokens/${tokenId}`), 403, 403001);
      refused(await client.post('/api/auth/logout'), 403, 403001);
    });

    it('stop at the very next request when disabled or deleted', async () => {
      const { client, tokenId } = await create(ada);
      done(await client.get('/api/domains'));
      assert.equal(done(await ada.patch(`/api/tokens/${tokenId}/status`, { is_active: false })).is_active, false);
      await dead(client);
      done(await ada.patch(`/api/tokens/${tokenId}/status`, { is_active: true }));
      done(await client.get('/api/domains'));
      for (const body of [{}, { is_active: 'true' }, { is_active: null }]) {
        refused(await ada.patch(`/api/tokens/${tokenId}/status`, body), 400, 400001);
      }
      done(await ada.delete(`/api/tokens/${tokenId}`));
      await dead(client);
      refused(await ada.delete(`/api/tokens/${tokenId}`), 404, 404001);
    });

    it('are visible to their owners only, not even to administrators', async () => {
      const { client, tokenId } = await create(ada);
      const path = `/api/tokens/${tokenId}` as const;
      const listed = done(await ada.get('/api/tokens')).find((t) => t.id === tokenId);
      assert.deepEqual(done(await ada.get(path)), listed);
      refused(await admin.get(path), 404, 404001);
      refused(await client.get(path), 403, 403001);
      refused(await admin.delete(`/api/tokens/${tokenId}`), 404, 404001);
      refused(await admin.patch(`/api/tokens/${tokenId}/status`, { is_active: false }), 404, 404001);
      const mine = done(await admin.get('/api/tokens')).map((t) => t.user_id);
      assert.deepEqual([...new Set(mine)], [1]);
      done(await client.get('/api/domains'));
    });

    it('work inside their window only', async () => {
      const minute = 60_000;
      await dead((await create(ada, { start_time: now(minute) })).client);
      done(await (await create(ada, { start_time: now(-minute), end_time: now(minute) })).client.get('/api/domains'));
      const ending = await create(ada, { end_time: now(minute) });
      done(await ending.client.get('/api/domains'));
      await db.run('UPDATE api_tokens SET end_time = ? WHERE id = ?', [now(-1), ending.tokenId]);
      await dead(ending.client);
      const zoned = await create(ada, { end_time: '2099-01-01T00:00:00+02:00' });
      assert.equal(zoned.tokenData.end_time, '2098-12-31T22:00:00.000Z');
    });

    it('follow their creator at the very next request', async () => {
      const ben = await addUser(db, { username: 'ben', password: 'ben-secret' }, 2);
      const login = service.server.as(await service.server.login({ username: 'ben', password: 'ben-secret' }));
      const { client, tokenData } = await create(login);
      assert.equal(tokenData.max_role, 2);
      done(await client.get('/api/accounts'));
      await db.run('UPDATE users SET role = 1 WHERE id = ?', [ben]);
      refused(await client.get('/api/accounts'), 403, 403001);
      assert.deepEqual(done(await client.get('/api/domains')), []);
      await db.run('UPDATE users SET role = 3 WHERE id = ?', [ben]);
      assert.equal(done(await client.get('/api/auth/me')).role, 2);
      await db.run('UPDATE users SET status = 0 WHERE id = ?', [ben]);
      await dead(client);
    });

    it('lose a domain together with their creator', async () => {
      const { client } = await create(ada, { allowed_domains: [id(owned), id(readable)] });
      done(await client.get(records(owned)));
      await db.run('UPDATE domains SET owner_id = NULL WHERE id = ?', [id(owned)]);
      assert.equal(refused(await client.get(records(owned)), 403, 403001).msg, DENIED);
      assert.deepEqual(
        done(await client.get('/api/domains')).map((d) => d.id),
        [id(readable)],
      );
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [adaId, id(owned)]);
    });

    it('are disabled, never widened, when their last domain is deleted', async () => {
      const one = await addDomain(admin, 1, 'one.example', true);
      const two = await addDomain(admin, 1, 'two.example', true);
      const { client, tokenId } = await create(admin, { allowed_domains: [one, two] });
      done(await admin.delete(`/api/domains/${one}`));
      assert.deepEqual(
        done(await client.get('/api/domains')).map((d) => d.id),
        [two],
      );
      done(await admin.delete(`/api/domains/${two}`));
      await dead(client);
      const mine = done(await admin.get('/api/tokens')).find((t) => t.id === tokenId);
      assert.deepEqual([mine?.is_active, mine?.allowed_domains], [false, []]);
      refused(await admin.patch(`/api/tokens/${tokenId}/status`, { is_active: true }), 409, 409001);
      await db.run('UPDATE api_tokens SET is_active = ? WHERE id = ?', [true, tokenId]);
      assert.deepEqual(done(await client.get('/api/domains')), []);
      assert.equal(refused(await client.get(records(owned)), 403, 403001).msg, DENIED);
    });

    it('are listed in pages, sorted and searched', async () => {
      await create(ada, { name: '100% Aa' });
      await create(ada, { name: '1000 aa' });
      const names = async (query: string) => {
        const answer = await ada.get(`/api/tokens?${query}`);
        return [done(answer).map((t) => t.name), answer.headers.get('x-total-count')];
      };
      assert.deepEqual(await names('keyword=AA&sort=-id&limit=1'), [['1000 aa'], '2']);
      assert.deepEqual(await names('keyword=AA&sort=-id&limit=1&page=2'), [['100% Aa'], '2']);
      assert.deepEqual(await names('keyword=100%25'), [['100% Aa'], '1']);
      refused(await ada.get('/api/tokens?sort=token_hash'), 400, 400001);
      refused(await ada.get('/api/tokens?sort=constructor'), 400, 400001);
      refused(await ada.get('/api/tokens?nonsense=1'), 400, 400001);
    });

    it('remember when they were used last, once a minute', async () => {
      const { client, tokenId } = await create(ada);
      const used = async () => done(await ada.get('/api/tokens')).find((t) => t.id === tokenId)?.last_used_at;
      assert.equal(await used(), null);
      done(await client.get('/api/domains'));
      const first = await used();
      assert.match(first ?? '', /^\d{4}-.*Z$/);
      done(await client.get('/api/domains'));
      assert.equal(await used(), first);
      await db.run('UPDATE api_tokens SET last_used_at = ? WHERE id = ?', [now(-61_000), tokenId]);
      done(await client.get('/api/domains'));
      assert.ok(((await used()) ?? '') >= (first ?? ''));
    });

    it('are limited to a hundred per user, also when created at once', async () => {
      const cleo = { username: 'cleo', password: 'cleo-secret' };
      const cleoId = await addUser(db, cleo);
      for (let i = 0; i < 98; i++) {
        await db.run(
          `INSERT INTO api_tokens (user_id, name, token_hash, narrowed, allowed_domains, allowed_services, max_role, is_active, created_at)
           VALUES (?, 'x', ?, ?, '[]', '["*"]', 1, ?, ?)`,
          [cleoId, `hash-${i}`, false, true, now()],
        );
      }
      const client = service.server.as(await service.server.login(cleo));
      const answers = await Promise.all(Array.from({ length: 6 }, () => client.post('/api/tokens', { name: 'more' })));
      assert.deepEqual(answers.map((a) => a.status).sort(), [201, 201, 409, 409, 409, 409]);
      assert.equal(done(await client.get('/api/tokens')).length, 100);
    });
  });
}
