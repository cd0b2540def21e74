import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { ns1 } from '../../../src/providers/ns1/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { type Answer, connectTo, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredSet, startNs1 } from './stand-in.js';

/** The same without the limits of calls, which only make a test wait. */
const fast = { ...ns1, limits: { ...ns1.limits, requests: 5000, more: [] } };
const connect = (endpoint: string, api_key = 'a-key'): DnsProvider => connectTo(fast, { api_key, endpoint });
const zone = { id: 'contract.example', name: 'contract.example' };
const set = (type: string, domain: string, answers: StoredSet['answers'], more: object = {}): StoredSet => ({
  ...{ id: `id-${type}-${domain}`, zone: zone.name, domain, type, ttl: 3600, answers, filters: [] },
  ...more,
});
const ns = () => set('NS', zone.name, [{ answer: ['dns1.p01.nsone.net'] }, { answer: ['dns2.p01.nsone.net'] }]);

providerContract('NS1 (stand-in)', async () => {
  const standIn = await startNs1();
  standIn.sets.push(ns());
  standIn.most.page = 2;
  const stranger = connect(standIn.url, 'another-key');
  const cannot = {
    'TXT empty': 'refused by NS1 (dnscontrol 2026)',
    'an unknown field of a set survives': 'a POST keeps what it does not name of a set',
    'an unknown field survives to be disabled and enabled': 'the list of a zone has short answers alone',
  };
  return { provider: connect(standIn.url), definition: fast, zone, standIn, stranger, cannot, stop: standIn.stop };
});

