import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Answer, Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { startTargets, type Targets } from '../support/targets.js';
import { addAccount, addDomain, done, ended, made, refused, startWorld, until, type World } from '../support/world.js';

const DAY_MS = 86_400_000;
const moment = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const sale = (more: object = {}) => ({ from: moment(-1), until: moment(2), reason: 'Black Friday', ...more });
const a = (host: string, value = '192.0.2.1') => ({ host, type: 'A', value, ttl: 300 });
const many = (count: number, host: string) =>
  Array.from({ length: count }, (_, i) => ({ op: 'create', ...a(`${host}${i}`) }));
const [PRIMARY, BACKUP] = ['127.0.2.1', '127.0.3.1'];

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`a freeze, on ${kind}`, () => {
    let world: World;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    let owner: Client;
    let other: Client;
    let targets: Targets;
    let cloudflare: Cloudflare;
    let cloud: number;
    let tunnelled: number;
    let at: `/api/domains/${number}`;

    beforeAll(async () => {
      world = await startWorld(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = world);
      ({ db, close } = await openDatabase(world.databaseUrl, world.server.dataDir));
      done(await admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0, user: 0, token: 0 } }));
      at = `/api/domains/${world.domain}`;
      const person = async (username: string, role = 1) => {
        const user = { username, password: `${username}-secret` };
        const id = await addUser(db, user, role);
        return { id, client: world.server.as(await world.server.login(user)) };
      };
      const one = await person('owner');
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [one.id, world.domain]);
      owner = one.client;
      const two = await person('other');
      other = two.client;
      const team = made(await admin.post('/api/teams', { name: 'writers' })).id;
      made(await admin.post(`/api/teams/${team}/members`, { user_id: two.id }));
      made(await admin.post(`/api/teams/${team}/permissions`, { domain_id: world.domain, permission: 'write' }));
      targets = await startTargets();
      cloudflare = await startCloudflare('tunnel.example');
      cloud = await addAccount(admin, 'cloudflare', { api_token: 'token', endpoint: cloudflare.url });
      tunnelled = await addDomain(admin, cloud, 'tunnel.example');
    });
    afterEach(async () => {
      world.proxy.fault = null;
      done(await admin.put(at, { freeze: null, windows: [] }));
    });
    afterAll(async () => {
      await close?.();
      await world?.stop();
      await targets?.stop();
      await cloudflare?.stop();
    });

    const set = async (rules: object, client = owner) => done(await client.put(at, rules));
    const frozen = (answer: Answer) => {
      const { data, headers } = refused(answer, 423, 423002);
      assert.ok(Number(headers.get('retry-after')) > 0);
      return data as unknown as { until: string; reason: string };
    };

    it('and windows are shown as they were set, by owner and administrators alone', async () => {
      const freeze = sale();
      const windows = [{ days: ['mon', 'tue'], from: '22:00', until: '02:00', timezone: 'Europe/Berlin' }];
      const shown = await set({ freeze, windows });
      assert.deepEqual([shown.freeze, shown.windows], [{ ...freeze, acme: false }, windows]);
      refused(await other.put(at, { freeze: null }), 403, 403001);
      refused(await other.put(at, { windows: [] }), 403, 403001);
      // what is sent back as it was read changes nothing
      done(await other.put(at, { freeze: shown.freeze, windows: shown.windows }));
      assert.deepEqual(done(await admin.get(at)).freeze, shown.freeze);
    });

    it('refuse what is no time, no day or no zone, by its name', async () => {
      const window = { days: ['mon'], from: '09:00', until: '17:00', timezone: 'UTC' };
      const wrong: [object, string][] = [
        [{ freeze: { ...sale(), until: moment(-2) } }, 'freeze.until'],
        [{ freeze: { ...sale(), from: 'now' } }, 'freeze.from'],
        [{ freeze: { ...sale(), reason: '' } }, 'freeze.reason'],
        [{ windows: [{ ...window, days: ['monday'] }] }, 'windows.0.days'],
        [{ windows: [{ ...window, days: [] }] }, 'windows.0.days'],
        [{ windows: [{ ...window, from: '24:00' }] }, 'windows.0.from'],
        [{ windows: [{ ...window, timezone: 'Mars/Olympus' }] }, 'windows.0.timezone'],
      ];
      for (const [body, path] of wrong) {
        const { data } = refused(await owner.put(at, body), 400, 400001);
        assert.deepEqual(
          data.errors?.map((one) => one.path),
          [path],
          JSON.stringify(body),
        );
      }
    });

    it('hold for every way by which records are changed, and for the owner, too', async () => {
      const { id } = made(await admin.post(world.records, a('there')));
      const plan = made(await admin.post(`${at}/plans`, { records: [a('planned')] }));
      const token = world.server.as(made(await owner.post('/api/tokens', { name: 'ci' })).token);
      const before = (await world.pdns.zone(world.zone)).rrsets.length;
      const { until: end } = (await set({ freeze: sale() })).freeze ?? { until: '' };
      const body = { changes: [{ op: 'create', ...a('new') }] };
      for (const client of [owner, token, admin]) {
        for (const answer of [
          await client.post(world.records, a('new')),
          await client.put(`${world.records}/${id}`, { value: '192.0.2.2' }),
          await client.patch(`${world.records}/${id}/status`, { enabled: false }),
          await client.delete(`${world.records}/${id}`),
          await client.post(`${world.records}/batch`, body),
          await client.put(`${at}/rrsets/there/A`, { values: ['192.0.2.3'], ttl: 300 }),
          await client.delete(`${at}/rrsets/there/A`),
          await client.post(`/api/plans/${plan.id as number}/apply`, {}),
        ])
          assert.equal(frozen(answer as Answer).until, end);
      }
      assert.equal((await world.pdns.zone(world.zone)).rrsets.length, before);
      // what changes nothing is refused by nothing
      done(await owner.put(`${world.records}/${id}`, { value: '192.0.2.1' }));
      assert.equal(done(await owner.get(`/api/plans/${plan.id as number}`)).state, 'open');
      await set({ freeze: null });
      ended(await owner.post(`/api/plans/${plan.id as number}/apply`, {}));
      done(await owner.delete(`${world.records}/${id}`));
      await world.agree();
    });

    it('lets plans and dry runs be made, and the zone be read', async () => {
      await set({ freeze: sale() });
      const dry = done((await owner.post(`${world.records}?dry_run=true`, a('dry'))) as Answer) as { state: string };
      assert.equal(dry.state, 'open');
      made(await owner.post(`${at}/plans`, { records: [a('dry')] }));
      done(await owner.get(`${world.records}?refresh=true`));
    });

    it('outside of the windows says when the next one opens', async () => {
      // the day after tomorrow, whole, and not today
      const day = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][new Date(moment(2)).getUTCDay()] as string;
      await set({ windows: [{ days: [day], from: '00:00', until: '00:00', timezone: 'UTC' }] });
      const { until: opens, reason } = frozen(await owner.post(world.records, a('new')));
      assert.deepEqual([opens, reason], [`${moment(2).slice(0, 10)}T00:00:00.000Z`, 'outside_windows']);
      const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
      await set({ windows: [{ days, from: '00:00', until: '00:00', timezone: 'UTC' }] });
      const { id } = made(await owner.post(world.records, a('inside')));
      done(await owner.delete(`${world.records}/${id}`));
    });

    it('lets answers to ACME challenges pass, unless it says otherwise', async () => {
      await set({ freeze: sale() });
      const txt = (host: string) => ({ host, type: 'TXT', value: 'proof', ttl: 60 });
      for (const host of ['_acme-challenge', '_acme-challenge.www']) {
        const { id } = made(await owner.post(world.records, txt(host)));
        done(await owner.delete(`${world.records}/${id}`));
      }
      frozen(await owner.post(world.records, txt('_acme-challenges')));
      frozen(await owner.post(world.records, txt('www._acme-challenge')));
      frozen(await owner.post(world.records, { ...a('_acme-challenge') }));
      const changes = ['_acme-challenge', 'other'].map((host) => ({ op: 'create', ...txt(host) }));
      frozen(await owner.post(`${world.records}/batch`, { changes }));
      await set({ freeze: sale({ acme: true }) });
      frozen(await owner.post(world.records, txt('_acme-challenge')));
    });

    it('is overridden by role 3 alone, whose reason the log and the change set have', async () => {
      await set({ freeze: sale() });
      refused(await owner.post(`${world.records}?override=urgent`, a('over')), 403, 403001);
      const user = { username: `admin2-${kind}`, password: 'admin2-secret' };
      await addUser(db, user, 2);
      const second = world.server.as(await world.server.login(user));
      refused(await second.post(`${world.records}?override=urgent`, a('over')), 403, 403001);
      refused(await admin.post(`${world.records}?override=`, a('over')), 400, 400001);
      refused(await admin.post(`${world.records}?override=${'x'.repeat(256)}`, a('over')), 400, 400001);
      const low = made(await admin.post('/api/tokens', { name: 'low' }));
      done(await admin.put(`/api/tokens/${low.tokenData.id}`, { max_role: 2 }));
      refused(await world.server.as(low.token).post(`${world.records}?override=urgent`, a('over')), 403, 403001);
      const { id } = made(await admin.post(`${world.records}?override=the%20shop%20is%20down`, a('over')));
      const [change] = done(await admin.get(`${at}/changes?limit=1`)).list;
      assert.equal(change?.override_reason, 'the shop is down');
      const [entry] = done(await admin.get('/api/audit/logs?action=changes.override&limit=1')).list;
      assert.deepEqual(
        [entry?.actor.username, (entry?.after as { reason: string } | undefined)?.reason, entry?.change_set_id],
        ['admin', 'the shop is down', change?.id],
      );
      await set({ freeze: null });
      // where nothing holds, nothing was overridden
      done(await admin.delete(`${world.records}/${id}?override=why`));
      assert.equal(done(await admin.get(`${at}/changes?limit=1`)).list[0]?.override_reason, null);
    });

    it('lets a long list under way wait for its end', async () => {
      let begun = false;
      const answered: Promise<unknown>[] = [];
      world.proxy.fault = async (request, forward) => {
        if (request.method === 'PATCH' && !begun) {
          begun = true;
          answered.push(set({ freeze: sale() }));
          await answered[0];
        }
        return forward();
      };
      const answer = await owner.post(`${world.records}/batch`, { changes: many(300, 'long') });
      assert.equal(answer.status, 202);
      const path = `${at}/changes/${answer.data.change_set_id as number}` as const;
      const state = async () => done(await owner.get(path as `/api/domains/${number}/changes/${number}`));
      await until('it is paused', async () => (await state()).paused_until !== null);
      const { counts, paused_until } = await state();
      assert.equal(paused_until, done(await owner.get(at)).freeze?.until);
      assert.ok(counts.applied > 0 && counts.pending > 0, JSON.stringify(counts));
      await set({ freeze: null });
      await until('it goes on', async () => (await state()).state === 'done');
      assert.deepEqual([(await state()).counts.applied, (await state()).paused_until], [300, null]);
      await world.agree();
    });

    it('refuses what tunnels would change, before anything of them is made', async () => {
      const domain = `/api/domains/${tunnelled}` as const;
      const ingress = [{ hostname: 'app.tunnel.example', service: 'http://localhost:1' }];
      const tunnel = made(await admin.post('/api/tunnels', { account_id: cloud, name: 'before', ingress }));
      done(await admin.put(domain, { freeze: sale() }));
      const there = () => [cloudflare.tunnels.kept.length, JSON.stringify(cloudflare.zones.get('tunnel.example'))];
      const before = there();
      const more = [...ingress, { hostname: 'more.tunnel.example', service: 'http://localhost:2' }];
      frozen(await admin.post('/api/tunnels', { account_id: cloud, name: 'new', ingress: more.slice(1) }));
      frozen(await admin.put(`/api/tunnels/${tunnel.id}`, { ingress: more }));
      frozen(await admin.delete(`/api/tunnels/${tunnel.id}`));
      assert.deepEqual(there(), before);
      assert.equal(done(await admin.get(`/api/tunnels/${tunnel.id}`)).state, 'ready');
      done(await admin.put(domain, { freeze: null }));
      done(await admin.delete(`/api/tunnels/${tunnel.id}`));
    });

    it('holds a rule of failover, which says so, and switches after it', async () => {
      await targets.up(PRIMARY, BACKUP);
      done(await owner.put(`${at}/rrsets/fo/A`, { values: [PRIMARY], ttl: 60 }));
      const check = { kind: 'tcp', port: targets.port, interval_s: 1, timeout_s: 1, fall: 1, rise: 1 };
      const rule = { host: 'fo', type: 'A', primary: [PRIMARY], backup: [BACKUP], check };
      done(await owner.post(`${at}/failover`, { enabled: true, rules: [rule] }));
      const only = async () => done(await owner.get(`${at}/failover`)).rules[0]?.state;
      await until('both are known', async () => (await only())?.values.every(({ up }) => up) ?? false);
      await set({ freeze: sale() });
      await targets.down(PRIMARY);
      await until('it says why', async () => /frozen until .*Black Friday/.test((await only())?.failure ?? ''));
      assert.equal((await only())?.active, 'primary');
      await set({ freeze: null });
      await until('it is switched', async () => (await only())?.active === 'backup');
      assert.equal((await only())?.failure, null);
      done(await owner.delete(`${at}/failover`));
    });
  });
