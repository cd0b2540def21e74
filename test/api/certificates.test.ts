import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, it } from '@jest/globals';
import { Certificates } from '../../src/monitoring/expiry/certificates.service.js';
import { Reminders } from '../../src/monitoring/expiry/reminders.service.js';
import { now } from '../../src/platform/common/clock.js';
import { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { applicationOf, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { type StandIn, startStandIn } from '../support/vendor.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

const DAY = 24 * 3_600_000;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`certificates of hosts, on ${kind}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-certificates-'));
    let tls: Server;
    let hook: StandIn;
    let service: Service;
    let db: Db;
    let close: () => Promise<void>;
    let domain: number;

    beforeAll(async () => {
      tls = createServer(certificate('CN=Old Authority', 90)).listen(0, '127.0.0.1');
      hook = await startStandIn(() => ({ status: 204 }));
      service = await startService(kind, { OUTBOUND_ALLOW: '127.0.0.1/32' });
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      // a name that every machine has
      domain = await addDomain(service.admin, await addAccount(service.admin, 'zonefile', {}), 'localhost', true);
      const records = `/api/domains/${domain}/records` as const;
      for (const [host, type, value] of [
        ['@', 'A', '127.0.0.1'],
        ['@', 'TXT', 'no host'],
        ['*', 'A', '127.0.0.1'],
        ['_x', 'A', '127.0.0.1'],
        ['gone', 'CNAME', 'nowhere.invalid.'],
        ['text', 'TXT', 'x'],
      ])
        made(await service.admin.post(`${records}?force=not_a_host_name`, { host, type, value }));
      const off = made(await service.admin.post(records, { host: 'off', type: 'A', value: '127.0.0.1' })).id;
      done(await service.admin.patch(`${records}/${off}/status`, { enabled: false }));
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
      await hook?.stop();
      await new Promise((resolve) => tls?.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    });

    /** A self-signed one for localhost. */
    function certificate(subject: string, days: number) {
      const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
      const more = ['-addext', 'subjectAltName=DNS:localhost', '-days', String(days), '-subj', `/${subject}`];
      const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
      execFileSync('openssl', [...made, '-keyout', key, '-out', cert, ...more], { stdio: 'ignore' });
      return { key: readFileSync(key), cert: readFileSync(cert) };
    }
    const app = () => applicationOf(service.server.dataDir);
    const tick = async () => {
      await db.run('UPDATE certificates SET checked_at = ?', [now(-DAY)]);
      await app()?.get(Certificates).tick(new AbortController().signal);
    };
    const list = async () => done(await service.admin.get(`/api/domains/${domain}/certificates`));
    const port = () => (tls.address() as AddressInfo).port;

    it('looks at hosts with addresses, of domains with watch_certificates', async () => {
      await tick();
      assert.deepEqual(await list(), []);
      const watched = { watch_certificates: true, certificate_port: port() };
      const shown = done(await service.admin.put(`/api/domains/${domain}`, watched));
      assert.deepEqual([shown.watch_certificates, shown.certificate_port], [true, port()]);
      for (const body of [{ watch_certificates: null }, { certificate_port: 0 }, { certificate_port: 'https' }])
        refused(await service.admin.put(`/api/domains/${domain}`, body), 400, 400001);
      await tick();
      const [gone, own, ...more] = await list();
      assert.deepEqual([own?.host, gone?.host, more], ['localhost', 'gone.localhost', []]);
      // some resolvers know all names below localhost
      assert.match(gone?.error ?? '', /cannot be resolved|SELF_SIGNED/);
      assert.deepEqual([own?.issuer, own?.error], ['Old Authority', 'DEPTH_ZERO_SELF_SIGNED_CERT']);
      const life = Date.parse(own?.valid_to as string) - Date.parse(own?.valid_from as string);
      assert.equal(Math.round(life / DAY), 90);
      const page = await service.admin.get(`/api/domains/${domain}/certificates?limit=1&sort=-host&keyword=LOCAL`);
      assert.deepEqual([done(page).length, page.headers.get('x-total-count')], [1, '2']);
      // a token with rules learns of no host that it may not read
      const rules = [{ effect: 'allow', actions: ['read'], hosts: ['gone'] }];
      const { token } = made(
        await service.admin.post('/api/tokens', { name: 'narrow', allowed_services: ['*'], rules }),
      );
      const shownTo = done(await service.server.as(token).get(`/api/domains/${domain}/certificates`));
      assert.deepEqual(
        shownTo.map(({ host }) => host),
        ['gone.localhost'],
      );
    });

    it('goes on with other hosts when one cannot be written, and when another process was faster', async () => {
      const own = app()?.get(Db) as Db;
      const failures = () => service.server.log.split('a certificate could not be looked at').length - 1;
      const run = own.run;
      own.run = (sql, values, ...more) => {
        if (/ certificates /.test(sql) && values?.includes('gone.localhost')) throw new Error('no such day');
        return run.call(own, sql, values, ...more);
      };
      try {
        await own.run('DELETE FROM certificates');
        await tick();
        assert.deepEqual(
          (await list()).map(({ host }) => host),
          ['localhost'],
        );
        assert.equal(failures(), 1);
      } finally {
        own.run = run;
      }
      await own.run('DELETE FROM certificates');
      await Promise.all([tick(), tick()]);
      assert.equal((await list()).length, 2);
      assert.equal(failures(), 1);
    });

    it('keeps the last certificate when a host shows none, and connects to allowed addresses only', async () => {
      const before = (await list()).find(({ host }) => host === 'localhost');
      const at = (certificate_port: number) => service.admin.put(`/api/domains/${domain}`, { certificate_port });
      const plain = await startStandIn();
      done(await at(Number(new URL(plain.url).port)));
      await tick();
      await plain.stop();
      const after = (await list()).find(({ host }) => host === 'localhost');
      assert.equal(after?.valid_to, before?.valid_to);
      assert.match(after?.error ?? '', /^127\.0\.0\.1 port /);
      done(await at(port()));
    });

    it('reminds in proportion to the life of a certificate, then at the days of the settings, once each', async () => {
      const channel = {
        id: 'hook',
        type: 'webhook',
        name: 'hook',
        config: { url: hook.url },
        events: ['domain.expiring'],
      };
      done(await service.admin.put('/api/settings/notifications', { channels: [channel] }));
      const remind = async (life: number, left: number) => {
        const sql = "UPDATE certificates SET valid_from = ?, valid_to = ? WHERE host = 'localhost'";
        await db.run(sql, [now((left - life) * DAY), now(left * DAY)]);
        await tell();
      };
      const tell = async () => {
        const reminders = app()?.get(Reminders) as Reminders;
        await Promise.all([reminders.tick(), reminders.tick()]);
        await reminders.tick();
      };
      const told = async (count: number) => {
        await until(`${count} reminders`, async () => hook.requests.length >= count);
        assert.equal(hook.requests.length, count);
      };
      // automatic renewal happens when a third is left
      for (const [life, left] of [
        [90, 29],
        [45, 14],
        [6, 1.9],
        [3650, 300],
      ] as const)
        await remind(life, left);
      await told(0);
      await remind(90, 26);
      await told(1);
      assert.match(JSON.stringify(hook.requests[0]?.body), /certificate of localhost ends in 26 days/);
      await remind(6, 1.7);
      await told(2);
      // the same certificate with less left: the days of the settings
      await db.run("UPDATE certificates SET told_days = 7 WHERE host = 'localhost'");
      await tell();
      await told(3);
    });

    it('keeps certificates while the provider does not list the domain, and counts known hosts first to the limit of 50', async () => {
      const run = () => app()?.get(Certificates).tick(new AbortController().signal);
      const before = await list();
      await db.run("UPDATE domains SET status = 'missing' WHERE id = ?", [domain]);
      await run();
      assert.deepEqual(await list(), before);
      await db.run("UPDATE domains SET status = 'active' WHERE id = ?", [domain]);
      const names = Array.from({ length: 50 }, (_, i) => `m${String(i).padStart(2, '0')}`);
      const changes = [...names, 'a'].map((host) => ({ op: 'create', host, type: 'A', value: '127.0.0.1' }));
      done(await service.admin.post(`/api/domains/${domain}/records/batch`, { changes }));
      const known = names.slice(0, 48);
      for (const host of known)
        await db.run('INSERT INTO certificates (domain_id, host, checked_at) VALUES (?, ?, ?)', [
          domain,
          `${host}.localhost`,
          now(),
        ]);
      await run();
      const hosts = async () =>
        done(await service.admin.get(`/api/domains/${domain}/certificates?limit=100`)).map(({ host }) => host);
      assert.deepEqual(
        (await hosts()).toSorted(),
        ['localhost', 'gone.localhost', ...known.map((host) => `${host}.localhost`)].toSorted(),
      );
      // one of the 50 is free: for the first host that waits
      const { list: found } = done(await service.admin.get(`/api/domains/${domain}/records?host=gone`));
      done(await service.admin.delete(`/api/domains/${domain}/records/${found[0]?.id}`));
      await run();
      const own = ['localhost', 'a.localhost', ...known.map((host) => `${host}.localhost`)];
      assert.deepEqual((await hosts()).toSorted(), own.toSorted());
    });

    it('removes hosts that are not watched any more', async () => {
      done(await service.admin.put(`/api/domains/${domain}`, { watch_certificates: false }));
      await tick();
      assert.deepEqual(await list(), []);
    });
  });
}
