import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { ApprovalsService } from '../../src/records/plans/approvals.service.js';
import { steerClock } from '../support/clock.js';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Answer, applicationOf, type Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { startTargets, type Targets } from '../support/targets.js';
import { addAccount, addDomain, done, ended, made, refused, startWorld, until, type World } from '../support/world.js';

interface Plan {
  id: number;
  state: string;
  summary: { create: number; update: number; delete: number };
  created_by: { username: string | null; token_name: string | null };
  guards: { key: string }[];
}
const a = (host: string, value = '192.0.2.1') => ({ host, type: 'A', value, ttl: 300 });
const [PRIMARY, BACKUP] = ['127.0.2.1', '127.0.3.1'];

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`approval, on ${kind}`, () => {
    let world: World;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    let people: Record<'owner' | 'writer' | 'approver' | 'blind', { id: number; client: Client; token: string }>;
    let team: number;
    let at: `/api/domains/${number}`;
    let cloudflare: Cloudflare;
    let targets: Targets;

    beforeAll(async () => {
      world = await startWorld(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = world);
      ({ db, close } = await openDatabase(world.databaseUrl, world.server.dataDir));
      done(await admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0, user: 0, token: 0 } }));
      const channel = { id: 'hook', type: 'webhook', name: 'Hook', config: { url: 'http://127.0.0.1:9/' } };
      const channels = [{ ...channel, events: ['plan.waiting', 'plan.decided'] }];
      done(await admin.put('/api/settings/notifications', { channels }));
      at = `/api/domains/${world.domain}`;
      team = made(await admin.post('/api/teams', { name: 'writers' })).id;
      const right = { domain_id: world.domain, permission: 'write' };
      made(await admin.post(`/api/teams/${team}/permissions`, right));
      const person = async (username: string, inTeam: boolean) => {
        const user = { username, password: `${username}-secret` };
        const id = await addUser(db, user, 1);
        if (inTeam) made(await admin.post(`/api/teams/${team}/members`, { user_id: id }));
        const client = world.server.as(await world.server.login(user));
        return { id, client, token: made(await client.post('/api/tokens', { name: 'ci' })).token };
      };
      people = {
        owner: await person('owner', false),
        writer: await person('writer', true),
        approver: await person('approver', true),
        blind: await person('blind', false),
      };
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [people.owner.id, world.domain]);
      targets = await startTargets();
      cloudflare = await startCloudflare('tunnel.example');
    });
    afterEach(async () => {
      done(await admin.put(at, { approval: { for: 'none' }, freeze: null, guards: {} }));
    });
    afterAll(async () => {
      await close?.();
      await world?.stop();
      await targets?.stop();
      await cloudflare?.stop();
    });

    const by = () => ({ user_ids: [people.approver.id, people.blind.id] });
    const needs = async (rules: object = {}) =>
      done(await admin.put(at, { approval: { for: 'all', by: by(), ...rules } }));
    /** The plan of a write that waits. */
    const waits = (answer: Answer): Plan => {
      assert.equal(answer.status, 202, `${answer.status} ${answer.msg} ${JSON.stringify(answer.data)}`);
      const plan = answer.data as unknown as Plan;
      assert.deepEqual([answer.code, plan.state], [0, 'waiting']);
      assert.equal(answer.headers.get('location'), `/api/plans/${plan.id}`);
      return plan;
    };
    const decide = (
      client: Client,
      { id }: Pick<Plan, 'id'>,
      what: 'approve' | 'reject' = 'approve',
      body: object = {},
    ) => client.post(`/api/plans/${id}/${what}` as `/api/plans/${number}/approve`, body);
    const state = async ({ id }: Pick<Plan, 'id'>) => done(await admin.get(`/api/plans/${id}`)).state;
    const hosts = async () => {
      const { list } = done(await admin.get(world.records));
      return list.filter(({ type }) => type === 'A').map(({ host, value }) => `${host} ${value}`);
    };
    const clear = async () => {
      done(await admin.put(at, { approval: { for: 'none' } }));
      for (const { id, type } of done(await admin.get(world.records)).list)
        if (type !== 'SOA' && type !== 'NS') done(await admin.delete(`${world.records}/${id}`));
    };

    it('is set by the owner and administrators, who name somebody; tokens cannot', async () => {
      const { approval } = done(await people.owner.client.put(at, { approval: { for: 'all', by: by() } }));
      assert.deepEqual(approval, { for: 'all', by: by(), own: false });
      refused(await people.writer.client.put(at, { approval: { for: 'none' } }), 403, 403001);
      refused(await world.server.as(people.owner.token).put(at, { approval: { for: 'none' } }), 403, 403001);
      const wrong: [object, string][] = [
        [{ for: 'all' }, 'approval.by'],
        [{ for: 'all', by: {} }, 'approval.by'],
        [{ for: 'some', by: by() }, 'approval.for'],
        [{ for: 'all', by: { role: 4 } }, 'approval.by.role'],
        [{ for: 'all', by: { user_ids: [people.owner.id, 99_999] } }, 'approval.by.user_ids.1'],
        [{ for: 'all', by: { team_id: 99_999 } }, 'approval.by.team_id'],
        // a team that one does not see is none
        [{ for: 'all', by: { team_id: team } }, 'approval.by.team_id'],
      ];
      for (const [body, path] of wrong) {
        const { data } = refused(await people.owner.client.put(at, { approval: body }), 400, 400001);
        assert.deepEqual(
          data.errors?.map((one) => one.path),
          [path],
          JSON.stringify(body),
        );
      }
      const { list } = done(await admin.get('/api/audit/logs?action=domain.update'));
      const entry = list.find(({ result }) => result === 'ok');
      assert.equal((entry?.after as { approval: { for: string } } | undefined)?.approval.for, 'all');
    });

    it('makes every write wait as a plan, and applies it in the name of who asked', async () => {
      const { id } = made(await admin.post(world.records, a('there')));
      await needs();
      const { client } = people.writer;
      const ask: (() => Promise<Answer>)[] = [
        async () => client.post(world.records, a('new')) as Promise<Answer>,
        async () => client.put(`${world.records}/${id}`, { value: '192.0.2.2' }) as Promise<Answer>,
        async () => client.patch(`${world.records}/${id}/status`, { enabled: false }) as Promise<Answer>,
        async () => client.delete(`${world.records}/${id}`) as Promise<Answer>,
        async () =>
          client.post(`${world.records}/batch`, { changes: [{ op: 'create', ...a('two') }] }) as Promise<Answer>,
        async () => client.put(`${at}/rrsets/set/A`, { values: ['192.0.2.3'], ttl: 300 }) as Promise<Answer>,
        async () => client.delete(`${at}/rrsets/there/A`) as Promise<Answer>,
        async () => world.server.as(people.writer.token).post(world.records, a('token')) as Promise<Answer>,
      ];
      const plans: Plan[] = [];
      for (const one of ask) plans.push(waits(await one()));
      assert.deepEqual(await hosts(), ['there 192.0.2.1']);
      // deleting it by its id, and by its set, is one wish
      assert.equal(new Set(plans.map((one) => one.id)).size, 7);
      assert.equal(plans[7]?.created_by.token_name, 'ci');
      const listed = done(await client.get(`${at}/plans?state=waiting`));
      assert.equal(listed.total, 7);
      assert.ok(listed.list.every((one) => one.state === 'waiting'));
      const first = plans[0] as Plan;
      ended(await decide(people.approver.client, first, 'approve', { comment: 'fits' }));
      const [change] = done(await admin.get(`${at}/changes?limit=1`)).list;
      assert.deepEqual(
        [change?.actor.username, change?.approved_by?.username, change?.door],
        ['writer', 'approver', 'api'],
      );
      const after = done(await client.get(`/api/plans/${first.id}`));
      assert.deepEqual(
        [after.state, after.decided_by?.username, after.decision, after.change_set_id],
        ['applied', 'approver', 'fits', change?.id],
      );
      refused(await decide(people.approver.client, first), 409, 409001);
      refused(await decide(people.approver.client, first, 'reject'), 409, 409001);
      const byToken = plans[7] as Plan;
      ended(await decide(people.approver.client, byToken));
      assert.deepEqual(await hosts(), ['there 192.0.2.1', 'new 192.0.2.1', 'token 192.0.2.1']);
      const [log] = done(await admin.get('/api/audit/logs?action=changes.approve&limit=1')).list;
      assert.deepEqual([log?.actor.username, log?.target?.id], ['approver', byToken.id]);
      await world.agree();
      await clear();
    });

    it('is given by who is named, reads all of it and did not ask, and never by a token', async () => {
      await needs();
      const plan = waits((await people.writer.client.post(world.records, a('who'))) as Answer);
      refused(await decide(people.owner.client, plan), 403, 403001);
      refused(await decide(admin, plan), 403, 403001);
      refused(await decide(people.writer.client, plan), 403, 403001);
      refused(await decide(world.server.as(people.approver.token), plan), 403, 403001);
      // somebody who is named and may not read the domain
      refused(await decide(people.blind.client, plan), 404, 404001);
      const own = waits((await world.server.as(people.approver.token).post(world.records, a('own'))) as Answer);
      refused(await decide(people.approver.client, own), 403, 403001);
      assert.deepEqual([await state(plan), await state(own)], ['waiting', 'waiting']);
      await needs({ own: true });
      ended(await decide(people.approver.client, own));
      await needs({ by: { role: 3 } });
      ended(await decide(admin, plan));
      const teams = done(await admin.put(at, { approval: { for: 'all', by: { team_id: team } } }));
      assert.deepEqual(teams.approval.by, { team_id: team });
      const last = waits((await people.writer.client.post(world.records, a('team'))) as Answer);
      refused(await decide(people.owner.client, last), 403, 403001);
      ended(await decide(people.approver.client, last));
      await clear();
    });

    it('is asked for once for the same wish, and the answer is given again under its key', async () => {
      await needs();
      const { client } = people.writer;
      const plan = waits((await client.post(world.records, a('twice'))) as Answer);
      const [again, third] = await Promise.all(
        [1, 2].map(async () => waits((await client.post(world.records, a('twice'))) as Answer)),
      );
      assert.deepEqual([again?.id, third?.id], [plan.id, plan.id]);
      const other = waits((await people.owner.client.post(world.records, a('twice'))) as Answer);
      assert.notEqual(other.id, plan.id);
      const told = done(await admin.get('/api/system/notifications?event=plan.waiting')).list[0];
      assert.match(told?.text ?? '', new RegExp(`^plan ${other.id} of example.com waits .* asked for by owner$`));
      const send = () =>
        fetch(`${world.server.url}${world.records}`, {
          method: 'POST',
          headers: {
            ...{ authorization: `Bearer ${people.writer.token}`, 'content-type': 'application/json' },
            'idempotency-key': `wait-${kind}`,
          },
          body: JSON.stringify(a('keyed')),
        });
      const [one, two] = [await send(), await send()];
      assert.deepEqual([one.status, two.status, two.headers.get('idempotent-replayed')], [202, 202, 'true']);
      assert.equal(await one.text(), await two.text());
    });

    it('ends in a refusal, of which who asked is told, or with a plan that they discard', async () => {
      await needs();
      const plan = waits((await people.writer.client.post(world.records, a('no'))) as Answer);
      const answer = await decide(people.approver.client, plan, 'reject', { comment: 'not before Monday' });
      const view = done(answer) as unknown as { state: string; decision: string };
      assert.deepEqual([view.state, view.decision], ['rejected', 'not before Monday']);
      const told = done(await admin.get('/api/system/notifications?event=plan.decided')).list[0];
      assert.match(told?.text ?? '', /asked for by writer, was rejected by approver: not before Monday$/);
      refused(await decide(people.approver.client, plan), 409, 409001);
      const next = waits((await people.writer.client.post(world.records, a('no'))) as Answer);
      assert.notEqual(next.id, plan.id);
      refused(await people.writer.client.post(`/api/plans/${next.id}/apply`, {}), 409, 409001);
      done(await people.writer.client.delete(`/api/plans/${next.id}`));
      refused(await decide(people.approver.client, next), 409, 409001);
      assert.deepEqual(await hosts(), []);
    });

    it('judges the rights of who asked when it is given', async () => {
      await needs();
      const ask = async (host: string, client = people.writer.client) =>
        waits((await client.post(world.records, a(host))) as Answer);
      const gone = await ask('gone');
      done(await admin.delete(`/api/teams/${team}/members/${people.writer.id}`));
      assert.match(refused(await decide(people.approver.client, gone), 403, 403001).msg, /writer/);
      assert.equal(await state(gone), 'rejected');
      made(await admin.post(`/api/teams/${team}/members`, { user_id: people.writer.id }));
      const { token, tokenData } = made(await people.writer.client.post('/api/tokens', { name: 'short' }));
      const byToken = await ask('token', world.server.as(token));
      done(await people.writer.client.delete(`/api/tokens/${tokenData.id}`));
      refused(await decide(people.approver.client, byToken), 403, 403001);
      const disabled = await ask('disabled');
      done(await admin.put(`/api/users/${people.writer.id}`, { status: 0 }));
      refused(await decide(people.approver.client, disabled), 403, 403001);
      done(await admin.put(`/api/users/${people.writer.id}`, { status: 1 }));
      people.writer.client = world.server.as(
        await world.server.login({ username: 'writer', password: 'writer-secret' }),
      );
      assert.deepEqual([await state(byToken), await state(disabled), await hosts()], ['rejected', 'rejected', []]);
    });

    it('does not outlive what stands there, and waits in a freeze', async () => {
      await needs();
      const plan = waits((await people.writer.client.post(world.records, a('stale'))) as Answer);
      const day = 86_400_000;
      const [from, end] = [-day, day].map((ms) => new Date(Date.now() + ms).toISOString());
      done(await admin.put(at, { freeze: { from, until: end, reason: 'sale' } }));
      refused(await decide(people.approver.client, plan), 423, 423002);
      assert.equal(await state(plan), 'waiting');
      refused(await people.writer.client.post(world.records, a('frozen')), 423, 423002);
      done(await admin.put(at, { freeze: null }));
      const records = [{ content: '192.0.2.99', disabled: false }];
      const set = { name: 'stale.example.com.', type: 'A', ttl: 60, changetype: 'REPLACE', records };
      await world.pdns.api('PATCH', '/zones/example.com.', { rrsets: [set] });
      const { data } = refused(await decide(people.approver.client, plan), 412, 412001);
      assert.equal((data as unknown as { differences: object[] }).differences.length, 1);
      assert.equal(await state(plan), 'stale');
      await clear();
    });

    it('is given once, by whoever of two is the first', async () => {
      await needs();
      const plan = waits((await people.writer.client.post(world.records, a('race'))) as Answer);
      const answers = await Promise.all([1, 2].map(() => decide(people.approver.client, plan)));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
      assert.deepEqual(await hosts(), ['race 192.0.2.1']);
      await clear();
    });

    it('that a process did not live to carry out is waited for again', async () => {
      await needs();
      const plan = waits((await people.writer.client.post(world.records, a('cut-off'))) as Answer);
      await db.run("UPDATE plans SET state = 'approved', decider = 'gone' WHERE id = ?", [plan.id]);
      const approvals = applicationOf(world.server.dataDir)?.get(ApprovalsService) as ApprovalsService;
      await approvals.release();
      const { state: now, decided_by } = done(await admin.get(`/api/plans/${plan.id}`));
      assert.deepEqual([now, decided_by], ['waiting', null]);
      done(await decide(people.approver.client, plan));
      assert.deepEqual(await hosts(), ['cut-off 192.0.2.1']);
      await clear();
    });

    it('may be for what meets a guard alone; a plan that is applied waits itself', async () => {
      await needs({ for: 'guarded' });
      const { client } = people.writer;
      const { id } = made(await client.post(world.records, a('free')));
      done(await admin.put(at, { guards: { ttl_floor: 'warn' } }));
      const low = waits((await client.put(`${world.records}/${id}`, { ttl: 30 })) as Answer);
      assert.deepEqual(
        low.guards.map(({ key }) => key),
        ['ttl_floor'],
      );
      ended(await decide(people.approver.client, low));
      done(await admin.put(at, { guards: { ttl_floor: 'force' } }));
      const lower = { ...a('lower'), ttl: 20 };
      refused(await client.post(world.records, lower), 409, 409003);
      ended(
        await decide(
          people.approver.client,
          waits((await client.post(`${world.records}?force=ttl_floor`, lower)) as Answer),
        ),
      );
      const plan = made(await client.post(`${at}/plans`, { records: [{ ...a('planned'), ttl: 20 }, a('besides')] }));
      refused(await client.post(`/api/plans/${plan.id as number}/apply`, {}), 409, 409003);
      const itself = waits(
        (await client.post(`/api/plans/${plan.id as number}/apply`, { force: ['ttl_floor'] })) as Answer,
      );
      assert.equal(itself.id, plan.id);
      ended(await decide(people.approver.client, itself));
      assert.deepEqual(
        await hosts(),
        ['free', 'lower', 'planned', 'besides'].map((host) => `${host} 192.0.2.1`),
      );
      await clear();
    });

    it('refuses a list whole of which a change does not fit', async () => {
      made(await admin.post(world.records, a('there')));
      await needs();
      const changes = [
        { op: 'create', ...a('there') },
        { op: 'create', ...a('fits') },
      ];
      refused(await people.writer.client.post(`${world.records}/batch`, { changes }), 409, 409001);
      assert.equal(done(await admin.get(`${at}/plans?state=waiting&limit=1`)).list[0]?.state ?? 'waiting', 'waiting');
      await clear();
    });

    it('shows a token with rules what it may read', async () => {
      await needs();
      const rules = [{ effect: 'allow', hosts: ['seen'] }];
      const narrow = made(
        await people.owner.client.post('/api/tokens', {
          ...{ name: 'narrow', allowed_services: ['records:read', 'records:write'], rules },
        }),
      );
      const client = world.server.as(narrow.token);
      const hidden = waits((await people.writer.client.post(world.records, a('hidden'))) as Answer);
      const view = done(await client.get(`/api/plans/${hidden.id}`));
      assert.deepEqual([view.changes, view.hidden, view.base], [[], 1, '']);
      const own = waits((await client.post(world.records, a('seen'))) as Answer);
      assert.equal(done(await client.get(`/api/plans/${own.id}`)).changes.length, 1);
      ended(await decide(people.approver.client, own));
      await clear();
    });

    it('of a switch of failover waits once, in the name of the maker of its rule', async () => {
      await targets.up(PRIMARY, BACKUP);
      done(await people.owner.client.put(`${at}/rrsets/fo/A`, { values: [PRIMARY], ttl: 60 }));
      const check = { kind: 'tcp', port: targets.port, interval_s: 1, timeout_s: 1, fall: 1, rise: 1 };
      const rule = { host: 'fo', type: 'A', primary: [PRIMARY], backup: [BACKUP], check };
      done(await people.writer.client.post(`${at}/failover`, { enabled: true, rules: [rule] }));
      const only = async () => done(await admin.get(`${at}/failover`)).rules[0]?.state;
      await until('both are known', async () => (await only())?.values.every(({ up }) => up) ?? false);
      await needs();
      const waiting = async () =>
        done(await admin.get(`${at}/plans?state=waiting`)).list.filter(({ door }) => door === 'failover');
      await targets.down(PRIMARY);
      await until('it asks', async () => /waits for an approval/.test((await only())?.failure ?? ''));
      const [plan] = await waiting();
      assert.ok(plan?.id);
      assert.equal(plan.created_by.username, 'writer');
      // another try, 5 s later, finds it
      const tries = async () => done(await admin.get(`${at}/changes?door=failover`)).total;
      const clock = steerClock();
      try {
        for (let second = 0; second < 10; second++) {
          await clock.advance(1000);
          await waiting();
        }
      } finally {
        clock.release();
      }
      assert.deepEqual(
        (await waiting()).map(({ id }) => id),
        [plan.id],
      );
      assert.equal(await tries(), 0);
      ended(await decide(people.approver.client, { id: plan.id }));
      await until('it is switched', async () => (await only())?.active === 'backup');
      await until('it says no failure', async () => (await only())?.failure === null);
      // what it wants no more waits no more
      await targets.up(PRIMARY);
      await until('it asks to go back', async () => (await waiting()).length === 1);
      await targets.down(PRIMARY);
      await until('that is discarded', async () => (await waiting()).length === 0);
      done(await admin.put(at, { approval: { for: 'none' } }));
      done(await admin.delete(`${at}/failover`));
      await clear();
    });

    it('of the CNAMEs of a tunnel waits, and the tunnel is there', async () => {
      const cloud = await addAccount(admin, 'cloudflare', { api_token: 'token', endpoint: cloudflare.url });
      const domain = `/api/domains/${await addDomain(admin, cloud, 'tunnel.example')}` as const;
      done(await admin.put(domain, { approval: { for: 'all', by: { role: 3 }, own: true } }));
      const ingress = [{ hostname: 'app.tunnel.example', service: 'http://localhost:1' }];
      const tunnel = made(await admin.post('/api/tunnels', { account_id: cloud, name: 'one', ingress }));
      const [plan] = done(await admin.get(`${domain}/plans?state=waiting`)).list;
      assert.match(tunnel.unmanaged[0]?.reason ?? '', new RegExp(`plan ${plan?.id}\\b`));
      ended(await decide(admin, { id: plan?.id as number }));
      const names = () => (cloudflare.zones.get('tunnel.example') ?? []).map(({ name }) => name);
      assert.deepEqual(names(), ['app.tunnel.example']);
      done(await admin.delete(`/api/tunnels/${tunnel.id}`));
      const [gone] = done(await admin.get(`${domain}/plans?state=waiting`)).list;
      ended(await decide(admin, { id: gone?.id as number }));
      assert.deepEqual(names(), []);
    });
  });
