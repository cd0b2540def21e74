import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Answer } from '../support/server.js';
import { made, refused } from '../support/world.js';
import { type Body, type Files, startFiles } from '../support/zone-files.js';

/** Bodies of creations that are refused, and the field that is named. */
const REFUSED: Record<string, [Body, string][]> = {
  A: [
    ['', 'value'],
    ['256.0.0.1', 'value'],
    ['192.0.2', 'value'],
    ['192.0.2.01', 'value'],
    ['2001:db8::1', 'value'],
    ['www.example.net', 'value'],
    ['192.0.2.1 192.0.2.2', 'value'],
  ].map(([value, path]) => [{ value }, path as string]),
  AAAA: ['192.0.2.1', '2001:db8::1::2', 'fe80::1%eth0', '12345::', ''].map((value) => [{ value }, 'value']),
  CNAME: ['', '.', 'a..b', '192.0.2.1', 'a;b.example.net', 'a b', `${'x'.repeat(64)}.example.net`, '*.example.net'].map(
    (value) => [{ value }, 'value'],
  ),
  MX: [
    [{ value: '192.0.2.1' }, 'value'],
    [{ value: 'x.example.net/path' }, 'value'],
    [{ value: '10 mx.example.net', priority: 5 }, 'value'],
    [{ value: 'mx.example.net', priority: 65536 }, 'priority'],
    [{ value: 'mx.example.net', priority: -1 }, 'priority'],
    [{ value: 'mx.example.net', priority: 1.5 }, 'priority'],
    [{ value: 'mx.example.net', priority: '10' }, 'priority'],
    [{ value: 'mx.example.net', mx: 70000 }, 'mx'],
  ],
  TXT: [
    [{ value: 'x'.repeat(65_255) }, 'value'],
    [{ value: 7 }, 'value'],
    [{}, 'value'],
    [{ value: null }, 'value'],
  ],
  NS: [
    [{ value: '.' }, 'value'],
    [{ value: '192.0.2.1' }, 'value'],
    [{ value: 'x.example.net/path' }, 'value'],
  ],
  SRV: [
    ...[
      'sip.example.net',
      '5060 sip.example.net',
      '0 65536 sip.example.net',
      'x 5060 sip.example.net',
      '0 0 0 0 sip.example.net',
      '0 0 sip.example.net/path',
    ].map((value): [Body, string] => [{ value }, 'value']),
    [{ value: '1 2 3 sip.example.net', priority: 4 }, 'value'],
  ],
  CAA: ['0 issue', '256 issue "x"', 'issue "x"', '0 is-sue "x"', '0 issue "x', '0 issue "x" "y"', '0 issue "a\tb"'].map(
    (value) => [{ value }, 'value'],
  ),
};

const HOSTS_REFUSED = [
  'a..b',
  '.a',
  'www.valid.example',
  'WWW.Valid.example',
  'valid.example',
  'a b',
  'x'.repeat(64),
  'a.*',
  'a*',
  'www.other.example.',
  'a.'.repeat(130),
  'ä..b',
];

