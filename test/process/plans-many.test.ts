import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import type { PlanGroupResult, PlanGroupView } from '../../src/records/plans/group.dto.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Client, ServerProcess, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, ended, made, refused, until } from '../support/world.js';

const PRELOADED = join(import.meta.dirname, '../support/kill-at.mjs');
const a = (host: string, last: number, ttl = 300) => ({ host, type: 'A', value: `192.0.2.${last}`, ttl });
const create = (host: string, last: number, ttl = 300) => ({ op: 'create', ...a(host, last, ttl) });
const group = async (client: Client, id: number | null): Promise<PlanGroupView> =>
  done(await client.get(`/api/plans/${id as number}`)) as never;
const states = ({ domains }: { domains: PlanGroupResult['domains'] | null }) => domains?.map(({ state }) => state);

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`plans over many domains, on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let account: number;
    let used = 0;
    let db: Db;
    let close: () => Promise<void>;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      account = await addAccount(admin, 'zonefile', {});
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });

    /** A domain with some records. */
    async function zone(records: object[] = []) {
      const name = `many${++used}.example`;
      const id = await addDomain(admin, account, name, true);
      const base = `/api/domains/${id}` as const;
      const path = join(service.server.dataDir, 'zones', `${name}.zone`);
      if (records.length) {
        const changes = records.map((record) => ({ op: 'create', ...record })) as never;
        ended(await admin.post(`${base}/records/batch`, { changes }));
      }
      const now = async (client = admin) =>
        done(await client.get(`${base}/records`))
          .list.filter(({ type }) => !/SOA|NS/.test(type))
          .map(({ host, type, value, ttl }) => `${host} ${ttl} ${type} ${value}`)
          .toSorted();
      return {
        ...{ id, name, base, now, path },
        edit: (change: (text: string) => string) => writeFileSync(path, change(readFileSync(path, 'utf8'))),
      };
    }
    const plan = async (body: object, client = admin) => made(await client.post('/api/plans', body));
    const apply = (id: number | null, body: object = {}, client = admin) =>
      client.post(`/api/plans/${id as number}/apply`, body) as unknown as Promise<
        Awaited<ReturnType<Client['post']>> & { data: PlanGroupResult }
      >;
    /** A user who may write to some domains and read others. */
    async function user(name: string, writes: number[], reads: number[] = []) {
      const who = { username: name, password: `${name}-secret` };
      const id = await addUser(db, who, 1);
      const team = made(await admin.post('/api/teams', { name: `team of ${name}` }));
      made(await admin.post(`/api/teams/${team.id}/members`, { user_id: id }));
      for (const [domains, permission] of [
        [writes, 'write'],
        [reads, 'read'],
      ] as const)
        for (const domain_id of domains)
          made(await admin.post(`/api/teams/${team.id}/permissions`, { domain_id, permission }));
      return { id, client: service.server.as(await service.server.login(who)) };
    }

    it('have a plan for each domain, change nothing, and are then applied domain by domain, once', async () => {
      const [one, two, same] = [await zone([a('www', 1)]), await zone(), await zone([a('www', 9)])];
      const answer = await admin.post('/api/plans', {
        domains: [
          { domain_id: one.id, changes: [create('new', 2), { op: 'upsert', ...a('www', 1, 600) }] },
          { domain_id: two.id, changes: [create('new', 3)] },
          { domain_id: same.id, changes: [{ op: 'upsert', ...a('www', 9) }] },
        ] as never,
        comment: 'why',
      });
      const made_ = made(answer);
      assert.equal(answer.headers.get('location'), `/api/plans/${made_.id as number}`);
      assert.deepEqual(
        made_.plans.map(({ id, domain_id, changes }) => [id === null, domain_id, changes.map(({ host }) => host)]),
        [
          [false, one.id, ['new', 'www']],
          [false, two.id, ['new']],
          [true, same.id, []],
        ],
      );
      assert.deepEqual([made_.summary.create, made_.summary.update, made_.state, made_.domains], [2, 1, 'open', null]);
      assert.deepEqual([await one.now(), await two.now()], [['www 300 A 192.0.2.1'], []]);
      // each is a plan of its own, but not applied by itself
      const [first] = made_.plans;
      assert.equal(done(await admin.get(`/api/plans/${first?.id as number}`)).group_id, made_.id);
      refused(await apply(first?.id as number), 409, 409001);
      refused(await apply(made_.id, { only: [1] }), 400, 400001);
      const result = done(await apply(made_.id));
      assert.deepEqual(
        result.domains.map(({ domain_id, state, counts }) => [domain_id, state, counts?.applied]),
        [
          [one.id, 'applied', 2],
          [two.id, 'applied', 1],
        ],
      );
      assert.deepEqual(await one.now(), ['new 300 A 192.0.2.2', 'www 600 A 192.0.2.1']);
      assert.deepEqual(await two.now(), ['new 300 A 192.0.2.3']);
      const set = done(await admin.get(`${one.base}/changes/${result.domains[0]?.change_set_id as number}`));
      assert.deepEqual([set.door, set.comment, set.actor.username], ['plan', 'why', 'admin']);
      refused(await apply(made_.id), 409, 409001);
      const after = await group(admin, made_.id);
      assert.deepEqual([after.state, states(after)], ['applied', ['applied', 'applied']]);
    });

    it('are of all records that match, and leave those alone that are as they shall be', async () => {
      const [one, two, other] = [
        await zone([a('app', 77), a('api', 77), a('x', 5)]),
        await zone([a('app', 77)]),
        await zone([a('app', 78)]),
      ];
      const set = { value: '192.0.2.80', ttl: 900, remark: 'moved' };
      const { id, plans, summary } = await plan({ where: { type: 'a', value: '192.0.2.77' }, set });
      assert.deepEqual([plans.map(({ domain_id }) => domain_id), summary.update], [[one.id, two.id], 3]);
      done(await apply(id));
      assert.deepEqual(await one.now(), ['api 900 A 192.0.2.80', 'app 900 A 192.0.2.80', 'x 300 A 192.0.2.5']);
      assert.deepEqual([await two.now(), await other.now()], [['app 900 A 192.0.2.80'], ['app 300 A 192.0.2.78']]);
      const again = await plan({ where: { value: '192.0.2.80' }, set });
      assert.deepEqual([again.id, again.summary.unchanged], [null, 3]);
      const some = await plan({ where: { host: 'app', domain_ids: [two.id, other.id] }, set: { enabled: false } });
      assert.deepEqual(
        some.plans.map(({ domain_id, changes }) => [domain_id, changes.map(({ after }) => after?.enabled)]),
        [
          [two.id, [false]],
          [other.id, [false]],
        ],
      );
      one.edit((text) => `${text}odd 300 IN TYPE65280 \\# 1 00\n`);
      done(await admin.get(`${one.base}/records?refresh=true`));
      const odd = await plan({ where: { host: 'odd' }, set: { ttl: 77 } });
      assert.deepEqual(
        [odd.id, odd.plans.map(({ warnings }) => warnings)],
        [null, [['TYPE65280 odd is read-only, and stays as it is']]],
      );
    });

    it('refuse what is no plan, naming the field', async () => {
      const { id } = await zone([a('www', 1)]);
      const pathOf = async (body: object) =>
        refused(await admin.post('/api/plans', body as never), 400, 400001).data.errors?.map(({ path }) => path);
      assert.deepEqual(await pathOf({}), ['domains']);
      assert.deepEqual(await pathOf({ where: { type: 'A' } }), ['set']);
      assert.deepEqual(await pathOf({ where: { type: 'A' }, set: {} }), ['set']);
      assert.deepEqual(await pathOf({ where: { domain_ids: [id] }, set: { ttl: 60 } }), ['where']);
      const one = { domain_id: id, changes: [create('n', 1)] };
      assert.deepEqual(await pathOf({ domains: [one, one] }), ['domains.1.domain_id']);
      assert.deepEqual(await pathOf({ domains: [one], where: { type: 'A' }, set: { ttl: 60 } }), ['where']);
      const wrong = [{ op: 'create', host: 'n', type: 'A', value: 'no address' }];
      assert.deepEqual(await pathOf({ domains: [{ domain_id: id, changes: wrong }] }), ['domains.0.changes.0.value']);
      refused(await admin.post('/api/plans', { domains: [{ ...one, domain_id: 99_999 }] as never }), 404, 404001);
      for (const wrong of [
        { where: { host: 'www', value: null } },
        { where: { host: null, type: 'A' } },
        { where: { host: 'www' }, comment: null },
      ])
        refused(await admin.post('/api/plans', { ...wrong, set: { ttl: 77 } } as never), 400, 400001);
      const much = Array.from({ length: 10_001 }, () => ({ op: 'delete', id: 1 }));
      const other = await zone();
      const domains = [id, other.id].map((domain_id) => ({ domain_id, changes: much }));
      assert.match(refused(await admin.post('/api/plans', { domains } as never), 400, 400001).msg, /20002/);
    });

    it('leave a stale domain out, and one in a freeze, say so, and apply the others', async () => {
      const zones = [await zone([a('www', 1)]), await zone([a('www', 1)]), await zone([a('www', 1)])] as const;
      const [one, two, three] = zones;
      const domains = zones.map(({ id }) => ({ domain_id: id, changes: [create('www', 2)] }));
      const { id } = await plan({ domains });
      two.edit((text) => text.replace('192.0.2.1', '192.0.2.66'));
      done(
        await admin.put(three.base, {
          freeze: { from: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z', reason: 'holidays' },
        } as never),
      );
      const answer = await apply(id);
      assert.equal(answer.status, 207);
      const [first, second, third] = answer.data.domains;
      assert.deepEqual([first?.state, second?.state, third?.state], ['applied', 'stale', 'refused']);
      assert.deepEqual([second?.code, third?.code], [412001, 423002]);
      assert.equal((second?.data as { differences: unknown[] } | undefined)?.differences.length, 2);
      assert.deepEqual(answer.data.counts, {
        ...{ applied: 1, running: 0, waiting: 0, stale: 1, failed: 0, refused: 1, not_tried: 0 },
      });
      // a token with rules is told that it is stale, and nothing of records that it may not read
      const narrow = made(
        await admin.post('/api/tokens', {
          ...{ name: 'narrow', allowed_services: ['records:read'], allowed_domains: [two.id] },
          rules: [{ effect: 'allow', hosts: ['a'] }],
        }),
      );
      const seen = done(await service.server.as(narrow.token).get(`/api/plans/${id}`)) as unknown as PlanGroupView;
      assert.deepEqual(
        seen.domains?.map(({ state, msg, data }) => [state, msg, data]),
        [['stale', undefined, undefined]],
      );
      assert.deepEqual(await one.now(), ['www 300 A 192.0.2.1', 'www 300 A 192.0.2.2']);
      assert.deepEqual(await two.now(), ['www 300 A 192.0.2.66']);
      assert.deepEqual(await three.now(), ['www 300 A 192.0.2.1']);
      // when the freeze is over, what was refused can be applied by itself
      done(await admin.put(three.base, { freeze: null } as never));
      done(await apply(third?.plan_id as number));
      assert.deepEqual(states(await group(admin, id)), ['applied', 'stale', 'applied']);
    });

    it('tell which domains could not be planned, and fail where none could', async () => {
      const [one, two] = [await zone([a('gone', 41)]), await zone([a('gone', 41)])];
      rmSync(two.path);
      const body = { where: { value: '192.0.2.41' }, set: { ttl: 900 } };
      const { id, plans, failed } = await plan(body);
      assert.deepEqual([plans.map(({ domain_id }) => domain_id), failed.map((f) => f.domain_id)], [[one.id], [two.id]]);
      assert.equal(failed[0]?.code, 500002);
      done(await apply(id));
      assert.deepEqual((await group(admin, id)).failed.length, 1);
      rmSync(one.path);
      const all = await admin.post('/api/plans', { ...body, set: { ttl: 901 } } as never);
      assert.deepEqual([all.code, all.status], [500002, 500]);
    });

    it('judge rights and guards of all domains before anything is done', async () => {
      const [one, two, mails] = [
        await zone([a('sel', 51)]),
        await zone([a('sel', 51)]),
        await zone([{ host: 'm', type: 'MX', value: 'mail.example.net.', priority: 10, ttl: 300 }, a('kept', 52)]),
      ];
      const { client } = await user('half', [one.id], [two.id]);
      const { id } = await plan({ where: { value: '192.0.2.51' }, set: { ttl: 900 } });
      assert.deepEqual(
        (await group(client, id)).plans.map(({ changes }) => changes.map(({ allowed }) => allowed)),
        [[true], [false]],
      );
      refused(await apply(id, {}, client), 403, 403001);
      assert.deepEqual(await one.now(), ['sel 300 A 192.0.2.51']);
      assert.equal((await group(client, id)).state, 'open');
      const only = await user('other', [one.id]);
      const shown = await group(only.client, id);
      assert.deepEqual([shown.plans.map(({ domain_id }) => domain_id), shown.hidden_domains], [[one.id], 1]);
      refused(await apply(id, {}, only.client), 403, 403001);
      refused(await only.client.delete(`/api/plans/${id as number}`), 403, 403001);
      refused(await (await user('none', [])).client.get(`/api/plans/${id as number}`), 404, 404001);
      done(await apply(id));

      const record = done(await admin.get(`${mails.base}/records?type=MX`)).list[0]?.id;
      const guarded = await plan({
        domains: [
          { domain_id: one.id, changes: [create('more', 1)] },
          { domain_id: mails.id, changes: [{ op: 'delete', id: record }] },
        ],
      });
      const { data } = refused(await apply(guarded.id), 409, 409003);
      assert.deepEqual(
        (data as unknown as { guards: { key: string; domain_id: number }[] }).guards.map((g) => [g.key, g.domain_id]),
        [['last_mx', mails.id]],
      );
      assert.deepEqual(await one.now(), ['sel 900 A 192.0.2.51']);
      done(await apply(guarded.id, { force: ['last_mx'] }));
    });

    it('wait for the approval of a domain that asks for one, while the others are applied', async () => {
      const [one, two] = [await zone(), await zone()];
      const approval = { for: 'all', by: { role: 2 }, own: true };
      done(await admin.put(two.base, { approval } as never));
      const { id } = await plan({ domains: [one, two].map((z) => ({ domain_id: z.id, changes: [create('w', 1)] })) });
      const answer = await apply(id);
      assert.deepEqual([answer.status, states(answer.data)], [207, ['applied', 'waiting']]);
      assert.deepEqual(await two.now(), []);
      ended(await admin.post(`/api/plans/${answer.data.domains[1]?.plan_id as number}/approve`, {}));
      assert.deepEqual(states(await group(admin, id)), ['applied', 'applied']);
      assert.deepEqual(await two.now(), ['w 300 A 192.0.2.1']);
    });

    it('are discarded with all of their plans, and read as text', async () => {
      const [one, two] = [await zone(), await zone()];
      const { id, plans } = await plan({
        domains: [one, two].map((z) => ({ domain_id: z.id, changes: [create('t', 1)] })),
      });
      const text = async (accept: string) => {
        const headers = { authorization: `Bearer ${service.token}`, accept };
        return (await fetch(`${service.server.url}/api/plans/${id as number}`, { headers })).text();
      };
      const line = ' 1 created, 0 changed, 0 deleted';
      const diffOf = ({ name }: { name: string }) => `--- ${name}\n+++ ${name}\n@@${line} @@\n+t 300 IN A 192.0.2.1\n`;
      assert.equal(await text('text/plain'), diffOf(one) + diffOf(two));
      assert.match(await text('text/markdown'), new RegExp(`^### ${one.name}:.*\\n[^]*\\n### ${two.name}:`));
      // alone, none of them is
      refused(await admin.delete(`/api/plans/${plans[0]?.id as number}`), 409, 409001);
      done(await admin.delete(`/api/plans/${id as number}`));
      refused(await admin.delete(`/api/plans/${id as number}`), 409, 409001);
      refused(await apply(id), 409, 409001);
      assert.equal(done(await admin.get(`/api/plans/${plans[0]?.id as number}`)).state, 'discarded');
    });

    it('are applied by one of two who do so at the same moment; so is a plan of one domain', async () => {
      const zones = [await zone(), await zone(), await zone()];
      const { id } = await plan({ domains: zones.map((z) => ({ domain_id: z.id, changes: [create('o', 1)] })) });
      const both = await Promise.all([apply(id), apply(id)]);
      assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409]);
      for (const { now } of zones) assert.deepEqual(await now(), ['o 300 A 192.0.2.1']);
      const [single] = zones as [(typeof zones)[0]];
      for (let round = 1; round <= 5; round++) {
        const body = { changes: [create(`r${round}`, 1)] as never };
        const answer = await admin.post(`${single.base}/plans`, body);
        const one = made(answer);
        assert.equal(answer.headers.get('location'), `/api/plans/${one.id as number}`);
        const codes = (await Promise.all([apply(one.id), apply(one.id)])).map(({ code }) => code).toSorted();
        assert.deepEqual(codes, [0, 409001]);
      }
    });

    it('go with the rights of who applies them, as these are at each domain', async () => {
      const [one, two] = [await zone([a('late', 61)]), await zone([a('late', 61)])];
      const late = await user('late', [one.id, two.id]);
      const { id } = await plan({ where: { value: '192.0.2.61' }, set: { ttl: 900 } }, late.client);
      done(await admin.put(`/api/users/${late.id}`, { status: 0 } as never));
      assert.equal((await apply(id, {}, late.client)).status, 401);
      done(await apply(id));
      assert.deepEqual([await one.now(), await two.now()], [['late 900 A 192.0.2.61'], ['late 900 A 192.0.2.61']]);
    });
  });

