import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, it } from '@jest/globals';
import { Switcher } from '../../src/monitoring/failover/switcher.service.js';
import { Watch } from '../../src/monitoring/failover/watch.service.js';
import { Db } from '../../src/platform/database/db.js';
import { RrsetsService } from '../../src/records/rrsets/rrsets.service.js';
import { bindMissing, missing, type NameServer, startBind } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { dig, digLines } from '../support/dig.js';
import { applicationOf, type Client, type Service, startService } from '../support/server.js';
import { tellStatements } from '../support/statements.js';
import { EventStream } from '../support/stream.js';
import { atEndOfTest, describeUnless } from '../support/suites.js';
import { startTargets, type Targets } from '../support/targets.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

const ZONE = 'failover.example';
/** as quick as it may be */
const QUICK = { interval_s: 1, timeout_s: 1, fall: 1, rise: 1 };
const [P1, P2, B1, B2] = ['127.0.2.1', '127.0.2.2', '127.0.3.1', '127.0.3.2'] as const;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || bindMissing() || missing('nsupdate', 'openssl'))(`failover at BIND, on ${kind}`, () => {
    let service: Service;
    let bind: NameServer;
    let targets: Targets;
    let domain: number;
    let hosts = 0;
    const atEnd = atEndOfTest();

    beforeAll(async () => {
      bind = await startBind({ zones: [ZONE] });
      targets = await startTargets();
      service = await startService(kind, {
        OUTBOUND_ALLOW: '127.0.0.0/8',
        METRICS: 'on',
        METRICS_TOKEN: 'a'.repeat(16),
      });
      const { tsig, port } = bind;
      const key = { tsig_name: tsig.name, tsig_secret: tsig.secret, tsig_algorithm: tsig.algorithm };
      const account = await addAccount(service.admin, 'rfc2136', {
        server: '127.0.0.1',
        port: String(port),
        zones: ZONE,
        ...key,
      });
      domain = await addDomain(service.admin, account, ZONE);
      // nothing listens there: notices stay in the list
      const config = { url: 'http://127.0.0.1:9/' };
      const events = ['failover.switched', 'failover.failed'];
      const channels = [{ id: 'hook', type: 'webhook', name: 'Hook', config, events }];
      done(await service.admin.put('/api/settings/notifications', { channels }));
    });
    afterAll(async () => {
      await service?.stop();
      await targets?.stop();
      await bind?.stop();
    });

    const failover = () => `/api/domains/${domain}/failover` as const;
    const get = async () => done(await service.admin.get(failover()));
    const only = async () => (await get()).rules[0] as Awaited<ReturnType<typeof get>>['rules'][0];
    const put = async (rule: object, enabled = true) =>
      done(await service.admin.post(failover(), { enabled, rules: [rule] })).rules[0]?.id as number;
    const told = async (event: string) =>
      done(await service.admin.get(`/api/system/notifications?event=${event}`)).list.map(({ text }) => text);
    const shown = async (host: string, type = 'A') => (await dig(bind.port, `${host}.${ZONE}`, type)).toSorted();
    const shows = (host: string, ...values: string[]) =>
      until(`${host} is ${values}`, async () => String(await shown(host)) === String(values.toSorted()));
    /** that each value was looked at, so many more times */
    const checked = async (times: number) => {
      const at = async () => String((await only()).state.values.map((one) => one.last_check_at));
      for (let i = 0; i < times; i++) {
        const before = await at();
        await until('it was checked', async () => (await at()) !== before);
      }
    };
    const known = (value: string, up: boolean) =>
      until(`${value} is ${up ? 'up' : 'down'}`, async () =>
        (await only()).state.values.some((one) => one.value === value && one.up === up),
      );
    const switches = async () =>
      done(await service.admin.get(`${failover()}/history?limit=50`)).list.filter((one) => one.counts.applied > 0)
        .length;
    /** A record set of its own for a test, and a rule for it. */
    const set = async (values: string[], rule: object) => {
      const host = `h${++hosts}`;
      done(await service.admin.put(`/api/domains/${domain}/rrsets/${host}/A`, { values, ttl: 77 }));
      const id = await put({ host, type: 'A', check: { kind: 'tcp', port: targets.port, ...QUICK }, ...rule });
      return { host, id };
    };
    const nsupdate = (...lines: string[]) => {
      const { name, algorithm, secret } = bind.tsig;
      const input = [`server 127.0.0.1 ${bind.port}`, `zone ${ZONE}`, ...lines, 'send', ''].join('\n');
      execFileSync('nsupdate', ['-y', `${algorithm}:${name}:${secret}`], { input });
    };

    it('serves the backup while the primary is down, and the primary when it is up again', async () => {
      await targets.up(P1, B1);
      const events = await EventStream.open(service.server.url, service.token);
      atEnd(() => events.close());
      const check = { kind: 'tcp', port: targets.port, ...QUICK, fall: 2, rise: 2 };
      const { host, id } = await set([P1], { primary: [P1], backup: [B1], check });
      await known(P1, true);
      await known(B1, true);
      await targets.down(P1);
      await shows(host, B1);
      const [line] = await digLines(bind.port, `${host}.${ZONE}`, 'A', '+answer');
      assert.equal(line?.ttl, 77);
      await until('it is told', async () => (await only()).state.active === 'backup');
      const { state } = await only();
      assert.deepEqual([state.switches, state.hold_reason, typeof state.switched_at], [1, null, 'string']);
      const dead = state.values.find(({ value }) => value === P1);
      assert.deepEqual([dead?.up, dead?.last_error, dead?.latency_ms], [false, 'connection refused', null]);
      await targets.up(P1);
      await shows(host, P1);
      await until('it is told', async () => (await only()).state.active === 'primary');
      for (const active of ['backup', 'primary']) {
        const { data } = await events.next('a switch is told', ({ event }) => event === 'failover.switched');
        assert.deepEqual(data, { domain_id: domain, rule_id: id, active });
      }
      const { total, list } = done(await service.admin.get(`${failover()}/history`));
      assert.deepEqual([total, list[0]?.door, list[0]?.actor.type], [2, 'failover', 'system']);
      assert.match(list[1]?.comment ?? '', new RegExp(`^rule ${id}: ${P1} is down \\(connection refused\\)$`));
      const logs = done(await service.admin.get('/api/audit/logs?action=failover.switch')).list;
      assert.deepEqual(
        logs.map(({ actor, target, after }) => [actor.type, target?.id, (after as { active: string }).active]),
        [
          ['system', id, 'primary'],
          ['system', id, 'backup'],
        ],
      );
      const texts = await told('failover.switched');
      assert.equal(texts.length, 2);
      assert.ok(
        texts.includes(`${host}.${ZONE} A: ${P1} is down (connection refused); backup is served: ${B1}`),
        texts[1],
      );
      const metrics = await fetch(`${service.server.url}/metrics`, {
        headers: { authorization: `Bearer ${'a'.repeat(16)}` },
      });
      const text = await metrics.text();
      assert.match(text, /^zoneward_failover_rules\{state="primary"\} 1$/m);
      assert.match(text, /^zoneward_failover_checks_total\{outcome="down"\} [1-9]/m);
    });

    it('keeps ids, accepts its own answer as input, and names all errors', async () => {
      done(await service.admin.delete(failover()));
      const check = { kind: 'tcp', port: 443 };
      const rule = { host: 'Shop', type: 'a', primary: [P1], backup: [B1], check };
      const first = done(await service.admin.post(failover(), { enabled: false, rules: [rule] }));
      const [one] = first.rules;
      assert.deepEqual(
        { ...one, id: 0 },
        {
          id: 0,
          version: 1,
          host: 'shop',
          type: 'A',
          line: 'default',
          primary: [P1],
          backup: [B1],
          check: {
            kind: 'tcp',
            port: 443,
            path: null,
            expect_status: null,
            expect_body: null,
            interval_s: 30,
            timeout_s: 5,
            fall: 3,
            rise: 2,
            verify_tls: false,
          },
          auto_switch_back: true,
          notify: true,
          max_switches_per_hour: 6,
          maintenance: [],
          hold: false,
          state: {
            active: 'primary',
            values: [P1, B1].map((value) => ({
              value,
              up: null,
              last_check_at: null,
              last_error: null,
              latency_ms: null,
            })),
            switched_at: null,
            switches: 0,
            hold_reason: null,
            limited_until: null,
            failure: null,
            made_by: 1,
          },
        },
      );
      assert.deepEqual(done(await service.admin.post(failover(), first)), first);
      const many = Array.from({ length: 300 }, (_, i) => ({ ...rule, host: `many${i}` }));
      const all = done(await service.admin.post(failover(), { enabled: false, rules: [one, ...many] }));
      assert.deepEqual(done(await service.admin.post(failover(), all)), all);
      done(await service.admin.post(failover(), first));
      const two = done(
        await service.admin.post(failover(), { enabled: false, rules: [{ ...rule, host: 'new' }, one] }),
      );
      assert.deepEqual(
        two.rules.map(({ host, id }) => [host, id === one?.id]),
        [
          ['new', false],
          ['shop', true],
        ],
      );
      const wrong = async (more: object, ...paths: string[]) => {
        const answer = refused(
          await service.admin.post(failover(), { enabled: true, rules: [{ ...rule, ...more }] }),
          400,
          400001,
        );
        assert.deepEqual(
          answer.data.errors.map(({ path }) => path),
          paths,
          answer.msg,
        );
        return answer.msg;
      };
      assert.match(await wrong({ check: { kind: 'ping' } }, 'rules.0.check.kind'), /ICMP/);
      assert.match(await wrong({ backup: ['10.0.0.1'] }, 'rules.0.backup.0'), /OUTBOUND_ALLOW/);
      await wrong({ primary: ['x'], backup: [P1, '::1'] }, 'rules.0.primary.0', 'rules.0.backup.1');
      await wrong({ backup: [P1] }, 'rules.0.backup.0');
      await wrong({ primary: [] }, 'rules.0.primary');
      await wrong({ check: { kind: 'tcp', path: '/' } }, 'rules.0.check.port', 'rules.0.check.path');
      await wrong({ check: { kind: 'http', interval_s: 2, timeout_s: 3 } }, 'rules.0.check.timeout_s');
      await wrong({ id: 999_999 }, 'rules.0.id');
      await wrong({ unknown: 1 }, 'rules.0.unknown');
      const same = refused(
        await service.admin.post(failover(), { enabled: true, rules: [rule, { ...rule, host: 'shop' }] }),
        400,
        400001,
      );
      assert.deepEqual(
        same.data.errors.map(({ path }) => path),
        ['rules.1.host'],
      );
      assert.deepEqual(await get(), two);
      done(await service.admin.delete(failover()));
      assert.deepEqual(await get(), { enabled: false, rules: [] });
      // a token with rules sees what it may read
      await put(rule, false);
      const see = async (hosts: string[]) => {
        const rules = [{ effect: 'allow', domains: [domain], hosts }];
        const { token } = made(await service.admin.post('/api/tokens', { name: String(hosts), rules }));
        return done(await service.server.as(token).get(failover())).rules.length;
      };
      assert.deepEqual([await see(['shop']), await see(['other'])], [1, 0]);
      done(await service.admin.delete(failover()));
    });

    // the same statements on every kind
    if (kind !== 'sqlite') return;

    it('changes nothing for values that flap below the thresholds, nor when no value works', async () => {
      await targets.up(P1, B1);
      // seen up to a second later than it is found out: some more checks may fail until the target is back
      const check = { kind: 'tcp', port: targets.port, ...QUICK, fall: 10 };
      const { host } = await set([P1], { primary: [P1], backup: [B1], check });
      await known(P1, true);
      await known(B1, true);
      const before = await switches();
      for (let i = 0; i < 2; i++) {
        await targets.down(P1);
        await until('one check failed', async () => (await only()).state.values[0]?.last_error !== null);
        await targets.up(P1);
        await until('one check went well', async () => (await only()).state.values[0]?.last_error === null);
      }
      await put({ ...(await only()), check: { ...check, fall: 1 } });
      await known(P1, true);
      // the backup first: else it might be served
      await targets.down(B1);
      await known(B1, false);
      await targets.down(P1);
      await known(P1, false);
      await checked(1);
      assert.deepEqual([await shown(host), await switches(), (await only()).state.active], [[P1], before, 'primary']);
    });

    it('removes single values that are down, but never the last one', async () => {
      await targets.up(P1, P2, B1, B2);
      const { host } = await set([P1, P2], { primary: [P1, P2], backup: [B1, B2] });
      await known(B2, true);
      await known(P1, true);
      await targets.down(P2);
      await shows(host, P1);
      await targets.down(B1);
      await known(B1, false);
      await targets.down(P1);
      await shows(host, B2);
      await targets.down(B2);
      await known(B2, false);
      assert.deepEqual(await shown(host), [B2]);
      await targets.up(P1, P2);
      await shows(host, P1, P2);
      assert.equal((await only()).hold, false);
    });

    it('goes on hold when the set was changed by others, and begins anew when it is released', async () => {
      await targets.up(P1, B1);
      const { host, id } = await set([P1], { primary: [P1], backup: [B1] });
      await known(B1, true);
      await targets.down(P1);
      await shows(host, B1);
      await until('it is told', async () => (await only()).state.active === 'backup');
      nsupdate(`update add ${host}.${ZONE}. 77 A 192.0.2.99`);
      const before = await switches();
      await targets.up(P1);
      await until('it is on hold', async () => (await only()).hold);
      const held = await only();
      assert.match(held.state.hold_reason ?? '', /changed by somebody else.*192\.0\.2\.99/);
      assert.deepEqual([await shown(host), await switches()], [[B1, '192.0.2.99'].toSorted(), before]);
      // a token that may not read the values that were found does not see them
      const rules = [{ effect: 'allow', domains: [domain], values: { cidrs: ['127.0.0.0/8'] } }];
      const { token } = made(await service.admin.post('/api/tokens', { name: 'narrow', rules }));
      const seen = done(await service.server.as(token).get(failover())).rules[0];
      assert.deepEqual([seen?.hold, seen?.state.hold_reason?.includes('192.0.2.99')], [true, false]);
      refused(await service.admin.post(`${failover()}/${id}/switch`, { to: 'primary' }), 409, 409001);
      const texts = await told('failover.failed');
      assert.deepEqual(
        [texts.length, texts[0]?.startsWith(`${host}.${ZONE} A: The record set was changed`)],
        [1, true],
      );
      // muted
      await put({ ...held, notify: false });
      const logs = done(await service.admin.get('/api/audit/logs?action=failover.hold&limit=1')).list;
      assert.deepEqual([logs[0]?.actor.type, logs[0]?.target?.id], ['system', id]);
      // what GET gave goes back as it is: it stays on hold
      assert.deepEqual(
        done(await service.admin.post(failover(), await get())).rules[0]?.state.hold_reason,
        held.state.hold_reason,
      );
      nsupdate(`update delete ${host}.${ZONE}. A 192.0.2.99`);
      done(await service.admin.get(`/api/domains/${domain}/records?refresh=true`));
      await put({ ...(await only()), hold: false });
      await shows(host, P1);
      assert.equal((await only()).state.hold_reason, null);
      assert.ok(
        !(await told('failover.switched')).some((text) => text.includes(`${host}.${ZONE} A: primary works again`)),
      );
    });

    it('releases no hold that is newer than the version that was read, and accepts no id twice', async () => {
      await targets.up(P1, B1);
      const { id } = await set([P1], { primary: [P1], backup: [B1] });
      const read = await only();
      done(await service.admin.post(`${failover()}/${id}/switch`, { to: 'backup', hold: true }));
      const stale = { enabled: true, rules: [{ ...read, notify: false }] };
      assert.match(refused(await service.admin.post(failover(), stale), 409, 409001).msg, /on hold by now.*by hand/);
      assert.deepEqual([(await only()).hold, (await only()).notify], [true, true]);
      const { version: _, ...rest } = read;
      const twice = await service.admin.post(failover(), { enabled: true, rules: [rest, { ...rest, host: 'other' }] });
      assert.equal(refused(twice, 400, 400001).data.errors?.[0]?.path, 'rules.1.id');
      // without a version the hold is released in any case
      done(await service.admin.post(failover(), { enabled: true, rules: [rest] }));
      assert.equal((await only()).hold, false);
    });

    it('writes nothing to a set that was changed in the moment of the write, and restores a lost last answer', async () => {
      await targets.up(P1, P2, B1);
      const rrsets = applicationOf(service.server.dataDir)?.get(RrsetsService) as RrsetsService;
      const real = rrsets.replace;
      atEnd(() => {
        rrsets.replace = real;
      });
      const both = async () => {
        const { host } = await set([P1, P2], { primary: [P1, P2], backup: [B1] });
        for (const value of [P1, P2, B1]) await known(value, true);
        return host;
      };
      /** A change of the zone by others, once, before or after the next write. */
      const meanwhile = (when: 'before' | 'after', ...lines: string[]) => {
        let pending = true;
        const now = () => {
          if (pending) nsupdate(...lines);
          pending = false;
        };
        rrsets.replace = async (actor, at, key, options, choose) => {
          const done = await real.call(rrsets, actor, at, key, options, (values) => {
            const wanted = choose(values);
            if (when === 'before') now();
            return wanted;
          });
          if (when === 'after') now();
          return done;
        };
      };
      const held = async (words: RegExp) => {
        await until('it is on hold', async () => (await only()).hold);
        assert.match((await only()).state.hold_reason ?? '', words);
      };
      const one = await both();
      meanwhile('before', `update delete ${one}.${ZONE}. A ${P2}`);
      await targets.down(P1);
      await held(/holds 127\.0\.2\.1$/);
      assert.deepEqual(await shown(one), [P1]);
      await targets.up(P1);
      const two = await both();
      meanwhile('before', `update add ${two}.${ZONE}. 77 A 192.0.2.98`);
      await targets.down(P1);
      await held(/192\.0\.2\.98/);
      assert.deepEqual(await shown(two), [P1, P2, '192.0.2.98'].toSorted());
      await targets.up(P1);
      const three = await both();
      meanwhile('after', `update delete ${three}.${ZONE}. A`);
      await targets.down(P1);
      await held(/holds nothing; 127\.0\.2\.2 was put back/);
      assert.deepEqual(await shown(three), [P2]);
      await targets.up(P1);
    });

    it('restores what a switch that was cut off has removed', async () => {
      await targets.up(P1, B1);
      const { host, id } = await set([P1], { primary: [P1], backup: [B1] });
      await known(P1, true);
      nsupdate(`update delete ${host}.${ZONE}. A`);
      const db = applicationOf(service.server.dataDir)?.get(Db) as Db;
      const cut = 'UPDATE failover_rules SET intended = ?, version = version + 1 WHERE id = ?';
      await db.run(cut, [JSON.stringify([B1]), id]);
      await shows(host, P1);
      assert.equal((await only()).hold, false);
    });

    it('is turned off and on while rules of other domains are followed', async () => {
      await targets.up(P1, P2, B1);
      const files = await addDomain(
        service.admin,
        await addAccount(service.admin, 'zonefile', {}),
        'other.example',
        true,
      );
      made(await service.admin.post(`/api/domains/${files}/records`, { host: 'o', type: 'A', value: P2 }));
      const check = { kind: 'tcp', port: targets.port, ...QUICK };
      const other = { host: 'o', type: 'A', primary: [P2], backup: [B1], check };
      const path = `/api/domains/${files}/failover` as const;
      done(await service.admin.post(path, { enabled: true, rules: [other] }));
      const { host } = await set([P1], { primary: [P1], backup: [B1] });
      await known(P1, true);
      const watch = applicationOf(service.server.dataDir)?.get(Watch) as unknown as { watched: Map<number, unknown> };
      await until('both are followed', async () => watch.watched.size === 2);
      done(await service.admin.post(failover(), { ...(await get()), enabled: false }));
      await until('one is followed', async () => watch.watched.size === 1);
      await targets.down(P1);
      done(await service.admin.post(failover(), { ...(await get()), enabled: true }));
      await shows(host, B1);
      done(await service.admin.delete(path));
    });

    it('makes no switch that later checks have made unnecessary while it waited', async () => {
      await targets.up(P1, B1);
      const { host } = await set([P1], { primary: [P1], backup: [B1] });
      await known(P1, true);
      await known(B1, true);
      const switcher = applicationOf(service.server.dataDir)?.get(Switcher) as Switcher;
      // switches wait while the domain is configured
      await switcher.alone(domain, async () => {
        await targets.down(P1);
        await known(P1, false);
        await targets.up(P1);
        await known(P1, true);
      });
      await checked(2);
      assert.deepEqual([await shown(host), (await only()).state.switches, (await only()).hold], [[P1], 0, false]);
      await targets.down(P1);
      await shows(host, B1);
    });

    it('shows a token with rules no value that it may not read', async () => {
      await targets.up(P1, B1);
      const { host } = await set([P1], { primary: [P1], backup: [B1] });
      await known(B1, true);
      await targets.down(P1);
      await shows(host, B1);
      const rules = [{ effect: 'allow', actions: ['read'], hosts: ['other'] }];
      const { token } = made(
        await service.admin.post('/api/tokens', { name: 'narrow', allowed_services: ['*'], rules }),
      );
      for (const path of [`${failover()}/history`, `/api/domains/${domain}/changes`] as const) {
        const comments = async (client: Client) => done(await client.get(path)).list.map(({ comment }) => comment);
        assert.match(String(await comments(service.admin)), /127\.0\.2\.1 is down/);
        assert.doesNotMatch(String(await comments(service.server.as(token))), /127|is down/);
      }
    });

    it('is switched by hand, after a rehearsal, and stays on hold until it is released', async () => {
      await targets.up(P1, B1);
      const { host, id } = await set([P1], { primary: [P1], backup: [B1] });
      await known(P1, true);
      const path = `${failover()}/${id}/switch` as const;
      const before = await switches();
      const wanted = { rule_id: id, active: 'backup', before: [P1], after: [B1], hold: true, refused: null };
      const rehearsed = done(await service.admin.post(`${path}?dryRun=true`, { to: 'backup' }));
      assert.deepEqual(rehearsed, { ...wanted, dry_run: true, change_set_id: null });
      assert.deepEqual([await shown(host), await switches()], [[P1], before]);
      const { change_set_id, ...rest } = done(await service.admin.post(path, { to: 'backup' }));
      assert.deepEqual(rest, { ...wanted, dry_run: false });
      assert.deepEqual([await shown(host), typeof change_set_id], [[B1], 'number']);
      await checked(2);
      assert.deepEqual([await shown(host), (await only()).hold], [[B1], true]);
      assert.equal(done(await service.admin.post(path, { to: 'primary' })).hold, false);
      assert.deepEqual(await shown(host), [P1]);
      // in a maintenance window, and on hold
      const window = { start_time: '2020-01-01T00:00:00Z', end_time: '2099-01-01T00:00:00Z' };
      await put({ ...(await only()), maintenance: [window] });
      await targets.down(P1);
      await known(P1, false);
      await checked(1);
      assert.deepEqual(await shown(host), [P1]);
      await put({ ...(await only()), maintenance: [], hold: true });
      await checked(1);
      assert.deepEqual(await shown(host), [P1]);
      await put({ ...(await only()), hold: false, auto_switch_back: false });
      await shows(host, B1);
      await targets.up(P1);
      await known(P1, true);
      await checked(1);
      assert.deepEqual([await shown(host), (await only()).id], [[B1], id]);
      refused(await service.admin.post(`${failover()}/999999/switch`, { to: 'primary' }), 404, 404001);
    });

    it('brings nothing back when it switched too often, but still switches away from what is down', async () => {
      await targets.up(P1, B1);
      const { host } = await set([P1], { primary: [P1], backup: [B1], max_switches_per_hour: 1 });
      await known(B1, true);
      await targets.down(P1);
      await shows(host, B1);
      await targets.up(P1);
      await known(P1, true);
      await checked(1);
      assert.deepEqual([await shown(host), typeof (await only()).state.limited_until], [[B1], 'string']);
      await targets.down(B1);
      await shows(host, P1);
      await until('it is told', async () => (await only()).state.active === 'primary');
      await targets.up(B1);
      await known(B1, true);
      await targets.down(P1);
      await shows(host, B1);
      assert.equal(typeof (await only()).state.limited_until, 'string');
    });

    it('refuses checks with long timeouts, and more values than one domain may have', async () => {
      const check = { kind: 'tcp', port: 80, interval_s: 60, timeout_s: 11 };
      const rule = { host: 'long', type: 'A', primary: [P1], backup: [], check };
      const long = refused(await service.admin.post(failover(), { enabled: false, rules: [rule] }), 400, 400001);
      assert.deepEqual(
        long.data.errors.map(({ path }) => path),
        ['rules.0.check.timeout_s'],
      );
      const primary = Array.from({ length: 50 }, (_none, i) => `127.9.0.${i}`);
      const rules = Array.from({ length: 41 }, (_none, i) => ({
        host: `many${i}`,
        type: 'A',
        primary,
        backup: [],
        check: { kind: 'tcp', port: 80 },
      }));
      const many = refused(await service.admin.post(failover(), { enabled: false, rules }), 400, 400001);
      assert.deepEqual(
        many.data.errors.map(({ path }) => path),
        ['rules'],
      );
      done(await service.admin.post(failover(), { enabled: false, rules: rules.slice(1) }));
    });

    it('requests the name over HTTP and HTTPS at the address, and checks status and text', async () => {
      const asked = new Set<string>();
      let status = 200;
      const answer = (
        request: { headers: { host?: string | undefined }; url?: string | undefined },
        response: { writeHead(n: number): { end(t: string): void } },
      ) => {
        asked.add(`${request.headers.host}${request.url}`);
        response.writeHead(status).end('all is well');
      };
      const pem = execFileSync(
        'openssl',
        ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', '-', '-out', '-', '-days', '1', '-subj', '/CN=x'],
        { stdio: ['ignore', 'pipe', 'ignore'] },
      ).toString();
      const plain = await startTargets({ answer });
      const secure = await startTargets({ answer, tls: { key: pem, cert: pem } });
      atEnd(() => plain.stop());
      atEnd(() => secure.stop());
      await plain.up(P1);
      await secure.up(P1);
      const http = {
        kind: 'http',
        port: plain.port,
        path: '/health?a=1',
        expect_status: 200,
        expect_body: 'is well',
        ...QUICK,
      };
      const { host, id } = await set([P1], { primary: [P1], backup: [], check: http });
      await known(P1, true);
      assert.deepEqual([...asked], [`${host}.${ZONE}:${plain.port}/health?a=1`]);
      const other = (check: object) => put({ id, host, type: 'A', primary: [P1], backup: [], check });
      const says = (words: RegExp) =>
        until(String(words), async () => words.test((await only()).state.values[0]?.last_error ?? ''));
      status = 503;
      await says(/^HTTP 503$/);
      status = 200;
      await other({ ...http, expect_body: 'is not' });
      await says(/lacks the expected text/);
      await other({ kind: 'https', port: secure.port, ...QUICK });
      await known(P1, true);
      await other({ kind: 'https', port: secure.port, verify_tls: true, ...QUICK });
      await says(/self-signed/);
    });

    it('moves a CNAME to the first target that works', async () => {
      const resolvable = ['localhost', 'no.such.invalid'] as const;
      done(await service.admin.put(`/api/domains/${domain}/rrsets/alias/CNAME`, { values: [resolvable[1]] }));
      await targets.up('127.0.0.1');
      const check = { kind: 'tcp', port: targets.port, ...QUICK };
      await put({ host: 'alias', type: 'CNAME', primary: [resolvable[1]], backup: [resolvable[0]], check });
      await until('it moved', async () => String(await shown('alias', 'CNAME')) === 'localhost.');
      // a resolver may take longer than the check
      assert.match((await only()).state.values[0]?.last_error ?? '', /cannot be resolved|^no answer within 1 s$/);
    });

    it('reads the rules once for requests that ask for late checks at the same time', async () => {
      await targets.up(P1);
      await set([P1], { primary: [P1], backup: [] });
      await known(P1, true);
      const statements = tellStatements();
      await Promise.all(Array.from({ length: 6 }, () => service.admin.get('/api/system/jobs').then(done)));
      const sent = statements().filter(({ sql }) => /checks.* FROM failover_rules WHERE domain_id IN/s.test(sql));
      // two where the answer of another one had just become too old
      assert.ok(sent.length <= 2, `${sent.length} statements`);
    });

    it('goes on when the clock is set back', async () => {
      await targets.up(P1);
      await set([P1], { primary: [P1], backup: [] });
      await known(P1, true);
      const real = Date.now;
      Date.now = () => real() - 3_600_000;
      try {
        await checked(3);
      } finally {
        Date.now = real;
      }
    });
  });
}
