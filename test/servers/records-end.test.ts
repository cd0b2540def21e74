import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { RecordEndsRepository } from '../../src/cache/record-ends.repository.js';
import { EndedRecords } from '../../src/changes/ended-records.service.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { type SteeredClock, steerClock } from '../support/clock.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { applicationOf, type Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import {
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

const in_ = (ms: number): string => now(ms);
const FAR = '2999-01-01T00:00:00.000Z';
const PAST = '2020-01-01T00:00:00.000Z';
/** ms of an end that a test waits for */
const SOON = 60_000;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`records that end, on ${kind}`, () => {
    let world: World;
    let admin: Client;
    let db: Db;
    let close: () => Promise<void>;
    let count = 0;
    let clock: SteeredClock;

    beforeAll(async () => {
      world = await startWorld(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = world);
      ({ db, close } = await openDatabase(world.databaseUrl, world.server.dataDir));
      done(await admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0, user: 0, token: 0 } }));
      const channel = { id: 'hook', type: 'webhook', name: 'Hook', config: { url: 'http://127.0.0.1:9/' } };
      const channels = [{ ...channel, events: ['rights.ended'] }];
      done(await admin.put('/api/settings/notifications', { channels }));
      clock = steerClock();
    });
    afterAll(async () => {
      clock?.release();
      await close?.();
      await world?.stop();
    });

    const host = (): string => `end${++count}`;
    const create = async (more: object, client = admin): Promise<{ id: number; name: string }> => {
      const name = host();
      const { id } = made(await client.post(world.records, { host: name, type: 'A', value: '192.0.2.1', ...more }));
      return { id, name };
    };
    const record = async (id: number) => done(await admin.get(`${world.records}/${id}`));
    const end = async (id: number) => (await record(id)).expires_at;
    /** Its end has come. */
    const over = async (id: number) => {
      assert.equal(await db.run('UPDATE dns_records SET expires_at = ? WHERE id = ?', [PAST, id]), 1);
    };
    const isThere = async (id: number) => (await admin.get(`${world.records}/${id}`)).status === 200;
    const inDns = async (name: string) =>
      powerdnsLines(await world.pdns.zone(world.zone)).filter((line) => line.startsWith(`${name} `));
    /** What somebody makes of a set at the provider. */
    const write = async (name: string, values: string[]) => {
      const records = values.map((content) => ({ content, disabled: false }));
      const set = { name: `${name}.${world.zone}.`, type: 'A', ttl: 1200, changetype: 'REPLACE', records };
      const answer = await world.pdns.api('PATCH', `/zones/${world.zone}.`, { rrsets: [set] });
      assert.equal(answer.status, 204);
    };
    const byJob = async () =>
      done(await admin.get(`/api/domains/${world.domain}/changes?door=job&limit=50`)).list.map(({ id }) => id);
    const changesOf = async (set: number) =>
      done(await admin.get(`/api/domains/${world.domain}/changes/${set}`)).changes;
    /** Looks for what has ended, as the job does; another process would have another one. */
    const looker = (ends?: Pick<RecordEndsRepository, 'ended'>): { look(): Promise<void> } => {
      const app = applicationOf(world.server.dataDir) as NonNullable<ReturnType<typeof applicationOf>>;
      const types = Reflect.getMetadata('design:paramtypes', EndedRecords) as (new () => unknown)[];
      const given = types.map((type) =>
        type === RecordEndsRepository && ends
          ? Object.assign(Object.create(app.get(RecordEndsRepository)), ends)
          : app.get(type, { strict: false }),
      );
      const job = new (EndedRecords as unknown as new (...parts: unknown[]) => EndedRecords)(...given);
      return { look: () => job.look(new AbortController().signal) };
    };
    const run = async () => {
      const job = async () => done(await admin.get('/api/system/jobs?name=records.expire')).list[0];
      let before = 0;
      await until('it is asked for', async () => {
        const { id = 0, runs = 0 } = (await job()) ?? {};
        before = runs;
        return (await admin.post(`/api/system/jobs/${id}/retry`)).status === 200;
      });
      await until('it has run', async () => ((await job())?.runs ?? 0) > before);
    };

    it('is deleted when its end has come, by a change set of the job', async () => {
      const sets = await byJob();
      const expires_at = in_(SOON);
      const { id, name } = await create({ expires_at });
      const sibling = made(await admin.post(world.records, { host: name, type: 'A', value: '192.0.2.2' })).id;
      const shown = await record(id);
      assert.deepEqual([shown.expires_at, shown.end_hold_reason], [expires_at, null]);
      assert.deepEqual(await inDns(name), [`${name} A - 192.0.2.1 600 on`, `${name} A - 192.0.2.2 600 on`]);
      await clock.advance(SOON + 5000);
      await run();
      await until('it is gone', async () => !(await isThere(id)));
      assert.deepEqual(await inDns(name), [`${name} A - 192.0.2.2 600 on`], 'the other value of the set stays');
      assert.ok(await isThere(sibling));
      const [set] = (await byJob()).filter((one) => !sets.includes(one));
      const told = done(await admin.get(`/api/domains/${world.domain}/changes/${set}`));
      assert.deepEqual([told.door, told.actor.type], ['job', 'system']);
      assert.match(told.comment, /expires_at/);
      const [change] = await changesOf(set as number);
      assert.deepEqual([change?.op, change?.record_id, change?.state], ['delete', id, 'applied']);
      assert.equal(change?.before?.expires_at, expires_at);
      await world.agree();
    });

    it('ends at another time, or never, when somebody says so; the provider is not asked for that', async () => {
      const [moved, kept] = [await create({ expires_at: in_(60_000) }), await create({ expires_at: in_(60_000) })];
      const requests = () => world.proxy.requests.filter(({ method }) => method !== 'GET').length;
      const before = requests();
      const path = `${world.records}/${moved.id}` as const;
      const put = done(await admin.put(path, { expires_at: '2999-01-01T01:00:00+01:00' }));
      assert.equal(put.expires_at, FAR);
      assert.equal(done(await admin.put(`${world.records}/${kept.id}`, { expires_at: null })).expires_at, null);
      assert.equal(requests(), before);
      await run();
      assert.ok((await isThere(moved.id)) && (await isThere(kept.id)));
      // who says nothing of it leaves it as it is, whatever else they change
      done(await admin.put(path, { value: '192.0.2.9', remark: 'moved' }));
      assert.equal(await end(moved.id), FAR);
    });

    it('is refused where it is no time, or over', async () => {
      for (const expires_at of [PAST, in_(-1000), 'tomorrow', 5]) {
        const answer = refused(
          await admin.post(world.records, { host: host(), type: 'A', value: '192.0.2.1', expires_at }),
          400,
          400001,
        );
        assert.deepEqual(
          answer.data?.errors?.map(({ path }) => path),
          ['expires_at'],
        );
      }
      const { id } = await create({ expires_at: FAR });
      const path = `${world.records}/${id}` as const;
      refused(await admin.put(path, { expires_at: PAST, value: '192.0.2.7' }), 400, 400001);
      const now = await record(id);
      assert.deepEqual([now.expires_at, now.value], [FAR, '192.0.2.1']);
      const change = { op: 'update', record_id: id, expires_at: PAST };
      const answer = await admin.post(`${world.records}/batch`, { changes: [change], atomic: true });
      assert.match(refused(answer, 400, 400001).msg, /future/);
    });

    it('is part of what a client has seen: of the tag, of what is sent back, of the history', async () => {
      const { id } = await create({});
      const path = `${world.records}/${id}` as const;
      const first = await admin.get(path);
      const tag = first.headers.get('etag') as string;
      done(await admin.put(path, { expires_at: FAR }));
      refused(await admin.put(path, { ttl: 900 }, { 'If-Match': tag }), 412, 412001);
      const { etag } = Object.fromEntries((await admin.get(path)).headers);
      done(await admin.put(path, await record(id), { 'If-Match': etag as string }));
      assert.equal(await end(id), FAR);
      const versions = done(await admin.get(`/api/domains/${world.domain}/versions`)).list;
      const [newest] = versions;
      assert.deepEqual(newest?.counts, { create: 0, update: 1, delete: 0 });
      const [change] = await changesOf(newest?.change_set_id as number);
      assert.deepEqual([change?.before?.expires_at, change?.after?.expires_at], [null, FAR]);
    });

    it('stays with its record over synchronisations, and goes with it', async () => {
      const { id, name } = await create({ expires_at: FAR });
      const fresh = async () => done(await admin.get(`${world.records}?refresh=true`));
      await fresh();
      assert.equal(await end(id), FAR);
      // somebody gives it another TTL at the provider
      await write(name, ['192.0.2.1']);
      await fresh();
      assert.deepEqual([(await record(id)).ttl, await end(id)], [1200, FAR]);
      await write(name, []);
      await fresh();
      assert.equal(await isThere(id), false);
      await write(name, ['192.0.2.1']);
      await fresh();
      const again = done(await admin.get(`${world.records}?host=${name}`)).list;
      assert.deepEqual(
        again.map(({ expires_at }) => expires_at),
        [null],
      );
    });

    it('is taken by lists; sets leave it to the values that stay, and new values have none', async () => {
      const name = host();
      const one = { op: 'create', host: name, type: 'A', value: '192.0.2.1', expires_at: FAR };
      ended(await admin.post(`${world.records}/batch`, { changes: [one, { ...one, value: '192.0.2.2' }] }));
      const set = `/api/domains/${world.domain}/rrsets/${name}/A` as const;
      done(await admin.put(set, { values: ['192.0.2.1', '192.0.2.3'], ttl: 900 }));
      const ends = async () =>
        Object.fromEntries(
          done(await admin.get(`${world.records}?host=${name}`)).list.map((row) => [row.value, row.expires_at]),
        );
      assert.deepEqual(await ends(), { '192.0.2.1': FAR, '192.0.2.3': null });
      const upsert = { op: 'upsert', host: name, type: 'A' };
      const changes = [
        { ...upsert, value: '192.0.2.1', expires_at: null },
        { ...upsert, value: '192.0.2.3', expires_at: FAR },
      ];
      ended(await admin.post(`${world.records}/batch`, { changes }));
      assert.deepEqual(await ends(), { '192.0.2.1': null, '192.0.2.3': FAR });
    });

    describe('a plan', () => {
      const plans = () => `/api/domains/${world.domain}/plans` as const;
      const plan = async (body: object) => made(await admin.post(plans(), body));
      const apply = async (body: object) => {
        const { id } = await plan(body);
        return done(await admin.post(`/api/plans/${id}/apply`, {}));
      };

      it('shows the end, and an apply sets it', async () => {
        const name = host();
        const wanted = { host: name, type: 'A', value: '192.0.2.1', expires_at: FAR };
        const { id, changes } = await plan({ records: [wanted] });
        assert.equal(changes[0]?.after?.expires_at, FAR);
        const headers = { authorization: `Bearer ${world.token}`, accept: 'text/plain' };
        const diff = await fetch(`${world.server.url}/api/plans/${id}`, { headers });
        assert.match(await diff.text(), new RegExp(`until ${FAR}`));
        done(await admin.post(`/api/plans/${id}/apply`, {}));
        const [made_] = done(await admin.get(`${world.records}?host=${name}`)).list;
        assert.equal(made_?.expires_at, FAR);
        // of a plan that says nothing of it, it stays
        await apply({ records: [{ ...wanted, expires_at: undefined, ttl: 1200 }] });
        assert.equal(await end(made_?.id as number), FAR);
        const json = JSON.stringify([{ ...wanted, expires_at: null, ttl: 1300 }]);
        await apply({ document: { format: 'json', text: json } });
        assert.equal(await end(made_?.id as number), FAR, 'null in a document says nothing');
      });

      it('of a version, or that takes a change set back, brings back an end, but none that is over', async () => {
        const [kept, over] = [await create({ expires_at: FAR }), await create({ expires_at: in_(SOON) })];
        const [newest] = done(await admin.get(`/api/domains/${world.domain}/versions`)).list;
        done(await admin.delete(`${world.records}/${kept.id}`));
        await clock.advance(SOON + 5000);
        await run();
        await until('it is gone', async () => !(await isThere(over.id)));
        await apply({ version: newest?.version });
        assert.deepEqual([await end(kept.id), await end(over.id)], [FAR, null]);
        const changed = done(await admin.put(`${world.records}/${kept.id}`, { expires_at: null }));
        assert.equal(changed.expires_at, null);
        const [last] = done(await admin.get(`/api/domains/${world.domain}/versions`)).list;
        await apply({ change_set_id: last?.change_set_id });
        assert.equal(await end(kept.id), FAR);
      });
    });

    describe('the right of who set it', () => {
      const maker = async () => {
        const name = `maker${++count}`;
        const user = { username: name, password: `${name}-secret` };
        const id = await addUser(db, user);
        const team = made(await admin.post('/api/teams', { name: `team of ${name}` })).id;
        made(await admin.post(`/api/teams/${team}/members`, { user_id: id }));
        made(await admin.post(`/api/teams/${team}/permissions`, { domain_id: world.domain, permission: 'write' }));
        return { id, name, client: world.server.as(await world.server.login(user)) };
      };
      const notices = async () =>
        done(await admin.get('/api/system/notifications?event=rights.ended&limit=200')).list.map(({ text }) => text);

      it('has ended: the record stays, which is told once, until somebody gives it another end', async () => {
        const by = await maker();
        const [one, two] = [await create({ expires_at: FAR }, by.client), await create({ expires_at: FAR }, by.client)];
        const before = (await notices()).length;
        done(await admin.put(`/api/users/${by.id}`, { status: 0 }));
        // what somebody else changes of a record leaves the end with who set it
        done(await admin.put(`${world.records}/${two.id}`, { ttl: 900 }));
        await db.run('UPDATE dns_records SET expires_at = ? WHERE id IN (?, ?)', [PAST, one.id, two.id]);
        await run();
        await until('both are held', async () => {
          const reasons = [(await record(one.id)).end_hold_reason, (await record(two.id)).end_hold_reason];
          return reasons.every((reason) => reason?.includes(by.name));
        });
        await run();
        const told = (await notices()).slice(0, -before || undefined);
        assert.equal(told.length, 1, told.join('\n'));
        assert.match(told[0] as string, new RegExp(`2 records .*${one.name} A.*${two.name} A`));
        assert.deepEqual(await inDns(one.name), [`${one.name} A - 192.0.2.1 600 on`]);
        // who sends it back as it is says nothing
        done(await admin.put(`${world.records}/${one.id}`, await record(one.id)));
        await run();
        assert.ok(await isThere(one.id));
        assert.equal(done(await admin.put(`${world.records}/${two.id}`, { expires_at: null })).end_hold_reason, null);
        assert.equal(done(await admin.put(`${world.records}/${one.id}`, { expires_at: FAR })).end_hold_reason, null);
        await over(one.id);
        await run();
        await until('it has ended', async () => !(await isThere(one.id)));
        assert.ok(await isThere(two.id));
      });

      it('is that to delete the record, which a token needs to set it', async () => {
        const name = host();
        const rules = [{ effect: 'allow', hosts: [name], actions: ['read', 'create', 'update'] }];
        const { token } = made(await admin.post('/api/tokens', { name: 'no deletions', rules }));
        const client = world.server.as(token);
        const input = { host: name, type: 'A', value: '192.0.2.1' };
        refused(await client.post(world.records, { ...input, expires_at: FAR }), 403, 403001);
        const { id } = made(await client.post(world.records, input));
        refused(await client.put(`${world.records}/${id}`, { expires_at: FAR }), 403, 403001);
        assert.equal(await end(id), null);
      });
    });

    it('is tried again when its provider was down, and keeps those of other domains from nothing', async () => {
      const zone = `other${++count}.example`;
      const other = await addDomain(
        admin,
        made(
          await admin.post('/api/accounts', {
            ...{
              provider: 'powerdns',
              name: 'direct',
              credentials: { url: world.pdns.url, api_key: world.pdns.apiKey },
            },
          }),
        ).id,
        zone,
        true,
      );
      const { id, name } = await create({ expires_at: FAR });
      const there = `/api/domains/${other}/records` as const;
      const one = { host: 'a', type: 'A', value: '192.0.2.1', expires_at: FAR };
      const elsewhere = made(await admin.post(there, one)).id;
      await world.proxy.down();
      await over(id);
      await over(elsewhere);
      await run();
      await until('the other one is gone', async () => (await admin.get(`${there}/${elsewhere}`)).status === 404);
      await until('it was tried', async () => {
        const tries = (await Promise.all((await byJob()).slice(0, 5).map(changesOf))).flat();
        return tries.some((change) => change.record_id === id && change.state === 'failed');
      });
      assert.ok(await isThere(id));
      await world.proxy.up();
      await until('it is gone, too', async () => {
        await run();
        return !(await isThere(id));
      });
      assert.deepEqual(await inDns(name), []);
      await world.agree();
    });

    it('stays where a guard of the domain asks for a word, and keeps no other one', async () => {
      const path = `/api/domains/${world.domain}` as const;
      done(await admin.put(path, { guards: { last_mx: 'force' } }));
      const [mail, web] = [
        await create({ type: 'MX', value: `mail.${world.zone}`, expires_at: FAR }),
        await create({ expires_at: FAR }),
      ];
      await db.run('UPDATE dns_records SET expires_at = ? WHERE id IN (?, ?)', [PAST, mail.id, web.id]);
      await run();
      await until('one is held', async () => (await record(mail.id)).end_hold_reason !== null);
      assert.match((await record(mail.id)).end_hold_reason ?? '', /last_mx/);
      await until('the other one is gone', async () => !(await isThere(web.id)));
      done(await admin.put(path, { guards: {} }));
      done(await admin.delete(`${world.records}/${mail.id}`));
    });

    it('waits for an approval in the name of who set it, where the domain asks for one', async () => {
      const path = `/api/domains/${world.domain}` as const;
      const { id } = await create({ expires_at: FAR });
      done(await admin.put(path, { approval: { for: 'all', by: { role: 2 }, own: true } }));
      await over(id);
      await run();
      const waiting = async () => done(await admin.get(`${path}/plans?state=waiting`)).list;
      await until('it is asked for', async () => (await waiting()).length > 0);
      const [plan] = await waiting();
      assert.equal(plan?.created_by.user_id, 1);
      assert.ok(await isThere(id));
      done(await admin.post(`/api/plans/${plan?.id as number}/approve`, {}));
      assert.ok(!(await isThere(id)));
      done(await admin.put(path, { approval: { for: 'none' } }));
    });

    it('is kept, with who set it, where the answer to a creation was lost', async () => {
      const name = host();
      world.proxy.fault = async (request, forward) => {
        const reply = await forward();
        return request.method === 'PATCH' ? 'close' : reply;
      };
      const input = { host: name, type: 'A', value: '192.0.2.1', remark: 'lost', expires_at: FAR };
      refused(await admin.post(world.records, input), 500, 500002);
      world.proxy.fault = null;
      const { list } = done(await admin.get(`${world.records}?refresh=true&host=${name}`));
      const [found] = list;
      assert.deepEqual([found?.expires_at, found?.remark, found?.pending], [FAR, 'lost', false]);
      await over(found?.id as number);
      await run();
      await until('it is gone', async () => !(await isThere(found?.id as number)));
    });

    it('is judged as it is under its lock, whatever was read before', async () => {
      const [moved, ends] = [await create({ expires_at: FAR }), await create({ expires_at: FAR })];
      await over(ends.id);
      const maker = { end_maker_id: 1, end_maker_token_id: null };
      const read = ({ id, name }: typeof moved) => ({
        ...{ id, domain_id: world.domain, host: name, expires_at: PAST },
        ...maker,
      });
      const pages = [[read(moved), read(ends)]];
      await looker({ ended: async () => pages.shift() ?? [] }).look();
      assert.deepEqual([await isThere(moved.id), await isThere(ends.id)], [true, false]);
    });

    it('is deleted once, by whichever process comes first', async () => {
      const sets = await byJob();
      const { id } = await create({ expires_at: FAR });
      await over(id);
      await Promise.all([looker().look(), looker().look()]);
      assert.equal(await isThere(id), false);
      const fresh = (await byJob()).filter((one) => !sets.includes(one));
      assert.equal(fresh.length, 1);
      assert.deepEqual(
        (await changesOf(fresh[0] as number)).map((change) => [change.record_id, change.state]),
        [[id, 'applied']],
      );
    });
  });
}
