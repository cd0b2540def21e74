import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord, type LooseRecord, RECORD_TYPES } from '../../../src/dns/record.js';
import { cloudflare } from '../../../src/providers/cloudflare/declaration.js';
import {
  type Change,
  type DnsProvider,
  ProviderError,
  type RemoteRecord,
  type RemoteZone,
} from '../../../src/providers/provider.js';
import { type Answer, connectTo, type Received, type StandIn, standInFor, startStandIn } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startCloudflareApi } from './stand-in.js';

const TOKEN = 'a-token-for-the-tests';
const open = (standIn: StandIn, api_token = TOKEN, definition = cloudflare): DnsProvider =>
  connectTo(definition, { api_token, endpoint: standIn.url });

providerContract('Cloudflare (stand-in)', async () => {
  const standIn = await startCloudflareApi();
  standIn.most.page = 3;
  return {
    provider: open(standIn),
    stranger: open(standIn, 'wrong-token'),
    connect: (definition) => open(standIn, TOKEN, definition),
    zone: { id: '023e105f4ecef8ad9ca31a8372d0c353', name: 'contract.example' },
    setPages: (length) => {
      standIn.most.page = length === 'long' ? 1000 : 3;
    },
    ...{ definition: cloudflare, standIn, pageSize: 3, stop: standIn.stop },
  };
});

