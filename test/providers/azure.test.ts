import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { dnsRecord } from '../../src/dns/record.js';
import { azure } from '../../src/providers/azure/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../src/providers/provider.js';
import { derivedId } from '../../src/providers/rrset.js';
import { describeUnless } from '../support/suites.js';
import {
  connectTo,
  type Essence,
  type Handler,
  noRecordings,
  playSteps,
  recording,
  replay,
  type Scenario,
  type StandIn,
  type Step,
  startStandIn,
} from '../support/vendor.js';
import { providerContract } from './contract.js';
import { type AzureSet, startAzure } from './stand-ins/azure.js';

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

describeUnless(noRecordings)('Azure DNS: recorded traffic of 2023', () => {
  if (noRecordings) return;
  const { zone: zoneName, scenarios } = recording('azure');

  // The recording client listed all sets of a type before each write, and wrote unconditionally. Paths are the same in
  // any case.
  const essence: Essence = ({ method, path, body }) => {
    const { properties } = (body ?? {}) as Partial<AzureSet>;
    const form = path.endsWith('/token') ? Object.fromEntries(new URLSearchParams(String(body))) : null;
    const resource = form?.resource?.replace(/\/$/, '') ?? null;
    return { method, path: path.toLowerCase(), properties: properties ?? null, resource };
  };
  /** The sets in the last recorded list after so many writes. */
  function listed(scenario: Scenario, writes: number): AzureSet[] {
    let [sets, seen]: [AzureSet[], number] = [[], 0];
    for (const { request, response } of scenario.interactions) {
      if (/^(PUT|DELETE)$/.test(request.method)) seen++;
      const list = /dnszones\/[^/]+\/\w+\?/.test(request.url) && request.method === 'GET';
      if (list && seen <= writes) sets = (response.body as { value: AzureSet[] }).value;
    }
    return sets;
  }

  let writes = 0;
  /** Answers as it was recorded; for reads, in the place of lists of a type, from what was listed at that time. */
  function server(scenario: Scenario, misses: string[]): Handler {
    const recorded = replay(scenario, '', essence, misses);
    writes = 0;
    let shrunk: AzureSet | undefined;
    return (request) => {
      const [, type, name] = /dnszones\/[^/]+(?:\/([^/]+))?(?:\/([^/]+))?$/i.exec(request.path) ?? [];
      // the recording client deleted all of a set at once, which goes record by record here
      if (request.method === 'PUT' && writes === 2 && /\/_acme-challenge\.deleterecordset$/.test(request.path)) {
        shrunk = { name: `${name}`, type: `x/${type}`, etag: 'x', ...(request.body as Pick<AzureSet, 'properties'>) };
        return { body: shrunk };
      }
      if (/^(PUT|DELETE)$/.test(request.method)) writes++;
      if (request.method !== 'GET' || /dnszones$/i.test(request.path)) return recorded(request);
      if (!type) return { body: { name: zoneName } };
      const value = [...listed(scenario, writes)];
      const place = value.findIndex((set) => set.name === shrunk?.name);
      if (shrunk && place >= 0) value[place] = shrunk;
      const soa = { name: '@', type: 'x/SOA', etag: 'x', properties: { TTL: 1, SOARecord: { host: 'x.' } } };
      const listsSoa = value.some((set) => set.type.endsWith('/SOA'));
      if (!name) return { body: { value: listsSoa ? value : [...value, soa] } };
      const found = value.find((set) => set.name === decodeURIComponent(name) && set.type.endsWith(`/${type}`));
      return found
        ? { body: found }
        : { status: 404, body: { error: { code: 'NotFound', message: 'does not exist' } } };
    };
  }

  const idOf = ({ type = 'TXT', host = '@', value = '' }: Step) => derivedId({ type, host, value, priority: null });
  const short = ({ host, type, value, ttl }: RemoteRecord) => [type, host, value, ttl].join(' ');
  /** The records of the last list, which holds A, CNAME, TXT, and NS and SOA of the apex. */
  const lastListed = (scenario: Scenario) =>
    listed(scenario, writes)
      .flatMap(({ name, type, properties: { TTL, ...lists } }) => {
        const { ARecords = [], TXTRecords = [], CNAMERecord, NSRecords = [] } = lists as Record<string, never[]>;
        const all = [...ARecords, ...TXTRecords, ...NSRecords, ...(CNAMERecord ? [CNAMERecord] : [])];
        const values = all.map((value) => String(Object.values(value)[0]).replace(/\.$/, ''));
        return values.map((value) => [type.split('/').at(-1), name, value, TTL].join(' '));
      })
      .sort();

  let standIn: StandIn;
  beforeAll(async () => {
    standIn = await startStandIn();
  });
  afterAll(() => standIn.stop());
  for (const scenario of scenarios) {
    it(scenario.name, async () => {
      const misses: string[] = [];
      standIn.handler = server(scenario, misses);
      const credentials = { tenant_id: 'TENANT_ID', client_id: 'CLIENT_ID', subscription_id: 'SUBSCRIPTION_ID' };
      const mine = connect(standIn, { ...credentials, client_secret: 'CLIENT_SECRET', resource_group: 'dns-test' });
      try {
        await playSteps(mine, zoneName, scenario, {
          created: (step, id) => assert.equal(id, idOf(step)),
          updated: (step, id) => assert.equal(id, idOf(step)),
          listed: (records) => assert.deepEqual(records.map(short).sort(), lastListed(scenario)),
        });
      } finally {
        assert.deepEqual(misses, []);
      }
    });
  }
});

