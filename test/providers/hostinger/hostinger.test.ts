import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { hostinger } from '../../../src/providers/hostinger/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { noFixtures, sample } from '../../support/fixtures.js';
import { describeUnless } from '../../support/suites.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startHostinger } from './stand-in.js';

/** The same without the limit of requests a minute, which only makes a test wait. */
const fast = { ...hostinger, limits: { ...hostinger.limits, requests: 100_000 } };
const connect = (standIn: StandIn, api_token = 'a-token'): DnsProvider =>
  connectTo(fast, { api_token, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('Hostinger (stand-in)', async () => {
  const standIn = await startHostinger();
  return {
    provider: connect(standIn),
    ...{ definition: fast, zone, standIn },
    stranger: connect(standIn, 'wrong'),
    stop: standIn.stop,
  };
});

describe('Hostinger', () => {
  const vendor = standInFor(startHostinger, connect);
  beforeEach(() => {
    vendor.standIn.sets.splice(2);
    vendor.standIn.requests.length = 0;
  });
  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const at = async (host: string) => (await vendor.provider.listRecords(zone)).filter((r) => r.host === host);
  const sent = () =>
    vendor.standIn.requests.filter((r) => r.method !== 'GET').map(({ method, body }) => [method, body]);

  it('says in its words what is refused; a domain of somebody else is none, not a wrong token', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Unauthenticated/ });
    const other = { id: 'other.example', name: 'other.example' };
    await assert.rejects(vendor.provider.listRecords(other), { kind: 'not_found', message: /does not own/ });
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1', { ttl: 30 }) });
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && /at least 60/.test(outcome.error.message));
  });

  it('lists domains that have a name', async () => {
    assert.deepEqual(await vendor.provider.listZones(), [zone]);
  });

  it('writes the set of a name, and no other; what is read goes back as it was', async () => {
    const held = [{ content: 'plain-token', is_disabled: false }];
    vendor.standIn.sets.push({ name: 'www', type: 'TXT', ttl: 300, records: held });
    await one({ op: 'create', after: record('TXT', 'a "b" c') });
    const contents = [{ content: 'plain-token' }, { content: '"a \\"b\\" c"' }];
    const set = { name: 'www', type: 'TXT', ttl: 300, records: contents };
    assert.deepEqual(sent(), [['PUT', { overwrite: true, zone: [set] }]]);
    const [first, second] = (await at('www')) as [RemoteRecord, RemoteRecord];
    assert.deepEqual([first.value, second.value], ['plain-token', 'a "b" c']);
    await one({ op: 'update', before: first, after: record('TXT', 'another') });
    const changed = { ...set, records: [{ content: '"another"' }, { content: '"a \\"b\\" c"' }] };
    assert.deepEqual(sent()[1], ['PUT', { overwrite: true, zone: [changed] }]);
    for (const before of await at('www')) await one({ op: 'delete', before });
    assert.deepEqual(sent().at(-1), ['DELETE', { filters: [{ name: 'www', type: 'TXT' }] }]);
  });

  it('shows a set with a disabled value, and does not write it', async () => {
    const records = ['192.0.2.1', '192.0.2.2'].map((content, i) => ({ content, is_disabled: i === 0 }));
    vendor.standIn.sets.push({ name: 'www', type: 'A', ttl: 300, records });
    const found = await at('www');
    assert.deepEqual(
      found.map((r) => [r.value, r.enabled, r.readOnly]),
      [
        ['192.0.2.1', false, true],
        ['192.0.2.2', true, true],
      ],
    );
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.3') });
    assert.ok(
      !outcome.ok && outcome.error.kind === 'rejected' && /values that are switched off/.test(outcome.error.message),
    );
    assert.deepEqual(sent(), []);
  });

  it('takes a list that is cut for an error, and shows a set that is not understood', async () => {
    const { handler } = vendor.standIn;
    for (const body of [undefined, {}, null]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = () => ({ body: [{ name: '@', type: 'A' }] });
    const shown = await vendor.provider.listRecords(zone);
    assert.deepEqual(
      shown.map((r) => [r.host, r.type, r.readOnly]),
      [['@', 'A', true]],
    );
    vendor.standIn.handler = () => ({ body: {} });
    await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });
});

describeUnless(noFixtures)("samples of lego's Hostinger", () => {
  const vendor = standInFor(startHostinger, connect);
  it('are read and written as theirs: a value of two goes, and the last one', async () => {
    const example = { id: 'example.com', name: 'example.com' };
    for (const [test, method] of [
      ['TestDNSProvider_CleanUp_update', 'PUT'],
      ['TestDNSProvider_CleanUp_delete', 'DELETE'],
    ] as const) {
      vendor.standIn.handler = (request) =>
        request.method === 'GET'
          ? sample('hostinger', test, 'GET').response
          : sample('hostinger', test, method).response;
      const found = await vendor.provider.listRecords(example);
      const before = found.find((r) => r.value.startsWith('ADw2s')) as RemoteRecord;
      const [outcome] = await vendor.provider.apply(example, [{ op: 'delete', before }]);
      assert.ok(outcome?.ok);
      const { request } = sample('hostinger', test, method);
      const last = vendor.standIn.requests.at(-1);
      assert.deepEqual([last?.method, last?.path, last?.body], [request.method, request.path, request.body]);
    }
  });
});
