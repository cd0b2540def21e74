import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, it } from '@jest/globals';
import { DelegationWatch } from '../../src/monitoring/delegation/watch.service.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Internet, internetMissing, startInternet } from '../support/delegations.js';
import { applicationOf, type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { startStandIn } from '../support/vendor.js';
import { addAccount, addDomain, done, until } from '../support/world.js';

/** A DS that BIND's tool makes of the zone's key. */
function dsOf(zone: string, at: string): string {
  const keys = execFileSync('dig', [`@${at}`, '+norecurse', '+noall', '+answer', zone, 'DNSKEY']);
  const made = execFileSync('dnssec-dsfromkey', ['-2', '-f', '-', zone], { input: keys });
  return String(made).trim().split(/\s+/).slice(3).join(' ');
}

const reason = internetMissing();
for (const [i, { kind, skip }] of databases('one').entries()) {
  describeUnless(reason ?? skip)(`delegation of a domain on ${kind}`, () => {
    let net: Internet;
    let service: Service;
    let admin: Client;
    let db: Db;
    let close: () => Promise<void>;
    let domain: number;

    beforeAll(async () => {
      net = await startInternet('22.1', { signed: true });
      service = await startService(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      admin = service.admin;
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      done(await admin.put('/api/settings', { dns_resolvers: [net.resolver] }));
      const { name, algorithm, secret } = net.primary.tsig;
      const account = await addAccount(admin, 'rfc2136', {
        server: net.primary.address,
        tsig_name: name,
        tsig_algorithm: algorithm,
        tsig_secret: secret,
        zones: net.zone,
      });
      domain = await addDomain(admin, account, net.zone);
    });

    afterAll(async () => {
      await close?.();
      await service?.stop();
      await net?.stop();
    });

    const health = async () => done(await admin.get(`/api/domains/${domain}/health`));
    const codes = async () => (await health()).issues.map(({ code }) => code).sort();
    const names = (...hosts: string[]) => hosts.map((host) => `${host}.${net.zone}`);

    // what is asked of others does not depend on the database
    if (i === 0) {
      it('has no issues when parent, zone and keys agree', async () => {
        const unsigned = await health();
        assert.deepEqual(unsigned.ns, { parent: names('ns1', 'ns2'), zone: names('ns1', 'ns2') });
        assert.deepEqual([unsigned.found_by, unsigned.parent, unsigned.ok], ['parent', 'test', true]);
        assert.deepEqual(
          unsigned.issues.map(({ code }) => code),
          ['key_without_ds'],
        );
        await net.delegate(net.hosts, [dsOf(net.zone, net.primary.address)]);
        const signed = await health();
        assert.deepEqual([signed.ok, signed.issues], [true, []]);
        assert.deepEqual(
          signed.servers.map(({ ok, error }) => [ok, error]),
          [
            [true, null],
            [true, null],
          ],
        );
      });

      it('names each issue, with advice', async () => {
        await net.delegate({ ns1: net.primary.address }, [`1 13 2 ${'ab'.repeat(32)}`]);
        assert.deepEqual(await codes(), ['ds_without_key', 'ns_differ', 'one_server']);
        await net.delegate({ ...net.hosts, ns3: net.address(1), ns4: net.address(20) });
        const { issues, ok } = await health();
        assert.equal(ok, false);
        const about = new Map(issues.map(({ code, text }) => [code, text]));
        assert.match(about.get('server_lame') as string, /ns3.*does not serve the zone/);
        assert.match(about.get('server_unreachable') as string, /ns4.*refused/);
        assert.ok(
          issues.every(({ advice }) => /^[A-Z].{20,}\.$/.test(advice)),
          JSON.stringify(issues),
        );
        await net.delegate({});
        assert.deepEqual((await health()).found_by, 'zone');
        assert.ok((await codes()).includes('not_delegated'));
        await net.delegate(net.hosts);
      });
    }

    it('notifies once when the name servers or the DS at the parent change, and when it breaks', async () => {
      const hook = await startStandIn(() => ({ status: 200 }));
      const got = hook.requests;
      try {
        const events = ['delegation.changed', 'delegation.broken'];
        const channel = { id: 'hook', type: 'webhook', name: 'hook', enabled: true, config: { url: hook.url }, events };
        done(await admin.put('/api/settings/notifications', { channels: [channel] }));
        const watch = applicationOf(service.server.dataDir)?.get(DelegationWatch) as DelegationWatch;
        const look = async () => {
          await db.run('UPDATE delegations SET next_at = ?', [now()]);
          await watch.look(new AbortController().signal);
        };
        const texts = () => got.map(({ body }) => (body as { text: string }).text);
        await db.run('UPDATE domains SET created_at = ?', [now(-3_600_000)]);
        await look();
        await look();
        assert.deepEqual(await codes(), ['key_without_ds']);
        await net.delegate({ ns1: net.primary.address, ns8: net.secondary.address }, [
          dsOf(net.zone, net.primary.address),
        ]);
        assert.ok((await codes()).includes('ns_changed'));
        await look();
        await look();
        await until('the notices came', async () => got.length === 2);
        assert.match(
          texts()[0] as string,
          /changed from ns1\.shop\.test, ns2\.shop\.test to ns1\.shop\.test, ns8\.shop\.test/,
        );
        assert.match(texts()[1] as string, /DS of shop\.test at test changed/);
        // a machine that reaches no resolver knows nothing, and notifies of nothing
        done(await admin.put('/api/settings', { dns_resolvers: ['127.0.0.1:1'] }));
        assert.deepEqual(
          (await codes()).filter((code) => /^(not|parent)_/.test(code)),
          ['parent_unknown'],
        );
        await look();
        done(await admin.put('/api/settings', { dns_resolvers: [net.resolver] }));
        assert.equal(got.length, 2);
        // whoever looks finds it for a week
        assert.ok((await codes()).includes('ns_changed'));
        await net.delegate(net.hosts, [`1 13 2 ${'ab'.repeat(32)}`]);
        await look();
        await look();
        await until('the notices came', async () => got.length === 5);
        assert.deepEqual(
          texts()
            .slice(2)
            .map((text) => text.split(' ').slice(0, 3).join(' '))
            .sort(),
          ['No DS at', 'The DS of', 'The name servers'],
        );
      } finally {
        await hook.stop();
      }
    });
  });
}
