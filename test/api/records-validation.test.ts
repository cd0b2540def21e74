import { after, before, describe, it } from 'node:test';
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
  CNAME: ['', '.', 'a..b', '192.0.2.1', '-a.example.net', 'a b', `${'x'.repeat(64)}.example.net`, '*.example.net'].map(
    (value) => [{ value }, 'value'],
  ),
  MX: [
    [{ value: '192.0.2.1' }, 'value'],
    [{ value: '10 mx.example.net', priority: 5 }, 'value'],
    [{ value: 'mx.example.net', priority: 65536 }, 'priority'],
    [{ value: 'mx.example.net', priority: -1 }, 'priority'],
    [{ value: 'mx.example.net', priority: 1.5 }, 'priority'],
    [{ value: 'mx.example.net', priority: '10' }, 'priority'],
    [{ value: 'mx.example.net', mx: 70000 }, 'mx'],
  ],
  TXT: [
    [{ value: 'x'.repeat(65_280) }, 'value'],
    [{ value: 7 }, 'value'],
    [{}, 'value'],
    [{ value: null }, 'value'],
  ],
  NS: [
    [{ value: '.' }, 'value'],
    [{ value: '192.0.2.1' }, 'value'],
  ],
  SRV: [
    ...[
      'sip.example.net',
      '5060 sip.example.net',
      '0 65536 sip.example.net',
      'x 5060 sip.example.net',
      '0 0 0 0 sip.example.net',
    ].map((value): [Body, string] => [{ value }, 'value']),
    [{ value: '1 2 3 sip.example.net', priority: 4 }, 'value'],
  ],
  CAA: ['0 issue', '256 issue "x"', 'issue "x"', '0 is-sue "x"', '0 issue "x', '0 issue "x" "y"'].map((value) => [
    { value },
    'value',
  ]),
};

const HOSTS_REFUSED = [
  'a..b',
  '.a',
  '-a',
  'a-',
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
  before(async () => {
    files = await startFiles('valid.example');
  });
  after(() => files?.stop());

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
    for (const ttl of [0, -1, 2147483648, 1.5, '600']) await unchanged(() => post({ ...good, ttl }), 'ttl');
    for (const type of ['SPF', 'SOA', 'ANY', '', 7]) await unchanged(() => post({ ...good, type }), 'type');
    await unchanged(() => post({ ...good, line: 'telecom' }), 'line');
    await unchanged(() => post({ ...good, proxied: true }), 'proxied');
    await unchanged(() => post({ ...good, weight: 5 }), 'weight');
    await unchanged(() => post({ type: 'A', value: '192.0.2.1' }), 'host');
    await unchanged(() => post({ ...good, colour: 'red' }), 'colour');
    await unchanged(
      () => post({ ttl: 0, proxied: 'yes', priority: 'high', nosuch: 1 }),
      'nosuch',
      'priority',
      'proxied',
      'ttl',
      'type',
      'value',
    );
  });
});
