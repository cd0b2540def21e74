import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { namecheap } from '../../../src/providers/namecheap/declaration.js';
import type { Change, DnsProvider, ProviderDefinition, RemoteRecord } from '../../../src/providers/provider.js';
import { type Answer, connectTo, type StandIn } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { document, no, ok, type Stored, startNamecheap, type World } from './stand-in.js';

const host = (name: string, type: string, address: string, more: Partial<Stored> = {}): Stored => ({
  ...{ id: 1, name, type, address, pref: '10', ttl: '1800', title: '' },
  ...more,
});

/** The same without its limits, which only make a test wait. */
const fast: ProviderDefinition = { ...namecheap, limits: { ...namecheap.limits, requests: 100_000, more: [] } };
const connect = (standIn: StandIn, key = 'a-key', definition = fast): DnsProvider =>
  connectTo(definition, {
    ...{ api_user: 'ada', api_key: key, client_ip: '192.0.2.9' },
    endpoint: `${standIn.url}/xml.response`,
  });
const zone = { id: 'contract.co.uk', name: 'contract.co.uk' };
const parking = () => [
  host('www', 'CNAME', 'parkingpage.namecheap.com.'),
  host('@', 'URL', 'http://www.contract.co.uk/?a=1&b="2"', { title: 'URL Forwarding' }),
];

providerContract('Namecheap (stand-in)', async () => {
  const { standIn, world } = await startNamecheap();
  world.hosts = parking();
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    connect: (definition) => connect(standIn, 'a-key', definition),
    limited: { status: 405, body: 'Too many requests' },
    ...{ definition: namecheap, zone, standIn, stop: standIn.stop },
    cannot: { 'an unknown field of a value survives': 'no JSON: tried below' },
  };
});