describe('Cloudflare: edges', () => {
  const zone: RemoteZone = { id: 'z1', name: 'example.com' };
  const vendor = standInFor(startStandIn, open);
  beforeEach(() => {
    vendor.standIn.requests.length = 0;
  });

  const api = (more: object) => ({
    id: 'r1',
    name: 'www.example.com',
    type: 'A',
    content: '192.0.2.1',
    ttl: 300,
    ...more,
  });
  const ok = (result: unknown, info?: object): Answer => ({ body: { success: true, errors: [], result, ...info } });
  const page = (result: unknown[], total = result.length, number = 1): Answer =>
    ok(result, { result_info: { page: number, per_page: result.length, count: result.length, total_count: total } });
  const no = (status: number, code: number, message = 'no'): Answer => ({
    status,
    body: { success: false, errors: [{ code, message }], result: null },
  });
  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome.ok ? outcome.remoteId : outcome.error;
  };
  const remote = (more: Partial<RemoteRecord> = {}): RemoteRecord => ({
    ...record('A', '192.0.2.1'),
    remoteId: 'r1',
    readOnly: false,
    ...more,
  });
  const sent = () => vendor.standIn.requests.at(-1)?.body as Record<string, unknown>;
  const listed = async (...records: object[]) => {
    vendor.standIn.handler = () => page(records);
    return vendor.provider.listRecords(zone);
  };

  it('proves either form of credentials', async () => {
    vendor.standIn.handler = () => page([]);
    await vendor.provider.check();
    assert.equal(vendor.standIn.requests[0]?.headers.authorization, `Bearer ${TOKEN}`);
    await connectTo(cloudflare, {
      email: 'a@example.com',
      api_key: 'k-123456',
      endpoint: `${vendor.standIn.url}/`,
    }).check();
    assert.equal(vendor.standIn.requests[1]?.headers['x-auth-email'], 'a@example.com');
    assert.equal(vendor.standIn.requests[1]?.headers['x-auth-key'], 'k-123456');
    assert.equal(vendor.standIn.requests[1]?.path, '/zones');
  });

  for (const [status, code, kind] of [
    [403, 9109, 'auth'],
    [400, 6003, 'auth'],
    [401, 10000, 'auth'],
    [200, 10000, 'auth'],
    [400, 7003, 'not_found'],
    [404, 1001, 'not_found'],
    [429, 971, 'rate_limit'],
    [400, 9005, 'rejected'],
    [200, 1004, 'rejected'],
    [500, 1, 'unavailable'],
  ] as const) {
    it(`answers HTTP ${status} with code ${code} as ${kind}, without the token`, async () => {
      vendor.standIn.handler = () => ({ ...no(status, code, `bad ${TOKEN}`), headers: { 'retry-after': '60' } });
      // a provider of its own: one that was told to wait waits
      await assert.rejects(open(vendor.standIn).listRecords(zone), (error: Error & { kind: string }) => {
        assert.equal(error.kind, kind);
        assert.match(error.message, new RegExp(`bad \\*\\*\\* \\(code ${code}\\)`));
        return true;
      });
    });
  }

  it('reads all pages, and once what moved to the next page meanwhile', async () => {
    const all = Array.from({ length: 5 }, (_, i) => api({ id: `r${i}`, content: `192.0.2.${i}` }));
    vendor.standIn.handler = ({ query }) => {
      const at = (Number(query.page) - 1) * 2;
      return page(at === 4 ? all.slice(3) : all.slice(at, at + 2), 5, Number(query.page));
    };
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map((r) => r.remoteId),
      ['r0', 'r1', 'r2', 'r3', 'r4'],
    );
  });

  const cuts: [string, (request: Received) => Answer][] = [
    ['shorter than announced', ({ query }) => page(query.page === '1' ? [api({})] : [], 2)],
    ['without page data', () => ok([api({})])],
    ['with a page shorter than it says', () => ok([api({})], { result_info: { count: 2, total_count: 1 } })],
    ['that is no list', () => ok({})],
    ['that is empty', () => ({ status: 200 })],
    ['that is another document', () => ({ body: {} })],
    ['cut in its JSON', () => ({ body: JSON.stringify(page([api({})]).body).slice(0, 60) })],
  ];
  for (const [what, handler] of cuts) {
    it(`takes a listing ${what} for an error`, async () => {
      vendor.standIn.handler = handler;
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    });
  }

  it('finds the zone that is in use, and none that is internal', async () => {
    const name = 'moved.example';
    const zones = ['moved', 'pending', 'active'].map((status, i) => ({ id: `z${i}`, name, status, type: 'full' }));
    const inner = { id: 'zi', name, status: 'active', type: 'internal' };
    vendor.standIn.handler = () => page([inner, ...zones]);
    assert.deepEqual(await vendor.provider.listZones(), [
      { id: 'zi', name, private: true },
      { id: 'z0', name, active: false },
      { id: 'z1', name, active: false },
      { id: 'z2', name },
    ]);
    assert.equal((await vendor.provider.findZone?.(name))?.id, 'z2');
    vendor.standIn.handler = () => page([inner, ...zones.slice(0, 2)]);
    assert.equal((await vendor.provider.findZone?.(name))?.id, 'z0');
    vendor.standIn.handler = () => page([inner]);
    assert.equal(await vendor.provider.findZone?.(name), null);
  });

  it('takes zone and record names in Unicode', async () => {
    vendor.standIn.handler = () => page([{ id: 'z2', name: 'bücher.example' }]);
    const [idn] = await vendor.provider.listZones();
    assert.deepEqual(idn, { id: 'z2', name: 'xn--bcher-kva.example' });
    vendor.standIn.handler = () => page([api({ name: 'straße.bücher.example' })]);
    assert.equal((await vendor.provider.listRecords(idn as RemoteZone))[0]?.host, 'xn--strae-oqa');
  });

  /** What is sent for a record, and what Cloudflare then answers with it. */
  const forms: [type: string, value: string, priority: number | null, sent: object, answered: object][] = [
    ['A', '192.0.2.1', null, { content: '192.0.2.1', proxied: false }, {}],
    ['AAAA', '2001:db8::1', null, { content: '2001:db8::1', proxied: false }, {}],
    ['CNAME', 'a.example.net', null, { content: 'a.example.net', proxied: false }, {}],
    ['NS', 'ns.example.net', null, { content: 'ns.example.net' }, {}],
    ['PTR', 'a.example.net', null, { content: 'a.example.net' }, {}],
    ['MX', 'mx.example.net', 10, { content: 'mx.example.net', priority: 10 }, {}],
    ['TXT', 'say "hi"; \\', null, { content: '"say \\"hi\\"; \\\\"' }, {}],
    ['TXT', '', null, { content: '""' }, {}],
    [
      'TXT',
      'ü'.repeat(200),
      null,
      { content: `"${'\\195\\188'.repeat(127)}\\195" "\\188${'\\195\\188'.repeat(72)}"` },
      {},
    ],
    [
      'SRV',
      '5 5060 sip.example.net',
      10,
      { data: { priority: 10, weight: 5, port: 5060, target: 'sip.example.net' } },
      { content: '5 5060 sip.example.net', priority: 10 },
    ],
    ['SRV', '0 0 .', 0, { data: { priority: 0, weight: 0, port: 0, target: '.' } }, { content: '0 0 .', priority: 0 }],
    [
      'CAA',
      '0 issue "ca.example.net; a=b"',
      null,
      { data: { flags: 0, tag: 'issue', value: 'ca.example.net; a=b' } },
      { content: '0 issue "ca.example.net; a=b"' },
    ],
    [
      'URI',
      '10 1 "https://example.net/"',
      null,
      { priority: 10, data: { weight: 1, target: 'https://example.net/' } },
      { content: '1 "https://example.net/"' },
    ],
    [
      'HTTPS',
      '1 . alpn=h3,h2 port=443',
      null,
      { data: { priority: 1, target: '.', value: 'alpn=h3,h2 port=443' } },
      { content: '1 . alpn="h3,h2" port="443"' },
    ],
    [
      'SVCB',
      '2 svc.example.net port=443',
      null,
      { data: { priority: 2, target: 'svc.example.net', value: 'port=443' } },
      { content: '2 svc.example.net. port=443' },
    ],
    [
      'TLSA',
      '3 1 0 abcd',
      null,
      { data: { usage: 3, selector: 1, matching_type: 0, certificate: 'abcd' } },
      { content: '3 1 0 ABCD' },
    ],
    ['SSHFP', '4 3 abcd', null, { data: { algorithm: 4, type: 3, fingerprint: 'abcd' } }, { content: '4 3 abcd' }],
    [
      'DS',
      '1 13 5 abcd',
      null,
      { data: { key_tag: 1, algorithm: 13, digest_type: 5, digest: 'abcd' } },
      { content: '1 13 5 ABCD' },
    ],
    [
      'DNSKEY',
      '257 3 13 AwEA',
      null,
      { data: { flags: 257, protocol: 3, algorithm: 13, public_key: 'AwEA' } },
      { content: '257 3 13 AwEA' },
    ],
    [
      'SMIMEA',
      '3 0 0 abcd',
      null,
      { data: { usage: 3, selector: 0, matching_type: 0, certificate: 'abcd' } },
      { content: '3 0 0 ABCD' },
    ],
    ['OPENPGPKEY', 'mDMEXEcE', null, { content: 'mDMEXEcE' }, { content: 'mDMEXEcE' }],
  ];
  for (const [type, value, priority, expected, answered] of forms) {
    it(`writes and reads back ${type} ${value.slice(0, 30)}`, async () => {
      const given = { ...record(type, 'x', { ...sample(type), priority }), value };
      vendor.standIn.handler = () => ok({ id: 'r1' });
      assert.equal(await one({ op: 'create', after: given }), 'r1');
      assert.deepEqual(sent(), { type, name: 'www.example.com', ttl: 600, ...expected });
      assert.equal(await one({ op: 'update', before: remote({ type, value: 'another' }), after: given }), 'r1');
      assert.equal(vendor.standIn.requests.at(-1)?.method, 'PATCH');
      const { proxied: _same, ...changed } = expected as { proxied?: boolean };
      assert.deepEqual(sent(), changed);
      const [back] = await listed({ id: 'r1', name: 'www.example.com', type, ttl: 600, ...expected, ...answered });
      assert.deepEqual(back, { ...given, remoteId: 'r1', readOnly: false });
    });
  }
  /** Any valid value of a type, to be replaced by the exact one. */
  function sample(type: string): Partial<LooseRecord> {
    return { value: forms.find(([t]) => t === type)?.[1] || 'x' };
  }
  it('covers every type that it declares', () => {
    assert.deepEqual([...new Set(forms.map(([type]) => type))].sort(), [...cloudflare.capabilities.types].sort());
    for (const type of RECORD_TYPES) assert.ok(cloudflare.capabilities.types.includes(type));
  });

  it('reads TXT that was sent without quotes', async () => {
    const [raw, odd] = await listed(
      api({ type: 'TXT', content: 'v=spf1 -all' }),
      api({ id: 'r2', type: 'TXT', content: '"a" b' }),
    );
    assert.equal(raw?.value, 'v=spf1 -all');
    assert.equal(odd?.value, '"a" b');
  });

  it('shows read-only what Cloudflare manages or the service cannot write', async () => {
    const list = await listed(
      api({ id: 'own' }),
      // found by the scan when the zone was added: an ordinary record
      api({ id: 'scan', meta: { auto_added: true } }),
      api({
        id: 'mail',
        type: 'MX',
        content: 'route1.mx.cloudflare.net',
        priority: 5,
        meta: { email_routing: true, read_only: true },
      }),
      api({ id: 'loc', type: 'LOC', content: 'IN LOC 37 46 46 N 122 23 35 W 0m 100m 0m 0m' }),
      api({ id: 'naptr', type: 'NAPTR', content: '30 100 "S" "SIP+D2T" "" _sip._tls.example.com.' }),
      api({ id: 'cert', type: 'CERT', content: '9 1 1 TEST' }),
      api({ id: 'soa', type: 'SOA', content: 'ignored' }),
    );
    assert.deepEqual(
      list.map((r) => [r.remoteId, r.readOnly]),
      [
        ['own', false],
        ['scan', false],
        ['mail', true],
        ['loc', true],
        ['naptr', true],
        ['cert', true],
      ],
    );
  });

  it('proxies addresses and CNAME, with the automatic TTL, and nothing else', async () => {
    vendor.standIn.handler = () => ok({ id: 'r1' });
    await one({ op: 'create', after: record('A', '192.0.2.1', { proxied: true, ttl: 600 }) });
    assert.deepEqual([sent().proxied, sent().ttl], [true, 1]);
    await one({ op: 'create', after: record('A', '192.0.2.1', { ttl: 1 }) });
    assert.deepEqual([sent().proxied, sent().ttl], [false, 1]);
    await one({ op: 'create', after: record('TXT', 'x') });
    assert.equal('proxied' in sent(), false);
    const [proxied] = await listed(api({ proxied: true, ttl: 1 }));
    assert.deepEqual([proxied?.proxied, proxied?.ttl], [true, 1]);
  });

  it('sends what an update changes, and leaves alone what may have been changed at Cloudflare', async () => {
    vendor.standIn.handler = () => ok({ id: 'r1' });
    const before = remote({ ttl: 300 });
    const changes: [Partial<RemoteRecord>, object][] = [
      [{ ttl: 60 }, { ttl: 60 }],
      [{ host: 'web' }, { name: 'web.example.com' }],
      [
        { value: '192.0.2.2', ttl: 60 },
        { content: '192.0.2.2', ttl: 60 },
      ],
      [{ proxied: true }, { proxied: true, ttl: 1 }],
    ];
    for (const [change, expected] of changes) {
      const { remoteId: _id, readOnly: _readOnly, ...after } = { ...before, ...change };
      assert.equal(await one({ op: 'update', before, after }), 'r1');
      assert.deepEqual(sent(), expected);
    }
    const sentSoFar = vendor.standIn.requests.length;
    assert.equal(await one({ op: 'update', before, after: before }), 'r1');
    assert.equal(vendor.standIn.requests.length, sentSoFar, 'nothing is sent where nothing changes');
  });

  it('sends a list as one batch: deletes, patches, puts and posts, each with its outcome', async () => {
    const changes: Change[] = [
      { op: 'create', after: record('A', '192.0.2.8') },
      {
        op: 'update',
        before: remote({ remoteId: 'r2', host: 'b', ttl: 300 }),
        after: { ...remote({ host: 'b' }), ttl: 60 },
      },
      { op: 'delete', before: remote({ remoteId: 'r3', host: 'c' }) },
      { op: 'update', before: remote({ remoteId: 'r4', host: 'd' }), after: record('TXT', 'x', { host: 'd' }) },
      { op: 'create', after: record('A', '192.0.2.9') },
    ];
    const lists = {
      deletes: [api({ id: 'r3', name: 'c.example.com' })],
      patches: [api({ id: 'r2', name: 'b.example.com', ttl: 60 })],
      puts: [api({ id: 'r4', name: 'd.example.com', type: 'TXT', content: '"x"', ttl: 600 })],
      posts: [api({ id: 'n1', content: '192.0.2.8', ttl: 600 }), api({ id: 'n2', content: '192.0.2.7', ttl: 600 })],
    };
    vendor.standIn.handler = ({ method }) => ok(method === 'GET' ? api({ id: 'r4', name: 'd.example.com' }) : lists);
    const outcomes = await vendor.provider.apply(zone, changes);
    assert.deepEqual(
      outcomes.map((o) => o.ok && [o.remoteId, o.held?.value]),
      [
        ['n1', undefined],
        ['r2', undefined],
        [null, undefined],
        ['r4', undefined],
        ['n2', '192.0.2.7'],
      ],
    );
    assert.deepEqual(
      vendor.standIn.requests.map(({ method, path }) => `${method} ${path}`),
      ['GET /zones/z1/dns_records/r4', 'POST /zones/z1/dns_records/batch'],
    );
    const name = 'www.example.com';
    assert.deepEqual(sent(), {
      deletes: [{ id: 'r3' }],
      patches: [{ id: 'r2', ttl: 60 }],
      puts: [{ id: 'r4', type: 'TXT', name: 'd.example.com', ttl: 600, content: '"x"' }],
      posts: ['192.0.2.8', '192.0.2.9'].map((content) => ({ type: 'A', name, ttl: 600, proxied: false, content })),
    });
  });

  it('does not know what became of a batch whose answer is lost, or has not one of each', async () => {
    const list: Change[] = ['192.0.2.8', '192.0.2.9'].map((value) => ({ op: 'create', after: record('A', value) }));
    const answers: Answer[] = [
      ok({ posts: [api({ id: 'n1' })] }),
      ok({}),
      ok({ posts: null }),
      { status: 500 },
      { ...ok({ posts: [api({}), api({})] }), breakAfter: 30 },
    ];
    for (const answer of answers) {
      vendor.standIn.requests.length = 0;
      vendor.standIn.handler = () => answer;
      const outcomes = await vendor.provider.apply(zone, list);
      assert.ok(
        outcomes.every((o) => !o.ok && o.tried && o.error.mayHaveApplied),
        JSON.stringify(answer),
      );
      assert.equal(vendor.standIn.requests.length, 1, 'what may have been carried out is not sent again');
    }
  });

  it('tries one by one what is refused as a batch; one that shall be whole fails whole', async () => {
    const list: Change[] = ['192.0.2.8', '192.0.2.9'].map((value) => ({ op: 'create', after: record('A', value) }));
    vendor.standIn.handler = ({ path, body }) =>
      path.endsWith('/batch') || JSON.stringify(body).includes('192.0.2.9')
        ? no(400, 9005)
        : ok(api({ id: 'n1', content: '192.0.2.8', ttl: 600 }));
    const outcomes = await vendor.provider.apply(zone, list);
    assert.deepEqual(
      outcomes.map((o) => (o.ok ? o.remoteId : o.error.mayHaveApplied)),
      ['n1', false],
    );
    assert.equal(vendor.standIn.requests.length, 3);
    const whole = await vendor.provider.apply(zone, list, { atomic: true });
    assert.ok(whole.every((o) => !o.ok && !o.error.mayHaveApplied));
    assert.equal(vendor.standIn.requests.length, 4);
    const long: Change[] = Array.from({ length: 201 }, (_, i) => ({
      op: 'create',
      after: record('A', '192.0.2.1', { host: `h${i}` }),
    }));
    assert.ok((await vendor.provider.apply(zone, long, { atomic: true })).every((o) => !o.ok && !o.tried));
    assert.equal(vendor.standIn.requests.length, 4, 'a free zone takes 200 changes in a batch');
  });

  it('writes a guarded change only while Cloudflare holds what was seen', async () => {
    const seen = remote({ ttl: 300 });
    const after = { ...record('A', '192.0.2.9'), ttl: 300 };
    const update: Change = { op: 'update', before: seen, after, guarded: true };
    let held: object | null = api({});
    vendor.standIn.handler = ({ method }) =>
      method !== 'GET' ? ok({ id: 'r1' }) : held ? ok(held) : no(404, 81044, 'no such record');
    assert.equal(await one(update), 'r1');
    assert.equal(vendor.standIn.requests.at(-1)?.method, 'PATCH');
    // the answer was lost, and the same is asked again
    held = api({ content: '192.0.2.9' });
    assert.equal(await one(update), 'r1');
    const changed = async (change: Change) => {
      const requests = vendor.standIn.requests.length;
      const error = await one(change);
      assert.ok(error instanceof ProviderError && error.kind === 'changed' && !error.mayHaveApplied);
      assert.deepEqual(
        vendor.standIn.requests.slice(requests).map((r) => r.method),
        ['GET'],
      );
      return error.found;
    };
    held = api({ content: '192.0.2.7', ttl: 60 });
    assert.deepEqual(await changed(update), { ...remote({ value: '192.0.2.7', ttl: 60 }) });
    assert.deepEqual(await changed({ op: 'delete', before: seen, guarded: true }), {
      ...remote({ value: '192.0.2.7', ttl: 60 }),
    });
    held = null;
    assert.equal(await changed(update), null);
    assert.equal(await changed({ op: 'delete', before: seen, guarded: true }), null);
  });

  it('finds a zone by its name', async () => {
    vendor.standIn.handler = ({ query }) => page(query.name === zone.name ? [zone] : []);
    assert.deepEqual(await vendor.provider.findZone?.(zone.name), zone);
    assert.equal(await vendor.provider.findZone?.('absent.example'), null);
  });

  it('finds the record that exists already, and makes it what was asked for', async () => {
    const twins = [
      api({ id: 'other', type: 'MX', content: 'mx.example.net', priority: 5, ttl: 600 }),
      api({ id: 'twin', type: 'MX', content: 'mx.example.net', priority: 10, ttl: 600 }),
    ];
    vendor.standIn.handler = ({ method }) =>
      method === 'POST' ? no(400, 81058) : method === 'GET' ? page(twins) : ok({ id: 'twin' });
    const mx = record('MX', 'mx.example.net', { priority: 10 });
    assert.equal(await one({ op: 'create', after: mx }), 'twin');
    assert.deepEqual(
      vendor.standIn.requests.map((r) => r.method),
      ['POST', 'GET'],
    );
    assert.equal(vendor.standIn.requests[1]?.query.name, 'www.example.com');
    assert.equal(await one({ op: 'create', after: { ...mx, ttl: 60 } }), 'twin');
    assert.equal(vendor.standIn.requests.at(-1)?.method, 'PATCH');
    vendor.standIn.handler = ({ method }) => (method === 'POST' ? no(400, 81058) : page([]));
    const refused = await one({ op: 'create', after: mx });
    assert.equal(refused instanceof Error && refused.kind, 'rejected');
  });

  it('takes deleting what is gone for done, and updating it not', async () => {
    vendor.standIn.handler = () => no(404, 81044);
    assert.equal(await one({ op: 'delete', before: remote() }), null);
    const gone = await one({ op: 'update', before: remote(), after: record('A', '192.0.2.9') });
    assert.equal(gone instanceof Error && gone.kind, 'not_found');
    vendor.standIn.handler = () => no(403, 9109);
    const refused = await one({ op: 'delete', before: remote() });
    assert.equal(refused instanceof Error && refused.kind, 'auth');
  });

  it('keeps comment, tags, settings and what it does not know where the type changes and where a record is made anew', async () => {
    const standIn = await startCloudflareApi();
    try {
      const provider = open(standIn);
      const at: RemoteZone = { id: '023e105f4ecef8ad9ca31a8372d0c353', name: 'contract.example' };
      const settings = { ipv4_only: true, flatten_cname: true };
      const own = { comment: 'of the shop', tags: ['team:shop'], private_routing: true, settings };
      const held = async () => {
        const { comment, tags, private_routing, settings: set } = standIn.records[0] ?? {};
        return { comment, tags, private_routing, settings: set };
      };
      const to = async (after: DnsRecord) => {
        const [before] = await provider.listRecords(at);
        const outcomes = await provider.apply(at, [before ? { op: 'update', before, after } : { op: 'create', after }]);
        assert.ok(outcomes[0]?.ok, JSON.stringify(outcomes));
      };
      const alias = record('CNAME', 'shop.example.net');
      await to(alias);
      const [read] = await provider.listRecords(at);
      // what was written at Cloudflare since the list stays, too
      Object.assign(standIn.records[0] as object, own);
      const changes: Change[] = [
        { op: 'update', before: read as RemoteRecord, after: record('A', '192.0.2.1') },
        { op: 'create', after: record('TXT', 'x', { host: 'other' }) },
      ];
      assert.ok((await provider.apply(at, changes)).every(({ ok }) => ok));
      assert.deepEqual(await held(), { ...own, settings: { ipv4_only: true } });
      await to(record('TXT', 'shop'));
      assert.deepEqual(await held(), { ...own, settings: {} });
      await to(alias);
      Object.assign(standIn.records[0] as object, own);
      const [before] = await provider.listRecords(at);
      const { remoteId: _id, readOnly: _readOnly, ...after } = before as RemoteRecord;
      for (const change of [
        { op: 'delete', before: before as RemoteRecord },
        { op: 'create', after },
      ] as const)
        assert.ok((await provider.apply(at, [change]))[0]?.ok);
      standIn.records.sort((one) => (one.type === 'CNAME' ? -1 : 1));
      assert.deepEqual(await held(), own);
    } finally {
      await standIn.stop();
    }
  });

  it('replaces a record that changes its type, and goes on after a refused change', async () => {
    vendor.standIn.handler = ({ method }) => (method === 'POST' ? no(400, 81053, 'CNAME conflict') : ok(api({})));
    const outcomes = await vendor.provider.apply(zone, [
      { op: 'create', after: { ...record('CNAME', 'a.example.net'), host: 'other' } },
      { op: 'update', before: remote(), after: record('TXT', 'x') },
    ]);
    assert.deepEqual(
      outcomes.map((o) => (o.ok ? o.remoteId : o.error.kind)),
      ['rejected', 'r1'],
    );
    assert.equal(vendor.standIn.requests.at(-1)?.method, 'PUT');
  });
});
