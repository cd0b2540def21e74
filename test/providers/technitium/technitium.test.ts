import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { connectAdapter } from '../../../src/providers/connect.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { technitium } from '../../../src/providers/technitium/declaration.js';
import { connectOptions } from '../../support/connect-options.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startTechnitium, type TechnitiumRecord } from './stand-in.js';

const connect = (standIn: StandIn, token = 'a-token', url = standIn.url): DnsProvider =>
  connectTo(technitium, { url, token });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('Technitium (stand-in)', async () => {
  const standIn = await startTechnitium();
  standIn.world.page = 1;
  standIn.records.push({ name: zone.name, type: 'NS', ttl: 3600, rData: { nameServer: 'server1.example.net' } });
  return {
    ...{ provider: connect(standIn), definition: technitium, zone, standIn, stranger: connect(standIn, 'wrong') },
    refuses: ({ type, value }) => type === 'TXT' && /^$|[^ -~]/.test(value),
    stop: standIn.stop,
    cannot: {
      'an unknown field of a value survives': 'an update names each part by a parameter of its own (documentation)',
    },
  };
});

describe('Technitium', () => {
  const vendor = standInFor(startTechnitium, connect);
  beforeEach(() => {
    vendor.standIn.records.splice(1);
    vendor.standIn.requests.length = 0;
  });

  const stored = (value: string, more: Partial<TechnitiumRecord> = {}): TechnitiumRecord => ({
    ...{ name: 'www.contract.example', type: 'A', ttl: 300, rData: { ipAddress: value } },
    ...more,
  });
  const record = (value: string, more = {}) =>
    dnsRecord({ host: 'www', type: 'A', value, ttl: 300, ...more }, zone.name);
  const at = async (value: string) =>
    (await vendor.provider.listRecords(zone)).find((r) => r.value === value) as RemoteRecord;
  const held = () =>
    vendor.standIn.records
      .slice(1)
      .map(({ rData, ttl, disabled = false, comments }) => [Object.values(rData)[0], ttl, disabled, comments ?? '']);
  async function outcomes(...changes: Change[]) {
    return (await vendor.provider.apply(zone, changes)).map((o) =>
      o.ok ? 'ok' : `${o.error.kind}: ${o.error.message}`,
    );
  }
  const writes = () =>
    vendor.standIn.requests
      .map(({ path, body }) => [path.split('/').at(-1), new URLSearchParams(String(body))] as const)
      .filter(([verb]) => verb !== 'get');

  it('says in its words what is refused, all with a status of 200', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /session expired/ });
    await assert.rejects(connect(vendor.standIn, 'wrong').listZones(), { kind: 'auth' });
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), { kind: 'not_found' });
    const { handler } = vendor.standIn;
    for (const body of ['', '{}', '{"status":"ok"}', '{"status":"ok","response":{"records":[]}}', '<html>']) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, body);
      if (!body.includes('records')) await assert.rejects(vendor.provider.check(), { kind: 'unavailable' }, body);
    }
    vendor.standIn.handler = handler;
  });

  it('lists the zones that are written here, page by page or at once, whatever the end of the address', async () => {
    Object.assign(vendor.standIn.world, { zones: ['contract.example', 'b.example'], page: 1 });
    for (const [old, url] of [
      [false, `${vendor.standIn.url}/`],
      [true, `${vendor.standIn.url}/api/`],
    ] as const) {
      Object.assign(vendor.standIn.world, { old });
      const names = (await connect(vendor.standIn, 'a-token', url).listZones()).map(({ name }) => name);
      assert.deepEqual(names, ['contract.example', 'b.example']);
    }
    assert.deepEqual(await vendor.provider.createZone?.('new.example'), { id: 'new.example', name: 'new.example' });
    assert.ok(vendor.standIn.world.zones.includes('new.example'));
    const credentials = { url: vendor.standIn.url, token: 'a-token' };
    const adapter = await connectAdapter(technitium, credentials, connectOptions(10_000));
    await adapter.deleteZone?.({ id: 'new.example', name: 'new.example' });
    assert.ok(!vendor.standIn.world.zones.includes('new.example'));
    Object.assign(vendor.standIn.world, { zones: ['contract.example'], page: 100, old: false });
  });

  it('changes one value and leaves its siblings and their notes alone', async () => {
    vendor.standIn.records.push(
      stored('192.0.2.1', { comments: 'mine' }),
      stored('192.0.2.2', { disabled: true, comments: 'x' }),
    );
    const before = await at('192.0.2.1');
    assert.deepEqual(await outcomes({ op: 'update', before, after: { ...before, value: '192.0.2.9' } }), ['ok']);
    assert.deepEqual(held(), [
      ['192.0.2.2', 300, true, 'x'],
      ['192.0.2.9', 300, false, 'mine'],
    ]);
    assert.deepEqual(
      writes().map(([verb, form]) => [verb, form.get('ipAddress'), form.get('newIpAddress'), form.get('disable')]),
      [['update', '192.0.2.1', '192.0.2.9', 'false']],
    );
  });

  it('takes the comment of a record to another name', async () => {
    vendor.standIn.records.push(stored('192.0.2.1', { comments: 'mine' }));
    const before = await at('192.0.2.1');
    assert.deepEqual(await outcomes({ op: 'update', before, after: { ...before, host: 'moved' } }), ['ok']);
    assert.deepEqual(held(), [['192.0.2.1', 300, false, 'mine']]);
  });

  it('keeps what is disabled so when the TTL of its set changes, and never lets it go live', async () => {
    vendor.standIn.records.push(
      stored('192.0.2.1', { comments: 'one' }),
      stored('192.0.2.2', { disabled: true, comments: 'off' }),
      stored('192.0.2.3'),
    );
    const { handler } = vendor.standIn;
    const live: unknown[] = [];
    vendor.standIn.handler = async (request) => {
      const answer = await handler(request);
      live.push(vendor.standIn.records.some((r) => r.rData.ipAddress === '192.0.2.2' && !r.disabled));
      return answer;
    };
    const before = await at('192.0.2.1');
    assert.deepEqual(await outcomes({ op: 'update', before, after: { ...before, ttl: 60 } }), ['ok']);
    vendor.standIn.handler = handler;
    assert.ok(!live.includes(true));
    assert.deepEqual(held().sort(), [
      ['192.0.2.1', 60, false, 'one'],
      ['192.0.2.2', 60, true, 'off'],
      ['192.0.2.3', 60, false, ''],
    ]);
    vendor.standIn.records.push(stored('192.0.2.4', { ttl: 60, disabled: true }));
    const [refused] = await outcomes({ op: 'create', after: record('192.0.2.5', { ttl: 90 }) });
    assert.match(refused ?? '', /^rejected: .*switch on disabled values/);
    assert.equal(vendor.standIn.records.length, 5);
  });

  it('takes what was changed meanwhile for what it is, and says when a part is done', async () => {
    vendor.standIn.records.push(stored('192.0.2.1'));
    const before = await at('192.0.2.1');
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      if (request.path.endsWith('/update')) vendor.standIn.records.splice(1, 1);
      return handler(request);
    };
    const [gone] = await outcomes({ op: 'update', before, after: { ...before, value: '192.0.2.9' } });
    assert.match(gone ?? '', /^not_found/);
    vendor.standIn.handler = (request) =>
      request.path.endsWith('/update') ? { body: { status: 'error', errorMessage: 'no' } } : handler(request);
    const [half] = await vendor.provider.apply(zone, [
      { op: 'create', after: record('192.0.2.7', { enabled: false }) },
    ]);
    assert.ok(half && !half.ok && half.error.kind === 'rejected' && half.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });

  it('means a text that was split otherwise, and shows other types read-only', async () => {
    vendor.standIn.records.push(
      stored('', { type: 'TXT', rData: { text: 'onetwo', characterStrings: ['one', 'two'] } }),
      stored('', {
        type: 'DS',
        rData: { keyTag: 46125, algorithm: 'ECDSAP384SHA384', digestType: 'SHA1', digest: 'AB' },
      }),
      stored('', { type: 'ANAME', rData: { aname: 'lb.example.net' } }),
    );
    const before = await at('onetwo');
    assert.deepEqual(await outcomes({ op: 'update', before, after: { ...before, ttl: 60 } }), ['ok']);
    const made = vendor.standIn.records.find((r) => r.type === 'TXT');
    assert.deepEqual([made?.ttl, made?.rData.characterStrings], [60, ['one', 'two']]);
    const now = await at('onetwo');
    assert.deepEqual(await outcomes({ op: 'update', before: now, after: { ...now, value: 'three' } }), ['ok']);
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map(({ type, value, readOnly }) => [type, value, readOnly]).sort(),
      [
        ['ALIAS', 'lb.example.net', false],
        ['DS', '46125 ECDSAP384SHA384 SHA1 AB', true],
        ['TXT', 'three', false],
      ],
    );
  });
});
