import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { constellix } from '../../../src/providers/constellix/declaration.js';
import type { Change, DnsProvider } from '../../../src/providers/provider.js';
import { noFixtures, sampleAnswer } from '../../support/fixtures.js';
import { itUnless } from '../../support/suites.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { KEYS, type StoredSet, startConstellix } from './stand-in.js';

const fast = { ...constellix, limits: { ...constellix.limits, requests: 5000 } };
const connect = (standIn: StandIn, keys = KEYS, definition = fast): DnsProvider =>
  connectTo(definition, { ...keys, endpoint: standIn.url });
const zone = { id: '4242', name: 'contract.example' };

providerContract('Constellix (stand-in)', async () => {
  const standIn = await startConstellix();
  return {
    provider: connect(standIn),
    stranger: connect(standIn, { ...KEYS, secret_key: 'another-secret' }),
    connect: (definition) => connect(standIn, KEYS, definition),
    missing: { id: '4243', name: 'none.example' },
    ...{ definition: constellix, zone, standIn, stop: standIn.stop },
    cannot: {
      'an unknown field of a set survives': 'a set repeats its values as texts, so it is taken for one: tried below',
    },
  };
});

describe('Constellix', () => {
  const vendor = standInFor(startConstellix, connect);
  beforeEach(() => {
    vendor.standIn.state.sets = [];
    vendor.standIn.requests.length = 0;
  });
  const record = (host: string, type: string, value: string, priority: number | null = null) =>
    dnsRecord({ host, type, value, priority, ttl: 300 }, zone.name);
  const apply = async (...changes: Change[]) => vendor.provider.apply(zone, changes);
  const set = (type: string, more: Partial<StoredSet> = {}): StoredSet => ({
    ...{ id: 1, name: 'www', type, ttl: 300, recordOption: 'roundRobin', noAnswer: false, gtdRegion: 1 },
    ...{ geolocation: null, note: '', parent: 'domain', roundRobin: [{ value: '192.0.2.1', disableFlag: false }] },
    ...more,
  });
  const listed = () => vendor.provider.listRecords(zone);
  const shown = async () => (await listed()).map((r) => `${r.type} ${r.value}${r.readOnly ? ' (shown)' : ''}`);
  const writes = () => vendor.standIn.requests.filter(({ method }) => method !== 'GET');
  const sent = () => {
    const { method, path, body } = writes().at(-1) ?? {};
    return { method, path, body };
  };

  it('says in its words what is refused', async () => {
    const stranger = connect(vendor.standIn, { ...KEYS, secret_key: 'wrong' });
    await assert.rejects(stranger.check(), { kind: 'auth', message: /Unable to authenticate/ });
    const missing = vendor.provider.listRecords({ id: '9', name: 'none.example' });
    await assert.rejects(missing, { kind: 'not_found', message: /domain was not found/ });
  });

  it('sends names relative, the parts of values by themselves, texts quoted', async () => {
    for (const [host, type, value, priority, name, own, more] of [
      ['@', 'MX', 'mx.example.net', 10, '', { level: 10, value: 'mx.example.net.' }, {}],
      [
        ...(['_sip._tcp', 'SRV', '5 5060 sip.example.net', 1, '_sip._tcp'] as const),
        ...([{ priority: 1, weight: 5, port: 5060, value: 'sip.example.net.' }, {}] as const),
      ],
      [
        ...(['@', 'CAA', '128 issue "ca.example.net; a=1"', null, ''] as const),
        ...([{ flag: 128, tag: 'issue', data: 'ca.example.net; a=1', caaProviderId: 1 }, {}] as const),
      ],
      ['www', 'TXT', 'a "b" c', null, 'www', { value: '"a \\"b\\" c"' }, {}],
      ['cname', 'CNAME', 'a.example.net', null, 'cname', { value: 'a.example.net.' }, { host: 'a.example.net.' }],
      ['alias', 'ALIAS', 'b.example.net', null, 'alias', { value: 'b.example.net.' }, {}],
    ] as const) {
      const [made] = await apply({ op: 'create', after: record(host, type, value, priority) });
      assert.ok(made?.ok);
      const body = { name, ttl: 300, roundRobin: [{ ...own, disableFlag: false }], ...more };
      const path = `/domains/4242/records/${type === 'ALIAS' ? 'ANAME' : type}`;
      assert.deepEqual(sent(), { method: 'POST', path, body });
      const held = (await listed()).find(({ remoteId }) => remoteId === made.remoteId);
      assert.deepEqual([held?.host, held?.value, held?.priority, held?.readOnly], [host, value, priority, false]);
    }
  });

  it('sends back what it does not know of a set and of its values', async () => {
    const relative = { value: 'raw', disableFlag: false, tag: 8 };
    const roundRobin = [relative, { value: '"one""two"', disableFlag: false }];
    vendor.standIn.state.sets = [set('TXT', { note: 'of the office', contactIds: [3], roundRobin })];
    const all = await listed();
    assert.deepEqual(
      all.map(({ value, enabled, readOnly }) => [value, enabled, readOnly]),
      [
        ['raw', true, false],
        ['onetwo', true, false],
      ],
    );
    const before = all.find(({ value }) => value === 'onetwo');
    assert.ok(before);
    assert.ok((await apply({ op: 'update', before, after: { ...before, value: 'three' } }))[0]?.ok);
    assert.equal(sent().path, '/domains/4242/records/TXT/1');
    const { roundRobin: values, note, contactIds } = sent().body as StoredSet;
    assert.deepEqual([note, contactIds], ['of the office', [3]]);
    assert.deepEqual(
      values.toSorted((a, b) => Number(a.tag ?? 9) - Number(b.tag ?? 9)),
      [relative, { value: '"three"', disableFlag: false }],
    );
  });

  it('gives an authority that is changed no name of another one', async () => {
    const own = { flag: 0, tag: 'issue', disableFlag: false };
    const roundRobin = [
      { ...own, data: 'letsencrypt.org', caaProviderId: 8 },
      { ...own, data: 'digicert.com', caaProviderId: 4 },
    ];
    vendor.standIn.state.sets = [set('CAA', { roundRobin })];
    const [before] = await listed();
    assert.ok(before);
    await apply({ op: 'update', before, after: { ...before, value: '0 issue "ca.example.net"' } });
    const { roundRobin: values } = sent().body as StoredSet;
    assert.deepEqual(values, [{ ...own, data: 'ca.example.net', caaProviderId: 1 }, roundRobin[1]]);
  });

  it('shows sets that it cannot write, and leaves them alone', async () => {
    const more = { recordOption: 'pools', roundRobin: [], pools: [1808521] };
    for (const [sets, lines] of [
      [[set('A', more)], ['A pools 1808521 (shown)']],
      [[set('A', { gtdRegion: 2 })], ['A 192.0.2.1 (shown)']],
      [[set('A', { geolocation: { geoipFilter: 1 } })], ['A 192.0.2.1 (shown)']],
      [[set('A', { parent: 'template' })], ['A 192.0.2.1 (shown)']],
      [[set('A', { noAnswer: true })], ['A 192.0.2.1 (shown)']],
      [
        [
          set('A', {
            roundRobin: [
              { value: '192.0.2.1', disableFlag: true },
              { value: '192.0.2.2', disableFlag: false },
            ],
          }),
        ],
        ['A 192.0.2.2 (shown)', 'A 192.0.2.1 (shown)'],
      ],
      [
        [set('A'), set('A', { id: 2, name: 'WWW', gtdRegion: 2 })],
        ['A 192.0.2.1 of set 1 (shown)', 'A 192.0.2.1 of set 2 (shown)'],
      ],
    ] as const) {
      vendor.standIn.state.sets = [...sets];
      assert.deepEqual(await shown(), lines);
      const [outcome] = await apply({ op: 'create', after: record('www', 'A', '192.0.2.9') });
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected', lines[0]);
      assert.match(outcome.error.message, /^A www (is|has) /);
    }
    assert.deepEqual(writes(), []);
    vendor.standIn.state.sets = [
      set('HTTPRedirection', { roundRobin: [{ value: 'https://example.net/' }] }),
      set('MX', { roundRobin: [{ level: 10, disableFlag: false }] }),
      set('HINFO', { roundRobin: [{ cpu: 'one', os: 'two', disableFlag: false }] }),
    ];
    const lines = ['HTTPRedirection https://example.net/ (shown)', 'MX {"level":10} (shown)', 'HINFO one two (shown)'];
    assert.deepEqual(await shown(), lines);
  });

  it('reads names without their dot as those of the zone', async () => {
    vendor.standIn.state.sets = [
      set('CNAME', { name: 'apex', host: '', roundRobin: [{ value: '', disableFlag: false }] }),
      set('NS', { name: 'under', roundRobin: [{ value: 'ns2', disableFlag: false }] }),
      set('MX', { name: 'mail', roundRobin: [{ value: '', level: 0, disableFlag: false }] }),
    ];
    assert.deepEqual(await shown(), ['CNAME contract.example', 'NS ns2.contract.example', 'MX contract.example']);
  });

  it('joins a set that was made since it was read, and takes an update that came through for one', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      if (request.method === 'POST') vendor.standIn.state.sets = [set('A')];
      return handler(request);
    };
    const [made] = await apply({ op: 'create', after: record('www', 'A', '192.0.2.2') });
    assert.ok(made?.ok);
    assert.deepEqual(await shown(), ['A 192.0.2.1', 'A 192.0.2.2']);
    vendor.standIn.handler = async (request) => {
      const answer = await handler(request);
      return request.method === 'PUT' ? handler(request) : answer;
    };
    const again = await apply({ op: 'create', after: record('www', 'A', '192.0.2.3') });
    assert.ok(again[0]?.ok);
    vendor.standIn.handler = handler;
    assert.equal((await shown()).length, 3);
  });

  it('makes a set anew that went since it was read', async () => {
    vendor.standIn.state.sets = [set('A')];
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      if (request.method === 'PUT') vendor.standIn.state.sets = [];
      return handler(request);
    };
    const [made] = await apply({ op: 'create', after: record('www', 'A', '192.0.2.2') });
    vendor.standIn.handler = handler;
    assert.ok(made?.ok);
    assert.deepEqual(await shown(), ['A 192.0.2.2']);
  });

  it('deletes a set that is gone already, but not of a zone that is', async () => {
    vendor.standIn.state.sets = [set('A')];
    const [before] = await listed();
    assert.ok(before);
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      if (request.method === 'DELETE') vendor.standIn.state.sets = [];
      return handler(request);
    };
    assert.deepEqual(await apply({ op: 'delete', before }), [{ ok: true, remoteId: null }]);
    vendor.standIn.handler = () => ({ status: 404, body: '<html><head></head><body></body></html>' });
    const [gone] = await apply({ op: 'delete', before });
    assert.equal(gone?.ok === false && gone.error.kind, 'not_found');
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    for (const body of [undefined, {}, null]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(listed(), { kind: 'unavailable' });
    }
    vendor.standIn.handler = () => ({ body: {} });
    await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });

  itUnless(noFixtures)('reads what octoDNS was answered', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: sampleAnswer('constellix', 'constellix-domains') });
    assert.deepEqual(await vendor.provider.listZones(), [{ id: '123123', name: 'unit.tests' }]);
    vendor.standIn.handler = () => ({ body: sampleAnswer('constellix', 'constellix-records') });
    const all = await vendor.provider.listRecords({ id: '123123', name: 'unit.tests' });
    vendor.standIn.handler = handler;
    const lines = all.map((r) => `${r.host} ${r.type} ${r.priority ?? '-'} ${r.value}${r.readOnly ? ' (shown)' : ''}`);
    for (const line of [
      '@ A - 1.2.3.5',
      '@ ALIAS - aname.unit.tests',
      '@ CAA - 0 issue "ca.unit.tests"',
      '_imap._tcp SRV 0 0 0 .',
      '_srv._tcp SRV 12 20 30 foo-2.unit.tests',
      'aaaa AAAA - 2601:644:500:e210:62f8:1dff:feb8:947a',
      'cname CNAME - unit.tests',
      'mx MX 40 smtp-1.unit.tests',
      'ptr PTR - foo.bar.com',
      'txt TXT - v=DKIM1;k=rsa;s=email;h=sha256;p=A/kinda+of/long/string+with+numb3rs',
      'under NS - ns2.unit.tests',
      'unsupported HTTPRedirection - https://redirect.unit.tests (shown)',
    ])
      assert.ok(lines.includes(line), `${line} is among\n${lines.join('\n')}`);
  });
});
