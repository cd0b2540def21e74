import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { Change, DnsProvider } from '../../../src/providers/provider.js';
import { transip } from '../../../src/providers/transip/declaration.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { pem, startTransip, type TransipEntry } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...transip, limits: { ...transip.limits, requests: 100_000 } };
const connect = (standIn: StandIn, login = 'ada', private_key = pem): DnsProvider =>
  connectTo(fast, { login, private_key, global_key: 'true', endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };
const refused = /^$|[\\`]|\s$|[\s\S]{1025}/;

providerContract('TransIP (stand-in)', async () => {
  const standIn = await startTransip();
  standIn.world.entries = [{ name: '@', expire: 3600, type: 'NS', content: 'ns0.transip.net.' }];
  const provider = connect(standIn);
  await provider.check();
  return {
    ...{ provider, definition: transip, zone, standIn, stranger: connect(standIn, 'eve') },
    values: { TXT: [{ value: 'v=spf1 include:example.net -all' }, { value: 'changed; "quoted" too' }] },
    cannot: { 'MX with the root': 'no MX without a host (dnscontrol, 2023)' },
    refuses: ({ type, value }) => type === 'TXT' && refused.test(value),
    stop: standIn.stop,
  };
});

describe('TransIP', () => {
  const vendor = standInFor(startTransip);
  let provider: DnsProvider;
  beforeEach(() => {
    provider = connect(vendor.standIn);
    Object.assign(vendor.standIn.world, { entries: [], asked: 0, keeps: (entries: TransipEntry[]) => entries });
    vendor.standIn.requests.length = 0;
  });
  const entry = (type: string, content: string, more: Partial<TransipEntry> = {}): TransipEntry => ({
    ...{ name: 'www', expire: 300, type, content },
    ...more,
  });
  const create = (type: string, value: string, more = {}): Change => ({
    op: 'create',
    after: dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name),
  });

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'eve').check(), { kind: 'auth', message: /signature is invalid/ });
    await assert.rejects(connect(vendor.standIn, 'ada', 'no key').check(), { kind: 'auth', message: /PEM/ });
    await assert.rejects(provider.listRecords({ id: 'x.example', name: 'x.example' }), {
      ...{ kind: 'not_found', message: /'x.example' not found/ },
    });
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => (request.path.endsWith('/dns') ? { body: { _links: [] } } : handler(request));
    await assert.rejects(provider.listRecords(zone), { kind: 'unavailable' });
    const [outcome] = await provider.apply(zone, [create('A', '192.0.2.1')]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'unavailable' && !outcome.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });

  it('asks for one token, also when many calls need it at once, and for another when that is refused', async () => {
    await Promise.all([provider.check(), provider.listZones(), provider.listRecords(zone)]);
    assert.equal(vendor.standIn.world.asked, 1);
    await provider.check();
    assert.equal(vendor.standIn.world.asked, 1);
    vendor.standIn.world.tokens = [];
    await provider.check();
    assert.equal(vendor.standIn.world.asked, 2);
  });

  it('finds a zone by its name, and says until when the domain is registered', async () => {
    assert.deepEqual(await provider.findZone?.(zone.name), zone);
    assert.equal(await provider.findZone?.('x.example'), null);
    assert.equal((await provider.zoneInfo?.(zone))?.expiresAt, '2027-01-05T00:00:00.000Z');
    assert.equal((await provider.listZones()).length, 2);
  });

  it('reads names that are relative and texts that are escaped, and sends the rest back', async () => {
    vendor.standIn.world.entries = [
      entry('CNAME', '@', { name: 'a' }),
      entry('MX', '10 mail', { name: '@' }),
      entry('TXT', 'say \\"hi\\"'),
      entry('SRV', '1 2 3 sip.example.net.', { name: '_sip._tcp' }),
    ];
    assert.deepEqual(
      (await provider.listRecords(zone)).map(({ host, type, value, priority }) => [host, type, value, priority]),
      [
        ['a', 'CNAME', 'contract.example', null],
        ['@', 'MX', 'mail.contract.example', 10],
        ['www', 'TXT', 'say "hi"', null],
        ['_sip._tcp', 'SRV', '2 3 sip.example.net', 1],
      ],
    );
    vendor.standIn.world.entries.splice(0, 2);
    const [outcome] = await provider.apply(zone, [create('A', '192.0.2.1')]);
    assert.ok(outcome?.ok);
    assert.deepEqual(vendor.standIn.world.entries, [
      entry('TXT', 'say "hi"'),
      entry('SRV', '1 2 3 sip.example.net.', { name: '_sip._tcp' }),
      entry('A', '192.0.2.1'),
    ]);
  });

  it('sends nothing that it cannot hold, and does not believe a yes', async () => {
    const [mx, text] = await provider.apply(zone, [create('MX', '.', { priority: 0 }), create('TXT', 'a`b')]);
    assert.ok(mx && !mx.ok && !mx.tried && text && !text.ok && !text.tried);
    assert.equal(vendor.standIn.requests.length, 0);
    vendor.standIn.world.keeps = (entries) => entries.filter(({ type }) => type !== 'A');
    const [outcome] = await provider.apply(zone, [create('A', '192.0.2.1')]);
    assert.ok(
      outcome && !outcome.ok && outcome.error.mayHaveApplied && /holds A www otherwise/.test(outcome.error.message),
    );
  });
});
