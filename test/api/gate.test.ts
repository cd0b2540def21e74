import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import { ChangeEngine } from '../../src/changes/engine.service.js';
import { lockOf } from '../../src/changes/in-doubt/locks.js';
import { Planner } from '../../src/changes/planner.js';
import { systemAccess } from '../../src/domains/access-rights.js';
import { RULE_KEYS } from '../../src/domains/change-rules/change-rules.js';
import { DomainsService } from '../../src/domains/domains.service.js';
import { Db } from '../../src/platform/database/db.js';
import { Leases } from '../../src/platform/database/leases.js';
import type { PlanView } from '../../src/records/plans/plan.dto.js';
import { addTeam, addUser, grant } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, applicationOf, type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, ended, made, refused, until } from '../support/world.js';

const TABLES = ['dns_records', 'record_counts', 'change_sets', 'record_changes', 'versions', 'plans', 'plan_changes'];
const STORED = [...TABLES, 'audit_logs', 'kept_answers'];

type Guards = { guards: { key: string; change_ids: number[]; mode: string }[] };
const guardsIn = (answer: Answer<unknown>) =>
  (answer.data as unknown as Guards).guards.map(({ key, mode }) => `${key} ${mode}`);
const warned = ({ headers }: Answer<unknown>) => headers.get('warning-guard');
const planIn = (answer: Answer<unknown>) => {
  assert.deepEqual([answer.status, answer.code], [200, 0], JSON.stringify(answer));
  return answer.data as PlanView;
};
const short = ({ changes }: PlanView) =>
  changes.map(({ op, host, type, after }) => `${op} ${host} ${type} ${after?.value ?? '-'} ${after?.ttl ?? '-'}`);

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`what decides whether a change may go, on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let account: number;
    let app: NonNullable<ReturnType<typeof applicationOf>>;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      account = await addAccount(admin, 'zonefile', {});
      app = applicationOf(service.server.dataDir) as typeof app;
    });
    afterAll(() => service?.stop());

    /** A domain with records at `h0`, `h1`, …, and what is asked for in its tests. */
    async function zone(name: string, records = 0) {
      const id = await addDomain(admin, account, name, true);
      const base = `/api/domains/${id}` as const;
      const path = join(service.server.dataDir, 'zones', `${name}.zone`);
      const file = () => readFileSync(path, 'utf8');
      const changes = Array.from({ length: records }, (_, i) => ({
        ...{ op: 'create', host: `h${i}`, type: 'A', value: `192.0.2.${i + 1}`, ttl: 300 },
      }));
      if (records) ended(await admin.post(`${base}/records/batch`, { changes }));
      const list = async () => done(await admin.get(`${base}/records`)).list;
      const at = async (host: string) => (await list()).find((one) => one.host === host) as RecordView;
      const add = async (record: object) => made(await admin.post(`${base}/records`, record)).id;
      const demand = async (rules: object) => void done(await admin.put(base, rules));
      return { id, base, list, at, add, file, demand, edit: (text: string) => writeFileSync(path, text) };
    }
    const address = (host: string, value = '192.0.2.9', ttl = 300) => ({ host, type: 'A', value, ttl });

    /** All that a dry run must leave alone; entries of the log are linked behind the answers. */
    async function stored() {
      const db = app.get(Db);
      await until('none waits', async () => !(await db.rows('SELECT * FROM audit_pending')).length);
      return Promise.all(STORED.map((table) => db.rows(`SELECT * FROM ${table} ORDER BY 1`)));
    }

    it('a dry run of each write tells what the write then does, and does nothing', async () => {
      const { base, file, at, list } = await zone('dry.example', 4);
      const { id } = await at('h0');
      const [second, third] = [await at('h1'), await at('h2')];
      const call = (query: string): [string, () => Promise<Answer<unknown>>][] => [
        ['create new A 192.0.2.9 300', () => admin.post(`${base}/records${query}`, address('new'))],
        ['update h0 A 192.0.2.1 900', () => admin.put(`${base}/records/${id}${query}`, { ttl: 900 })],
        [
          'update h1 A 192.0.2.2 300',
          () => admin.patch(`${base}/records/${second.id}/status${query}`, { enabled: false }),
        ],
        ['delete h2 A - -', () => admin.delete(`${base}/records/${third.id}${query}`)],
        [
          'update h3 A 192.0.2.77 300',
          () => admin.put(`${base}/rrsets/h3/A${query}`, { values: ['192.0.2.77'], ttl: 300 }),
        ],
        ['delete h3 A - -', () => admin.delete(`${base}/rrsets/h3/A${query}`)],
        [
          'create b A 192.0.2.5 300',
          () =>
            admin.post(`${base}/records/batch${query}`, { changes: [{ op: 'create', ...address('b', '192.0.2.5') }] }),
        ],
      ];
      const writes = call('');
      for (const [i, [what, run]] of call('?dry_run=true').entries()) {
        const before = [await stored(), file()];
        const answer = await run();
        const plan = planIn(answer);
        assert.deepEqual(
          [plan.id, plan.state, answer.headers.get('location'), answer.headers.get('etag')],
          [null, 'open', null, null],
          what,
        );
        assert.deepEqual(short(plan), [what]);
        assert.deepEqual([await stored(), file()], before, what);
        const [now] = [new Map((await list()).map((one) => [one.id, one]))];
        const wrote = await (writes[i] as (typeof writes)[0])[1]();
        assert.ok(wrote.status < 300, JSON.stringify(wrote));
        const then = await list();
        // what the write made of the records is what the plan said
        const gone = [...now.values()].filter((one) => !then.some((other) => other.id === one.id));
        const came = then.filter(
          (one) =>
            JSON.stringify([one.value, one.ttl, one.enabled]) !==
            JSON.stringify([now.get(one.id)?.value, now.get(one.id)?.ttl, now.get(one.id)?.enabled]),
        );
        assert.deepEqual(
          [gone.map(({ host }) => host), came.map(({ host, value, ttl, enabled }) => [host, value, ttl, enabled])],
          [
            plan.changes.flatMap(({ op, host }) => (op === 'delete' ? [host] : [])),
            plan.changes.flatMap(({ after }) => (after ? [[after.host, after.value, after.ttl, after.enabled]] : [])),
          ],
        );
      }
    });

    it('a dry run is refused as the write is, and tells of a list that is not atomic what would fail', async () => {
      const { base, at, file, edit } = await zone('refusals.example', 2);
      const { id } = await at('h0');
      const tag = (await admin.get(`${base}/records/${id}`)).headers.get('etag') as string;
      refused(await admin.post(`${base}/records?dry_run=true`, address('h0', '192.0.2.1')), 409, 409001);
      refused(await admin.delete(`${base}/records/999999?dry_run=true`), 404, 404001);
      refused(
        await admin.put(`${base}/records/${id}?dry_run=true`, { ttl: 5 }, { 'if-match': '"other"' }),
        412,
        412001,
      );
      planIn(await admin.put(`${base}/records/${id}?dry_run=true`, { ttl: 900 }, { 'if-match': tag }));
      refused(
        await admin.put(`${base}/rrsets/h0/A?dry_run=true`, { values: ['192.0.2.5'] }, { 'if-none-match': '*' }),
        412,
        412001,
      );
      const changes = [
        { op: 'delete', record_id: 999_999 },
        { op: 'create', ...address('ok') },
      ];
      const batch = (query: string, body: object) => admin.post(`${base}/records/batch?dry_run=true${query}`, body);
      const plan = planIn(await batch('', { changes }));
      assert.deepEqual(
        [short(plan), plan.failures?.map(({ path, code }) => [path, code])],
        [['create ok A 192.0.2.9 300'], [['changes.0', 404001]]],
      );
      refused(await batch('', { changes, atomic: true }), 404, 404001);
      refused(await batch('', { changes: changes.slice(0, 1) }), 422, 422002);
      // the zone is read at the provider: what somebody made there is seen
      edit(`${file()}\nfound 300 IN A 192.0.2.50\n`);
      refused(await admin.post(`${base}/records?dry_run=true`, address('found', '192.0.2.50')), 409, 409001);
      refused(await admin.post(`${base}/records?dry_run=perhaps`, address('x')), 400, 400001);
      // it is none of a route that reads, or plans
      refused(await admin.get(`${base}/records?dry_run=true`), 400, 400001);
      refused(await admin.post(`${base}/plans?dry_run=true`, { records: [] }), 400, 400001);
    });

    it('a dry run goes past an Idempotency-Key, and the write can come under the same one', async () => {
      const { base, list } = await zone('key.example');
      const key = { 'idempotency-key': 'one-for-both' };
      planIn(await admin.post(`${base}/records?dry_run=true`, address('k'), key));
      made(await admin.post(`${base}/records`, address('k'), key));
      const again = await admin.post(`${base}/records`, address('k'), key);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.equal((await list()).filter(({ host }) => host === 'k').length, 1);
    });

    it('a dry run of thousands of changes is a plan of them', async () => {
      const { base, list } = await zone('long.example');
      const changes = Array.from({ length: 1000 }, (_, i) => ({ op: 'create', ...address(`n${i}`) }));
      const plan = planIn(await admin.post(`${base}/records/batch?dry_run=true`, { changes }));
      assert.deepEqual([plan.summary.create, plan.changes.length, plan.id], [1000, 1000, null]);
      assert.equal((await list()).filter(({ type }) => type === 'A').length, 0);
    });

    it('guards of writes are off, but for name servers of the zone, of which is warned', async () => {
      const { base, add, demand, list } = await zone('direct.example', 3);
      const ns = await add({ host: '@', type: 'NS', value: 'ns9.example.net.', ttl: 300 });
      const low = await admin.post(`${base}/records`, address('low', '192.0.2.9', 30));
      assert.deepEqual([low.status, warned(low)], [201, null]);
      const gone = await admin.delete(`${base}/records/${ns}`);
      assert.deepEqual([gone.status, warned(gone)], [200, 'apex_ns']);
      const again = await add({ host: '@', type: 'NS', value: 'ns9.example.net.', ttl: 300 });
      assert.deepEqual(guardsIn(await admin.delete(`${base}/records/${again}?dry_run=true`)), ['apex_ns warn']);
      await demand({ guards: { apex_ns: 'off' } });
      assert.equal(warned(await admin.delete(`${base}/records/${again}`)), null);
      await demand({ guards: { ttl_floor: 'warn' }, ttl_floor: 120 });
      assert.equal(warned(await admin.post(`${base}/records`, address('mid', '192.0.2.9', 100))), 'ttl_floor');
      assert.equal(warned(await admin.post(`${base}/records`, address('high', '192.0.2.9', 120))), null);
      const two = { changes: ['x', 'y'].map((host) => ({ op: 'create', ...address(host, '192.0.2.9', 30) })) };
      assert.equal(warned(await admin.post(`${base}/records/batch`, two)), 'ttl_floor');
      // what it warns of is refused by other rules than its own as ever
      assert.equal(warned(await admin.post(`${base}/records`, address('x', '192.0.2.9', 30))), null);
      assert.equal((await list()).filter(({ host }) => ['x', 'y', 'mid', 'high', 'low'].includes(host)).length, 5);
    });

    it('a guard of mode force stops every door that does not name it, before anything is done', async () => {
      const { id, base, add, at, demand, file } = await zone('forced.example', 3);
      const [mx, spf] = [
        await add({ host: 'm', type: 'MX', value: 'mail.example.net.', priority: 10, ttl: 300 }),
        await add({ host: 'm', type: 'TXT', value: 'v=spf1 -all', ttl: 300 }),
      ];
      await add({ host: 'alias', type: 'CNAME', value: 'h2.forced.example.', ttl: 300 });
      const force = Object.fromEntries(['last_mx', 'last_spf', 'ttl_floor', 'dangling'].map((key) => [key, 'force']));
      await demand({ guards: force });
      const { token } = made(
        await admin.post('/api/tokens', { name: `door ${kind}`, allowed_services: ['records:read', 'records:write'] }),
      );
      const before = file();
      const h2 = await at('h2');
      const doors: [string, (client: Client, query: string) => Promise<Answer<unknown>>][] = [
        ['last_mx', (client, query) => client.delete(`${base}/records/${mx}${query}`)],
        ['last_mx', (client, query) => client.patch(`${base}/records/${mx}/status${query}`, { enabled: false })],
        ['last_mx', (client, query) => client.delete(`${base}/rrsets/m/MX${query}`)],
        ['last_spf', (client, query) => client.put(`${base}/records/${spf}${query}`, { value: 'text' })],
        ['ttl_floor', (client, query) => client.put(`${base}/rrsets/h0/A${query}`, { values: ['192.0.2.1'], ttl: 30 })],
        ['ttl_floor', (client, query) => client.post(`${base}/records${query}`, address('low', '192.0.2.9', 59))],
        ['dangling', (client, query) => client.delete(`${base}/records/${h2.id}${query}`)],
        [
          'dangling',
          (client, query) =>
            client.post(`${base}/records/batch${query}`, {
              changes: [{ op: 'create', host: 'c', type: 'CNAME', value: 'nowhere.forced.example.', ttl: 300 }],
            }),
        ],
      ];
      for (const client of [admin, service.server.as(token)])
        for (const [key, write] of doors) {
          assert.deepEqual(guardsIn(refused(await write(client, ''), 409, 409003)), [`${key} force`]);
          const other = key === 'last_mx' ? 'dangling' : 'last_mx';
          refused(await write(client, `?force=${other}`), 409, 409003);
          assert.deepEqual(guardsIn(await write(client, '?dry_run=true')), [`${key} force`]);
          planIn(await write(client, `?dry_run=true&force=${other},${key}`));
        }
      assert.equal(file(), before);
      refused(await admin.delete(`${base}/records/${mx}?force=last_mx,everything`), 400, 400001);
      refused(await admin.delete(`${base}/records/${mx}?force=`), 400, 400001);
      // so is the service itself, by whatever door
      const open = { ...(await app.get(DomainsService).reload(id)), access: systemAccess };
      for (const door of ['failover', 'tunnel', 'job'] as const)
        await assert.rejects(
          app.get(ChangeEngine).one('system', open, { op: 'delete', id: mx }, { door, comment: '' }),
          { code: 409003 },
        );
      const written = await admin.delete(`${base}/records/${mx}?force=ttl_floor,last_mx`);
      assert.deepEqual([written.status, warned(written)], [200, null]);
    });

    it('many changes at once are judged by how many records there are', async () => {
      const { base, demand, list } = await zone('many.example', 10);
      await demand({ guards: { many_deletes: 'force', many_updates: 'warn' } });
      const records = (await list()).filter(({ type }) => type === 'A');
      const some = (n: number, more: object) => ({
        changes: records.slice(0, n).map(({ id }) => ({ record_id: id, ...more })),
      });
      const batch = (body: object) => admin.post(`${base}/records/batch`, body);
      assert.equal(warned(await batch(some(3, { op: 'update', ttl: 600 }))), null);
      assert.equal(warned(await batch(some(8, { op: 'update', ttl: 900 }))), 'many_updates');
      const { data } = refused(await batch(some(8, { op: 'delete' })), 409, 409003);
      assert.deepEqual((data as unknown as Guards).guards[0]?.change_ids, [1, 2, 3, 4, 5, 6, 7, 8]);
      ended(await batch(some(3, { op: 'delete' })));
    });

    it('names that failover keeps are guarded from others, and switched by itself', async () => {
      const { base, at, add, demand, file } = await zone('kept.example');
      await add(address('h0', '1.1.1.1'));
      const rule = {
        ...{ host: 'h0', type: 'A', primary: ['1.1.1.1'], backup: ['1.1.1.2'] },
        check: { kind: 'tcp', port: 443 },
      };
      const state = done(await admin.post(`${base}/failover`, { enabled: false, rules: [rule] }));
      const { id } = (state as unknown as { rules: { id: number }[] }).rules[0] as { id: number };
      await demand({ guards: { failover: 'force' } });
      const h0 = await at('h0');
      refused(await admin.put(`${base}/records/${h0.id}`, { ttl: 900 }), 409, 409003);
      done(await admin.post(`${base}/failover/${id}/switch`, { to: 'backup', hold: true }));
      assert.equal((await at('h0')).value, '1.1.1.2');
      // what stands for others holds for it, too
      done(await admin.put('/api/settings', { base_url: 'https://h0.kept.example' }));
      await demand({ guards: { own_host: 'force' } });
      const before = file();
      refused(await admin.post(`${base}/failover/${id}/switch`, { to: 'primary', hold: true }), 409, 409003);
      assert.equal(file(), before);
    });

    it('plans leave out guards that are off, and show those that warn', async () => {
      const { base, demand } = await zone('modes.example');
      const plan = async () =>
        made(await admin.post(`${base}/plans`, { records: [address('low', '192.0.2.9', 30)], types: ['A'] }));
      const apply = (id: number | null) => admin.post(`/api/plans/${id as number}/apply`);
      const first = await plan();
      assert.deepEqual(
        first.guards.map(({ key, mode }) => [key, mode]),
        [['ttl_floor', 'force']],
      );
      await demand({ guards: { ttl_floor: 'off' } });
      const shown = done(await admin.get(`/api/plans/${first.id as number}`));
      assert.deepEqual([shown.guards, (await plan()).guards], [[], []]);
      await demand({ guards: { ttl_floor: 'warn' } });
      assert.deepEqual(
        (await plan()).guards.map(({ key, mode }) => [key, mode]),
        [['ttl_floor', 'warn']],
      );
      // judged as the domain demands it when it is applied, not when it was made
      await demand({ guards: { ttl_floor: 'force' } });
      refused(await apply(first.id), 409, 409003);
      await demand({ guards: { ttl_floor: 'warn' } });
      const applied = await apply(first.id);
      ended(applied);
      assert.equal(warned(applied), 'ttl_floor');
    });

    it('what a domain demands is judged when a write has its locks, not when it came', async () => {
      const { id, base, at, demand } = await zone('waits.example', 1);
      const planner = app.get(Planner);
      const names = planner.names.bind(planner);
      let hold = () => {};
      const asked = new Promise<void>((resolve) => {
        planner.names = (...given) => {
          resolve();
          return names(...given);
        };
      });
      const release = new Promise<void>((resolve) => {
        hold = resolve;
      });
      let waiting: Promise<Answer<unknown>> | undefined;
      const { id: record } = await at('h0');
      try {
        await app.get(Leases).hold(
          [lockOf(id, null)],
          10_000,
          async () => {
            waiting = Promise.resolve(admin.put(`${base}/records/${record}`, { ttl: 30 }));
            await asked;
            await demand({ guards: { ttl_floor: 'force' } });
            hold();
            await release;
          },
          { whole: true },
        );
      } finally {
        planner.names = names;
      }
      refused((await waiting) as Answer<unknown>, 409, 409003);
      assert.equal((await at('h0')).ttl, 300);
    });

    it('only the owner and administrators change rules, in a session, and only approvers loosen them', async () => {
      const { id, base } = await zone('rules-kept.example', 1);
      const db = app.get(Db);
      const clientOf = async (username: string, role: 1 | 2 | 3 = 1) => {
        const login = { username, password: 'correct-horse-battery-9' };
        const user = await addUser(db, login, role);
        return { user, client: service.server.as(await service.server.login(login)) };
      };
      const owner = await clientOf('rules-owner');
      const writer = await clientOf('rules-writer');
      const approver = await clientOf('rules-approver', 2);
      const deputy = await clientOf('rules-deputy', 2);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [owner.user, id]);
      await grant(db, await addTeam(db, 'rule-writers', [writer.user]), id, 'write');
      const token = service.server.as(made(await owner.client.post('/api/tokens', { name: 'rules' })).token);
      const day = 86_400_000;
      const [from, end] = [new Date(Date.now() + day), new Date(Date.now() + 2 * day)].map((time) =>
        time.toISOString(),
      );
      const window = { days: ['mon'], from: '09:00', until: '17:00', timezone: 'UTC' };
      const by = { user_ids: [approver.user] };
      /** Of each rule a strict value and a loose one. */
      const STRICT: Record<(typeof RULE_KEYS)[number], [strict: object | number | boolean, loose: unknown]> = {
        guards: [
          { last_mx: 'force', ttl_floor: 'force' },
          { last_mx: 'force', ttl_floor: 'off' },
        ],
        ttl_floor: [300, null],
        require_if_match: [true, false],
        approval: [{ for: 'guarded', by, own: false }, { for: 'none' }],
        freeze: [{ from, until: end, reason: 'sale', acme: false }, null],
        windows: [[window], []],
        drift: [{ mode: 'report', ignore: [] }, { mode: 'adopt' }],
      };
      const rules = RULE_KEYS.map((key) => [key, ...STRICT[key]] as const);
      for (const [key, strict] of rules)
        for (const [who, client] of Object.entries({ token, writer: writer.client }))
          assert.equal((await client.put(base, { [key]: strict })).status, 403, `${who} ${key}`);
      done(await owner.client.put(base, Object.fromEntries(rules.map(([key, strict]) => [key, strict]))));
      const before = done(await owner.client.get(base));
      for (const [key, , loose] of rules)
        for (const [who, client] of Object.entries({
          token,
          writer: writer.client,
          owner: owner.client,
          deputy: deputy.client,
        }))
          assert.equal((await client.put(base, { [key]: loose })).status, 403, `${who} ${key}`);
      assert.deepEqual(done(await owner.client.get(base)), before);
      // a stricter rule needs no approver
      done(await owner.client.put(base, { ttl_floor: 600, approval: { for: 'all', by, own: false } }));
      for (const [key, , loose] of rules.filter(([key]) => key !== 'approval'))
        done(await approver.client.put(base, { [key]: loose }));
      // if no approver is left
      done(await admin.put(base, { approval: { for: 'none' } }));
      done(await owner.client.put(base, { guards: {} }));
    });

    it('rules bind the zone: through a second account, below it, and while a domain is in the trash', async () => {
      const { id, base } = await zone('bound.example', 1);
      const db = app.get(Db);
      const clientOf = async (username: string) => {
        const login = { username, password: 'correct-horse-battery-9' };
        const user = await addUser(db, login, 2);
        return { user, client: service.server.as(await service.server.login(login)) };
      };
      const approver = await clientOf('bound-approver');
      const { client: deputy } = await clientOf('bound-deputy');
      const token = service.server.as(made(await admin.post('/api/tokens', { name: 'bound' })).token);
      done(await admin.put(base, { approval: { for: 'all', by: { user_ids: [approver.user] }, own: false } }));
      const second = await addAccount(admin, 'zonefile', {});
      const same = { account_id: second, name: 'bound.example' };
      const below = { account_id: account, name: 'sub.bound.example', create: true };
      for (const client of [deputy, token]) {
        for (const body of [same, below]) refused(await client.post('/api/domains?force=true', body), 403, 403001);
        refused(await client.delete(base), 403, 403001);
      }
      const other = made(await admin.post('/api/domains?force=true', same)).id;
      const elsewhere = `/api/domains/${other}` as const;
      const waits = async (host: string) => {
        const answer = await deputy.post(`${elsewhere}/records`, address(host));
        assert.equal(answer.status, 202, JSON.stringify(answer));
        return (answer.data as unknown as PlanView).id as number;
      };
      const plan = await waits('first');
      refused(await deputy.post(`/api/plans/${plan}/approve`, {}), 403, 403001);
      ended(await approver.client.post(`/api/plans/${plan}/approve`, {}));
      done(await admin.delete(base));
      await waits('second');
      refused(await deputy.post('/api/domains?force=true', { ...same, account_id: account }), 403, 403001);
      assert.equal(
        made(await approver.client.post('/api/domains?force=true', { ...same, account_id: account })).id,
        id,
      );
    });

    it('where a domain demands it, updates and deletions name what they change', async () => {
      const { base, at, add, demand, file } = await zone('demand.example', 3);
      await demand({ require_if_match: true });
      const { id } = await at('h0');
      const tag = async (path: Parameters<typeof admin.get>[0]) => ({
        'if-match': (await admin.get(path)).headers.get('etag') as string,
      });
      const [record, set] = [`${base}/records/${id}`, `${base}/rrsets/h1/A`] as const;
      const update = { changes: [{ op: 'update', record_id: id, ttl: 800 }] };
      const before = file();
      for (const answer of [
        await admin.put(record, { ttl: 900 }),
        await admin.patch(`${record}/status`, { enabled: false }),
        await admin.delete(record),
        await admin.put(set, { values: ['192.0.2.60'], ttl: 300 }),
        await admin.put(set, { values: ['192.0.2.2', '192.0.2.60'], ttl: 300 }),
        await admin.delete(set),
        await admin.post(`${base}/records/batch`, update),
        await admin.put(`${record}?dry_run=true`, { ttl: 900 }),
        await admin.delete(`${set}?dry_run=true`),
        await admin.post(`${base}/records/batch?dry_run=true`, update),
      ])
        refused(answer, 428, 428001);
      assert.equal(file(), before);
      done(await admin.put(record, { ttl: 900 }, await tag(record)));
      done(await admin.patch(`${record}/status`, { enabled: false }, await tag(record)));
      done(await admin.put(set, { values: ['192.0.2.60'], ttl: 300 }, await tag(set)));
      ended(await admin.post(`${base}/records/batch`, update, await tag(`${base}/records`)));
      done(await admin.delete(set, undefined, await tag(set)));
      done(await admin.delete(record, undefined, await tag(record)));
      // what makes something, and plans, are not bound
      await add(address('new'));
      done(await admin.put(`${base}/rrsets/fresh/A`, { values: ['192.0.2.61'], ttl: 300 }));
      ended(await admin.post(`${base}/records/batch`, { changes: [{ op: 'create', ...address('more') }] }));
      const plan = made(
        await admin.post(`${base}/plans`, { changes: [{ op: 'delete', record_id: (await at('h2')).id }] }),
      );
      ended(await admin.post(`/api/plans/${plan.id as number}/apply`));
    });

    it('a creation with If-None-Match makes a set, or nothing', async () => {
      const { base, at, file, edit, list } = await zone('none.example', 1);
      const none = { 'if-none-match': '*' };
      const valuesIn = (answer: Answer<unknown>) =>
        (answer.data as { rrset: { values: { value: string }[] } }).rrset.values.map(({ value }) => value);
      const there = refused(await admin.post(`${base}/records`, address('h0'), none), 412, 412001);
      assert.deepEqual(valuesIn(there), ['192.0.2.1']);
      // what somebody has made at the provider is there, too
      edit(`${file()}\nfound 300 IN A 192.0.2.50\n`);
      assert.deepEqual(valuesIn(refused(await admin.post(`${base}/records`, address('found'), none), 412, 412001)), [
        '192.0.2.50',
      ]);
      refused(await admin.post(`${base}/records?dry_run=true`, address('h0'), none), 412, 412001);
      made(await admin.post(`${base}/records`, address('free'), none));
      made(await admin.post(`${base}/records`, { host: 'free', type: 'TXT', value: 'text', ttl: 300 }, none));
      assert.equal((await at('free')).type, 'A');
      assert.equal((await list()).filter(({ host }) => host === 'h0').length, 1);
    });

    it('a token with rules is told by a dry run what a plan tells it', async () => {
      const { id, base, at } = await zone('rules.example', 2);
      const { token } = made(
        await admin.post('/api/tokens', {
          ...{ name: `rules ${kind}`, allowed_services: ['records:read', 'records:write'], allowed_domains: [id] },
          rules: [{ effect: 'allow', hosts: ['h0'] }],
        }),
      );
      const client = service.server.as(token);
      const [own, hidden] = [await at('h0'), await at('h1')];
      const plan = planIn(await client.delete(`${base}/records/${own.id}?dry_run=true`));
      assert.deepEqual([short(plan), plan.base, plan.hidden], [['delete h0 A - -'], '', 0]);
      refused(await client.delete(`${base}/records/${hidden.id}?dry_run=true`), 404, 404001);
      refused(await client.post(`${base}/records?dry_run=true`, address('h1')), 403, 403001);
    });
  });
