import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { stopClock } from '../support/clock.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { waitsForLock } from '../support/late-writes.js';
import { noPowerdns, type Powerdns, startPowerdns } from '../support/powerdns.js';
import type { Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
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

/** Records of many types, as both providers hold them. */
const MANY = [
  { host: '@', type: 'A', value: '192.0.2.1', ttl: 600 },
  { host: '@', type: 'MX', value: 'mail.example.net.', priority: 10, ttl: 600 },
  { host: '@', type: 'TXT', value: 'v=spf1 "quoted" -all', ttl: 900 },
  { host: '@', type: 'CAA', value: '0 issue "ca.example.net"', ttl: 600 },
  { host: 'www', type: 'CNAME', value: 'web.example.net.', ttl: 300 },
  { host: 'two', type: 'A', value: '192.0.2.2', ttl: 300, remark: 'first of two' },
  { host: 'two', type: 'A', value: '192.0.2.3', ttl: 300 },
  { host: 'six', type: 'AAAA', value: '2001:db8::1', ttl: 300 },
  { host: 'sub', type: 'NS', value: 'ns.example.net.', ttl: 300 },
  { host: '_sip._tcp', type: 'SRV', value: '5 5060 sip.example.net.', priority: 1, ttl: 300 },
  { host: 'off', type: 'A', value: '192.0.2.9', ttl: 300, enabled: false },
];

/** Loopback addresses with name servers of this file, so that the databases do not meet. */
const OWN_ADDRESSES = {
  sqlite: ['127.44.1.1', '127.44.1.2'],
  postgresql: ['127.44.2.1', '127.44.2.2'],
  mysql: ['127.44.3.1', '127.44.3.2'],
};

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`a domain that is moved to another account, on ${kind}`, () => {
    let world: World;
    let admin: Client;
    let files: number;
    let count = 0;

    beforeAll(async () => {
      world = await startWorld(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = world);
      done(await admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0, user: 0, token: 0 } }));
      // nobody answers there
      done(await admin.put('/api/settings', { dns_resolvers: ['127.0.0.1:1'] }));
      files = await addAccount(admin, 'zonefile', {});
    });
    afterAll(async () => {
      await world?.stop();
    });

    /** A zone of PowerDNS, or of zone files, with these records. */
    const zone = async (from: 'powerdns' | 'files', records: object[] = MANY) => {
      const name = `move${++count}.example`;
      const [account, to] = from === 'powerdns' ? [world.account, files] : [files, world.account];
      const id = await addDomain(admin, account, name, true);
      const path = `/api/domains/${id}/records` as const;
      if (records.length) {
        const changes = records.map((record) => ({ op: 'create', ...record }));
        done(await admin.post(`${path}/batch`, { changes }));
      }
      const migration = `/api/domains/${id}/migration` as const;
      const list = async (domain = id) => done(await admin.get(`/api/domains/${domain}/records`)).list;
      const step = (which: string, body?: object) =>
        admin.post(`${migration}/${which}` as `${typeof migration}/copy`, body);
      const begin = (more: object = {}) => admin.post(migration, { account_id: to, create: true, ...more });
      /** All steps up to one. */
      const upTo = async (last: string) => {
        const { target_domain_id } = made(await begin());
        for (const one of ['copy', 'follow', 'switch']) {
          if (last === 'planned') break;
          done(await step(one));
          if (one === last) break;
        }
        return target_domain_id as number;
      };
      return { id, name, account, to, path, migration, list, step, begin, upTo };
    };

    type Row = { host: string; type: string; value: string; ttl: number; priority: number | null; enabled: boolean };
    const lines = (rows: readonly Row[]) =>
      rows
        .filter(({ host, type }) => !(host === '@' && type === 'NS'))
        .map((r) => `${r.host} ${r.type} ${r.priority ?? '-'} ${r.value} ${r.ttl} ${r.enabled ? 'on' : 'off'}`)
        .toSorted();
    const inPowerdns = async (name: string) =>
      powerdnsLines(await world.pdns.zone(name)).filter((line) => !line.startsWith('@ NS '));
    const idsOf = (rows: readonly (Row & { id: number })[]) =>
      Object.fromEntries(
        rows.filter(({ host, type }) => !(host === '@' && type === 'NS')).map((r) => [lines([r])[0], r.id]),
      );

    for (const from of ['powerdns', 'files'] as const)
      it(`goes from ${from} with all its records, whose ids and history stay`, async () => {
        const one = await zone(from);
        const before = await one.list();
        const changes = done(await admin.get(`/api/domains/${one.id}/changes`)).total;
        const planned = made(await one.begin());
        assert.equal(planned.state, 'planned');
        assert.deepEqual(planned.report.lost, []);
        assert.equal(lines(await one.list(planned.target_domain_id as number)).length, 0);
        assert.equal(done(await one.step('copy')).state, 'copied');
        assert.deepEqual(lines(await one.list(planned.target_domain_id as number)), lines(before));
        assert.equal(done(await one.step('follow')).state, 'following');
        const switched = done(await one.step('switch'));
        assert.deepEqual([switched.state, switched.behind, switched.error], ['switched', 0, null]);
        const after = await one.list();
        assert.deepEqual(lines(after), lines(before));
        assert.deepEqual(idsOf(after), idsOf(before));
        assert.equal(done(await admin.get(`/api/domains/${one.id}`)).account_id, one.to);
        assert.ok(done(await admin.get(`/api/domains/${one.id}/changes`)).total >= changes);
        // the domain is what its provider holds
        done(await admin.get(`${one.path}?refresh=true`));
        assert.deepEqual(idsOf(await one.list()), idsOf(before));
        assert.equal(done(await one.step('finish')).state, 'done');
        assert.equal((await admin.get(`/api/domains/${planned.target_domain_id as number}`)).status, 404);
        if (from === 'powerdns')
          assert.deepEqual(
            await inPowerdns(one.name),
            lines(before.filter(({ enabled }) => enabled))
              .concat(lines(before.filter(({ enabled }) => !enabled)))
              .toSorted(),
          );
        assert.equal(done(await admin.get(one.migration)).state, 'done');
      });

    it('loses no write of somebody who writes all the time', async () => {
      const one = await zone('powerdns', []);
      let goes = true;
      let count = 0;
      /** Until the writer has written some more. */
      const more = async () => {
        const wanted = count + 3;
        await until('there are more writes', () => count >= wanted);
      };
      const written: string[] = [];
      const writer = (async () => {
        for (let i = 0; goes; i++) {
          const { id } = made(await admin.post(one.path, { host: `w${i}`, type: 'A', value: '192.0.2.1', ttl: 300 }));
          if (i % 4 === 1) done(await admin.put(`${one.path}/${id}`, { value: '192.0.2.77' }));
          if (i % 4 === 2) done(await admin.delete(`${one.path}/${id}`));
          else written.push(`w${i} A - ${i % 4 === 1 ? '192.0.2.77' : '192.0.2.1'} 300 on`);
          count = i + 1;
        }
      })();
      const target = made(await one.begin()).target_domain_id as number;
      for (const step of ['copy', 'follow', 'switch']) {
        await more();
        done(await one.step(step));
      }
      await more();
      goes = false;
      await writer;
      assert.deepEqual(lines(await one.list()), written.toSorted());
      assert.ok(written.length > 5);
      const wanted = written.toSorted().join('\n');
      await until('the old zone has followed', async () => (await inPowerdns(one.name)).join('\n') === wanted);
      // what its provider holds already is in the cache a moment later
      await until('its domain says so', async () => lines(await one.list(target)).join('\n') === wanted);
    });

    it('writes to both providers, before the switch and after it', async () => {
      const one = await zone('files');
      const target = await one.upTo('follow');
      const { id } = made(await admin.post(one.path, { host: 'new', type: 'A', value: '192.0.2.50', ttl: 300 }));
      await until('the new zone has it', async () =>
        (await inPowerdns(one.name)).some((line) => line.startsWith('new ')),
      );
      done(await one.step('switch'));
      done(await admin.put(`${one.path}/${id}`, { value: '192.0.2.51', ttl: 400 }));
      assert.ok((await inPowerdns(one.name)).includes('new A - 192.0.2.51 400 on'));
      const atOld = async () => lines(await one.list(target));
      await until('the old zone has it', async () => (await atOld()).includes('new A - 192.0.2.51 400 on'));
      done(await admin.delete(`${one.path}/${id}`));
      await until('the old zone has lost it', async () => !(await atOld()).some((line) => line.startsWith('new ')));
      assert.deepEqual(await atOld(), lines(await one.list()));
    });

    it('has a write that waited during the switch at the new provider', async () => {
      const one = await zone('powerdns');
      const target = await one.upTo('follow');
      let go = () => {};
      const free = new Promise<void>((resolve) => {
        go = resolve;
      });
      let asked = 0;
      // the switch reads the zone while nobody else may write it
      world.proxy.fault = async (request, forward) => {
        if (request.method === 'GET' && ++asked === 2) await free;
        return forward();
      };
      const clock = stopClock();
      const switched = one.step('switch');
      await until('the switch has the zone', async () => asked >= 2);
      const write = admin.post(one.path, { host: 'waited', type: 'A', value: '192.0.2.60', ttl: 300 });
      await waitsForLock(clock);
      clock.release();
      go();
      done(await switched);
      world.proxy.fault = null;
      made(await write);
      const old = async () => (await inPowerdns(one.name)).some((line) => line.startsWith('waited '));
      assert.ok(lines(await one.list()).includes('waited A - 192.0.2.60 300 on'));
      done(await admin.get(`${one.path}?refresh=true`));
      assert.ok(lines(await one.list()).includes('waited A - 192.0.2.60 300 on'), 'the new provider has it');
      await until('the old zone has followed', old);
      assert.ok(target);
    });

    it('is taken back at each state, with its ids', async () => {
      for (const last of ['planned', 'copy', 'follow', 'switch']) {
        const one = await zone('powerdns');
        const before = await one.list();
        const target = await one.upTo(last);
        assert.equal(done(await one.step('cancel')).state, 'cancelled', last);
        assert.equal(done(await one.step('cancel')).state, 'cancelled', last);
        assert.deepEqual(idsOf(await one.list()), idsOf(before), last);
        assert.equal(done(await admin.get(`/api/domains/${one.id}`)).account_id, one.account, last);
        assert.equal((await admin.get(`/api/domains/${target}`)).status, 404, last);
        refused(await one.step('follow'), 409, 409001);
        done(await admin.put(`${one.path}/${before.find(({ host }) => host === 'six')?.id as number}`, { ttl: 777 }));
        assert.ok((await inPowerdns(one.name)).includes('six AAAA - 2001:db8::1 777 on'), last);
      }
    });

    it('says what is lost, which the old zone keeps, also when the move is taken back', async () => {
      const one = await zone('powerdns', [
        ...MANY.slice(0, 3),
        { host: 'alias', type: 'ALIAS', value: 'web.example.net.', ttl: 300 },
      ]);
      const before = await one.list();
      const { report } = made(await one.begin());
      assert.deepEqual(
        report.lost.map(({ host, type }) => [host, type]),
        [['alias', 'ALIAS']],
      );
      for (const step of ['copy', 'follow', 'switch']) done(await one.step(step));
      const left = before.filter(({ type }) => type !== 'ALIAS');
      assert.deepEqual(idsOf(await one.list()), idsOf(left));
      made(await admin.post(one.path, { host: 'late', type: 'A', value: '192.0.2.1', ttl: 300 }));
      await until('the old zone has followed', async () => (await inPowerdns(one.name)).length === before.length);
      assert.ok((await inPowerdns(one.name)).some((line) => line.startsWith('alias ALIAS')));
      done(await one.step('cancel'));
      const again = lines(await one.list());
      assert.deepEqual(again, [...lines(before), 'late A - 192.0.2.1 300 on'].toSorted());
    });

    it('takes a zone that is there already, and replaces its records only when told', async () => {
      const one = await zone('files');
      await world.pdns.createZone(one.name);
      const target = await addDomain(admin, world.account, one.name);
      made(await admin.post(`/api/domains/${target}/records`, { host: 'other', type: 'A', value: '192.0.2.8' }));
      const { target_domain_id, checks } = made(await one.begin({ create: false }));
      assert.equal(target_domain_id, target);
      assert.equal(checks.find(({ key }) => key === 'replaced')?.ok, false);
      refused(await one.step('copy'), 409, 409001);
      assert.ok((await inPowerdns(one.name)).some((line) => line.startsWith('other ')));
      assert.equal(done(await one.step('copy', { replace: true })).state, 'copied');
      assert.deepEqual(await inPowerdns(one.name), lines(await one.list()));
      made(await admin.post(`/api/domains/${target}/records`, { host: 'later', type: 'A', value: '192.0.2.8' }));
      refused(await one.step('copy'), 409, 409001);
      assert.ok((await inPowerdns(one.name)).some((line) => line.startsWith('later ')));
      done(await one.step('copy', { replace: true }));
      done(await one.step('cancel'));
      assert.equal((await admin.get(`/api/domains/${target}`)).status, 200, 'it was here before');
    });

    it('is not taken back once the old zone was deleted here, but finished', async () => {
      const one = await zone('files');
      const target = await one.upTo('switch');
      assert.equal((await admin.delete(`/api/domains/${target}?force=true`)).status, 200);
      const { data } = refused(await one.step('cancel'), 409, 409001);
      assert.equal(data.reason, 'move_no_way_back');
      assert.equal(done(await one.step('finish')).state, 'done');
    });

    it('takes along what it demands of changes, and is moved by no token where they need an approval', async () => {
      const one = await zone('files');
      const { token } = made(await admin.post('/api/tokens', { name: `mover${count}`, allowed_services: ['*'] }));
      const bot = world.server.as(token);
      const own = `/api/domains/${one.id}` as const;
      const target = await one.upTo('follow');
      const approval = { for: 'all', by: { role: 3 }, own: false };
      done(
        await admin.put(own, {
          approval,
          freeze: { from: '2020-01-01T00:00Z', until: '2999-01-01T00:00Z', reason: 'x' },
        }),
      );
      refused(await bot.post(`${one.migration}/switch`), 403, 403001);
      refused(await one.step('switch'), 423, 423002);
      done(await admin.put(own, { freeze: null }));
      done(await one.step('switch'));
      const evil = { host: 'evil', type: 'A', value: '192.0.2.66' };
      assert.equal((await admin.post(`/api/domains/${target}/records`, evil)).status, 202);
      assert.equal((await bot.post(`/api/domains/${target}/records`, { ...evil, host: 'more' })).status, 202);
      refused(await bot.post(`${one.migration}/cancel`), 403, 403001);
      done(await admin.put(own, { approval: { for: 'none' } }));
      made(await admin.post(one.path, { host: 'after', type: 'A', value: '192.0.2.9' }));
      await until('the old zone has it, too', async () =>
        (await one.list(target)).some(({ host }) => host === 'after'),
      );
      done(await one.step('finish'));
    });

    it('is refused where there is nothing to move to', async () => {
      const one = await zone('files');
      refused(await one.begin({ create: false }), 409, 409001);
      refused(await one.begin({ account_id: files }), 400, 400001);
      refused(await one.begin({ account_id: 999_999 }), 404, 404001);
      refused(await one.step('copy'), 404, 404001);
      const two = await addAccount(admin, 'zonefile', {});
      refused(await one.begin({ account_id: two }), 409, 409001);
      const both = await Promise.all([one.begin(), one.begin()]);
      assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 409]);
      refused(await one.step('switch'), 409, 409001);
      refused(await one.step('finish'), 409, 409001);
    });

    it('goes on writing while the new provider fails, and catches up', async () => {
      const one = await zone('files');
      await one.upTo('follow');
      world.proxy.fault = async () => 'close';
      made(await admin.post(one.path, { host: 'during', type: 'A', value: '192.0.2.70', ttl: 300 }));
      await until('it says so', async () => done(await admin.get(one.migration)).behind > 0);
      assert.ok(done(await admin.get(one.migration)).error);
      const failed = await one.step('switch');
      assert.notEqual(failed.status, 200);
      world.proxy.fault = null;
      done(await one.step('switch'));
      assert.ok((await inPowerdns(one.name)).includes('during A - 192.0.2.70 300 on'));
    });

    it('says what the name servers of both zones answer', async () => {
      const [old, fresh] = await Promise.all(OWN_ADDRESSES[kind].map((address) => startPowerdns({ address })));
      try {
        const name = `answers${++count}.example`;
        const [a, b] = [old as Powerdns, fresh as Powerdns];
        await a.createZone(name);
        await b.createZone(name);
        const [from, to] = [
          await addAccount(admin, 'powerdns', { url: a.url, api_key: a.apiKey }),
          await addAccount(admin, 'powerdns', { url: b.url, api_key: b.apiKey }),
        ];
        const id = await addDomain(admin, from as number, name);
        const put = async (domain: number, host: string, type: string, value: string) =>
          done(await admin.put(`/api/domains/${domain}/rrsets/${host}/${type}`, { ttl: 60, values: [{ value }] }));
        for (const [i, address] of OWN_ADDRESSES[kind].entries()) await put(id, `ns${i}`, 'A', address);
        await put(id, '@', 'NS', `ns0.${name}.`);
        await put(id, 'www', 'A', '192.0.2.1');
        const migration = `/api/domains/${id}/migration` as const;
        const target = made(await admin.post(migration, { account_id: to })).target_domain_id as number;
        done(await admin.post(`${migration}/copy`));
        await put(target, '@', 'NS', `ns1.${name}.`);
        const checks = async () => {
          const { checks: all } = done(await admin.get(migration));
          return Object.fromEntries(all.map(({ key, ok, text }) => [key, `${ok} ${text}`]));
        };
        const first = await checks();
        assert.match(first.answers as string, /^true .*answer the same for 3 of 3 record sets/);
        assert.match(first.name_servers as string, new RegExp(`old zone names ns0.${name}, the new one ns1.${name}`));
        assert.match(first.delegation as string, /^false/);
        await put(id, 'www', 'A', '192.0.2.2');
        assert.match((await checks()).answers as string, /^false .*A www \(192.0.2.2 before, 192.0.2.1 there\)/);
        done(await admin.post(`${migration}/follow`));
        assert.match((await checks()).answers as string, /^true/);
        done(await admin.post(`${migration}/switch`));
        assert.match((await checks()).answers as string, /^true/);
      } finally {
        await Promise.all([old?.stop(), fresh?.stop()]);
      }
    });

    it('is for its owner, who may use the account, and follows as long as that is so', async () => {
      const { db, close } = await openDatabase(world.databaseUrl, world.server.dataDir);
      const user = { username: 'mover', password: 'correct-horse-battery-8' };
      const id = await addUser(db, user, 2);
      const mover = world.server.as(await world.server.login(user));
      const one = await zone('files');
      const migration = () => mover.post(one.migration, { account_id: world.account, create: true });
      await db.run('UPDATE users SET role = 1 WHERE id = ?', [id]);
      refused(await migration(), 403, 403001);
      refused(await mover.get(one.migration), 403, 403001);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [id, one.id]);
      refused(await migration(), 403, 403001);
      await db.run('UPDATE users SET role = 2 WHERE id = ?', [id]);
      const target = made(await migration()).target_domain_id as number;
      done(await mover.post(`${one.migration}/copy`));
      done(await mover.post(`${one.migration}/follow`));
      await db.run('UPDATE users SET role = 1 WHERE id = ?', [id]);
      made(await admin.post(one.path, { host: 'held', type: 'A', value: '192.0.2.80', ttl: 300 }));
      await until('it is held', async () => /mover/.test(done(await admin.get(one.migration)).error ?? ''));
      assert.ok(!(await inPowerdns(one.name)).some((line) => line.startsWith('held ')));
      refused(await mover.post(`${one.migration}/switch`), 403, 403001);
      done(await admin.post(`${one.migration}/follow`));
      await until('it goes on', async () => (await inPowerdns(one.name)).includes('held A - 192.0.2.80 300 on'));
      assert.ok(target);
      await close();
    });
  });
}