describe('the validation of records', () => {
  let files: Files;
  beforeAll(async () => {
    files = await startFiles('valid.example');
  });
  afterAll(() => files?.stop());

  const post = (body: Body) => files.post(body);
  const unchanged: Files['unchanged'] = (...args) => files.unchanged(...args);

  for (const [type, cases] of Object.entries(REFUSED)) {
    it(`${type} values that are none are refused`, async () => {
      for (const [body, path] of cases) await unchanged(() => post({ host: 'bad', type, ...body }), path);
    });
  }

  it('hosts, types, TTLs and unknown fields are refused, all at once', async () => {
    for (const host of HOSTS_REFUSED) await unchanged(() => post({ host, type: 'A', value: '192.0.2.1' }), 'host');
    const good = { host: 'bad', type: 'A', value: '192.0.2.1' };
    for (const ttl of [-1, 2147483648, 1.5, '600']) await unchanged(() => post({ ...good, ttl }), 'ttl');
    for (const type of ['SPF', 'SOA', 'ANY', '', 7]) await unchanged(() => post({ ...good, type }), 'type');
    await unchanged(() => post({ ...good, line: 'telecom' }), 'line');
    await unchanged(() => post({ ...good, proxied: true }), 'proxied');
    await unchanged(() => post({ ...good, weight: 5 }), 'weight');
    await unchanged(() => post({ type: 'A', value: '192.0.2.1' }), 'host');
    await unchanged(() => post({ ...good, colour: 'red' }), 'colour');
    await unchanged(
      () => post({ ttl: -1, proxied: 'yes', priority: 'high', nosuch: 1 }),
      'host',
      'nosuch',
      'priority',
      'proxied',
      'ttl',
      'type',
      'value',
    );
  });

  it('mistakes of form, of DNS and of the provider are told at once, with codes', async () => {
    const codes = async (body: Body, call: (body: Body) => Promise<Answer> = post) => {
      const { errors } = refused(await call(body), 400, 400001).data;
      return Object.fromEntries(errors.map((e) => [e.path, e.code]));
    };
    const wrong = { host: 'a..b', type: 'A', value: '999.0.0.1' };
    const both = { host: 'format', value: 'format' };
    assert.deepEqual(await codes({ ...wrong, ttl: -1 }), { ...both, ttl: 'range' });
    assert.deepEqual(await codes({ ...wrong, ttl: 'x' }), { ...both, ttl: 'format' });
    assert.deepEqual(await codes({ ...wrong, ttl: -1, nosuch: 1 }), { ...both, ttl: 'range', nosuch: 'unknown' });
    assert.deepEqual(await codes({ ...wrong, host: 'www.valid.example', type: 'ALIAS', line: 'cn', proxied: true }), {
      ...both,
      type: 'unsupported',
      line: 'unsupported',
      proxied: 'unsupported',
    });
    assert.deepEqual(await codes({ host: '@', type: 'CNAME', value: '.' }), { type: 'conflict', value: 'format' });
    assert.deepEqual(await codes({ ttl: null, priority: -1 }), {
      host: 'required',
      type: 'required',
      value: 'required',
      priority: 'range',
    });
    const { id } = (await post({ host: 'put', type: 'A', value: '192.0.2.1' })).data;
    const put = (body: Body) => files.admin.put(`${files.records}/${id}`, body);
    assert.deepEqual(await codes({ host: 'a..b', value: '999.0.0.1', ttl: -1 }, put), { ...both, ttl: 'range' });
    assert.deepEqual(await codes({ ...wrong, ttl: 'x' }, put), { ...both, ttl: 'format' });
    assert.deepEqual(await codes({ host: 'a..b', type: 'SPF', ttl: -1 }, put), {
      host: 'format',
      type: 'choice',
      ttl: 'range',
    });
    assert.deepEqual(await codes({ host: 'www.valid.example', name: 'put' }, put), {
      host: 'format',
      name: 'conflict',
    });
  });

  it('a host that ends with the name of the zone is refused with both ways to write it', async () => {
    const good = { type: 'A', value: '192.0.2.1' };
    const answer = await unchanged(() => post({ ...good, host: 'api.valid.example' }), 'host');
    for (const way of ['"api"', '"api.valid.example."', '"api.valid.example.valid.example."']) {
      assert.ok(answer.msg.includes(way), answer.msg);
    }
    const hosts: [string, string][] = [
      ['api.valid.example.', 'api'],
      ['api2.valid.example.valid.example.', 'api2.valid.example'],
      ['invalid.example', 'invalid.example'],
      ['-a-', '-a-'],
    ];
    for (const [host, stored] of hosts) {
      const { id } = made(await files.admin.post(`${files.records}?force=not_a_host_name`, { ...good, host }));
      const record = (await files.admin.get(`${files.records}/${id}`)).data;
      assert.equal(record.host, stored);
      // what was read is no mistake
      const back = await files.admin.put(`${files.records}/${id}`, { host: record.host, value: record.value });
      assert.deepEqual([back.status, back.data.host], [200, stored]);
    }
    assert.match(files.file(), /^api2\.valid\.example\.valid\.example\. /m);
  });

  it('long or odd texts are refused at once', async () => {
    const caa = { host: 'odd', type: 'CAA', value: `0 issue a${' '.repeat(120_000)}b` };
    await unchanged(() => post(caa), 'value');
    await unchanged(() => post({ host: 'odd', type: 'CNAME', value: '中'.repeat(200_000) }), 'value');
    await unchanged(() => post({ host: 'odd', type: 'TXT', value: '"a\\000b"' }), 'value');
  });

  it('two words for one thing must say the same', async () => {
    const good = { host: 'same', type: 'MX', value: 'mx.example.net', priority: 5 };
    await unchanged(() => post({ ...good, name: 'other' }), 'name');
    await unchanged(() => post({ ...good, mx: 6 }), 'mx');
    const answer = await unchanged(() => post({ ...good, name: 'other', mx: 6 }), 'name', 'mx');
    assert.ok(answer.data.errors.every((e) => e.code === 'conflict'));
    const created = await post({ ...good, name: 'SAME.valid.example.', mx: 5 });
    const put = (body: Body) => files.admin.put(`${files.records}/${created.data.id}`, body);
    await unchanged(() => put({ host: 'same', name: 'other' }), 'name');
    await unchanged(() => put({ priority: 5, mx: 6 }), 'mx');
    assert.deepEqual((await put({ priority: 7, mx: 7, host: 'same', name: 'same' })).data.priority, 7);
  });
});
