import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { Connected } from '../../../src/providers/connect.js';
import { infomaniak } from '../../../src/providers/infomaniak/declaration.js';
import type { Change, RemoteRecord } from '../../../src/providers/provider.js';
import { type Answer, connectTo, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type Stored, startInfomaniak } from './stand-in.js';

/** The same without the limit of calls a minute, which only makes a test wait. */
const fast = { ...infomaniak, limits: { ...infomaniak.limits, requests: 100_000 } };
const connect = (endpoint: string, api_token = 'a-token') => connectTo(fast, { api_token, endpoint }) as Connected;
const zone = { id: 'contract.example', name: 'contract.example' };
const ns: Stored = {
  ...{ id: 1, source: '.', source_idn: zone.name, type: 'NS', ttl: 3600, target: 'nsany1.infomaniak.com' },
  updated_at: 1779826643,
};

providerContract('Infomaniak (stand-in)', async () => {
  const standIn = await startInfomaniak();
  standIn.records.push({ ...ns }, { ...ns, id: 2, target: 'nsany2.infomaniak.com' });
  standIn.most.page = 2;
  const stranger = connect(standIn.url, 'another-token');
  return { provider: connect(standIn.url), definition: fast, zone, standIn, stranger, stop: standIn.stop };
});

describe('Infomaniak', () => {
  const vendor = standInFor(startInfomaniak, (standIn) => connect(standIn.url));
  beforeEach(() => {
    vendor.standIn.requests.length = 0;
    vendor.standIn.most.page = 100;
    vendor.standIn.records.splice(0, vendor.standIn.records.length, { ...ns });
  });
  const www = (type: string, value: string, more: object = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const find = async (host: string): Promise<RemoteRecord> => {
    const found = (await vendor.provider.listRecords(zone)).find((record) => record.host === host);
    assert.ok(found, host);
    return found;
  };
  const answering = async (what: RegExp, answer: Answer, body: () => Promise<unknown>) => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => (what.test(`${request.method} ${request.path}`) ? answer : handler(request));
    await body().finally(() => {
      vendor.standIn.handler = handler;
    });
  };
  const sent = () => vendor.standIn.requests.at(-1)?.body;

  it('says in its words what is refused, also with a status of success', async () => {
    await assert.rejects(connect(vendor.standIn.url, 'wrong').check(), {
      kind: 'auth',
      message: /Authorization required/,
    });
    const missing = { id: 'x.example', name: 'x.example' };
    await assert.rejects(vendor.provider.listRecords(missing), { kind: 'not_found', message: /Object not found/ });
    const refused = await one({ op: 'create', after: www('A', '192.0.2.1', { ttl: 30 }) });
    assert.ok(!refused.ok && /Validation failed .*The ttl is invalid/.test(refused.error.message));
    const error = { code: 'object_not_found', description: 'Object not found' };
    await answering(/./, { body: { result: 'error', error } }, async () => {
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'not_found' });
      const before = { ...www('A', '192.0.2.1'), remoteId: '9', readOnly: false };
      assert.deepEqual(await one({ op: 'delete', before }), { ok: true, remoteId: null });
    });
  });

  it('sends texts quoted, in strings that fit, and preferences in the target', async () => {
    for (const [type, value, priority, target] of [
      ['TXT', 'v=spf1 -all', null, '"v=spf1 -all"'],
      ['TXT', 'say "hi" \\', null, '"say \\"hi\\" \\\\"'],
      ['TXT', 'é'.repeat(64), null, `"${'é'.repeat(63)}" "é"`],
      ['TXT', 'x'.repeat(256), null, `"${'x'.repeat(255)}" "x"`],
      ['MX', 'mx.example.net', 10, '10 mx.example.net'],
      ['SRV', '5 5060 sip.example.net', 1, '1 5 5060 sip.example.net'],
      ['CAA', '0 issue "ca.example.net"', null, '0 issue "ca.example.net"'],
    ] as const) {
      await one({ op: 'create', after: www(type, value, { priority }) });
      assert.deepEqual(sent(), { type, source: 'www', ttl: 300, target });
      const before = await find('www');
      assert.deepEqual([before.value, before.priority], [value, priority]);
      await one({ op: 'delete', before });
    }
    await one({ op: 'create', after: { ...www('A', '192.0.2.1'), host: '@' } });
    assert.equal((sent() as Stored).source, '.');
  });

  it('does not make again what is there', async () => {
    const first = await one({ op: 'create', after: www('A', '192.0.2.1') });
    assert.deepEqual(await one({ op: 'create', after: www('A', '192.0.2.1') }), first);
    assert.equal(vendor.standIn.requests.filter(({ method }) => method === 'POST').length, 1);
  });

  it('tells when the registration ends', async () => {
    assert.equal((await vendor.provider.zoneInfo(zone))?.expiresAt, '2021-10-19T22:00:00.000Z');
    assert.equal((await vendor.provider.zoneInfo({ id: 'x.example', name: 'x.example' }))?.expiresAt, null);
  });

  it('takes a list that is cut for an error', async () => {
    for (const body of [
      undefined,
      {},
      { result: 'success' },
      { result: 'success', data: {} },
      { result: 'success', data: null },
      { result: 'success', data: [ns], total: 3 },
    ])
      await answering(/./, { body }, () =>
        assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body)),
      );
    await answering(/./, { body: { result: 'success', data: [{ id: 1 }] } }, async () =>
      assert.deepEqual(
        (await vendor.provider.listRecords(zone)).map(({ host, type, readOnly }) => [host, type, readOnly]),
        [['@', 'UNKNOWN', true]],
      ),
    );
    await answering(/POST/, { body: { result: 'success' } }, async () => {
      const outcome = await one({ op: 'create', after: www('A', '192.0.2.1') });
      assert.ok(!outcome.ok && outcome.error.kind === 'unavailable');
    });
  });

  it('reads all pages, also where no total is told', async () => {
    for (let i = 2; i < 260; i++)
      vendor.standIn.records.push({ ...ns, id: i, source: `n${i}`, type: 'A', target: '192.0.2.1' });
    const { handler } = vendor.standIn;
    vendor.standIn.handler = async (request) => {
      const { body, ...answer } = await handler(request);
      const { total: _, ...rest } = body as { total: number };
      return { ...answer, body: rest };
    };
    assert.equal((await vendor.provider.listRecords(zone)).length, 259);
    vendor.standIn.handler = handler;
    vendor.standIn.most.page = 7;
    assert.equal((await vendor.provider.listRecords(zone)).length, 259);
  });
});
