import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { dnsmadeeasy } from '../../../src/providers/dnsmadeeasy/declaration.js';
import type { Change, RemoteRecord } from '../../../src/providers/provider.js';
import { noFixtures, sampleAnswer } from '../../support/fixtures.js';
import { itUnless } from '../../support/suites.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startDnsmadeeasy } from './stand-in.js';

const fast = { ...dnsmadeeasy, limits: { ...dnsmadeeasy.limits, requests: 100_000 } };
const connect = (standIn: StandIn, secret_key = 'a-secret', definition = fast) =>
  connectTo(definition, { api_key: 'a-key', secret_key, endpoint: standIn.url });
const zone = { id: '878951', name: 'contract.example' };

providerContract('DNS Made Easy (stand-in)', async () => {
  const standIn = await startDnsmadeeasy();
  standIn.most.page = 2;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    connect: (definition) => connect(standIn, 'a-secret', definition),
    limited: { status: 400, body: { error: ['Rate limit exceeded'] } },
    cannot: {
      'MX with the root': 'nothing tells how it is written',
      'SRV with the root': 'dnscontrol (2022) writes it as "..", which nothing explains',
    },
    ...{ definition: fast, zone, standIn, stop: standIn.stop },
  };
});

describe('DNS Made Easy', () => {
  const vendor = standInFor(startDnsmadeeasy, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
  });
  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const listed = async () => (await vendor.provider.listRecords(zone)) as [RemoteRecord, ...RemoteRecord[]];
  const sent = () => vendor.standIn.requests.findLast(({ method }) => method !== 'GET');

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /API key not found/ });
    await assert.rejects(vendor.provider.listRecords({ id: '7', name: 'x.example' }), { kind: 'not_found' });
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const outcome = await one({ op: 'create', after: record('CNAME', 'a.example.net') });
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && /beside other/.test(outcome.error.message));
  });

  it('signs the date of a request', async () => {
    await vendor.provider.check();
    const { headers } = vendor.standIn.requests.at(-1) ?? {};
    assert.match(`${headers?.['x-dnsme-requestdate']}`, /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    assert.match(`${headers?.['x-dnsme-hmac']}`, /^[0-9a-f]{40}$/);
  });

  it('sends the parts of a record by their names, targets absolute, texts quoted', async () => {
    for (const [type, value, priority, host, expected] of [
      ['MX', 'mx.example.net', 10, '@', { name: '', value: 'mx.example.net.', mxLevel: 10 }],
      [
        'SRV',
        '5 5060 sip.example.net',
        1,
        '_sip._tcp',
        { name: '_sip._tcp', value: 'sip.example.net.', priority: 1, weight: 5, port: 5060 },
      ],
      [
        'CAA',
        '128 issue "ca.example.net"',
        null,
        '@',
        { name: '', value: 'ca.example.net', caaType: 'issue', issuerCritical: 128 },
      ],
      ['TXT', 'a "b" \\c', null, 'www', { name: 'www', value: '"a \\"b\\" \\\\c"' }],
      ['CNAME', 'a.example.net', null, 'alias', { name: 'alias', value: 'a.example.net.' }],
    ] as const) {
      const outcome = await one({ op: 'create', after: record(type, value, { priority, host }) });
      assert.ok(outcome.ok);
      assert.deepEqual(sent()?.body, { type, ttl: 300, ...expected });
      const held = (await listed()).find((r) => r.remoteId === outcome.remoteId);
      assert.deepEqual([held?.host, held?.value, held?.priority], [host, value, priority]);
    }
  });

  it('sends back what it does not know, and what was changed there', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const [before] = await listed();
    Object.assign(vendor.standIn.records[0] as object, { value: '192.0.2.9', password: 'p' });
    assert.ok((await one({ op: 'update', before, after: { ...before, ttl: 600 } })).ok);
    const { value, ttl, password, gtdLocation } = (sent()?.body ?? {}) as Record<string, unknown>;
    assert.deepEqual([value, ttl, password, gtdLocation], ['192.0.2.9', 600, 'p', 'DEFAULT']);
  });

  it('shows read-only what is watched, routed, dynamic, of a template, or of another type', async () => {
    const plain = { name: 'www', type: 'A', ttl: 300, gtdLocation: 'DEFAULT', source: 1 };
    const odd = [
      {},
      { gtdLocation: 'EUROPE' },
      { failover: true },
      { monitor: true },
      { dynamicDns: true },
      { source: 0 },
    ];
    for (const [i, more] of odd.entries())
      vendor.standIn.records.push({ ...plain, id: i, value: `192.0.2.${i}`, ...more });
    vendor.standIn.records.push({ ...plain, id: 9, type: 'HTTPRED', value: 'https://example.net/' });
    assert.deepEqual(
      (await listed()).map(({ readOnly }) => readOnly),
      [false, true, true, true, true, true, true],
    );
  });

  it('takes a list or a record that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const data = [{ id: 1, name: 'a', type: 'A', value: '192.0.2.1', ttl: 300 }];
    for (const body of [undefined, {}, { data }, { data, totalPages: 1, totalRecords: 2 }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    }
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1') });
    assert.ok(!outcome.ok && outcome.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });

  itUnless(noFixtures)('reads what others were answered', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: sampleAnswer('dnsmadeeasy', 'dnsmadeeasy-records') });
    const all = await vendor.provider.listRecords({ id: '123123', name: 'unit.tests' });
    const shown = (type: string) => all.filter((r) => r.type === type).map((r) => [r.host, r.priority, r.value]);
    assert.deepEqual(shown('CAA'), [['@', null, '0 issue "ca.unit.tests"']]);
    assert.deepEqual(shown('SRV')[0], ['_srv._tcp', 10, '20 30 foo-1.unit.tests']);
    assert.deepEqual(shown('MX')[0], ['mx', 30, 'smtp-3.unit.tests']);
    assert.deepEqual(shown('CNAME')[0], ['cname', null, 'unit.tests']);
    assert.deepEqual(shown('NS')[1], ['under', null, 'ns2.unit.tests']);
    vendor.standIn.handler = handler;
  });
});
