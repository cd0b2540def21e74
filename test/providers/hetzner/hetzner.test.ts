import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { hetzner } from '../../../src/providers/hetzner/declaration.js';
import { type Change, type DnsProvider, ProviderError, type RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredSet, startHetzner, ZONE_ID } from './stand-in.js';

const connect = (standIn: StandIn, token = 'a-token'): DnsProvider =>
  connectTo(hetzner, { api_token: token, endpoint: standIn.url });
const zone = { id: String(ZONE_ID), name: 'contract.example' };
const nameServers = (): StoredSet => ({
  name: '@',
  type: 'NS',
  ttl: null,
  records: [{ value: 'helium.ns.hetzner.de.', comment: '' }],
});

providerContract('Hetzner (stand-in)', async () => {
  const standIn = await startHetzner();
  standIn.sets.set('@/NS', nameServers());
  standIn.most.page = 2;
  // some actions go on after the answer, as all do there
  standIn.looks.next = (count) => (count % 20 === 0 ? 2 : 0);
  const { stop } = standIn;
  return { provider: connect(standIn), definition: hetzner, zone, standIn, stranger: connect(standIn, 'wrong'), stop };
});

describe('Hetzner', () => {
  const vendor = standInFor(startHetzner, connect);
  beforeEach(() => {
    vendor.standIn.sets.clear();
    vendor.standIn.sets.set('@/NS', nameServers());
    vendor.standIn.requests.length = 0;
    vendor.standIn.looks.next = () => 0;
  });

  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const found = async (host: string, type: string) =>
    (await vendor.provider.listRecords(zone)).filter((r) => r.host === host && r.type === type);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const writes = () =>
    vendor.standIn.requests
      .filter((r) => r.method !== 'GET')
      .map((r) => [decodeURIComponent(r.path.slice('/zones/53091/rrsets/'.length)), r.body]);

  it('keeps the comment of a value that is disabled, made again, or moves to another name', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const stored = () => [...vendor.standIn.sets.values()].flatMap(({ records }) => records as object[]);
    Object.assign(stored().at(-1) as object, { comment: 'primary' });
    const [shown] = await found('www', 'A');
    assert.ok(shown);
    const { remoteId: _id, readOnly: _readOnly, ...after } = shown;
    await one({ op: 'delete', before: shown });
    await one({ op: 'create', after });
    assert.deepEqual(stored().at(-1), { value: '192.0.2.1', comment: 'primary' });
    const [again] = await found('www', 'A');
    await one({ op: 'update', before: again as RemoteRecord, after: { ...record('A', '192.0.2.1'), host: 'moved' } });
    assert.deepEqual(stored().at(-1), { value: '192.0.2.1', comment: 'primary' });
  });

  it('keeps the labels of a set that is made again, or moves to another name, and sends them with it', async () => {
    const labels = { team: 'shop' };
    const records = [{ value: '192.0.2.1', comment: 'primary' }];
    vendor.standIn.sets.set('www/A', { name: 'www', type: 'A', ttl: 300, records, labels });
    const [shown] = await found('www', 'A');
    assert.ok(shown);
    const { remoteId: _id, readOnly: _readOnly, ...after } = shown;
    assert.ok((await one({ op: 'delete', before: shown })).ok);
    assert.ok((await one({ op: 'create', after })).ok);
    assert.deepEqual(vendor.standIn.sets.get('www/A'), { name: 'www', type: 'A', ttl: 300, records, labels });
    assert.ok((await one({ op: 'update', before: shown, after: { ...after, host: 'moved' } })).ok);
    assert.deepEqual(vendor.standIn.sets.get('moved/A'), { name: 'moved', type: 'A', ttl: 300, records, labels });
    assert.deepEqual(
      writes().map(([path]) => path),
      ['www/A/actions/remove_records', '', '', 'www/A/actions/remove_records'],
    );
  });

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').listZones(), {
      kind: 'auth',
      message: /unable to authenticate/,
    });
    await assert.rejects(vendor.provider.listRecords({ id: '7', name: 'x.example' }), { kind: 'not_found' });
    for (const [status, code, kind] of [
      [403, 'token_readonly', 'auth'],
      [403, 'protected', 'rejected'],
      [503, 'unavailable', 'unavailable'],
      [422, 'incorrect_zone_mode', 'rejected'],
    ] as const) {
      const { handler } = vendor.standIn;
      vendor.standIn.handler = () => ({ status, body: { error: { code, message: 'its own words', details: null } } });
      await assert.rejects(connect(vendor.standIn).check(), {
        kind,
        message: new RegExp(`its own words \\(code ${code}\\)`),
      });
      vendor.standIn.handler = handler;
    }
  });

  it('finds a zone by its exact name, and shows none that is kept elsewhere', async () => {
    vendor.standIn.zones.push({ id: 2, name: 'second.example', mode: 'secondary', ttl: 3600 });
    assert.deepEqual(await vendor.provider.listZones(), [zone]);
    assert.deepEqual(await vendor.provider.findZone?.(zone.name), zone);
    assert.equal(await vendor.provider.findZone?.('second.example'), null);
    assert.equal(await vendor.provider.findZone?.('tract.example'), null);
    vendor.standIn.zones.pop();
  });

  it('shows sets without a TTL with that of the zone, and leaves it to the zone', async () => {
    const [ns] = await found('@', 'NS');
    assert.equal(ns?.ttl, 86400);
    const more = record('NS', 'ns8.example.net', { host: '@', ttl: 86400 });
    assert.ok((await one({ op: 'create', after: more })).ok);
    assert.deepEqual(writes(), [['@/NS/actions/add_records', { records: [{ value: 'ns8.example.net.' }] }]]);
    assert.equal(vendor.standIn.sets.get('@/NS')?.ttl, null);
    assert.ok(
      (await one({ op: 'update', before: ns as RemoteRecord, after: { ...(ns as RemoteRecord), ttl: 60 } })).ok,
    );
    assert.deepEqual(writes()[1], ['@/NS/actions/change_ttl', { ttl: 60 }]);
    assert.equal(vendor.standIn.sets.get('@/NS')?.records.length, 2);
  });

  it('reads a name without final dot as relative to the zone', async () => {
    vendor.standIn.sets.set('a/CNAME', { name: 'a', type: 'CNAME', ttl: 60, records: [{ value: 'docs.example.com' }] });
    vendor.standIn.sets.set('b/MX', {
      name: 'b',
      type: 'MX',
      ttl: 60,
      records: [{ value: '10 mail' }, { value: '20 m.x.' }],
    });
    assert.equal((await found('a', 'CNAME'))[0]?.value, `docs.example.com.${zone.name}`);
    const [mail, other] = await found('b', 'MX');
    assert.deepEqual([mail?.value, other?.value], [`mail.${zone.name}`, 'm.x']);
    // and takes it out by the text that the provider has
    assert.ok((await one({ op: 'delete', before: mail as RemoteRecord })).ok);
    assert.deepEqual(writes().at(-1), ['b/MX/actions/remove_records', { records: [{ value: '10 mail' }] }]);
    assert.equal((await found('b', 'MX')).length, 1);
  });

  it('keeps comments, of siblings and of a value that changes', async () => {
    const records = ['192.0.2.1', '192.0.2.2'].map((value) => ({ value, comment: `it is ${value}` }));
    vendor.standIn.sets.set('www/A', { name: 'www', type: 'A', ttl: 300, records });
    const [before] = await found('www', 'A');
    assert.ok((await one({ op: 'update', before: before as RemoteRecord, after: record('A', '192.0.2.9') })).ok);
    assert.deepEqual(vendor.standIn.sets.get('www/A')?.records, [
      { value: '192.0.2.9', comment: 'it is 192.0.2.1' },
      { value: '192.0.2.2', comment: 'it is 192.0.2.2' },
    ]);
  });

  it('leaves what others add between its reading and its writing', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.sets.set('www/A', { name: 'www', type: 'A', ttl: 300, records: [{ value: '192.0.2.1' }] });
    const [before] = await found('www', 'A');
    const values = () => vendor.standIn.sets.get('www/A')?.records.map((r) => r.value);
    vendor.standIn.handler = (request) => {
      if (request.method === 'POST' && !values()?.includes('192.0.2.8'))
        vendor.standIn.sets.get('www/A')?.records.push({ value: '192.0.2.8' });
      return handler(request);
    };
    await one({ op: 'create', after: record('A', '192.0.2.2') });
    assert.deepEqual(values(), ['192.0.2.1', '192.0.2.8', '192.0.2.2']);
    await one({ op: 'delete', before: before as RemoteRecord });
    assert.ok(values()?.includes('192.0.2.8'));
    // all of it went meanwhile: it is read once more, and nothing is left to do
    let times = 0;
    vendor.standIn.handler = (request) => {
      if (request.method === 'POST' && times++ === 0) vendor.standIn.sets.delete('www/A');
      return handler(request);
    };
    const gone = (await found('www', 'A'))[0] as RemoteRecord;
    assert.deepEqual(await one({ op: 'delete', before: gone }), { ok: true, remoteId: null });
    vendor.standIn.handler = handler;
  });

  it('waits for an action, and says when it failed', async () => {
    vendor.standIn.looks.next = () => 3;
    assert.ok((await one({ op: 'create', after: record('A', '192.0.2.1') })).ok);
    assert.deepEqual(
      (await found('www', 'A')).map((r) => r.value),
      ['192.0.2.1'],
    );
    assert.equal(vendor.standIn.requests.filter((r) => r.path.startsWith('/zones/actions/')).length, 3);
    const { handler } = vendor.standIn;
    const action = { id: 604989101982372, status: 'error', error: { code: 'action_failed', message: 'Action failed' } };
    vendor.standIn.handler = (request) =>
      request.path.startsWith('/zones/actions/') ? { body: { action } } : handler(request);
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.2') });
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && outcome.error.mayHaveApplied);
    assert.match(outcome.error.message, /Action failed \(code action_failed\)/);
    // one that cannot be looked at any more may be carried out
    vendor.standIn.handler = (request) =>
      request.path.startsWith('/zones/actions/') ? { status: 404, body: {} } : handler(request);
    const unknown = await one({ op: 'create', after: record('A', '192.0.2.3') });
    assert.ok(!unknown.ok && unknown.error.mayHaveApplied && unknown.error.late === 'once');
    vendor.standIn.handler = handler;
  });

  it('says of a change of TTL and value, of which the second part is refused, that something is written', async () => {
    vendor.standIn.sets.set('www/A', { name: 'www', type: 'A', ttl: 300, records: [{ value: '192.0.2.1' }] });
    const [before] = await found('www', 'A');
    const { handler } = vendor.standIn;
    const error = { code: 'invalid_input', message: 'no' };
    vendor.standIn.handler = (request) =>
      request.path.endsWith('set_records') ? { status: 422, body: { error } } : handler(request);
    const change: Change = {
      op: 'update',
      before: before as RemoteRecord,
      after: record('A', '192.0.2.2', { ttl: 60 }),
    };
    const outcome = await one(change);
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && outcome.error.mayHaveApplied);
    assert.equal(vendor.standIn.sets.get('www/A')?.ttl, 60);
    // of several changes of the set those that are carried out are no failures
    const [slow] = await found('www', 'A');
    const come = { op: 'create', after: record('A', '192.0.2.3', { ttl: 900 }) } as const;
    const turn = { op: 'update', before: slow as RemoteRecord, after: record('A', '192.0.2.1', { ttl: 900 }) } as const;
    vendor.standIn.handler = (request) =>
      request.path.endsWith('add_records') ? { status: 422, body: { error } } : handler(request);
    const [told, made] = await vendor.provider.apply(zone, [turn, come]);
    assert.deepEqual(told, { ok: true, remoteId: slow?.remoteId });
    assert.ok(made && !made.ok && made.error.kind === 'rejected');
    vendor.standIn.handler = handler;
    assert.deepEqual(
      (await found('www', 'A')).map(({ value, ttl }) => [value, ttl]),
      [['192.0.2.1', 900]],
    );
  });

  it('tries again while another action is at the zone', async () => {
    const { handler } = vendor.standIn;
    let times = 0;
    vendor.standIn.handler = (request) =>
      request.method === 'POST' && times++ === 0
        ? { status: 423, body: { error: { code: 'locked', message: 'zone is locked' } } }
        : handler(request);
    assert.ok((await one({ op: 'create', after: record('A', '192.0.2.1') })).ok);
    assert.equal(times, 2);
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const set = { ...nameServers(), ttl: 60, id: '@/NS' };
    const pagination = { next_page: null, total_entries: 1 };
    const cuts: [string, unknown][] = [
      ['empty', undefined],
      ['without its place in the list', { rrsets: [set], zones: [zone] }],
      [
        'shorter than announced',
        { rrsets: [set], zones: [zone], meta: { pagination: { ...pagination, total_entries: 2 } } },
      ],
      ['without entries', { meta: { pagination } }],
    ];
    for (const [what, body] of cuts) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, what);
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' }, what);
    }
    const holding = (one: object) => {
      vendor.standIn.handler = ({ path }) =>
        path.endsWith('/rrsets') ? { body: { rrsets: [one], meta: { pagination } } } : { body: {} };
      return vendor.provider.listRecords(zone);
    };
    // its TTL is that of the zone, whose answer is cut
    await assert.rejects(holding({ ...set, ttl: null }), { kind: 'unavailable' });
    for (const odd of [
      { ...set, ttl: '60' },
      { ...set, records: undefined },
    ]) {
      const [shown, ...others] = await holding(odd);
      assert.deepEqual([shown?.host, shown?.type, shown?.readOnly, others], ['@', 'NS', true, []]);
    }
    // a second page that is refused takes the first with it
    vendor.standIn.most.page = 1;
    vendor.standIn.handler = (request) => (request.query.page === '2' ? { status: 500 } : handler(request));
    await assert.rejects(connect(vendor.standIn).listRecords(zone), ProviderError);
    vendor.standIn.most.page = 100;
    vendor.standIn.handler = handler;
  });
});
