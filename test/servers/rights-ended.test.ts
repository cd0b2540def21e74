import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { FailoverRulesRepository } from '../../src/monitoring/failover/failover-rules.repository.js';
import type { FollowedRule } from '../../src/monitoring/failover/rule.js';
import { RuleRights } from '../../src/monitoring/failover/rule-rights.service.js';
import type { Db } from '../../src/platform/database/db.js';
import { Jobs } from '../../src/platform/jobs/jobs.js';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { applicationOf, type Client } from '../support/server.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless, thorough } from '../support/suites.js';
import { startTargets, type Targets } from '../support/targets.js';
import {
  addAccount,
  addDomain,
  done,
  made,
  powerdnsLines,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

const [PRIMARY, BACKUP] = ['127.0.2.1', '127.0.3.1'];
const PAST = '2020-01-01T00:00:00.000Z';

/** Somebody with a right on the domain, by a team, and with a token; `client` is how they come. */
interface Maker {
  name: string;
  id: number;
  team: number;
  permission: number;
  token: number;
  client: Client;
}

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`what acts later when the right of its maker ended, on ${kind}`, () => {
    let world: World;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    let owner: Client;
    let targets: Targets;
    let cloudflare: Cloudflare;
    let cloud: number;
    let count = 0;

    beforeAll(async () => {
      world = await startWorld(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = world);
      ({ db, close } = await openDatabase(world.databaseUrl, world.server.dataDir));
      done(await admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0, user: 0, token: 0 } }));
      const channel = { id: 'hook', type: 'webhook', name: 'Hook', config: { url: 'http://127.0.0.1:9/' } };
      const channels = [{ ...channel, events: ['rights.ended', 'failover.failed'] }];
      done(await admin.put('/api/settings/notifications', { channels }));
      // nobody listens there: mails stay to be seen
      done(
        await admin.put('/api/settings/smtp', { enabled: true, host: '127.0.0.1', port: 9, from: 'dns@example.com' }),
      );
      const user = { username: 'owner', password: 'owner-secret' };
      const id = await addUser(db, user);
      await db.run('UPDATE users SET email = ? WHERE id = ?', ['owner@example.com', id]);
      await db.run("UPDATE users SET email = ? WHERE username = 'admin'", ['admin@example.com']);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [id, world.domain]);
      owner = world.server.as(await world.server.login(user));
      targets = await startTargets();
      cloudflare = await startCloudflare('tunnel.example');
      cloud = await addAccount(admin, 'cloudflare', { api_token: 'token', endpoint: cloudflare.url });
      await addDomain(admin, cloud, 'tunnel.example');
    });
    afterAll(async () => {
      await close?.();
      await world?.stop();
      await targets?.stop();
      await cloudflare?.stop();
    });

    const maker = async (byToken: boolean, role = 1): Promise<Maker> => {
      const name = `maker${++count}`;
      const user = { username: name, password: `${name}-secret` };
      const id = await addUser(db, user, role);
      const team = made(await admin.post('/api/teams', { name: `team of ${name}` })).id;
      made(await admin.post(`/api/teams/${team}/members`, { user_id: id }));
      const right = { domain_id: world.domain, permission: 'write' };
      const permission = made(await admin.post(`/api/teams/${team}/permissions`, right)).id;
      const session = world.server.as(await world.server.login(user));
      const { token, tokenData } = made(await session.post('/api/tokens', { name: 'ci' }));
      return { name, id, team, permission, token: tokenData.id, client: byToken ? world.server.as(token) : session };
    };

    const notices = async () =>
      done(await admin.get('/api/system/notifications?event=rights.ended&limit=200')).list.map(({ text }) => text);
    const mails = async () =>
      (await db.rows<{ recipient: string }>("SELECT recipient FROM mails WHERE template = 'notice' ORDER BY id")).map(
        ({ recipient }) => recipient,
      );
    /** That since `before` one notice came of it, and a mail to each who is to know. */
    const toldOnce = async (what: RegExp, before: { notices: number; mails: number }, ...to: string[]) => {
      const fresh = (await notices()).slice(0, -before.notices || undefined);
      assert.equal(fresh.length, 1, fresh.join('\n'));
      assert.match(fresh[0] as string, what);
      assert.deepEqual((await mails()).slice(before.mails), to);
    };
    const told = async () => ({ notices: (await notices()).length, mails: (await mails()).length });
    const zone = async () => powerdnsLines(await world.pdns.zone(world.zone));
    const run = async (name: string) => {
      const job = async () => done(await admin.get(`/api/system/jobs?name=${name}`)).list[0];
      let before = 0;
      await until('it is asked for', async () => {
        const { id = 0, runs = 0 } = (await job()) ?? {};
        before = runs;
        return (await admin.post(`/api/system/jobs/${id}/retry`)).status === 200;
      });
      await until('it has run', async () => ((await job())?.runs ?? 0) > before);
    };

    type End = (maker: Maker) => Promise<unknown>;
    const PERSON: Record<string, End> = {
      'the user is disabled': async ({ id }) => done(await admin.put(`/api/users/${id}`, { status: 0 })),
      'the user is deleted': async ({ id }) => done(await admin.delete(`/api/users/${id}`)),
    };
    const TOKEN: Record<string, End> = {
      'the token is deleted': async ({ id, token }) =>
        db.run('DELETE FROM api_tokens WHERE id = ? AND user_id = ?', [token, id]),
      'the token is disabled': async ({ token }) =>
        db.run('UPDATE api_tokens SET is_active = ? WHERE id = ?', [false, token]),
      'the token has expired': async ({ token }) =>
        db.run('UPDATE api_tokens SET end_time = ? WHERE id = ?', [PAST, token]),
    };
    const DOMAIN: Record<string, End> = {
      'the permission is taken away': async ({ permission }) =>
        done(await owner.delete(`/api/domains/${world.domain}/permissions/${permission}`)),
      'the permission is for reading only': async ({ team, permission }) => {
        const path = `/api/teams/${team}/permissions` as const;
        done(await admin.delete(`${path}/${permission}`));
        made(await admin.post(path, { domain_id: world.domain, permission: 'read' }));
      },
      'the team is left': async ({ team, id }) => done(await admin.delete(`/api/teams/${team}/members/${id}`)),
      'the team is deleted': async ({ team }) => done(await admin.delete(`/api/teams/${team}`)),
    };
    const ROLE: Record<string, End> = {
      'the role is lowered': async ({ id }) => done(await admin.put(`/api/users/${id}`, { role: 1 })),
    };
    const ways = (...tables: Record<string, End>[]) => tables.flatMap((table) => Object.entries(table));
    const waysOfRules = (...tables: Record<string, End>[]) =>
      tables.flatMap((table) => Object.entries(table).slice(0, thorough ? undefined : 1));

    describe('a rule of failover', () => {
      const failover = () => `/api/domains/${world.domain}/failover` as const;
      const check = { kind: 'tcp', interval_s: 1, timeout_s: 1, fall: 1, rise: 1 };
      const only = async () => done(await admin.get(failover())).rules[0];

      it.each(waysOfRules(PERSON, DOMAIN, TOKEN))('is held when %s', async (way, end) => {
        const by = await maker(way in TOKEN);
        const host = `fail${count}`;
        await targets.up(PRIMARY, BACKUP);
        done(await admin.put(`/api/domains/${world.domain}/rrsets/${host}/A`, { values: [PRIMARY], ttl: 60 }));
        const rule = { host, type: 'A', primary: [PRIMARY], backup: [BACKUP], notify: false };
        const sent = { ...rule, check: { ...check, port: targets.port } };
        done(await by.client.post(failover(), { enabled: true, rules: [sent] }));
        assert.equal((await only())?.state.made_by, by.id);
        await until('both are up', async () => (await only())?.state.values.every(({ up }) => up) ?? false);
        const before = await told();
        await end(by);
        await targets.down(PRIMARY);
        await until('it is held', async () => (await only())?.hold ?? false);
        await until('the primary is down', async () => (await only())?.state.values[0]?.up === false);
        assert.ok((await zone()).includes(`${host} A - ${PRIMARY} 60 on`), 'nothing was written');
        const held = await only();
        assert.match(held?.state.hold_reason ?? '', /made it|it was made/);
        await toldOnce(new RegExp(`${host}\\.`), before, 'admin@example.com', 'owner@example.com');
        // who sends it back as it is confirms nothing
        done(await owner.post(failover(), done(await owner.get(failover()))));
        assert.deepEqual([(await only())?.hold, (await only())?.state.made_by], [true, by.id]);
        const free = done(await owner.get(failover())).rules.map((one) => ({ ...one, hold: false }));
        done(await owner.post(failover(), { enabled: true, rules: free }));
        await until('it goes on', async () => (await zone()).includes(`${host} A - ${BACKUP} 60 on`));
        done(await admin.delete(failover()));
      });

      it('stays of who made it when somebody else adds another one, and goes on while that one may write', async () => {
        const [first, second] = [await maker(false), await maker(false)];
        const rule = (host: string) => ({
          ...{ host, type: 'A', primary: [PRIMARY], backup: [], check: { ...check, port: targets.port } },
        });
        done(await first.client.post(failover(), { enabled: true, rules: [rule('first')] }));
        const { rules } = done(await second.client.get(failover()));
        const both = done(await second.client.post(failover(), { enabled: true, rules: [rule('second'), ...rules] }));
        const by = both.rules.map(({ state }) => state.made_by);
        assert.deepEqual(by, [second.id, first.id]);
        await PERSON['the user is disabled']?.(second);
        await until('one is held', async () => (await only())?.hold ?? false);
        assert.deepEqual(
          done(await admin.get(failover())).rules.map(({ hold }) => hold),
          [true, false],
        );
        done(await admin.delete(failover()));
      });

      it('is held together with all others of its maker, of which is told once', async () => {
        const [by, another] = [await maker(false), await maker(false)];
        await targets.up(PRIMARY);
        const rule = (host: string) => ({
          ...{ host, type: 'A', primary: [PRIMARY], backup: [], notify: true },
          check: { ...check, interval_s: 10, port: targets.port },
        });
        const hosts = Array.from({ length: 120 }, (_, i) => `many${i}`);
        done(await by.client.post(failover(), { enabled: true, rules: hosts.map(rule) }));
        const { rules } = done(await another.client.get(failover()));
        done(await another.client.post(failover(), { enabled: true, rules: [...rules, rule('another')] }));
        const before = await told();
        const failures = async () => done(await admin.get('/api/system/notifications?event=failover.failed&limit=200'));
        const failed = (await failures()).total;
        await PERSON['the user is disabled']?.(by);
        const held = async () => done(await admin.get(failover())).rules.filter(({ hold }) => hold);
        await until('all are held', async () => (await held()).length === hosts.length);
        assert.ok((await held()).every(({ state }) => /is disabled/.test(state.hold_reason ?? '')));
        const words = /^failover of 120 rules: .* is disabled\. The rules are on hold.*many0\..* and 110 more$/;
        await toldOnce(words, before, 'admin@example.com', 'owner@example.com');
        assert.equal((await failures()).total - failed, 1);
        const logs = done(await admin.get('/api/audit/logs?action=failover.hold&limit=200')).list;
        assert.equal(logs.filter(({ target }) => /^many/.test(target?.name ?? '')).length, hosts.length);
        done(await admin.delete(failover()));
      });

      it('is told of with all others of its maker also when what they watch goes down at once', async () => {
        const by = await maker(false);
        await targets.up(PRIMARY, BACKUP);
        const rules = Array.from({ length: 5 }, (_, i) => ({
          ...{ host: `down${count}-${i}`, type: 'A', primary: [PRIMARY], backup: [BACKUP] },
          check: { ...check, port: targets.port },
        }));
        done(await by.client.post(failover(), { enabled: true, rules }));
        const all = async () => done(await admin.get(failover())).rules;
        await until('all are up', async () =>
          (await all()).every(({ state }) => state.values.every(({ up }) => up === true)),
        );
        const before = await told();
        await PERSON['the user is disabled']?.(by);
        await targets.down(PRIMARY);
        await until('all are held', async () => (await all()).every(({ hold }) => hold));
        await toldOnce(/^failover of 5 rules: /, before, 'admin@example.com', 'owner@example.com');
        done(await admin.delete(failover()));
      });

      it('has the owners of many rules without a maker asked for in few statements', async () => {
        const rule = { type: 'A', primary: [PRIMARY], backup: [], check: { ...check, port: targets.port } };
        done(await owner.post(failover(), { enabled: true, rules: [{ host: 'one', ...rule }] }));
        const app = applicationOf(world.server.dataDir);
        const stored = (await app?.get(FailoverRulesRepository).followed())?.[0] as FollowedRule;
        const many = Array.from({ length: 150 }, (_, i) => ({ ...stored, id: i + 1, maker_id: null }));
        const statements = tellStatements();
        const standings = await app?.get(RuleRights).of(many);
        const sent = statements().filter(({ sql }) => / FROM domains /.test(sql));
        assert.deepEqual(
          [...(standings?.values() ?? [])],
          many.map(() => ({ ended: null, inside: false })),
        );
        assert.ok(sent.length < 10, `${sent.length} statements`);
        done(await admin.delete(failover()));
      });

      it('is held when the owner of the domain, who made it, was deleted', async () => {
        const account = await addAccount(admin, 'powerdns', { url: world.proxy.url, api_key: world.pdns.apiKey });
        await world.pdns.createZone('gone.example');
        const domain = await addDomain(admin, account, 'gone.example');
        const by = await maker(false);
        await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [by.id, domain]);
        const path = `/api/domains/${domain}/failover` as const;
        const rule = {
          host: 'www',
          type: 'A',
          primary: [PRIMARY],
          backup: [],
          check: { ...check, port: targets.port },
        };
        done(await by.client.post(path, { enabled: true, rules: [rule] }));
        // as it was stored by the version before
        await db.run('UPDATE failover_rules SET maker_id = NULL WHERE domain_id = ?', [domain]);
        await PERSON['the user is deleted']?.(by);
        await until('it is held', async () => done(await admin.get(path)).rules[0]?.hold ?? false);
        done(await admin.delete(path));
      });

      it('is not switched when that happens while its account is paused', async () => {
        const by = await maker(false);
        const host = `paused${count}`;
        await targets.up(PRIMARY, BACKUP);
        done(await admin.put(`/api/domains/${world.domain}/rrsets/${host}/A`, { values: [PRIMARY], ttl: 60 }));
        const rule = { host, type: 'A', primary: [PRIMARY], backup: [BACKUP], check: { ...check, port: targets.port } };
        done(await by.client.post(failover(), { enabled: true, rules: [rule] }));
        await until('both are up', async () => (await only())?.state.values.every(({ up }) => up) ?? false);
        let writes = 0;
        world.proxy.fault = async ({ method }, forward) =>
          method === 'PATCH' && ++writes === 1
            ? { status: 429, body: '{}', headers: { 'retry-after': '8' } }
            : forward();
        await targets.down(PRIMARY);
        await until('the provider was asked', async () => writes > 0);
        await PERSON['the user is disabled']?.(by);
        await until('it is held', async () => (await only())?.hold ?? false);
        assert.equal(writes, 1);
        assert.ok((await zone()).includes(`${host} A - ${PRIMARY} 60 on`), 'nothing was written');
        world.proxy.fault = null;
        done(await admin.post(`/api/accounts/${world.account}/resume`));
        done(await admin.delete(failover()));
      });
    });

    describe('a check that reads an inner page', () => {
      const path = () => `/api/domains/${world.domain}/failover` as const;
      const first = async () => done(await admin.get(path())).rules[0];

      it('is of administrators, when it is stored and when it is made', async () => {
        const pages = await startTargets({ answer: (_request, response) => response.end('the inner page') });
        try {
          await pages.up(PRIMARY, '127.0.0.1');
          const [user, boss] = [await maker(false), await maker(false, 2)];
          const check = { kind: 'http', port: pages.port, interval_s: 1, timeout_s: 1, fall: 1, rise: 1 };
          const rule = (expect_body: string | null, of: object = {}) => {
            const plain = { host: `inner${count}`, type: 'A', primary: [PRIMARY], backup: [] };
            return { enabled: true, rules: [{ ...plain, check: { ...check, expect_body }, ...of }] };
          };
          const answer = refused(await user.client.post(path(), rule('inner')), 403, 403001);
          assert.deepEqual(
            [answer.data.errors?.map((e) => e.path), answer.data.required],
            [['rules.0.check.expect_body'], 'role:2'],
          );
          done(await user.client.post(path(), rule(null)));
          await until('it is up', async () => (await first())?.state.values[0]?.up === true);
          // where a name leads is known only when it is looked up
          done(await user.client.post(path(), rule('inner', { type: 'CNAME', primary: ['localhost'] })));
          await until('it is down', async () => (await first())?.state.values[0]?.up === false);
          assert.match((await first())?.state.values[0]?.last_error ?? '', /outbound rules/);
          done(await boss.client.post(path(), rule('inner')));
          await until('it is up', async () => (await first())?.state.values[0]?.up === true);
          await ROLE['the role is lowered']?.(boss);
          await until('it is held', async () => (await first())?.hold ?? false);
          await until('it is not read any more', async () => (await first())?.state.values[0]?.up === false);
          assert.match((await first())?.state.hold_reason ?? '', /no administrator any more/);
          const free = done(await user.client.get(path())).rules.map((one) => ({ ...one, hold: false }));
          refused(await user.client.post(path(), { enabled: true, rules: free }), 403, 403001);
          done(await admin.post(path(), { enabled: true, rules: free }));
          await until('it is up', async () => (await first())?.state.values[0]?.up === true);
          done(await admin.delete(path()));
        } finally {
          await pages.stop();
        }
      });
    });

    describe('a long list that goes on behind its answer', () => {
      it('is held when that happens while its account is paused', async () => {
        const by = await maker(false);
        const changes = Array.from({ length: 450 }, (_, i) => {
          return { op: 'create', host: `paused${count}-${i}`, type: 'A', value: '192.0.2.1', ttl: 60 };
        });
        let writes = 0;
        world.proxy.fault = async ({ method }, forward) =>
          method === 'PATCH' && ++writes === 2
            ? { status: 429, body: '{}', headers: { 'retry-after': '8' } }
            : forward();
        const answer = await by.client.post(`/api/domains/${world.domain}/records/batch`, { changes });
        assert.equal(answer.status, 202, answer.msg);
        await until('the provider wants to be left alone', async () => writes > 1);
        await PERSON['the user is disabled']?.(by);
        const path = `/api/domains/${world.domain}/changes/${answer.data.change_set_id as number}` as const;
        await until('it is held', async () => done(await admin.get(path)).hold_reason !== null);
        assert.equal(writes, 2);
        world.proxy.fault = null;
        done(await admin.post(`/api/accounts/${world.account}/resume`));
        done(await admin.post(`${path}/cancel`));
      });

      it.each(ways(PERSON, DOMAIN, TOKEN))('is held when %s', async (way, end) => {
        const by = await maker(way in TOKEN);
        const name = `list${count}`;
        const changes = Array.from({ length: 450 }, (_, i) => {
          return { op: 'create', host: `${name}-${i}`, type: 'A', value: '192.0.2.1', ttl: 60 };
        });
        const own = async () => (await zone()).filter((line) => line.startsWith(`${name}-`)).length;
        let release = () => undefined as unknown;
        const gate = new Promise((resolve) => {
          release = () => resolve(undefined);
        });
        let reached = false;
        world.proxy.fault = async ({ method }, forward) => {
          if (method === 'PATCH') {
            reached = true;
            await gate;
          }
          return forward();
        };
        const answer = await by.client.post(`/api/domains/${world.domain}/records/batch`, { changes });
        assert.equal(answer.status, 202);
        const path = `/api/domains/${world.domain}/changes/${answer.data.change_set_id as number}` as const;
        await until('the first piece is at the provider', async () => reached);
        const before = await told();
        await end(by);
        world.proxy.fault = null;
        release();
        await until('it is held', async () => done(await admin.get(path)).hold_reason !== null);
        const written = await own();
        assert.ok(written > 0 && written <= 100, `${written}`);
        await toldOnce(/list of changes/, before, 'admin@example.com', 'owner@example.com');
        // a process that finds it later judges, too: nobody has confirmed it
        await db.run('UPDATE change_sets SET hold_reason = NULL WHERE id = ?', [answer.data.change_set_id as number]);
        await run('changes.resume');
        await until('it is held again', async () => done(await admin.get(path)).hold_reason !== null);
        assert.equal(await own(), written);
        if (!(way in PERSON)) refused(await maker(false).then((m) => m.client.post(`${path}0/confirm`)), 404, 404001);
        // who may not make what is left confirms nothing, and nobody is told again
        const rules = [{ effect: 'allow', types: ['TXT'] }];
        const narrow = made(await owner.post('/api/tokens', { name: `narrow${count}`, rules })).token;
        const known = await told();
        refused(await world.server.as(narrow).post(`${path}/confirm`), 403, 403001);
        assert.notEqual(done(await admin.get(path)).hold_reason, null);
        assert.deepEqual(await told(), known);
        // nobody confirmed it for days: it is tried for a day from now on
        await db.run('UPDATE change_sets SET created_at = ? WHERE id = ?', [PAST, answer.data.change_set_id as number]);
        done(await owner.post(`${path}/confirm`));
        await until('it goes on', async () => done(await admin.get(path)).state === 'done');
        const { counts, hold_reason, actor } = done(await admin.get(path));
        assert.deepEqual([counts.applied, hold_reason, actor.user_id], [450, null, by.id]);
        refused(await owner.post(`${path}/confirm`), 409, 409001);
        await world.agree();
      });
    });

    describe('a change of a tunnel that was cut off', () => {
      it.each(ways(PERSON, ROLE, TOKEN))('is held when %s', async (way, end) => {
        const by = await maker(way in TOKEN, 2);
        const name = `tunnel${count}`;
        const ingress = (host: string) => [{ hostname: `${host}.tunnel.example`, service: 'http://localhost' }];
        const body = { account_id: cloud, name, ingress: ingress(name) };
        const { id } = made(await by.client.post('/api/tunnels', body));
        const path = `/api/tunnels/${id}` as const;
        let broken = false;
        cloudflare.fault = (request, apply) => {
          broken ||= request.method === 'POST' && request.path.endsWith('/dns_records');
          return broken ? { status: 503, body: { success: false, errors: [{ code: 1, message: 'down' }] } } : apply();
        };
        const change = await by.client.put(path, { ingress: ingress(`${name}-more`) });
        assert.equal(change.status, 500, change.msg);
        const before = await told();
        await end(by);
        cloudflare.fault = null;
        const asked = cloudflare.requests.length;
        await until('it is held', async () => {
          await run('tunnels.settle');
          return done(await admin.get('/api/tunnels')).find((one) => one.id === id)?.hold_reason !== null;
        });
        assert.deepEqual(
          cloudflare.requests.slice(asked).filter(({ method }) => method !== 'GET'),
          [],
        );
        await toldOnce(new RegExp(name), before, 'admin@example.com');
        done(await admin.put(path, {}));
        const settled = done(await admin.get(path));
        assert.deepEqual([settled.state, settled.hold_reason], ['ready', null]);
        done(await admin.delete(path));
      });
    });

    describe('a synchronisation', () => {
      it.each(ways(PERSON, ROLE, TOKEN))('that was asked for is not done when %s', async (way, end) => {
        const by = await maker(way in TOKEN, 2);
        const account = `/api/accounts/${world.account}` as const;
        await end(by);
        const before = await told();
        const asked = world.proxy.requests.length;
        const synced = done(await admin.get(account)).last_sync_at;
        const who = { actor_type: 'user', user_id: by.id, username: by.name, request_id: '', ip: '', userAgent: '' };
        const token = way in TOKEN ? { token_id: by.token, token_name: 'ci' } : { token_id: null, token_name: null };
        const payload = {
          account: world.account,
          confirm: false,
          at: new Date().toISOString(),
          who: { ...who, ...token },
        };
        await applicationOf(world.server.dataDir)?.get(Jobs).enqueue('account.sync', payload, `test|${count}`);
        await until('it failed', async () => (await notices()).length > before.notices);
        await toldOnce(/synchronisation/, before, 'admin@example.com');
        assert.equal(world.proxy.requests.length, asked);
        assert.equal(done(await admin.get(account)).last_sync_at, synced);
        done(await admin.post(`${account}/sync`));
      });

      it.each(ways(PERSON, ROLE, TOKEN))('that comes by itself is held when %s', async (way, end) => {
        const by = await maker(way in TOKEN, 2);
        const account = `/api/accounts/${world.account}` as const;
        done(await by.client.put(account, { sync_interval_minutes: 60 }));
        await run('accounts.due');
        await until(
          'it was done',
          async () => (await db.row('SELECT id FROM dns_accounts WHERE sync_next_at IS NOT NULL')) !== undefined,
        );
        await end(by);
        const before = await told();
        await db.run('UPDATE dns_accounts SET sync_next_at = ? WHERE id = ?', [PAST, world.account]);
        await run('accounts.due');
        await until('it is held', async () => done(await admin.get(account)).hold_reason !== null);
        await run('accounts.due');
        await toldOnce(/is not synchronised by itself any more/, before, 'admin@example.com');
        done(await admin.put(account, {}));
        assert.equal(done(await admin.get(account)).hold_reason, null);
        await run('accounts.due');
        await until('it goes on', async () => {
          const row = await db.row<{ at: string }>('SELECT sync_next_at AS at FROM dns_accounts WHERE id = ?', [
            world.account,
          ]);
          return (row?.at ?? PAST) > PAST;
        });
        done(await admin.put(account, { sync_interval_minutes: 0 }));
      });
    });
  });
}
