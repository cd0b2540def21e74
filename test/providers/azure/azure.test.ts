import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { azure } from '../../../src/providers/azure/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectInPlace, connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type AzureSet, startAzure } from './stand-in.js';

/** The same without the limit of 500 requests in five minutes, which only makes a test wait. */
const fast = { ...azure, limits: { ...azure.limits, requests: 1000, perSeconds: 1 } };
const given = { tenant_id: 'a-tenant', client_id: 'a-client', subscription_id: 'a-subscription' };
const connect = (standIn: StandIn, more: Record<string, string> = {}): DnsProvider =>
  connectTo(fast, { ...given, client_secret: 'a-secret', resource_group: 'Group-1', endpoint: standIn.url, ...more });
const zone = { id: 'group-1/contract.example', name: 'contract.example' };

providerContract('Azure DNS (stand-in)', async () => {
  const standIn = await startAzure();
  standIn.state.page = 3;
  const [provider, stranger] = [connect(standIn), connect(standIn, { client_secret: 'wrong' })];
  return { provider, definition: azure, zone, standIn, stranger, stop: standIn.stop };
});

describe('Azure DNS', () => {
  const vendor = standInFor(startAzure, connect);
  const a = (host: string, value: string) => dnsRecord({ type: 'A', host, value, ttl: 300 }, zone.name);
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const at = async (host: string) => (await vendor.provider.listRecords(zone)).filter((r) => r.host === host);
  const put = (name: string, type: string, properties: AzureSet['properties']) =>
    vendor.standIn.state.sets.push(vendor.standIn.made(name, type, properties));
  const drop = (name: string) => {
    vendor.standIn.state.sets = vendor.standIn.state.sets.filter((set) => set.name !== name);
  };

  it('says in its words what is refused', async () => {
    const wrong = connect(vendor.standIn, { client_secret: 'wrong' });
    await assert.rejects(wrong.check(), { kind: 'auth', message: /AADSTS7000215/ });
    await assert.rejects(connect(vendor.standIn, { tenant_id: 'x' }).check(), {
      kind: 'auth',
      message: /Tenant not found/,
    });
    await assert.rejects(connect(vendor.standIn, { resource_group: 'x' }).listZones(), { kind: 'not_found' });
    const gone = { id: 'group-1/gone.example', name: 'gone.example' };
    await assert.rejects(vendor.provider.listRecords(gone), { kind: 'not_found', message: /was not found/ });
    const [outcome] = await vendor.provider.apply(gone, [{ op: 'create', after: a('www', '192.0.2.1') }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'not_found');
    const [ns] = (await at('@')).filter((r) => r.type === 'NS');
    assert.ok(ns);
    const both = (await at('@')).map((before): Change => ({ op: 'delete', before }));
    const outcomes = await vendor.provider.apply(zone, both);
    assert.ok(outcomes.every((o) => !o.ok && o.error.kind === 'rejected' && /cannot be deleted/.test(o.error.message)));
  });

  it('calls the hosts of the cloud that the account is in', async () => {
    for (const [cloud, tokens, manager] of [
      ['public', 'https://login.microsoftonline.com', 'https://management.azure.com'],
      ['china', 'https://login.chinacloudapi.cn', 'https://management.chinacloudapi.cn'],
      ['us-government', 'https://login.microsoftonline.us', 'https://management.usgovcloudapi.net'],
    ] as const) {
      const credentials = { ...given, client_secret: 'a-secret', resource_group: 'Group-1', cloud };
      const { provider, origins } = connectInPlace(fast, credentials, vendor.standIn);
      assert.ok((await provider.listZones()).length);
      assert.deepEqual([...origins], [tokens, manager]);
      const asked = vendor.standIn.requests.findLast(({ path }) => path.endsWith('/oauth2/token'));
      assert.equal(new URLSearchParams(String(asked?.body)).get('resource'), manager);
    }
  });

  it('lists zones of the group or of all, and finds public ones only', async () => {
    const ids = ['group-1/inner.example', zone.id, 'group-1/other.example'];
    for (const group of ['Group-1', '']) {
      const zones = await connect(vendor.standIn, { resource_group: group }).listZones();
      assert.deepEqual(
        zones.map(({ id }) => id),
        ids,
      );
      assert.deepEqual(
        zones.map((one) => one.private),
        [true, undefined, undefined],
      );
    }
  });

  it('fetches one token for parallel calls', async () => {
    const before = vendor.standIn.state.tokens.length;
    const mine = connect(vendor.standIn);
    await Promise.all([mine.check(), mine.listZones(), mine.listRecords(zone)]);
    assert.equal(vendor.standIn.state.tokens.length, before + 1);
  });

  it('writes nothing over what was changed meanwhile, but reads it again', async () => {
    for (const first of [[{ ipv4Address: '192.0.2.1' }], null]) {
      if (first) put('race', 'A', { TTL: 300, ARecords: first });
      const { handler } = vendor.standIn;
      vendor.standIn.handler = (request) => {
        if (request.method === 'PUT') {
          drop('race');
          put('race', 'A', { TTL: 300, ARecords: [...(first ?? []), { ipv4Address: '192.0.2.7' }] });
          vendor.standIn.handler = handler;
        }
        return handler(request);
      };
      assert.ok((await one({ op: 'create', after: a('race', '192.0.2.2') }))?.ok);
      const values = (await at('race')).map((r) => r.value).toSorted();
      assert.deepEqual(values, [...(first ? ['192.0.2.1'] : []), '192.0.2.2', '192.0.2.7']);
      drop('race');
    }
  });

  it('keeps the metadata of a set, and the strings of texts beside the one that changes', async () => {
    const values = [{ value: ['one ', 'two'] }, { value: ['three'] }];
    put('kept', 'TXT', { TTL: 300, metadata: { owner: 'mail' }, TXTRecords: values });
    const before = (await at('kept')).find((r) => r.value === 'three') as RemoteRecord;
    assert.ok((await one({ op: 'update', before, after: { ...before, value: 'four' } }))?.ok);
    const held = vendor.standIn.state.sets.find((set) => set.name === 'kept')?.properties;
    assert.deepEqual(held?.TXTRecords, [{ value: ['one ', 'two'] }, { value: ['four'] }]);
    assert.deepEqual(held?.metadata, { owner: 'mail' });
    drop('kept');
  });

  it('writes and reads DS, NAPTR and TLSA as the specification shows them', async () => {
    const digest = '2bb183af5f22588179a53b0a98631fad1a292118';
    for (const [type, value, properties] of [
      ['DS', `60485 5 1 ${digest}`, { algorithm: 5, digest: { algorithmType: 1, value: digest }, keyTag: 60485 }],
      ['TLSA', '3 1 0 6ec8', { usage: 3, selector: 1, matchingType: 0, certAssociationData: '6ec8' }],
      [
        'NAPTR',
        '100 10 "U" "E2U+sip" "!^(.*)$!sip:\\\\1@example.com!" .',
        {
          ...{ order: 100, preference: 10, flags: 'U', services: 'E2U+sip' },
          ...{ regexp: '!^(.*)$!sip:\\1@example.com!', replacement: '.' },
        },
      ],
    ] as const) {
      assert.ok((await one({ op: 'create', after: dnsRecord({ type, host: 'of', value, ttl: 300 }, zone.name) }))?.ok);
      const held = vendor.standIn.state.sets.find((set) => set.name === 'of')?.properties;
      assert.deepEqual(held?.[`${type}Records`], [properties]);
      const [now] = await at('of');
      assert.deepEqual([now?.value, now?.readOnly], [value, false]);
      drop('of');
    }
    const quoted = { order: 1, preference: 2, flags: '"U"', services: '"E2U+sip"', regexp: '""', replacement: '' };
    put('of', 'NAPTR', { TTL: 300, NAPTRRecords: [quoted] });
    assert.equal((await at('of'))[0]?.value, '1 2 "U" "E2U+sip" "" .');
    drop('of');
  });

  it('shows aliases read-only, and leaves them alone', async () => {
    const kind = '/subscriptions/a-subscription/resourceGroups/g/providers/Microsoft.Network';
    for (const [field, id] of [
      ['targetResource', `${kind}/publicIPAddresses/ip`],
      ['trafficManagementProfile', `${kind}/trafficManagerProfiles/tm`],
    ] as const) {
      put('alias', 'A', { TTL: 300, [field]: { id }, ARecords: [{ ipv4Address: '192.0.2.7' }] });
      const [found] = await at('alias');
      assert.deepEqual(
        [found?.readOnly, found?.readOnlyReason, found?.value],
        [true, `It is an alias of ${id}`, `alias of ${id}`],
      );
      const outcome = await one({ op: 'create', after: a('alias', '192.0.2.1') });
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
      drop('alias');
    }
  });

  it('refuses a second CNAME of a name', async () => {
    const cname = (value: string) => dnsRecord({ type: 'CNAME', host: 'c', value, ttl: 300 }, zone.name);
    assert.ok((await one({ op: 'create', after: cname('a.example.net') }))?.ok);
    const outcome = await one({ op: 'create', after: cname('b.example.net') });
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    assert.deepEqual(
      (await at('c')).map((r) => r.value),
      ['a.example.net'],
    );
    drop('c');
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const soa = vendor.standIn.state.sets.filter((set) => set.type.endsWith('/SOA'));
    for (const body of [
      {},
      { value: [] },
      { value: soa, nextLink: 'no link' },
      { value: soa, nextLink: vendor.standIn.url },
    ]) {
      vendor.standIn.handler = (request) => (request.path.endsWith('/recordsets') ? { body } : handler(request));
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body));
    }
    vendor.standIn.handler = handler;
  });
});