describe('Namecheap', () => {
  let standIn: StandIn;
  let world: World;
  let fresh: World;
  let provider: DnsProvider;
  beforeAll(async () => {
    ({ standIn, world } = await startNamecheap());
    fresh = { ...world };
    provider = connect(standIn);
  });
  beforeEach(() => {
    Object.assign(world, fresh, { hosts: parking() });
    standIn.requests.length = 0;
  });
  afterAll(() => standIn.stop());

  const record = (name: string, type: string, value: string, more = {}) =>
    dnsRecord({ host: name, type, value, ttl: 300, ...more }, zone.name);
  const create = (...of: Parameters<typeof record>): Change => ({ op: 'create', after: record(...of) });
  const commands = () =>
    standIn.requests.map(({ body }) => new URLSearchParams(String(body)).get('Command')?.split('.').at(-1));
  const written = () =>
    new URLSearchParams(String(standIn.requests.findLast(({ body }) => String(body).includes('setHosts'))?.body));
  const at = async (name: string, type: string) =>
    (await provider.listRecords(zone)).filter((r) => r.host === name && r.type === type);
  /** Answers otherwise for as long as `body` runs. */
  async function answering(answer: Answer, body: () => Promise<void>) {
    const { handler } = standIn;
    standIn.handler = () => answer;
    try {
      await body();
    } finally {
      standIn.handler = handler;
    }
  }

  it('says in its words what is refused, all with a status of 200', async () => {
    const wrong = connect(standIn, 'wrong');
    await assert.rejects(wrong.check(), { kind: 'auth', message: /API access has not been enabled \(code 1011102\)/ });
    const [outcome] = await wrong.apply(zone, [create('a', 'A', '192.0.2.1')]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'auth' && !outcome.error.mayHaveApplied);
    await assert.rejects(provider.listRecords({ id: 'other.com', name: 'other.com' }), { kind: 'not_found' });
    await answering(no('5050900', 'Unknown exceptions'), async () => {
      const [unclear] = await provider.apply(zone, [create('a', 'A', '192.0.2.1')]);
      assert.ok(unclear && !unclear.ok && unclear.error.kind === 'unavailable');
    });
    assert.deepEqual(world.hosts, parking());
  });

  it('has no zone of a domain with name servers elsewhere', async () => {
    world.domains = { 'contract.co.uk': false, 'other.com': true };
    assert.deepEqual(await provider.listZones(), [{ id: 'other.com', name: 'other.com' }]);
    await assert.rejects(provider.listRecords(zone), { kind: 'not_found', message: /name servers elsewhere/ });
    const [outcome] = await provider.apply(zone, [create('a', 'A', '192.0.2.1')]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'not_found');
    assert.ok(!commands().includes('setHosts'));
  });

  it('reads the domains page by page, and takes a list without its length for cut', async () => {
    const names = ['a.com', 'b.com', 'c.com', 'd.com', 'e.com'];
    Object.assign(world, { page: 2, domains: Object.fromEntries(names.map((name) => [name, true])) });
    assert.deepEqual(
      (await provider.listZones()).map(({ name }) => name),
      names,
    );
    // the two before the last once more: whether anything moved there
    assert.equal(commands().length, 5);
    const one = '<DomainGetListResult><Domain ID="1" Name="a.com" IsOurDNS="true" /></DomainGetListResult>';
    for (const result of [one, one.replace(/<Domain .*\/>/, ''), '', '<Paging><TotalItems>0</TotalItems></Paging>']) {
      await answering(ok(result), () => assert.rejects(provider.listZones(), { kind: 'unavailable' }, result));
    }
  });

  it('shows what is of its own types read-only, and sends it back as it came', async () => {
    world.email = 'OX';
    world.hosts.push(
      host('@', 'MX', 'mx1.privateemail.com.', { ttl: '1799' }),
      host('pair', 'A', '192.0.2.1', { ttl: '60' }),
      host('pair', 'A', '192.0.2.2', { ttl: '1799' }),
    );
    const before = structuredClone(world.hosts);
    const url = (await at('@', 'URL'))[0];
    assert.deepEqual([url?.value, url?.readOnly], ['http://www.contract.co.uk/?a=1&b="2"', true]);
    const [outcome] = await provider.apply(zone, [create('pair', 'A', '192.0.2.3', { ttl: 60 })]);
    assert.ok(outcome?.ok);
    const plain = ({ id: _id, ...rest }: Stored) => rest;
    const added = host('pair', 'A', '192.0.2.3', { ttl: '60' });
    assert.deepEqual(world.hosts.map(plain), [...before, added].map(plain));
    assert.equal(written().get('EmailType'), 'OX');
    assert.equal(written().get('FriendlyName1'), '');
    assert.deepEqual(commands().slice(-3), ['getHosts', 'setHosts', 'getHosts']);
  });

  it('writes nothing when the list cannot have been read whole', async () => {
    const open = '<DomainDNSGetHostsResult Domain="contract.co.uk" EmailType="MX" IsUsingOurDNS="true"';
    const one = 'HostId="1" Name="a" Type="A" Address="192.0.2.1" MXPref="10"';
    for (const result of [
      '',
      '<DomainDNSGetHostsResult />',
      `${open}><Host ${one} TTL="60" /></DomainDNSGetHostsResult>`,
      `${open}><host ${one} TTL="60" />`,
    ]) {
      await answering(ok(result), async () => {
        await assert.rejects(provider.listRecords(zone), { kind: 'unavailable' }, result);
        const [outcome] = await provider.apply(zone, [create('b', 'A', '192.0.2.1')]);
        assert.ok(outcome && !outcome.ok && outcome.error.kind === 'unavailable' && !outcome.error.mayHaveApplied);
      });
    }
    await answering(document('ERROR', '', `<CommandResponse>${open} /></CommandResponse>`), () =>
      assert.rejects(provider.listRecords(zone), { kind: 'unavailable' }),
    );
    assert.ok(!commands().includes('setHosts'));
    await answering(ok(`${open}><host ${one} /></DomainDNSGetHostsResult>`), async () => {
      const [odd] = await provider.listRecords(zone);
      assert.deepEqual(
        [odd?.host, odd?.type, odd?.readOnly, /192\.0\.2\.1/.test(`${odd?.value}`)],
        ['a', 'A', true, true],
      );
      const [outcome] = await provider.apply(zone, [create('a', 'A', '192.0.2.2')]);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && !outcome.error.mayHaveApplied);
    });
    assert.ok(!commands().includes('setHosts'));
    await answering(ok(`${open} />`), async () => assert.deepEqual(await provider.listRecords(zone), []));
  });

  it('lets mail go where it goes, unless MX records of the domain take its place', async () => {
    const mx = (name: string) => create(name, 'MX', 'mx.example.net', { priority: 5 });
    for (const [email, name, then] of [
      ['NONE', 'sub', 'MX'],
      ['FWD', '@', 'MX'],
      ['MX', 'sub', 'MX'],
      ['FWD', 'sub', null],
      ['OX', '@', null],
      ['GMAIL', '@', null],
      ['MXE', '@', null],
    ] as const) {
      Object.assign(world, { email, hosts: parking() });
      const outcomes = await provider.apply(zone, [mx(name), create('text', 'TXT', 'x')]);
      assert.deepEqual(
        outcomes.map((o) => (o.ok ? 'ok' : o.error.kind)),
        [then ? 'ok' : 'rejected', 'ok'],
        `${email} ${name}`,
      );
      assert.equal(world.email, then ?? email);
      assert.equal(world.hosts.length, then ? 4 : 3);
    }
  });

  it('says that no mail is taken when the last MX record goes', async () => {
    world.email = 'NONE';
    const mail = create('@', 'MX', 'mx.example.net', { priority: 10 });
    assert.ok((await provider.apply(zone, [mail, create('sub', 'MX', 'mx.example.net')])).every(({ ok }) => ok));
    for (const [name, then] of [
      ['@', 'MX'],
      ['sub', 'NONE'],
    ] as const) {
      const [before] = await at(name, 'MX');
      const [gone] = await provider.apply(zone, [{ op: 'delete', before: before as RemoteRecord }]);
      assert.deepEqual([gone?.ok, world.email], [true, then]);
    }
  });

  it('ends Dynamic DNS of hosts only where the account says so, or the host itself goes', async () => {
    world.hosts.push(host('home', 'A', '192.0.2.1', { ddns: true }));
    const text = create('text', 'TXT', 'x');
    const [before] = await at('home', 'A');
    for (const change of [
      text,
      { op: 'update', before: before as RemoteRecord, after: record('home', 'A', '192.0.2.2') } as const,
    ]) {
      const [outcome] = await provider.apply(zone, [change]);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && !outcome.error.mayHaveApplied);
      assert.match(outcome.error.message, /end Dynamic DNS of home.*"force": "true"/);
    }
    assert.ok(!commands().includes('setHosts'));
    const [gone] = await provider.apply(zone, [{ op: 'delete', before: before as RemoteRecord }]);
    assert.ok(gone?.ok);
    world.hosts.push(host('home', 'A', '192.0.2.1', { ddns: true }));
    const forced = connectTo(fast, {
      ...{ api_user: 'ada', api_key: 'a-key', client_ip: '192.0.2.9', force: 'true' },
      endpoint: `${standIn.url}/xml.response`,
    });
    const [made] = await forced.apply(zone, [text]);
    assert.ok(made?.ok);
    assert.ok(world.hosts.some(({ name }) => name === 'text') && !world.hosts.some(({ ddns }) => ddns));
  });

  it('does not believe a yes: what was left out is a failure of its change alone', async () => {
    world.email = 'MX';
    const [made] = await provider.apply(zone, [create('@', 'MX', 'mx.example.net', { priority: 10 })]);
    assert.ok(made?.ok);
    const before = (await at('@', 'MX'))[0] as RemoteRecord;
    // seen by dnscontrol (2023, 2026): the preference of a host that it has does not change
    world.keeps = (hosts) => hosts.map((one) => (one.type === 'MX' ? { ...one, pref: '10' } : one));
    const outcomes = await provider.apply(zone, [
      { op: 'update', before, after: { ...before, priority: 20 } },
      create('beside', 'A', '192.0.2.1'),
    ]);
    assert.deepEqual(
      outcomes.map((o) => (o.ok ? 'ok' : o.error.kind)),
      ['rejected', 'ok'],
    );
    const [first] = outcomes;
    assert.ok(first && !first.ok && first.error.mayHaveApplied && /MX @ otherwise/.test(first.error.message));
    assert.equal(commands().filter((command) => command === 'setHosts').length, 2);
  });

  it('says that it is not known what became of a write after which the list cannot be read', async () => {
    const { handler } = standIn;
    standIn.handler = (request) =>
      commands().includes('setHosts') && String(request.body).includes('getHosts')
        ? no('1011150', 'Parameter RequestIP is invalid')
        : handler(request);
    const [outcome] = await provider.apply(zone, [create('b', 'A', '192.0.2.1')]);
    standIn.handler = handler;
    assert.ok(outcome && !outcome.ok && outcome.tried);
    assert.deepEqual([outcome.error.kind, outcome.error.mayHaveApplied], ['auth', true]);
    assert.ok((await at('b', 'A')).length);
  });

  it('waits when it asks too often, which is a status of 405', async () => {
    const { handler } = standIn;
    let refused = 0;
    standIn.handler = (request) => (refused++ === 0 ? { status: 405, body: 'Too many requests' } : handler(request));
    assert.ok((await provider.listRecords(zone)).length > 0);
    assert.equal(refused, 2);
    standIn.handler = handler;
  });
});
