import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { DocumentFormat } from '../../src/documents/document.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, ended, made, refused } from '../support/world.js';

const KEY = '257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==';
const DIGEST = `12345 13 2 ${'ab'.repeat(32)}`;
/** What a signer maintains in a zone file. */
const SIGNED = [
  `@ 3600 DNSKEY ${KEY}`,
  `@ 3600 CDNSKEY ${KEY}`,
  `@ 3600 CDS ${DIGEST}`,
  `@ 3600 ZONEMD 1 1 1 ${'cd'.repeat(48)}`,
  '@ 0 TYPE65534 \\# 5 0D3A2F0001',
  '@ 0 NSEC3PARAM 1 0 0 -',
];
/** Records that name servers load, and that the API does not accept as new records. */
const ODD = [
  'zero 0 A 192.0.2.9',
  'a!b 300 A 192.0.2.9',
  't 300 TXT "\\255"',
  'k 300 HINFO "a" "b"',
  'f 300 SPF "v=spf1 -all"',
];

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`plans from documents on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let account: number;
    let count = 0;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      account = await addAccount(admin, 'zonefile', {});
    });
    afterAll(() => service?.stop());

    /** A domain whose zone file has some lines in addition to its SOA and NS. */
    async function zone(lines: readonly string[]) {
      const name = `d${count++}.example`;
      const id = await addDomain(admin, account, name, true);
      const base = `/api/domains/${id}` as const;
      const path = join(service.server.dataDir, 'zones', `${name}.zone`);
      writeFileSync(path, `${readFileSync(path, 'utf8')}${lines.join('\n')}\n`);
      const ask = (format: DocumentFormat, text: string, mode: string) =>
        admin.post(`${base}/plans`, { document: { format, text }, mode } as never);
      const plan = async (format: DocumentFormat, text: string, mode = 'sync') => made(await ask(format, text, mode));
      const exported = async (format: DocumentFormat) => {
        const headers = { authorization: `Bearer ${service.token}` };
        done(await admin.get(`${base}/records?refresh=true`));
        return (await fetch(`${service.server.url}${base}/export?format=${format}`, { headers })).text();
      };
      return { ask, plan, exported, file: () => readFileSync(path, 'utf8') };
    }
    const changesIn = ({ changes }: { changes: { op: string; host: string; type: string }[] }) =>
      changes.map(({ op, host, type }) => `${op} ${host} ${type}`);

    it.each(['zonefile', 'csv', 'json', 'octodns'] as const)(
      'change nothing where the document is our own export of a signed zone: %s',
      async (format) => {
        const { plan, exported } = await zone([...SIGNED, ...ODD, 'www 300 A 192.0.2.1']);
        const { changes, warnings } = await plan(format, await exported(format), 'sync');
        assert.deepEqual(changes, []);
        // octoDNS has no form for them, so that they stand in comments
        assert.equal(warnings.filter((text) => /signers maintain/.test(text)).length, format === 'octodns' ? 0 : 1);
      },
    );

    it('ignore signer records with one counted warning and never delete them', async () => {
      const { plan, file } = await zone([...SIGNED, 'www 300 A 192.0.2.1', 'old 300 A 192.0.2.2']);
      const { id, warnings, ...rest } = await plan(
        'zonefile',
        `www 300 A 192.0.2.1\n@ 60 DNSKEY ${KEY.replace('257', '256')}\n@ 60 CDS ${DIGEST}\n@ 60 CDS 1 13 2 ${'00'.repeat(32)}\n`,
      );
      assert.deepEqual(changesIn(rest), ['delete old A']);
      assert.deepEqual(warnings, ['Line 2 and others: 3 records that signers maintain are left aside (CDS, DNSKEY)']);
      ended(await admin.post(`/api/plans/${id as number}/apply`, {}));
      for (const line of SIGNED) assert.ok(file().includes(line), line);
    });

    it('create no signer records', async () => {
      const { plan } = await zone(['www 300 A 192.0.2.1']);
      for (const mode of ['merge', 'sync'])
        assert.deepEqual(changesIn(await plan('zonefile', `${SIGNED.join('\n')}\nwww 300 A 192.0.2.1\n`, mode)), []);
    });

    it('keep record sets marked octodns.ignored, in sync mode too', async () => {
      const { plan } = await zone(['a 300 A 192.0.2.1', 'a 300 TXT "x"', 'b 300 A 192.0.2.2', 'c 300 A 192.0.2.3']);
      const text = [
        'a: {type: A, value: 203.0.113.1, octodns: {ignored: true}}',
        'b: {type: A, value: 203.0.113.2, ttl: 300}',
        'new: {type: A, value: 203.0.113.2, octodns: {ignored: true}}',
        '',
      ].join('\n');
      const { warnings, ...rest } = await plan('octodns', text);
      assert.deepEqual(changesIn(rest).toSorted(), ['create b A', 'delete a TXT', 'delete b A', 'delete c A']);
      assert.deepEqual(warnings, ['Line 1 and others: 2 record sets are left as they are: octodns.ignored']);
    });

    it('read SPF as TXT with a warning, and keep an SPF record that the zone has', async () => {
      const { plan } = await zone(['f 300 SPF "v=spf1 -all"', 'www 300 A 192.0.2.1']);
      const document = 'f 300 SPF "v=spf1 -all"\ng 300 SPF "v=spf1 a -all"\nwww 300 A 192.0.2.1\n';
      const { warnings, ...rest } = await plan('zonefile', document);
      assert.deepEqual(changesIn(rest), ['create g TXT']);
      assert.deepEqual(warnings, ['Line 2 and others: 1 records of the type SPF (99) are read as TXT (RFC 7208)']);
    });

    it('reject a changed record that could not be created', async () => {
      const { ask } = await zone(ODD);
      for (const line of ['a!b 60 A 192.0.2.9', 'a!b 300 A 192.0.2.8', 't 300 TXT "\\254"', 'k 300 HINFO "a" "c"']) {
        const { errors } = refused(await ask('zonefile', `${line}\n`, 'merge'), 400, 400001).data;
        assert.equal(errors.length, 1, line);
      }
    });
  });