describe('Azure DNS', () => {
  let standIn: Awaited<ReturnType<typeof startAzure>>;
  let provider: DnsProvider;
  beforeAll(async () => {
    standIn = await startAzure();
    provider = connect(standIn);
  });
  afterAll(() => standIn.stop());
  const a = (host: string, value: string) => dnsRecord({ type: 'A', host, value, ttl: 300 }, zone.name);
  const one = async (change: Change) => (await provider.apply(zone, [change]))[0];
  const at = async (host: string) => (await provider.listRecords(zone)).filter((r) => r.host === host);
  const put = (name: string, type: string, properties: AzureSet['properties']) =>
    standIn.state.sets.push(standIn.made(name, type, properties));
  const drop = (name: string) => {
    standIn.state.sets = standIn.state.sets.filter((set) => set.name !== name);
  };

  it('says in its words what is refused', async () => {
    const wrong = connect(standIn, { client_secret: 'wrong' });
    await assert.rejects(wrong.check(), { kind: 'auth', message: /AADSTS7000215/ });
    await assert.rejects(connect(standIn, { tenant_id: 'x' }).check(), { kind: 'auth', message: /Tenant not found/ });
    await assert.rejects(connect(standIn, { resource_group: 'x' }).listZones(), { kind: 'not_found' });
    const gone = { id: 'group-1/gone.example', name: 'gone.example' };
    await assert.rejects(provider.listRecords(gone), { kind: 'not_found', message: /was not found/ });
    const [outcome] = await provider.apply(gone, [{ op: 'create', after: a('www', '192.0.2.1') }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'not_found');
    const [ns] = (await at('@')).filter((r) => r.type === 'NS');
    assert.ok(ns);
    const both = (await at('@')).map((before): Change => ({ op: 'delete', before }));
    const outcomes = await provider.apply(zone, both);
    assert.ok(outcomes.every((o) => !o.ok && o.error.kind === 'rejected' && /cannot be deleted/.test(o.error.message)));
  });

  it('lists public zones, of the group or of all', async () => {
    const ids = [zone.id, 'group-1/other.example'];
    for (const group of ['Group-1', '']) {
      const zones = await connect(standIn, { resource_group: group }).listZones();
      assert.deepEqual(
        zones.map(({ id }) => id),
        ids,
      );
    }
  });

  it('fetches one token for parallel calls', async () => {
    const before = standIn.state.tokens.length;
    const mine = connect(standIn);
    await Promise.all([mine.check(), mine.listZones(), mine.listRecords(zone)]);
    assert.equal(standIn.state.tokens.length, before + 1);
  });

  it('writes nothing over what was changed meanwhile, but reads it again', async () => {
    for (const first of [[{ ipv4Address: '192.0.2.1' }], null]) {
      if (first) put('race', 'A', { TTL: 300, ARecords: first });
      const { handler } = standIn;
      standIn.handler = (request) => {
        if (request.method === 'PUT') {
          drop('race');
          put('race', 'A', { TTL: 300, ARecords: [...(first ?? []), { ipv4Address: '192.0.2.7' }] });
          standIn.handler = handler;
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
    const held = standIn.state.sets.find((set) => set.name === 'kept')?.properties;
    assert.deepEqual(held?.TXTRecords, [{ value: ['one ', 'two'] }, { value: ['four'] }]);
    assert.deepEqual(held?.metadata, { owner: 'mail' });
    drop('kept');
  });

  it('shows aliases read-only, and leaves them alone', async () => {
    const id = '/subscriptions/a-subscription/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/ip';
    put('alias', 'A', { TTL: 300, targetResource: { id } });
    const [found] = await at('alias');
    assert.deepEqual([found?.readOnly, found?.value], [true, `alias of ${id}`]);
    const outcome = await one({ op: 'create', after: a('alias', '192.0.2.1') });
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    drop('alias');
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
    const { handler } = standIn;
    const soa = standIn.state.sets.filter((set) => set.type.endsWith('/SOA'));
    for (const body of [
      {},
      { value: [] },
      { value: soa, nextLink: 'no link' },
      { value: soa, nextLink: standIn.url },
    ]) {
      standIn.handler = (request) => (request.path.endsWith('/recordsets') ? { body } : handler(request));
      await assert.rejects(provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body));
    }
    standIn.handler = handler;
  });
});