for (const { kind, skip } of databases('one'))
  (skip ? describe.skip : describe)(`a plan over many domains whose process dies, on ${kind}`, () => {
    let service: Service;
    let server: ServerProcess;
    let env: Record<string, string>;

    beforeAll(async () => {
      service = await startService(kind);
      const { dataDir } = service.server;
      env = {
        ...{ DATABASE_URL: service.databaseUrl, UNCLEAR_AFTER_MS: '500' },
        ...{ NODE_OPTIONS: `--import=${PRELOADED}`, KILL_AT_FILE: join(dataDir, 'kill-at') },
      };
      await service.server.stop();
      server = await ServerProcess.start(env, dataDir);
    });
    afterAll(async () => {
      await server?.kill();
      await service?.stop();
    });

    it('goes on where it was: each domain is applied, exactly once', async () => {
      const { dataDir } = service.server;
      let client = server.as(service.token);
      const account = await addAccount(client, 'zonefile', {});
      const left: number[] = [];
      for (const at of ['before 6', 'after 25', 'before 70', 'before 110', 'after 150', 'after 165']) {
        const ids: number[] = [];
        for (const n of [1, 2, 3, 4])
          ids.push(await addDomain(client, account, `kill${n}-${at.replace(' ', '')}.example`, true));
        const { id } = made(
          await client.post('/api/plans', {
            domains: ids.map((domain_id) => ({ domain_id, changes: [create('a', 1), create('b', 2)] })) as never,
          }),
        );
        writeFileSync(env.KILL_AT_FILE as string, at);
        await client.post(`/api/plans/${id as number}/apply`, {}).catch(() => null);
        await server.kill();
        rmSync(env.KILL_AT_FILE as string, { force: true });
        server = await ServerProcess.start(env, dataDir);
        client = server.as(service.token);
        const before = await group(client, id);
        // before it was taken there is nothing to go on with
        if (before.state === 'open') await client.post(`/api/plans/${id as number}/apply`, {});
        left.push(before.domains?.filter(({ state }) => state !== 'applied').length ?? 0);
        let seen = before;
        await until(
          `all is applied, killed ${at}`,
          async () => {
            seen = await group(client, id);
            return seen.state === 'applied' && !states(seen)?.includes('running');
          },
          120_000,
        );
        assert.deepEqual(states(seen), ['applied', 'applied', 'applied', 'applied'], JSON.stringify(seen.domains));
        for (const domain of ids) {
          const { list } = done(await client.get(`/api/domains/${domain}/changes`));
          // one that was cut off before anything was written changed nothing, and was tried once more
          const applied = list.filter(({ door }) => door === 'plan').map(({ counts }) => counts.applied);
          assert.deepEqual(
            applied.filter((n) => n > 0),
            [2],
          );
          const records = done(await client.get(`/api/domains/${domain}/records?refresh=true&type=A`)).list;
          assert.deepEqual(records.map(({ host }) => host).toSorted(), ['a', 'b']);
        }
      }
      assert.ok(
        left.some((n) => n > 0),
        `no run was cut off: ${left.join(', ')}`,
      );
    }, 600_000);
  });
