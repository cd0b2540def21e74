import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { KeptAnswers } from '../../src/idempotency/kept-answers.service.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, grant, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { again, because, isReplay, key } from '../support/idempotency.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Answer, applicationOf, type Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import {
  addAccount,
  addDomain,
  done,
  made,
  providerFailed,
  refused,
  startWorld,
  type World,
} from '../support/world.js';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip || noPowerdns)(`Idempotency-Key on ${kind}`, () => {
    let world: World;
    let admin: Client;
    let db: Db;
    let close: () => Promise<void>;

    beforeAll(async () => {
      world = await startWorld(kind);
      ({ admin } = world);
      ({ db, close } = await openDatabase(world.databaseUrl, world.server.dataDir));
    });
    afterAll(async () => {
      await close?.();
      await world?.stop();
    });

    const record = (host: string) => ({ host, type: 'A', value: '192.0.2.1' });
    const writes = () => world.proxy.requests.filter(({ method }) => method === 'PATCH').length;
    /** How many writes reached the provider meanwhile. */
    const counted = async (work: () => Promise<unknown>): Promise<number> => {
      const before = writes();
      await work();
      return writes() - before;
    };
    const kept = () => rowsOf(world, 'SELECT * FROM kept_answers');

    it('a write is carried out once, and its answer given again', async () => {
      const once = key();
      const sent = await counted(async () => {
        const first = await admin.post(world.records, record('once'), once);
        assert.ok(made(first).id);
        again(first, await admin.post(world.records, record('once'), once));
        again(first, await admin.post(world.records, record('once'), once));
      });
      assert.equal(sent, 1);
      const { list } = done(await admin.get(`${world.records}?host=once`));
      const path = `${world.records}/${list[0]?.id as number}` as const;
      const [put, patch, gone] = [key(), key(), key()];
      again(await admin.put(path, { ttl: 600 }, put), await admin.put(path, { ttl: 600 }, put));
      const off = () => admin.patch(`${path}/status`, { enabled: false }, patch);
      again(await off(), await off());
      again(await admin.delete(path, undefined, gone), await admin.delete(path, undefined, gone));
      await world.agree();
    });

    it('an audit entry is written once, and where an answer is at is told again', async () => {
      const once = key();
      const team = () => admin.post('/api/teams', { name: 'Once' }, once);
      const first = await team();
      assert.match(String(first.headers.get('location')), /^\/api\/teams\/\d+$/);
      again(first, await team());
      const { list } = done(await admin.get('/api/audit/logs?action=team.create'));
      assert.equal(list.length, 1);
    });

    it('a failure of the client is kept, in the words that it was answered with', async () => {
      const [wrong, taken, none] = [key(), key(), key()];
      const bad = (headers: object) => admin.post(world.records, { host: 'x' }, { ...wrong, ...headers });
      const first = await bad({ 'accept-language': 'zh' });
      refused(first, 400, 400001);
      again(first, await bad({ 'accept-language': 'en' }));
      made(await admin.post(world.records, record('taken')));
      const twice = () => admin.post(world.records, record('taken'), taken);
      refused(await twice(), 409, 409001);
      done(await admin.delete(`${world.records}/${done(await admin.get(`${world.records}?host=taken`)).list[0]?.id}`));
      const late = await twice();
      refused(late, 409, 409001);
      assert.ok(isReplay(late));
      const missing = () => admin.delete(`${world.records}/999999`, undefined, none);
      again(await missing(), await missing());
    });

    it('another method, path, query or body is 422001', async () => {
      const one = key();
      const first = await admin.post(world.records, record('other'), one);
      const path = `${world.records}/${made(first).id}` as const;
      because(await admin.post(world.records, record('other2'), one), 422001, 'key_reused');
      because(await admin.post(`${world.records}?wait=9`, record('other'), one), 422001, 'key_reused');
      because(await admin.post('/api/teams', record('other'), one), 422001, 'key_reused');
      because(await admin.delete(path, undefined, one), 422001, 'key_reused');
      again(first, await admin.post(world.records, record('other'), one));
    });

    it('a key is of its caller: each user and token has its own', async () => {
      const one = key();
      const own = (name: string) => ({ name, allowed_services: ['records:write'] });
      const tokens = await Promise.all([1, 2].map(async (i) => made(await admin.post('/api/tokens', own(`t${i}`)))));
      const [a, b] = tokens.map(({ token }) => world.server.as(token)) as [Client, Client];
      const first = await a.post(world.records, record('callers'), one);
      made(first);
      for (const other of [b, admin]) {
        const answer = await other.post(world.records, record('callers'), one);
        refused(answer, 409, 409001);
        assert.ok(!isReplay(answer));
      }
      again(first, await a.post(world.records, record('callers'), one));
      // two sessions of one user are the same caller
      const user = key();
      const team = await admin.post('/api/teams', { name: 'Sessions' }, user);
      const second = world.server.as(await world.server.login());
      again(team, await second.post('/api/teams', { name: 'Sessions' }, user));
    });

    it('a key that is none is 400001 naming the header; where nothing is changed it is passed over', async () => {
      for (const bad of ['', 'a b', 'x'.repeat(256), 'é']) {
        const headers = { 'idempotency-key': bad };
        const answer = refused(await admin.post(world.records, record('form'), headers), 400, 400001);
        assert.deepEqual(
          answer.data.errors?.map(({ path }) => path),
          ['Idempotency-Key'],
          bad,
        );
        done(await admin.get('/api/auth/me', undefined, headers));
        done(
          await world.server.call(
            'POST',
            '/api/auth/login',
            { username: 'admin', password: 'correct-horse-battery-9' },
            '',
            headers,
          ),
        );
      }
      assert.equal(
        (await admin.post(world.records, record('form'), { 'idempotency-key': `!${'~'.repeat(254)}` })).status,
        201,
      );
    });

    it('of many at once one is carried out, and the others are told to ask again', async () => {
      const one = key();
      let letThrough = () => {};
      const held = new Promise<void>((resolve) => {
        letThrough = resolve;
      });
      world.proxy.fault = async ({ method }, forward) => {
        if (method === 'PATCH') await held;
        return forward();
      };
      const sent = await counted(async () => {
        const all = Array.from({ length: 6 }, async () => {
          const answer = await admin.post(world.records, record('many'), one);
          if (answer.status === 409) letThrough();
          return answer;
        });
        const answers = await Promise.all(all);
        world.proxy.fault = null;
        const [first, ...more] = answers.toSorted((a, b) => a.status - b.status);
        made(first as Answer);
        for (const answer of more.filter((one) => !isReplay(one))) {
          because(answer, 409004, 'request_running');
          assert.match(String(answer.headers.get('retry-after')), /^[1-9]\d*$/);
        }
        again(first as Answer, await admin.post(world.records, record('many'), one));
      });
      assert.equal(sent, 1);
    });

    it('a failure of the provider that changed nothing leaves the key free, one that is unclear does not', async () => {
      const [free, unclear] = [key(), key()];
      world.proxy.fault = async ({ method }, forward) =>
        method === 'PATCH' ? { status: 422, body: '{"error": "not today"}' } : forward();
      providerFailed(await admin.post(world.records, record('free'), free), /not today/);
      world.proxy.fault = null;
      const second = await admin.post(world.records, record('free'), free);
      made(second);
      assert.ok(!isReplay(second));

      world.proxy.fault = async ({ method }, forward) => {
        const reply = await forward();
        return method === 'PATCH' ? 'close' : reply;
      };
      const lost = await admin.post(world.records, record('unclear'), unclear);
      world.proxy.fault = null;
      assert.equal(refused(lost, 500, 500002).data.applied, 'unknown');
      const sent = await counted(async () => again(lost, await admin.post(world.records, record('unclear'), unclear)));
      assert.equal(sent, 0);
    });

    it('a list that goes on is told again as it was accepted', async () => {
      const one = key();
      const changes = Array.from({ length: 250 }, (_, i) => ({ op: 'create', ...record(`long${i}`) }));
      const batch = () => admin.post(`${world.records}/batch`, { changes }, one);
      const first = await batch();
      assert.equal(first.status, 202);
      assert.ok(first.headers.get('location'));
      again(first, await batch());
    });

    it('who has lost the right is not told the old answer', async () => {
      const id = await addUser(db, { username: `user-${kind}`, password: 'user-secret' });
      const team = await addTeam(db, 'Writers', [id]);
      await grant(db, team, world.domain, 'write');
      const user = world.server.as(await world.server.login({ username: `user-${kind}`, password: 'user-secret' }));
      const one = key();
      const first = await user.post(world.records, record('rights'), one);
      made(first);
      again(first, await user.post(world.records, record('rights'), one));
      await db.run("UPDATE domain_permissions SET permission = 'read'");
      refused(await user.post(world.records, record('rights'), one), 403, 403001);
      await db.run('DELETE FROM domain_permissions');
      refused(await user.post(world.records, record('rights'), one), 403, 403001);
      await db.run('UPDATE users SET status = 0 WHERE id = ?', [id]);
      refused(await user.post(world.records, record('rights'), one), 401, 401001);
    });

    it('the deletion of a domain is told again to its owner and to administrators', async () => {
      const local = await addAccount(admin, 'zonefile', {});
      const user = { username: `owner-${kind}`, password: 'user-secret' };
      const id = await addUser(db, user);
      const owner = world.server.as(await world.server.login(user));
      for (const [client, name] of [
        [admin, 'a'],
        [owner, 'b'],
      ] as const) {
        const domain = await addDomain(admin, local, `gone-${name}-${kind}.example`, true);
        await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [id, domain]);
        const one = key();
        const remove = (query: '' | '?force=true', headers: object) =>
          client.delete(`/api/domains/${domain}${query}`, undefined, { ...headers });
        const first = await remove('', one);
        done(first);
        again(first, await remove('', one));
        const refusal = client === admin ? 404 : 403;
        assert.equal((await remove('?force=true', one)).status, refusal);
        assert.equal((await remove('', key())).status, refusal);
        assert.equal((await client.put(`/api/domains/${domain}`, { remark: 'x' }, one)).status, refusal);
      }
    });

    it('what is kept is sealed: no secret, no key and no body stands in the table', async () => {
      const one = { 'idempotency-key': 'a-key-that-is-not-shown' };
      const create = () => admin.post('/api/tokens', { name: 'a-name-that-is-not-shown' }, one);
      const first = await create();
      const { token } = made(first);
      again(first, await create());
      const rows = await kept();
      const text = JSON.stringify(rows);
      for (const secret of [token, 'a-key-that-is-not-shown', 'a-name-that-is-not-shown'])
        assert.ok(
          !text.includes(secret) && !text.includes(Buffer.from(secret).toString('base64').slice(2, -4)),
          secret,
        );
      for (const { content, owner } of rows) {
        assert.match(String(content), /^v1\.[0-9a-f]{8}\./);
        assert.equal(owner, null);
      }
    });

    it('after a day the key is free again, and a job takes away what is over', async () => {
      const one = key();
      const path = `${world.records}/999998` as const;
      const first = await admin.delete(path, undefined, one);
      again(first, await admin.delete(path, undefined, one));
      const [{ until = '' } = {}] = await db.rows<{ until: string }>(
        'SELECT MAX(expires_at) AS until FROM kept_answers',
      );
      const hours = (Date.parse(until) - Date.parse(now())) / 3_600_000;
      assert.ok(hours > 23.9 && hours <= 24, `${hours} hours`);
      await db.run('UPDATE kept_answers SET expires_at = ?', [now(-1)]);
      assert.ok(!isReplay(await admin.delete(path, undefined, one)));
      assert.ok(isReplay(await admin.delete(path, undefined, one)));
      await applicationOf(world.server.dataDir)?.get(KeptAnswers).sweep();
      assert.equal((await kept()).length, 1);
    });

    it('what one caller may have kept is bounded', async () => {
      const known = key();
      const first = await admin.delete(`${world.records}/999997`, undefined, known);
      const columns = 'id, caller, lease_until, content, size, request_id, expires_at';
      for (let i = 0; i < 10_000; i += 500) {
        const rows = Array.from({ length: 500 }, (_, n) => [
          `f${i + n}`,
          'user:1',
          now(),
          'v1.x.x',
          6,
          'x',
          now(60_000),
        ]);
        const sql = `INSERT INTO kept_answers (${columns}) VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`;
        await db.run(sql, rows.flat());
      }
      const over = await admin.delete(`${world.records}/999997`, undefined, key());
      because(over, 429001, 'too_many_keys');
      const wait = Number(over.headers.get('retry-after'));
      assert.ok(wait > 0 && wait <= 60, `${wait} s`);
      again(first, await admin.delete(`${world.records}/999997`, undefined, known));
      refused(await admin.delete(`${world.records}/999997`), 404, 404001);
      await db.run("DELETE FROM kept_answers WHERE size = 6 OR caller = 'none'");
    });
  });
}
