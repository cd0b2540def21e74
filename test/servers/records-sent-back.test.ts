import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import fc, { type Arbitrary } from 'fast-check';
import type { RecordType } from '../../src/dns/record.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { done, ended, made, refused, startWorld, type World } from '../support/world.js';

const FIELDS = ['host', 'type', 'value', 'ttl', 'priority', 'weight', 'line', 'proxied', 'remark'] as const;

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/);
const host = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => [...labels, 'example.net'].join('.'));
/** what an alias may lead to */
const any = fc.stringMatching(/^[a-z0-9_/-]{1,20}$/).map((l) => `${l}.example.net`);
const u8 = fc.nat(255);
const u16 = fc.nat(65535);
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((b) => Buffer.from(b).toString('hex'));
const base64 = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((b) => Buffer.from(b).toString('base64'));
const printable = fc.stringMatching(/^[ !#-[\]-~]{0,40}$/);
const words = (...parts: Arbitrary<string | number>[]) => fc.tuple(...parts).map((p) => p.join(' '));
const quoted = (text: Arbitrary<string>) => text.map((t) => `"${t}"`);
const text = fc.string({ unit: 'binary', maxLength: 300 }).map((t) => t.toWellFormed().replaceAll('\0', ''));
const escaped = text.map((t) => `"${t.replace(/["\\]/g, '\\$&')}"`);

/** Values as clients may send them. */
const LEGAL: Record<RecordType, Arbitrary<string>> = {
  A: fc.ipV4(),
  AAAA: fc.oneof(
    fc.ipV6(),
    fc.ipV4().map((v4) => `::ffff:${v4}`),
  ),
  CNAME: any,
  MX: host,
  // texts, texts in quotes, quoted quotes: what is read as presentation form, and what only looks like it
  TXT: fc.oneof(
    text,
    quoted(text),
    escaped,
    escaped.map((t) => `"${t.replace(/["\\]/g, '\\$&')}"`),
  ),
  NS: host,
  SRV: words(u16, u16, host),
  CAA: words(u8, fc.constantFrom('issue', 'issuewild', 'iodef'), quoted(printable)),
  SVCB: words(u16, host, fc.constantFrom('port=8443', 'alpn=h2,h3', '')).map((v) => v.trim()),
  HTTPS: fc.constantFrom('1 .', '0 other.example.net', '1 . alpn=h2 port=8443'),
  TLSA: words(fc.nat(3), fc.nat(1), fc.nat(1), hex(32)),
  SSHFP: words(fc.nat(4), fc.nat(1), hex(20)),
  NAPTR: words(
    ...[u16, u16, quoted(fc.constantFrom('s', 'u')), quoted(printable)],
    ...[quoted(fc.constantFrom('', '!^.*$!sip:a@example.net!', '/(a|b)+/\\\\1/i')), any],
  ),
  DS: words(u16, u8, fc.constantFrom(0, 2, 3), hex(32)),
  PTR: any,
  ALIAS: host,
  LOC: fc.constantFrom('52 22 23.000 N 4 53 32.000 E -2.00m', '1 S 179 59 59.999 W 10m 20m 3m 4m'),
  URI: words(u16, u16, quoted(printable.filter((target) => target !== ''))),
  RP: words(host, host),
  DHCID: base64,
  DNAME: host,
  DNSKEY: words(fc.constantFrom(256, 257), fc.constant(3), fc.nat(16), base64),
  OPENPGPKEY: base64,
  SMIMEA: words(fc.nat(3), fc.nat(1), fc.nat(1), hex(32)),
};

for (const { kind, skip } of databases('sqlite')) {
  describeUnless(skip || noPowerdns)(`what was read is sent back, on ${kind}`, () => {
    let w: World;
    beforeAll(async () => {
      w = await startWorld(kind);
    });
    afterAll(() => w?.stop());

    /** That a record's own body changes nothing, here and at the provider. @returns the record */
    async function unchanged(id: number) {
      const { admin, pdns, zone, records } = w;
      const shown = done(await admin.get(`${records}/${id}`));
      const was = await pdns.zone(zone);
      const body = Object.fromEntries(FIELDS.map((field) => [field, shown[field]]));
      const { updated_at, synced_at, ...put } = done(await admin.put(`${records}/${id}`, body));
      const { updated_at: _u, synced_at: _s, ...before } = shown;
      assert.deepEqual(put, before);
      assert.deepEqual((await pdns.zone(zone)).rrsets, was.rrsets);
      return shown;
    }

    for (const [type, arbitrary] of Object.entries(LEGAL)) {
      it(`${type}: any legal value`, async () => {
        const samples = fc.sample(arbitrary, { numRuns: type === 'TXT' ? 30 : 4, seed: 20261121 });
        for (const [i, value] of samples.entries()) {
          // PowerDNS takes keys of the zone at its apex only
          const body = { host: type === 'DNSKEY' ? '@' : `${type}${i}`, type, value, ttl: 300 + i };
          const { id } = made(await w.admin.post(w.records, type === 'MX' ? { ...body, priority: i } : body));
          assert.equal((await unchanged(id)).read_only, false);
        }
      });
    }

    it('a TXT that is itself well-formed quoted strings is shown in presentation form, others as they are', async () => {
      const { admin, records } = w;
      const shown = async (value: string) => {
        const { id } = made(await admin.post(records, { host: 'shown', type: 'TXT', value }));
        const record = await unchanged(id);
        const found = done(await admin.get(`${records}?host=shown`)).list;
        assert.deepEqual([found.length, found[0].value], [1, record.value], 'the list says the same');
        done(await admin.delete(`${records}/${id}`));
        return record.value;
      };
      assert.equal(await shown('"\\"whole\\""'), '"\\"whole\\""');
      assert.equal(await shown('"\\"a\\" \\"b\\""'), '"\\"a\\" \\"b\\""');
      assert.equal(await shown('"plain"'), 'plain');
      assert.equal(await shown('"open'), '"open');
      assert.equal(await shown('say "hi"'), 'say "hi"');
      // each octet may take four characters
      const long = await shown(`"\\"${'ü'.repeat(30_000)}\\""`);
      assert.ok(long.startsWith('"\\"\\195\\188') && long.length > 240_000);
      const { list } = done(await admin.get('/api/audit/logs?action=record.create&limit=500'));
      assert.ok(list.some((e) => e.after?.value === '"\\"whole\\""'));
    });

    it('what nobody could enter, and what the provider spells in its own way, stays as it is', async () => {
      const { admin, pdns, zone, records, account } = w;
      const sets: [string, string, number, string[]][] = [
        ['api.example.com.example.com.', 'A', 60, ['192.0.2.1']],
        ['zero.example.com.', 'A', 0, ['192.0.2.1']],
        ['cut.example.com.', 'TXT', 60, ['"in " "two parts"', '"\\"whole\\""']],
        ['mapped.example.com.', 'AAAA', 60, ['::ffff:102:304', '2001:db8::1']],
      ];
      const rrsets = sets.map(([name, type, ttl, values]) => {
        const changetype = 'REPLACE';
        return { name, type, ttl, changetype, records: values.map((content) => ({ content, disabled: false })) };
      });
      const answer = await pdns.api('PATCH', `/zones/${zone}.`, { rrsets });
      assert.equal(answer.status, 204, await answer.text());
      done(await admin.post(`/api/accounts/${account}/sync`));
      const { list } = done(await admin.get(records));
      const hosts = ['api.example.com', 'zero', 'cut', 'mapped'];
      const mine = list.filter((r) => hosts.includes(r.host));
      assert.equal(mine.length, 6);
      for (const { id } of mine) await unchanged(id);
      assert.ok(mine.some((r) => r.value === '::ffff:1.2.3.4'));
      const [first] = mine;
      assert.equal(done(await admin.put(`${records}/${first.id}`, { ttl: 90 })).ttl, 90, 'and can be edited');
    });

    it('the same mail host with two preferences is two records', async () => {
      const { admin, records } = w;
      for (const body of [
        { host: 'two', type: 'MX', value: 'mx.example.net' },
        { host: '_two._tcp', type: 'SRV', value: '1 5060 sip.example.net' },
      ]) {
        const { id } = made(await admin.post(records, { ...body, priority: 10 }));
        const second = made(await admin.post(records, { ...body, priority: 20 })).id;
        refused(await admin.post(records, { ...body, priority: 20, ttl: 900 }), 409, 409001);
        refused(await admin.put(`${records}/${id}`, { priority: 20 }), 409, 409001);
        done(await admin.patch(`${records}/${second}/status`, { enabled: false }));
        done(await admin.post(`/api/accounts/${w.account}/sync`));
        const seen = done(await admin.get(`${records}?host=${body.host}`)).list;
        assert.deepEqual(
          seen.map((r) => [r.id, r.priority, r.enabled]),
          [
            [id, 10, true],
            [second, 20, false],
          ],
        );
        done(await admin.delete(`${records}/${id}`));
        assert.equal(done(await admin.patch(`${records}/${second}/status`, { enabled: true })).priority, 20);
        const { rrsets } = await w.pdns.zone(w.zone);
        const set = rrsets.find((r) => r.name === `${body.host}.${w.zone}.`);
        assert.deepEqual(set?.records, [{ content: `20 ${body.value}.`, disabled: false }]);
      }
    });

    it('a record set as it is shown is a legal PUT, and changes nothing', async () => {
      const { admin, pdns, zone, domain } = w;
      const sets = [
        { host: 'both', type: 'A', values: [{ value: '192.0.2.1' }, { value: '192.0.2.2', enabled: false }] },
        { host: '*.both', type: 'MX', values: ['10 mx.example.net', '20 mx.example.net'] },
        { host: 'bücher', type: 'TXT', values: ['"\\"whole\\""', 'say "hi"'] },
      ];
      for (const { host, type, values } of sets) {
        const path = `/api/domains/${domain}/rrsets/${encodeURIComponent(host)}/${type}` as const;
        done(await admin.put(path, { values, ttl: 333 }));
        const shown = done(await admin.get(path));
        const was = await pdns.zone(zone);
        const { changed, records } = done(await admin.put(path, shown));
        assert.deepEqual([changed, records], [false, shown.values.map(({ id }) => id)], host);
        const spelt = { ...shown, host: `${host.toUpperCase()}.${zone}.`, type: type.toLowerCase() };
        assert.equal(done(await admin.put(`${path}?line=default`, spelt)).changed, false, host);
        assert.equal(done(await admin.put(`${path}?line=`, shown)).changed, false, host);
        assert.deepEqual(done(await admin.get(path)), shown);
        assert.deepEqual((await pdns.zone(zone)).rrsets, was.rrsets);
      }
    });

    it('a record set that says it is another one than its address is refused', async () => {
      const path = `/api/domains/${w.domain}/rrsets/www/A` as const;
      const values = ['192.0.2.1'];
      const wrong = async (body: object, query = '') =>
        refused(await w.admin.put(`${path}${query}`, { values, ...body }), 400, 400001).data.errors.map(
          (e) => `${e.path} ${e.code}`,
        );
      assert.deepEqual(await wrong({ host: 'ww' }), ['host conflict']);
      assert.deepEqual(await wrong({ host: 'www', type: 'AAAA' }), ['type conflict']);
      assert.deepEqual(await wrong({ line: 'default' }, '?line=other'), ['line conflict']);
      assert.deepEqual(await wrong({ host: '@', type: 'MX' }), ['host conflict', 'type conflict']);
      assert.deepEqual(await wrong({ host: 'www.example.net.' }), ['host conflict']);
      assert.deepEqual(await wrong({ hosts: 'www' }), ['hosts unknown']);
      assert.deepEqual(await wrong({ values: [{ value: '192.0.2.1', ids: 1 }] }), ['values.0.ids unknown']);
      refused(await w.admin.get(path), 404, 404001);
    });

    it('a record as it is shown makes one again, by POST and in a list', async () => {
      const { admin, records } = w;
      const body = { host: 'again', type: 'MX', value: 'mx.example.net', priority: 7, ttl: 444, remark: 'mine' };
      const { id } = made(await admin.post(records, body));
      const shown = done(await admin.get(`${records}/${id}`));
      const kept = (record: typeof shown) => FIELDS.map((field) => record[field]);
      const batch = `${records}/batch` as const;
      const [same] = ended(await admin.post(batch, { changes: [{ op: 'upsert', ...shown }] })).outcomes ?? [];
      assert.deepEqual(same, { ok: true, record_id: id, id, changed: false });
      const [sent] = ended(await admin.post(batch, { changes: [{ op: 'update', ...shown, ttl: 445 }] })).outcomes ?? [];
      assert.deepEqual(sent, { ok: true, record_id: id, id, changed: true });
      const sets = [
        () => admin.post(records, shown).then((answer) => made(answer).id),
        ...['create', 'upsert'].map((op) => async () => {
          const { outcomes } = ended(await admin.post(batch, { changes: [{ op, ...shown }] }));
          return outcomes?.[0]?.id as number;
        }),
      ];
      let last = id;
      for (const make of sets) {
        done(await admin.delete(`${records}/${last}`));
        const fresh = await make();
        assert.notEqual(fresh, last);
        assert.deepEqual(kept(done(await admin.get(`${records}/${fresh}`))), kept(shown));
        last = fresh;
      }
      const wrong = (answer: Parameters<typeof refused>[0]) =>
        refused(answer, 400, 400001).data.errors.map((e) => `${e.path} ${e.code}`);
      assert.deepEqual(wrong(await admin.post(records, { ...shown, nosuch: 1 })), ['nosuch unknown']);
      const unknown = { op: 'upsert', ...shown, nosuch: 1 };
      assert.deepEqual(wrong(await admin.post(batch, { changes: [unknown] })), ['changes.0.nosuch unknown']);
      const gone = { op: 'delete', id: last, created_at: shown.created_at };
      assert.deepEqual(wrong(await admin.post(batch, { changes: [gone] })), ['changes.0.created_at unknown']);
      done(await admin.delete(`${records}/${last}`));
    });

    it('types that are only shown are readable, stay as they are, and are not dropped', async () => {
      const { admin, pdns, zone, records, account } = w;
      const shown: [string, string][] = [
        ['HINFO', '"PC" "Linux"'],
        ['AFSDB', '1 afs.example.net.'],
        ['KX', '1 kx.example.net.'],
        ['CDS', '12345 13 2 abcd'],
        ['CSYNC', '1 3 A NS AAAA'],
        ['ZONEMD', `1 1 1 ${'ab'.repeat(48)}`],
        ['TYPE65280', '\\# 3 abcdef'],
      ];
      const rrsets = shown.map(([type, content]) => {
        const name = `ro-${type.toLowerCase()}.${zone}.`;
        return { name, type, ttl: 60, changetype: 'REPLACE', records: [{ content, disabled: false }] };
      });
      assert.equal((await pdns.api('PATCH', `/zones/${zone}.`, { rrsets })).status, 204);
      done(await admin.post(`/api/accounts/${account}/sync`));
      const { list } = done(await admin.get(records));
      const was = await pdns.zone(zone);
      for (const [type, value] of shown) {
        const record = list.find((r) => r.type === type);
        assert.deepEqual([record?.value, record?.read_only], [value, true], type);
        refused(await admin.put(`${records}/${record?.id}`, { ttl: 90 }), 400, 400001);
        refused(await admin.delete(`${records}/${record?.id}`), 400, 400001);
      }
      assert.deepEqual(await pdns.zone(zone), was);
    });
  });
}