describe('NS1', () => {
  const vendor = standInFor(startNs1, (standIn) => connect(standIn.url));
  beforeEach(() => {
    vendor.standIn.requests.length = 0;
    vendor.standIn.sets.splice(0, vendor.standIn.sets.length, ns());
  });
  const www = (type: string, value: string, more: object = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const at = async (host: string): Promise<RemoteRecord[]> =>
    (await vendor.provider.listRecords(zone)).filter((record) => record.host === host);
  const sent = () => vendor.standIn.requests.at(-1)?.body as StoredSet;
  const answering = async (what: RegExp, answer: Answer, body: () => Promise<unknown>) => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => (what.test(`${request.method} ${request.path}`) ? answer : handler(request));
    await body().finally(() => {
      vendor.standIn.handler = handler;
    });
  };

  it('says in its words what is refused, and no zone is not an empty one', async () => {
    await assert.rejects(connect(vendor.standIn.url, 'wrong').check(), { kind: 'auth', message: /Unauthorized/ });
    const missing = { id: 'x.example', name: 'x.example' };
    await assert.rejects(vendor.provider.listRecords(missing), { kind: 'not_found', message: /zone not found/ });
    const [outcome] = await vendor.provider.apply(missing, [{ op: 'create', after: www('A', '192.0.2.1') }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'not_found');
    assert.ok(vendor.standIn.requests.every(({ method }) => method === 'GET'));
  });

  it('sends each part of an answer by itself', async () => {
    for (const [type, value, priority, answer] of [
      ['MX', 'mx.example.net', 10, [10, 'mx.example.net']],
      ['SRV', '5 5060 sip.example.net', 1, [1, 5, 5060, 'sip.example.net']],
      ['CAA', '0 issue "ca.example.net; a=b"', null, [0, 'issue', 'ca.example.net; a=b']],
      ['TXT', 'say "hi" \\', null, ['say "hi" \\']],
      ['TXT', 'x'.repeat(600), null, ['x'.repeat(600)]],
      [
        'NAPTR',
        '100 50 "s" "SIP+D2U" "" _sip._udp.example.net',
        null,
        [100, 50, 's', 'SIP+D2U', '', '_sip._udp.example.net'],
      ],
    ] as const) {
      await one({ op: 'create', after: www(type, value, { priority }) });
      assert.equal(vendor.standIn.requests.at(-1)?.method, 'PUT');
      assert.deepEqual(sent().answers, [{ answer }]);
      const [before] = await at('www');
      assert.ok(before);
      assert.deepEqual([before.value, before.priority, before.readOnly], [value, priority, false]);
      await one({ op: 'delete', before });
      assert.deepEqual(await at('www'), []);
    }
  });

  it('reads the values of CAA with and without quotes', async () => {
    for (const value of ['ca.example.net', '"ca.example.net"']) {
      vendor.standIn.sets.splice(
        0,
        vendor.standIn.sets.length,
        set('CAA', zone.name, [{ answer: [0, 'issue', value] }]),
      );
      assert.equal((await at('@'))[0]?.value, '0 issue "ca.example.net"');
    }
  });

  it('leaves sets alone that have filters, regions or metadata, whatever is asked for', async () => {
    const [near, far] = [
      { answer: ['192.0.2.1'], id: 'a1', meta: { up: { feed: 'f1' } } },
      { answer: ['192.0.2.2'], id: 'a2', meta: { georegion: ['EUROPE'] } },
    ];
    vendor.standIn.sets.push(
      set('A', `www.${zone.name}`, [near, far], { filters: [{ filter: 'up', config: {} }], ttl: 300 }),
    );
    const before = (await at('www')).find((record) => record.value === '192.0.2.1') as RemoteRecord;
    for (const change of [
      { op: 'update', before, after: www('A', '192.0.2.9') },
      { op: 'update', before, after: { ...www('A', '192.0.2.1'), host: 'moved' } },
      { op: 'create', after: www('A', '192.0.2.3') },
      { op: 'delete', before },
    ] as const) {
      const outcome = await one(change);
      assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && /has filters/.test(outcome.error.message));
    }
    assert.deepEqual(vendor.standIn.sets.at(-1)?.answers, [near, far]);
    assert.deepEqual(vendor.standIn.sets.at(-1)?.filters, [{ filter: 'up', config: {} }]);
  });

  it('shows a set that answers one address with several settings read-only, and leaves it alone', async () => {
    const answers = [
      { answer: ['192.0.2.1'], meta: { up: true }, region: 'eu' },
      { answer: ['192.0.2.1'], meta: { up: true }, region: 'us' },
      { answer: ['192.0.2.2'] },
    ];
    vendor.standIn.sets.push(set('A', `www.${zone.name}`, answers));
    const shown = await at('www');
    assert.deepEqual(
      shown.map(({ value, readOnly }) => [value, readOnly]),
      [
        ['192.0.2.1', true],
        ['192.0.2.1', true],
        ['192.0.2.2', true],
      ],
    );
    assert.ok(shown.every(({ readOnlyReason }) => readOnlyReason?.startsWith('It holds a value several times')));
    vendor.standIn.requests.length = 0;
    for (const change of [
      { op: 'create', after: www('A', '192.0.2.3') },
      { op: 'update', before: shown[2] as RemoteRecord, after: www('A', '192.0.2.4') },
      { op: 'delete', before: shown[0] as RemoteRecord },
    ] as const) {
      const outcome = await one(change);
      assert.ok(
        !outcome.ok &&
          outcome.error.kind === 'rejected' &&
          /has filters, regions or metadata/.test(outcome.error.message),
      );
    }
    assert.ok(vendor.standIn.requests.every(({ method }) => method === 'GET'));
  });

  it('reads a set by itself whose answers the list does not tell', async () => {
    const answer = { answer: ['192.0.2.1'], note: 'of next year' };
    vendor.standIn.sets.push(set('A', `www.${zone.name}`, [answer], { untold: true, ttl: 300 }));
    const [before] = await at('www');
    assert.deepEqual([before?.value, before?.readOnly], ['192.0.2.1', false]);
    assert.ok((await one({ op: 'update', before: before as RemoteRecord, after: www('A', '192.0.2.9') })).ok);
    assert.deepEqual(vendor.standIn.sets.at(-1)?.answers, [{ ...answer, answer: ['192.0.2.9'] }]);
    // nor does the set itself
    const { handler } = vendor.standIn;
    vendor.standIn.handler = async (request) => {
      const real = await handler(request);
      return /A$/.test(request.path) ? { ...real, body: { ...(real.body as object), answers: undefined } } : real;
    };
    const [unread] = await at('www');
    const outcome = await one({ op: 'create', after: www('A', '192.0.2.8') });
    vendor.standIn.handler = handler;
    assert.deepEqual([unread?.type, unread?.readOnly], ['A', true]);
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected');
  });

  it('shows linked sets read-only, and leaves them alone', async () => {
    for (const type of ['A', 'TXT']) {
      vendor.standIn.sets.splice(1, 9, set(type, `www.${zone.name}`, [], { link: 'other.example' }));
      const [record] = await at('www');
      assert.deepEqual([record?.readOnly, record?.value], [true, 'linked to other.example']);
      const outcome = await one({ op: 'create', after: www(type, '192.0.2.1') });
      assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && /linked/.test(outcome.error.message));
    }
  });

  it('reads again when a set came or went meanwhile', async () => {
    const { handler } = vendor.standIn;
    let meanwhile: (() => unknown) | null = () => vendor.standIn.sets.splice(1, 1);
    vendor.standIn.handler = (request) => {
      if (request.method === 'POST') {
        meanwhile?.();
        meanwhile = null;
      }
      return handler(request);
    };
    vendor.standIn.sets.push(set('A', `www.${zone.name}`, [{ answer: ['192.0.2.1'] }]));
    assert.ok((await one({ op: 'create', after: www('A', '192.0.2.2') })).ok);
    assert.deepEqual(vendor.standIn.sets.at(-1)?.answers, [{ answer: ['192.0.2.2'] }]);
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut for an error', async () => {
    for (const body of [undefined, {}, { records: {} }, { records: null }])
      await answering(/./, { body }, () => assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }));
    await answering(/./, { body: {} }, () => assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' }));
    // the same page for ever
    const link = '<https://api.nsone.net/v1/zones/x?after=1>; rel="next"';
    const page = { records: [{ ...ns(), short_answers: ['dns1.p01.nsone.net'] }] };
    await answering(/./, { body: page, headers: { link } }, () =>
      assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }),
    );
    // a set whose answer says nothing is not written over
    await answering(/GET .*\/A$/, { body: {} }, async () => {
      const outcome = await one({ op: 'create', after: www('A', '192.0.2.1') });
      assert.ok(!outcome.ok && outcome.error.kind === 'rejected');
    });
  });
});
