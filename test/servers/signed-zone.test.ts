import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { DocumentFormat } from '../../src/documents/document.js';
import { bindMissing, type NameServer, startBind, zoneText } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { until } from '../support/until.js';
import { addAccount, addDomain, ask, done, made } from '../support/world.js';

const ZONE = 'signed.example';
const RECORDS =
  'www 300 A 192.0.2.1\nzero 0 A 192.0.2.2\nt 300 TXT "a;b"\n_x 300 TLSA 3 1 1 00ff\nh 300 HINFO "a" "b"\n';

for (const { kind, skip } of databases('one'))
  describeUnless(skip ?? bindMissing())(`documents of a zone that BIND signs, on ${kind}`, () => {
    let bind: NameServer;
    let service: Service;
    let admin: Client;
    let base: `/api/domains/${number}`;
    let transfer: string;

    beforeAll(async () => {
      const text = (zone: string) => `${zoneText(zone)}${RECORDS}`;
      bind = await startBind({ zones: [ZONE], ofZone: 'dnssec-policy default;', text });
      await until('it is signed', async () => (await ask(bind.port, ZONE, 'TYPE65534')).length > 0);
      const { name, algorithm, secret } = bind.tsig;
      const key = `${algorithm}:${name}:${secret}`;
      transfer = execFileSync('dig', ['@127.0.0.1', '-p', String(bind.port), '-y', key, ZONE, 'AXFR']).toString();
      assert.match(transfer, /DNSKEY[\s\S]*TYPE65534/);
      service = await startService(kind);
      ({ admin } = service);
      const tsig = { tsig_name: name, tsig_algorithm: algorithm, tsig_secret: secret };
      const account = await addAccount(admin, 'rfc2136', {
        ...{ server: '127.0.0.1', port: bind.port, zones: ZONE, ...tsig },
      });
      base = `/api/domains/${await addDomain(admin, account, ZONE)}`;
    });
    afterAll(async () => {
      await service?.stop();
      await bind?.stop();
    });

    const planOf = async (format: DocumentFormat, text: string) =>
      made(
        await admin.post(`${base}/plans`, {
          document: { format, text },
          mode: 'sync',
        }),
      );

    it('change nothing where they are its transfer', async () => {
      const { changes, warnings } = await planOf('zonefile', transfer);
      assert.deepEqual(changes, []);
      assert.equal(warnings.filter((words) => /records that signers maintain are left aside/.test(words)).length, 1);
    });

    it.each(['zonefile', 'csv', 'json', 'octodns'] as const)(
      'change nothing where they are our export: %s',
      async (format) => {
        done(await admin.get(`${base}/records?refresh=true`));
        const headers = { authorization: `Bearer ${service.token}` };
        const answer = await fetch(`${service.server.url}${base}/export?format=${format}`, { headers });
        assert.deepEqual((await planOf(format, await answer.text())).changes, []);
      },
    );
  });
