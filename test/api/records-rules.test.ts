import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Query } from '../support/answers.js';
import { addDomain, done, made, refused } from '../support/world.js';
import { type Body, type Files, startFiles } from '../support/zone-files.js';

describe('the rules of records', () => {
  const zone = 'rules.example';
  let files: Files;
  let records: `/api/domains/${number}/records`;
  let admin: Files['admin'];
  beforeAll(async () => {
    files = await startFiles(zone);
    ({ records, admin } = files);
  });
  afterAll(() => files?.stop());

  const post = (body: Body) => files.post(body);
  const file = (name?: string) => files.file(name);
  const all = (query?: Query) => files.all(query);
  const values = (query: Query) => files.values(query);
  const unchanged: Files['unchanged'] = (...args) => files.unchanged(...args);

  it('the same record twice is refused, whatever its spelling', async () => {
    const pairs: [Body, Body][] = [
      [
        { type: 'A', value: '192.0.2.7' },
        { type: 'a', value: ' 192.0.2.7 ', ttl: 900 },
      ],
      [
        { type: 'AAAA', value: '2001:db8::7' },
        { type: 'AAAA', value: '2001:DB8:0:0::7' },
      ],
      [
        { type: 'MX', value: 'mx.example.net' },
        { type: 'MX', value: 'MX.example.net.', priority: 10, ttl: 77 },
      ],
      [
        { type: 'TXT', value: 'same' },
        { type: 'TXT', value: '"same"' },
      ],
      [
        { type: 'CAA', value: '0 issue ca.example.net' },
        { type: 'CAA', value: '0  ISSUE "ca.example.net"' },
      ],
      [
        { type: 'SRV', value: '1 2 3 sip.example.net' },
        { type: 'SRV', value: '2 3 sip.example.net.', priority: 1 },
      ],
    ];
    for (const [one, two] of pairs) {
      const { id } = made(await post({ host: 'dup', ...one }));
      const before = file();
      assert.match(refused(await post({ host: `DUP.${zone}.`, ...two }), 409, 409001).msg, new RegExp(`id ${id}`));
      done(await admin.patch(`${records}/${id}/status`, { enabled: false }));
      assert.match(refused(await post({ host: 'dup', ...two }), 409, 409001).msg, /enable/);
      done(await admin.patch(`${records}/${id}/status`, { enabled: true }));
      assert.deepEqual(before.replace(/\d{10}/, ''), file().replace(/\d{10}/, ''));
    }
    const { id } = made(await post({ host: 'dup', type: 'A', value: '192.0.2.8' }));
    refused(await admin.put(`${records}/${id}`, { value: '192.0.2.7' }), 409, 409001);
    assert.deepEqual((await values('?host=dup&type=A')).toSorted(), ['192.0.2.7', '192.0.2.8']);
    // the case of a TXT counts
    made(await post({ host: 'dup', type: 'TXT', value: 'Same' }));
  });

  it('a CNAME stands alone, from both sides', async () => {
    const alias = made(await post({ host: 'alias', type: 'CNAME', value: '@' })).id;
    assert.deepEqual(await values('?host=alias'), [zone]);
    await unchanged(() => post({ host: 'alias', type: 'A', value: '192.0.2.1' }), 'type');
    await unchanged(() => post({ host: 'alias', type: 'CNAME', value: 'other.example.net' }), 'type');
    const plain = made(await post({ host: 'plain', type: 'A', value: '192.0.2.1' })).id;
    await unchanged(() => post({ host: 'plain', type: 'CNAME', value: 'a.example.net' }), 'type');
    await unchanged(() => admin.put(`${records}/${plain}`, { host: 'alias' }), 'type');
    await unchanged(() => admin.put(`${records}/${alias}`, { host: 'plain' }), 'type');
    await unchanged(() => admin.put(`${records}/${alias}`, { host: '@', value: 'a.example.net' }), 'type');
    // disabled, it is in nobody's way; enabled again it would be
    done(await admin.patch(`${records}/${alias}/status`, { enabled: false }));
    const beside = made(await post({ host: 'alias', type: 'A', value: '192.0.2.1' })).id;
    await unchanged(() => admin.patch(`${records}/${alias}/status`, { enabled: true }), 'type');
    done(await admin.delete(`${records}/${beside}`));
    done(await admin.patch(`${records}/${alias}/status`, { enabled: true }));
    // a record may become something else
    const changed = done(await admin.put(`${records}/${alias}`, { type: 'AAAA', value: '2001:db8::1' }));
    assert.deepEqual([changed.id, changed.type, changed.value], [alias, 'AAAA', '2001:db8::1']);
    await unchanged(() => admin.put(`${records}/${alias}`, { type: 'A' }), 'value');
  });

  it('an update changes what it gives, and nothing else', async () => {
    const { id } = made(
      await post({ host: 'merge', type: 'SRV', value: '1 2 sip.example.net', priority: 3, ttl: 300, remark: 'r' }),
    );
    let now = done(await admin.get(`${records}/${id}`));
    const steps: [Body, Body][] = [
      [{ value: '4 5 web.example.net' }, { value: '4 5 web.example.net' }],
      [{ ttl: 700 }, { ttl: 700 }],
      [{ priority: 0 }, { priority: 0 }],
      [{ mx: 8 }, { priority: 8 }],
      [{ value: '7 6 5 db.example.net' }, { value: '6 5 db.example.net', priority: 7 }],
      [{ remark: 'other' }, { remark: 'other' }],
      [{ host: 'Merged' }, { host: 'merged', unicode_host: 'merged' }],
      [{ name: 'again' }, { host: 'again', unicode_host: 'again' }],
      [{ line: 'default' }, {}],
      [{}, {}],
    ];
    for (const [patch, change] of steps) {
      const after = done(await admin.put(`${records}/${id}`, patch));
      const { updated_at: _u, synced_at: _s, ...rest } = after;
      const { updated_at: _v, synced_at: _t, ...was } = now;
      assert.deepEqual(rest, { ...was, ...change }, JSON.stringify(patch));
      assert.deepEqual(done(await admin.get(`${records}/${id}`)), after);
      now = after;
    }
    await unchanged(() => admin.put(`${records}/${id}`, { ttl: -1 }), 'ttl');
    await unchanged(() => admin.put(`${records}/${id}`, { value: 'nonsense' }), 'value');
    await unchanged(() => admin.patch(`${records}/${id}/status`, { enabled: 'no' }), 'enabled');
    await unchanged(() => admin.patch(`${records}/${id}/status`, {}), 'enabled');
  });

  it('a TXT with quotes of its own is not changed by an edit of something else', async () => {
    const { id } = made(await post({ host: 'quotes', type: 'TXT', value: '"\\"quoted\\" \\\\ text"' }));
    assert.deepEqual(await values('?host=quotes'), ['"quoted" \\ text']);
    const outer = made(await post({ host: 'outer', type: 'TXT', value: '"\\"all of it\\""' })).id;
    const shown = '"\\"all of it\\""';
    for (const patch of [{ ttl: 900 }, { remark: 'x' }, { host: 'moved' }, { value: shown }]) {
      assert.equal(done(await admin.put(`${records}/${outer}`, patch)).value, shown);
    }
    done(await admin.patch(`${records}/${outer}/status`, { enabled: false }));
    assert.equal(done(await admin.patch(`${records}/${outer}/status`, { enabled: true })).value, shown);
    assert.match(file(), /"\\"all of it\\""/);
    assert.equal(done(await admin.put(`${records}/${id}`, { value: '' })).value, '');
    done(await admin.put(`${records}/${id}`, { value: '"part one " "part two"' }));
    assert.deepEqual(await values('?host=quotes'), ['part one part two']);
  });

  it('values take one form', async () => {
    const forms: [Body, Body][] = [
      [
        { type: 'MX', value: 'Mail' },
        { value: 'mail', priority: 10 },
      ],
      [
        { type: 'MX', value: '20 mail2.example.net.' },
        { value: 'mail2.example.net', priority: 20 },
      ],
      [
        { type: 'MX', value: 'mx3.example.net', mx: 0 },
        { value: 'mx3.example.net', priority: 0 },
      ],
      [
        { type: 'SRV', value: '0 443 .' },
        { value: '0 443 .', priority: 0 },
      ],
      [
        { type: 'SRV', value: '9 8 7 sip.example.net.' },
        { value: '8 7 sip.example.net', priority: 9 },
      ],
      [
        { type: 'CAA', value: '0 iodef mailto:a@example.net' },
        { value: '0 iodef "mailto:a@example.net"', priority: null },
      ],
      [{ type: 'CAA', value: '0 issue ";"' }, { value: '0 issue ";"' }],
      [
        { type: 'A', value: '192.0.2.1', priority: 5, line: '0' },
        { value: '192.0.2.1', priority: null, line: 'default', ttl: 600 },
      ],
      [{ type: 'AAAA', value: '2001:0DB8::0001' }, { value: '2001:db8::1' }],
      [{ type: 'NS', value: 'Bücher.example' }, { value: 'xn--bcher-kva.example' }],
    ];
    for (const [i, [body, wanted]] of forms.entries()) {
      const { id } = made(await post({ host: `form${i}`, ...body }));
      const record: Record<string, unknown> = { ...done(await admin.get(`${records}/${id}`)) };
      for (const [key, value] of Object.entries(wanted)) assert.deepEqual(record[key], value, JSON.stringify(body));
    }
  });

  it('a record without a TTL takes that of its set, or 600', async () => {
    const ttl = async (id: number) => done(await admin.get(`${records}/${id}`)).ttl;
    const first = made(await post({ host: 'ttl', type: 'A', value: '192.0.2.1' })).id;
    assert.equal(await ttl(first), 600);
    done(await admin.put(`${records}/${first}`, { ttl: 1200 }));
    const second = made(await post({ host: 'ttl', type: 'A', value: '192.0.2.2' })).id;
    assert.deepEqual([await ttl(first), await ttl(second)], [1200, 1200]);
    const third = made(await post({ host: 'ttl', type: 'A', value: '192.0.2.3', ttl: 60 })).id;
    assert.deepEqual([await ttl(first), await ttl(second), await ttl(third)], [60, 60, 60]);
    // one that moves in does not change the others either, unless it says so
    const moving = made(await post({ host: 'from', type: 'A', value: '192.0.2.4', ttl: 7200 })).id;
    assert.equal(done(await admin.put(`${records}/${moving}`, { host: 'ttl' })).ttl, 60);
    assert.equal(done(await admin.put(`${records}/${moving}`, { host: 'from', ttl: 7200 })).ttl, 7200);
    assert.equal(await ttl(first), 60);
    done(await admin.put(`${records}/${moving}`, { host: 'ttl', ttl: 90 }));
    assert.deepEqual([await ttl(first), await ttl(moving)], [90, 90]);
    const other = made(await post({ host: 'ttl', type: 'AAAA', value: '2001:db8::1' })).id;
    assert.equal(await ttl(other), 600);
  });

  it('hosts are names of the zone, in any spelling; IDN goes out readable, too', async () => {
    const spellings = {
      'WWW.Sub': 'www.sub',
      [`full.${zone}.`]: 'full',
      '': '@',
      [`${zone}.`]: '@',
      '*.wild': '*.wild',
      _dmarc: '_dmarc',
    };
    for (const [host, wanted] of Object.entries(spellings)) {
      const { id } = made(await post({ host, type: 'TXT', value: `host ${host}` }));
      assert.equal(done(await admin.get(`${records}/${id}`)).host, wanted);
    }
    const { id } = made(await post({ host: 'straße.Bücher', type: 'A', value: '192.0.2.1' }));
    const record = done(await admin.get(`${records}/${id}`));
    assert.deepEqual([record.host, record.unicode_host], ['xn--strae-oqa.xn--bcher-kva', 'straße.bücher']);
    for (const host of ['straße.bücher', 'xn--strae-oqa.xn--bcher-kva']) {
      assert.deepEqual(
        (await all(`?host=${encodeURIComponent(host)}`)).map((r) => r.id),
        [id],
      );
    }
    const idn = await addDomain(admin, files.account, 'münchen.example', true);
    const found = done(await admin.get(`/api/domains/${idn}`));
    assert.deepEqual([found.name, found.unicode_name], ['xn--mnchen-3ya.example', 'münchen.example']);
    made(
      await admin.post(`/api/domains/${idn}/records`, {
        host: '@',
        type: 'CAA',
        value: '0 issue "ca.example"',
      }),
    );
    assert.match(file('xn--mnchen-3ya.example'), /CAA\s+0 issue "ca\.example"/);
  });

  it('a record of another domain is not found under this one', async () => {
    const other = await addDomain(admin, files.account, 'other.example', true);
    const { id } = made(await post({ host: 'mine', type: 'A', value: '192.0.2.1' }));
    const path = `/api/domains/${other}/records/${id}`;
    const before = [await all(), file(), file('other.example')];
    refused(await admin.get(path), 404, 404001);
    refused(await admin.put(path, { value: '192.0.2.2' }), 404, 404001);
    refused(await admin.patch(`${path}/status`, { enabled: false }), 404, 404001);
    refused(await admin.delete(path), 404, 404001);
    refused(await admin.get(`${records}/999999`), 404, 404001);
    for (const wrong of ['0', '-1', 'x', '1.5', '99999999999'])
      refused(await admin.get(`${records}/${wrong}`), 400, 400001);
    refused(await admin.get('/api/domains/999999/records'), 404, 404001);
    assert.deepEqual([await all(), file(), file('other.example')], before);
  });

  it('a type that the service does not know is shown, and never lost', async () => {
    appendFileSync(files.path(), 'odd 300 IN TYPE65534 \\# 2 abcd\nodd 300 IN A 192.0.2.66\n');
    const [record] = await all('?refresh=true&host=odd&type=TYPE65534');
    assert.equal(record.read_only, true);
    assert.equal(record.read_only_reason, 'It is of type TYPE65534, which is not edited here');
    await unchanged(() => admin.put(`${records}/${record.id}`, { ttl: 60 }), 'id');
    await unchanged(() => admin.delete(`${records}/${record.id}`), 'id');
    const [address] = await all('?host=odd&type=A');
    assert.equal(address.read_only_reason, null);
    done(await admin.put(`${records}/${address.id}`, { value: '192.0.2.67' }));
    assert.match(file(), /TYPE65534\s+\\# 2 abcd/);
  });
});
