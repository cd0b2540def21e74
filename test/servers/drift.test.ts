import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import {
  addAccount,
  addDomain,
  done,
  ended,
  made,
  powerdnsLines,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

const OLD = '192.0.2.1';
const NEW = '198.51.100.9';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`drift, on ${kind}`, () => {
    let world: World;
    let admin: Client;
    let db: Db;
    let close: () => Promise<void>;
    let at: `/api/domains/${number}`;
    let count = 0;

    beforeAll(async () => {
      world = await startWorld(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = world);
      ({ db, close } = await openDatabase(world.databaseUrl, world.server.dataDir));
      done(await admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0, user: 0, token: 0 } }));
      const channel = { id: 'hook', type: 'webhook', name: 'Hook', config: { url: 'http://127.0.0.1:9/' } };
      const channels = [{ ...channel, events: ['rights.ended', 'domain.drift'] }];
      done(await admin.put('/api/settings/notifications', { channels }));
      at = `/api/domains/${world.domain}`;
      // more records than guards of many changes care for
      const changes = Array.from({ length: 20 }, (_, i) => ({ op: 'create', host: `n${i}`, type: 'A', value: OLD }));
      ended(await admin.post(`${world.records}/batch`, { changes }));
    });
    afterEach(async () => {
      done(await admin.put(at, { drift: { mode: 'adopt' }, guards: {}, freeze: null, approval: { for: 'none' } }));
    });
    afterAll(async () => {
      await close?.();
      await world?.stop();
    });

    const name = (): string => `d${++count}`;
    const mode = async (mode: string, more: object = {}, client = admin) =>
      done(await client.put(at, { drift: { mode, ...more } })).drift;
    const create = async (host: string, value = OLD, more: object = {}) =>
      made(await admin.post(world.records, { host, type: 'A', value, ttl: 300, ...more })).id;
    /** What somebody makes of a set at the provider. */
    const write = async (host: string, values: string[], type = 'A') => {
      const owner = host === '@' ? `${world.zone}.` : `${host}.${world.zone}.`;
      const records = values.map((content) => ({ content, disabled: false }));
      const set = { name: owner, type, ttl: 300, changetype: 'REPLACE', records };
      const answer = await world.pdns.api('PATCH', `/zones/${world.zone}.`, { rrsets: [set] });
      assert.equal(answer.status, 204);
    };
    const sync = async () => done(await admin.get(`${world.records}?refresh=true`));
    /** The same, found by a synchronisation. */
    const drift = async (host: string, values: string[], type = 'A') => {
      await write(host, values, type);
      await sync();
    };
    const inDns = async (host: string) =>
      powerdnsLines(await world.pdns.zone(world.zone))
        .filter((line) => line.startsWith(`${host} A `))
        .map((line) => line.split(' ')[3]);
    const view = async (client = admin, query: '' | `?${string}` = '') => done(await client.get(`${at}/drift${query}`));
    /** The differences at a host, as values. */
    const differences = async (host: string, client = admin) =>
      (await view(client, '?limit=500')).differences
        .filter((one) => one.host === host)
        .map(({ wanted, found }) => [wanted.map(({ value }) => value), found.map(({ value }) => value)]);
    const one = async (host: string) => (await view(admin, '?limit=500')).differences.find((d) => d.host === host);
    const run = async () => {
      const job = async () => done(await admin.get('/api/system/jobs?name=drift.revert')).list[0];
      let before = 0;
      await until('it is asked for', async () => {
        const { id = 0, runs = 0 } = (await job()) ?? {};
        before = runs;
        return (await admin.post(`/api/system/jobs/${id}/retry`)).status === 200;
      });
      await until('it has run', async () => ((await job())?.runs ?? 0) > before);
    };
    const notices = async (event = 'domain.drift') =>
      done(await admin.get(`/api/system/notifications?event=${event}&limit=200`)).list.map(({ text }) => text);
    const person = async (permission?: 'read' | 'write', more: object = {}) => {
      const username = `person${++count}`;
      const user = { username, password: `${username}-secret` };
      const id = await addUser(db, user);
      if (permission) {
        const team = made(await admin.post('/api/teams', { name: `team of ${username}` })).id;
        made(await admin.post(`/api/teams/${team}/members`, { user_id: id }));
        made(await admin.post(`/api/teams/${team}/permissions`, { domain_id: world.domain, permission, ...more }));
      }
      return { id, username, client: world.server.as(await world.server.login(user)) };
    };

    it('is adopted unless somebody says otherwise', async () => {
      const host = name();
      await create(host);
      await drift(host, [NEW]);
      const { mode: now, differences: list, compared_at } = await view();
      assert.deepEqual([now, list], ['adopt', []]);
      assert.ok(compared_at);
      await mode('report');
      assert.deepEqual(await differences(host), [], 'what was here then is wanted');
    });

    it('is for the owner and administrators to set, and each field is judged', async () => {
      const wrong = async (drift: unknown, path: string) => {
        const answer = refused(await admin.put(at, { drift }), 400, 400001);
        assert.deepEqual(
          answer.data?.errors?.map((e) => e.path),
          [path],
        );
      };
      await wrong({ mode: 'undo' }, 'drift.mode');
      await wrong({ mode: 'report', ignore: [{}] }, 'drift.ignore.0');
      await wrong({ mode: 'report', ignore: [{ hosts: ['no host'] }] }, 'drift.ignore.0.hosts');
      await wrong({ mode: 'report', ignore: [{ hosts: [] }] }, 'drift.ignore.0.hosts');
      for (const types of [['A', 'bogus'], ['HINFO'], [7], []])
        await wrong({ mode: 'report', ignore: [{ types }] }, 'drift.ignore.0.types');
      await wrong({ mode: 'report', maker: 1 }, 'drift.maker');
      const writer = await person('write');
      refused(await writer.client.put(at, { drift: { mode: 'revert' } }), 403, 403001);
      const ignore = [{ hosts: ['*.k8s'], types: ['txt'] }];
      assert.deepEqual(await mode('report', { ignore }), {
        mode: 'report',
        ignore: [{ hosts: ['*.k8s'], types: ['TXT'] }],
      });
    });

    describe('that is reported', () => {
      it('is listed until it is as it was, whatever became of it meanwhile', async () => {
        const [changed, gone, added, both] = [name(), name(), name(), name()];
        for (const host of [changed, gone, both]) await create(host);
        await create(both, '192.0.2.2');
        await mode('report');
        await write(changed, [NEW]);
        await write(gone, []);
        await write(added, [NEW]);
        await drift(both, ['192.0.2.2']);
        assert.deepEqual(await differences(changed), [[[OLD], [NEW]]]);
        assert.deepEqual(await differences(gone), [[[OLD], []]]);
        assert.deepEqual(await differences(added), [[[], [NEW]]]);
        assert.deepEqual(await differences(both), [[[OLD, '192.0.2.2'], ['192.0.2.2']]]);
        const { total, hidden, compared_at } = await view(admin, '?limit=1&page=2');
        assert.deepEqual([total, hidden], [4, 0]);
        assert.equal(compared_at, done(await admin.get(at)).synced_at);
        await world.agree();
        // again another value: what was wanted stays so
        await drift(changed, ['198.51.100.10']);
        assert.deepEqual(await differences(changed), [[[OLD], ['198.51.100.10']]]);
        await write(changed, [OLD]);
        await drift(added, []);
        assert.deepEqual([await differences(changed), await differences(added)], [[], []]);
        await mode('adopt');
        await mode('report');
        assert.deepEqual((await view()).differences, []);
      });

      it('is none where we wrote ourselves, and what we write is wanted', async () => {
        const host = name();
        await mode('report');
        const id = await create(host);
        await sync();
        assert.deepEqual(await differences(host), []);
        await drift(host, [NEW]);
        assert.equal((await differences(host)).length, 1);
        const [record] = done(await admin.get(`${world.records}?host=${host}`)).list;
        done(await admin.put(`${world.records}/${record?.id ?? id}`, { ttl: 900 }));
        assert.deepEqual(await differences(host), []);
        await sync();
        assert.deepEqual(await differences(host), []);
        await drift(host, [OLD]);
        assert.deepEqual(await differences(host), [[[NEW], [OLD]]]);
        done(await admin.put(`${at}/rrsets/${host}/A`, { values: ['192.0.2.5'], ttl: 300 }));
        assert.deepEqual(await differences(host), []);
      });

      it('is none where the answer to our own write was lost', async () => {
        const host = name();
        await create(host);
        await mode('report');
        world.proxy.fault = async (request, forward) => {
          const answer = await forward();
          return request.method === 'PATCH' ? 'close' : answer;
        };
        const set = `${at}/rrsets/${host}/A` as const;
        const answer = await admin.put(set, { values: ['192.0.2.5', '192.0.2.6'], ttl: 300 });
        world.proxy.fault = null;
        assert.notEqual(answer.status, 201);
        await until('it is settled', async () => {
          await sync();
          return (await admin.get(`${world.records}?host=${host}`)).data.list.every(({ pending }) => !pending);
        });
        assert.deepEqual([await inDns(host), await differences(host)], [['192.0.2.5', '192.0.2.6'], []]);
      });

      it('is none where the zone was changed through another account here', async () => {
        const host = name();
        await create(host);
        await mode('report');
        const url = world.proxy.url.replace('127.0.0.1', 'localhost');
        const account = await addAccount(admin, 'powerdns', { url: `${url}/`, api_key: world.pdns.apiKey });
        const twin = made(await admin.post('/api/domains?force=true', { name: world.zone, account_id: account })).id;
        await drift(host, [NEW]);
        assert.equal((await differences(host)).length, 1);
        done(await admin.put(`/api/domains/${twin}/rrsets/${host}/A`, { values: ['192.0.2.5'], ttl: 300 }));
        await sync();
        const found = await differences(host);
        done(await admin.delete(`/api/domains/${twin}`));
        done(await admin.delete(`/api/accounts/${account}`));
        assert.deepEqual([found, await inDns(host)], [[], ['192.0.2.5']]);
        await drift(host, [NEW]);
        assert.deepEqual(await differences(host), [[['192.0.2.5'], [NEW]]]);
      });

      it('is accepted by whoever may write the records', async () => {
        const [first, second, third] = [name(), name(), name()];
        await mode('report');
        for (const host of [first, second, third]) await create(host);
        for (const host of [first, second, third]) await write(host, [NEW]);
        await sync();
        const reader = await person('read');
        assert.equal((await differences(first, reader.client)).length, 1);
        refused(await reader.client.delete(`${at}/drift`), 403, 403001);
        const writer = await person('write', { host: third });
        refused(await writer.client.delete(`${at}/drift?host=${first}`), 403, 403001);
        assert.deepEqual(done(await writer.client.delete(`${at}/drift?host=${third}`)), { accepted: 1 });
        assert.deepEqual(done(await admin.delete(`${at}/drift?host=${first}&type=TXT`)), { accepted: 0 });
        assert.deepEqual(done(await admin.delete(`${at}/drift?host=${first}.${world.zone}.&type=a`)), { accepted: 1 });
        assert.deepEqual([await differences(first), await differences(third)], [[], []]);
        assert.equal((await differences(second)).length, 1);
        const log = done(await admin.get('/api/audit/logs?action=changes.accept')).list;
        assert.deepEqual(log[0]?.after, { sets: 1, names: `A ${first}` });
        assert.deepEqual(done(await admin.delete(`${at}/drift`)), { accepted: 1 });
        // it is wanted as it was found
        await drift(first, [OLD]);
        assert.deepEqual(await differences(first), [[[NEW], [OLD]]]);
      });

      it('is taken back by a plan, of all or of some names', async () => {
        const [first, second] = [name(), name()];
        const id = await create(first, OLD, { remark: 'ours' });
        await create(second);
        await mode('report');
        await write(first, []);
        await drift(second, [NEW, '198.51.100.10']);
        const plan = async (more: object) => made(await admin.post(`${at}/plans`, { drift: true, ...more }));
        const some = await plan({ hosts: [second] });
        assert.equal(some.door, 'drift');
        assert.deepEqual(some.summary, { create: 1, update: 0, delete: 2, unchanged: 0 });
        const all = await plan({});
        assert.deepEqual(all.summary, { create: 2, update: 0, delete: 2, unchanged: 0 });
        ended(await admin.post(`/api/plans/${some.id}/apply`, {}));
        assert.deepEqual([await differences(second), await inDns(second)], [[], [OLD]]);
        assert.equal((await differences(first)).length, 1);
        refused(await admin.post(`/api/plans/${all.id}/apply`, {}), 412, 412001);
        const rest = await plan({});
        ended(await admin.post(`/api/plans/${rest.id}/apply`, {}));
        assert.deepEqual([(await view()).differences, await inDns(first)], [[], [OLD]]);
        const [back] = done(await admin.get(`${world.records}?host=${first}`)).list;
        assert.deepEqual([back?.id, back?.remark], [id, 'ours']);
        assert.equal((await plan({})).id, null);
        refused(await admin.post(`${at}/plans`, { drift: true, version: 1 }), 400, 400001);
        refused(await admin.post(`${at}/plans`, { drift: false }), 400, 400001);
        await world.agree();
      });

      it('stays listed as far as a plan did not take it back', async () => {
        const host = name();
        await create(host);
        await create(host, '192.0.2.2');
        await mode('report');
        await drift(host, []);
        const { id, changes } = made(await admin.post(`${at}/plans`, { drift: true }));
        ended(await admin.post(`/api/plans/${id}/apply`, { only: [changes[0]?.id] }));
        const [[wanted, found] = []] = await differences(host);
        assert.deepEqual([wanted?.length, found?.length], [2, 1]);
      });

      it('is seen by a token with rules as far as it may read the records', async () => {
        const [mine, other] = [name(), name()];
        await create(mine);
        await create(other);
        await mode('report');
        await write(mine, [NEW]);
        await drift(other, [NEW]);
        const rules = [{ effect: 'allow', hosts: [mine], actions: ['read', 'create', 'update', 'delete'] }];
        const { token } = made(await admin.post('/api/tokens', { name: mine, rules }));
        const client = world.server.as(token);
        const { total, hidden, differences: list } = await view(client);
        assert.deepEqual([total, hidden, list.map(({ host }) => host)], [1, 1, [mine]]);
        const plan = made(await client.post(`${at}/plans`, { drift: true }));
        assert.deepEqual([...new Set(plan.changes.map(({ host }) => host))], [mine]);
        assert.deepEqual(done(await client.delete(`${at}/drift`)), { accepted: 1 });
        assert.deepEqual([(await differences(mine)).length, (await differences(other)).length], [0, 1]);
      });
    });

    describe('what is ignored', () => {
      it('never differs, and what is ignored from now on differs no more', async () => {
        const [host, other] = [name(), name()];
        await create(host);
        await create(other);
        const ignore = [{ hosts: [host] }, { hosts: ['*.k8s'], types: ['A'] }];
        await mode('report', { ignore });
        await write(host, [NEW]);
        await write('one.k8s', [NEW]);
        await write('two.k8s', ['"words"'], 'TXT');
        await drift(other, [NEW]);
        const hosts = async () => (await view()).differences.map((d) => d.host);
        assert.deepEqual(await hosts(), [other, 'two.k8s'].toSorted());
        await mode('report', { ignore: [...ignore, { types: ['TXT'] }] });
        assert.deepEqual(await hosts(), [other]);
      });

      it('is left alone by plans of sync, which say so', async () => {
        const host = name();
        await create(host);
        await mode('adopt', { ignore: [{ hosts: [host] }] });
        const records = [{ host, type: 'A', value: NEW }];
        const sync_ = made(await admin.post(`${at}/plans`, { records, mode: 'sync', hosts: [host] }));
        assert.deepEqual([sync_.id, sync_.changes], [null, []]);
        assert.match(sync_.warnings.join(), /ignore/);
        const whole = made(await admin.post(`${at}/plans`, { records: [], mode: 'sync', types: ['A'] }));
        assert.ok(whole.changes.length > 0 && whole.changes.every((change) => change.host !== host));
        const merge = made(await admin.post(`${at}/plans`, { records }));
        assert.deepEqual([merge.summary.create, merge.warnings], [1, []]);
      });
    });

    describe('that is taken back by itself', () => {
      it('is as it was, by a change set of its own in the name of who said so', async () => {
        const [changed, gone, added] = [name(), name(), name()];
        const id = await create(changed);
        await create(gone, OLD, { expires_at: '2999-01-01T00:00:00.000Z' });
        await mode('revert');
        await write(changed, [NEW]);
        await write(gone, []);
        await drift(added, [NEW]);
        await run();
        await until('it is taken back', async () => !(await view()).differences.length);
        assert.deepEqual([await inDns(changed), await inDns(gone), await inDns(added)], [[OLD], [OLD], []]);
        assert.equal(done(await admin.get(`${world.records}/${id}`)).value, OLD);
        const [back] = done(await admin.get(`${world.records}?host=${gone}`)).list;
        assert.equal(back?.expires_at, '2999-01-01T00:00:00.000Z');
        const [set] = done(await admin.get(`${at}/changes?door=drift`)).list;
        assert.match(set?.comment ?? '', /Drift/);
        assert.equal(set?.actor.username, 'admin');
        await world.agree();
      });

      it('waits as a plan where it meets a guard, which is told once, and others go on', async () => {
        await write('@', ['10 mail.example.net.'], 'MX');
        await sync();
        await mode('revert');
        const before = (await notices()).length;
        await drift('@', [], 'MX');
        await run();
        await until('the MX is back', async () => !(await view()).differences.length);
        // of what came a guard keeps what goes
        done(await admin.put(at, { guards: { ttl_floor: 'warn' }, ttl_floor: 1000 }));
        const host = name();
        await drift(host, [NEW]);
        await run();
        await until('that is gone', async () => !(await inDns(host)).length);
        const low = name();
        done(await admin.put(at, { drift: { mode: 'adopt' } }));
        await create(low);
        await mode('revert');
        await drift(low, []);
        await run();
        await until('it waits', async () => ((await one(low))?.plan_id ?? null) !== null);
        const { plan_id, hold_reason } = await view();
        assert.equal(hold_reason, null);
        const plan = done(await admin.get(`/api/plans/${plan_id}`));
        assert.deepEqual([plan.state, plan.door, plan.guards.map(({ key }) => key)], ['open', 'drift', ['ttl_floor']]);
        await run();
        assert.equal((await view()).plan_id, plan_id);
        const told = (await notices()).slice(0, -before || undefined).filter((text) => /not taken back/.test(text));
        assert.equal(told.length, 1, told.join('\n'));
        assert.match(told[0] as string, new RegExp(`${low} A.*plan ${plan_id}.*ttl_floor`));
        ended(await admin.post(`/api/plans/${plan_id}/apply`, { force: ['ttl_floor'] }));
        assert.deepEqual([(await view()).differences, await inDns(low)], [[], [OLD]]);
        done(await admin.put(at, { ttl_floor: null }));
      });

      it('waits for an approval as any write, and stays where that is refused', async () => {
        const host = name();
        await create(host);
        const approver = await person('write');
        done(await admin.put(at, { approval: { for: 'all', by: { user_ids: [approver.id] } } }));
        await mode('revert');
        await drift(host, [NEW]);
        await run();
        await until('it waits', async () => ((await one(host))?.plan_id ?? null) !== null);
        const id = (await one(host))?.plan_id as number;
        assert.equal(done(await admin.get(`/api/plans/${id}`)).state, 'waiting');
        done(await approver.client.post(`/api/plans/${id}/reject`, {}));
        await run();
        assert.equal((await one(host))?.plan_id, id);
        done(await admin.put(at, { drift: { mode: 'report' } }));
        await mode('revert');
        await run();
        await until('it is asked for again', async () => ![id, null].includes((await one(host))?.plan_id ?? null));
        const again = (await one(host))?.plan_id as number;
        ended(await approver.client.post(`/api/plans/${again}/approve`, {}));
        assert.deepEqual([await differences(host), await inDns(host)], [[], [OLD]]);
      });

      it('waits for the end of a freeze', async () => {
        const host = name();
        await create(host);
        const until_ = new Date(Date.now() + 3_600_000).toISOString();
        await mode('revert');
        done(await admin.put(at, { freeze: { from: '2020-01-01T00:00Z', until: until_, reason: 'holidays' } }));
        await drift(host, [NEW]);
        await run();
        assert.deepEqual([await inDns(host), (await view()).plan_id], [[NEW], null]);
        done(await admin.put(at, { freeze: null }));
        await run();
        await until('it is taken back', async () => !(await differences(host)).length);
        assert.deepEqual(await inDns(host), [OLD]);
      });

      it('is not taken back any more where who said so lost the right, until somebody says so anew', async () => {
        const host = name();
        await create(host);
        const owner = await person();
        await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [owner.id, world.domain]);
        await mode('revert', {}, owner.client);
        // who sends it back as it is does not take it
        await mode('revert');
        done(await admin.put(`/api/users/${owner.id}`, { status: 0 }));
        const before = (await notices('rights.ended')).length;
        await drift(host, [NEW]);
        await run();
        await until('it is held', async () => (await view()).hold_reason !== null);
        assert.match((await view()).hold_reason as string, new RegExp(owner.username));
        await run();
        assert.equal((await notices('rights.ended')).length, before + 1);
        assert.deepEqual(await inDns(host), [NEW]);
        await mode('report');
        await mode('revert');
        assert.equal((await view()).hold_reason, null);
        await run();
        await until('it is taken back', async () => !(await differences(host)).length);
        assert.deepEqual(await inDns(host), [OLD]);
      });

      it('is left to people where somebody undoes it again and again', async () => {
        const host = name();
        await create(host);
        await mode('revert');
        const sets = async () => done(await admin.get(`${at}/changes?door=drift&host=${host}`)).total;
        for (let times = 1; times <= 5; times++) {
          await drift(host, [NEW]);
          await run();
          // the pause after the last time is over
          const isBack = async () => (await sets()) === times && !(await differences(host)).length;
          await until('it is taken back', isBack);
          const past = new Date(Date.now() - (6 - times) * 600_000).toISOString();
          const held = await db.run(
            `UPDATE change_sets SET created_at = ? WHERE domain_id = ? AND door = 'drift'
              AND id = (SELECT id FROM (SELECT MAX(id) AS id FROM change_sets WHERE door = 'drift') newest)`,
            [past, world.domain],
          );
          assert.equal(held, 1);
          await db.run('UPDATE drift_reverts SET created_at = ?', ['2020-01-01T00:00:00.000Z']);
        }
        await drift(host, [NEW]);
        const before = (await notices()).length;
        await run();
        await until('it is held', async () => (await one(host))?.hold_reason !== null);
        assert.match((await one(host))?.hold_reason as string, /5 times/);
        await run();
        assert.deepEqual([await inDns(host), await sets()], [[NEW], 5]);
        assert.equal((await notices()).length, before + 1);
        done(await admin.delete(`${at}/drift?host=${host}`));
        assert.deepEqual(await differences(host), []);
      });

      it('pauses after it was taken back', async () => {
        const host = name();
        await create(host);
        await mode('revert');
        await drift(host, [NEW]);
        await run();
        await until('it is taken back', async () => !(await differences(host)).length);
        await drift(host, [NEW]);
        const soon = new Date(Date.now() + 60_000).toISOString();
        await db.run(`UPDATE change_sets SET created_at = ? WHERE door = 'drift'`, [soon]);
        await run();
        assert.deepEqual([await inDns(host), (await one(host))?.hold_reason], [[NEW], null]);
      });

      it('is held where it does not fit what is there, and keeps nothing else from being taken back', async () => {
        const [host, other] = [name(), name()];
        made(await admin.post(world.records, { host, type: 'CNAME', value: 'www.example.net', ttl: 300 }));
        await create(other);
        await mode('report');
        await drift(host, [], 'CNAME');
        // nothing else may be beside it
        await create(host);
        await drift(other, [NEW]);
        await mode('revert');
        await run();
        await until('it is held', async () => ((await one(host))?.hold_reason ?? null) !== null);
        assert.match((await one(host))?.hold_reason as string, /CNAME/);
        await until('the other one is taken back', async () => !(await differences(other)).length);
        assert.deepEqual([await inDns(other), await inDns(host)], [[OLD], [OLD]]);
      });

      it('is tried again when its provider was down', async () => {
        const host = name();
        await create(host);
        await mode('revert');
        await drift(host, [NEW]);
        world.proxy.fault = async (request, forward) => {
          if (request.method === 'PATCH') return { status: 503, body: 'down' };
          return forward();
        };
        await run();
        await until('it has failed', async () => {
          const [set] = done(await admin.get(`${at}/changes?door=drift&host=${host}`)).list;
          return (set?.counts.failed ?? 0) > 0;
        });
        assert.deepEqual((await differences(host)).length, 1);
        world.proxy.fault = null;
        await until(
          'it is taken back',
          async () => {
            await run();
            return !(await differences(host)).length;
          },
          90_000,
        );
        assert.deepEqual(await inDns(host), [OLD]);
      });

      it('is taken back in a domain that was restored from the trash, too, and held in one that was added again', async () => {
        const [host, other] = [name(), name()];
        await create(host);
        await create(other);
        await mode('revert');
        done(await admin.delete(at));
        done(await admin.post(`/api/trash/domains/${world.domain}/restore`));
        await drift(host, [NEW]);
        await run();
        await until('it is as it was', async () => (await inDns(host)).join() === OLD);
        done(await admin.delete(at));
        await addDomain(admin, world.account, world.zone);
        await drift(other, [NEW]);
        await run();
        assert.match(String((await view()).hold_reason), /./);
        assert.deepEqual(await inDns(other), [NEW]);
      });

      it('is left where no change leads to what is wanted', async () => {
        done(await admin.put(at, { guards: { apex_ns: 'off' } }));
        await write('@', [], 'NS');
        await sync();
        await mode('revert');
        await drift('@', ['ns9.example.net.'], 'NS');
        await run();
        await until('it is held', async () => ((await one('@'))?.hold_reason ?? null) !== null);
        await mode('adopt');
      });
    });

    it('is found in zone files, too', async () => {
      const zone = 'files.example';
      const account = await addAccount(admin, 'zonefile', {});
      const domain = await addDomain(admin, account, zone, true);
      const path = `/api/domains/${domain}` as const;
      made(await admin.post(`${path}/records`, { host: 'www', type: 'A', value: OLD, ttl: 300 }));
      done(await admin.put(path, { drift: { mode: 'revert' } }));
      const file = join(world.server.dataDir, 'zones', `${zone}.zone`);
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace(OLD, NEW));
      done(await admin.get(`${path}/records?refresh=true`));
      const [found] = done(await admin.get(`${path}/drift`)).differences;
      assert.deepEqual([found?.wanted[0]?.value, found?.found[0]?.value], [OLD, NEW]);
      await run();
      await until('it is taken back', async () => !done(await admin.get(`${path}/drift`)).differences.length);
      assert.match(await readFile(file, 'utf8'), new RegExp(OLD));
      done(await admin.delete(path));
      assert.deepEqual(await db.rows('SELECT id FROM drift_reverts WHERE domain_id = ?', [domain]), []);
    });
  });
}
