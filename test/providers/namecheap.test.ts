import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../src/dns/record.js';
import { namecheap } from '../../src/providers/namecheap/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../src/providers/provider.js';
import { describeUnless } from '../support/suites.js';
import { type Answer, connectTo, noRecordings, recording, type StandIn, startStandIn } from '../support/vendor.js';
import { providerContract } from './contract.js';

/** A host as the API shows it (recorded 2020). */
interface Stored {
  id: number;
  name: string;
  type: string;
  address: string;
  pref: string;
  ttl: string;
  title: string;
}
interface World {
  /** of contract.co.uk */
  hosts: Stored[];
  email: string;
  /** names with what `IsOurDNS` says */
  domains: Record<string, boolean>;
  /** entries of a page at most, whatever is asked for */
  page: number;
  /** what it does with a list before it keeps it */
  keeps: (hosts: Stored[]) => Stored[];
}

const quoted = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replace(/[^\x20-\x7e]/gu, (c) => `&#x${c.codePointAt(0)?.toString(16)};`);
const document = (status: string, errors: string, result: string): Answer => ({
  headers: { 'content-type': 'text/xml; charset=utf-8' },
  body: `<?xml version="1.0" encoding="utf-8"?>
<ApiResponse Status="${status}" xmlns="http://api.namecheap.com/xml.response">
  <Errors${errors ? `>${errors}</Errors>` : ' />'}
  <Warnings />
  <RequestedCommand>x</RequestedCommand>
  ${result}
  <Server>PHX01SBAPIEXT01</Server>
</ApiResponse>`,
});
const ok = (result: string) => document('OK', '', `<CommandResponse>${result}</CommandResponse>`);
const no = (code: string, words: string) => document('ERROR', `<Error Number="${code}">${words}</Error>`, '');
const printed = ({ id, name, type, address, pref, ttl, title }: Stored) =>
  `<host HostId="${id}" Name="${quoted(name)}" Type="${type}" Address="${quoted(address)}" MXPref="${pref}" TTL="${ttl}" AssociatedAppTitle="${title}" FriendlyName="" IsActive="true" IsDDNSEnabled="false" />`;

/** What the API does (its documentation, traffic of 2020, reports of clients): one list, ids anew with each write. */
async function startNamecheap(): Promise<{ standIn: StandIn; world: World }> {
  let ids = 746354;
  const world: World = {
    hosts: [],
    email: 'NONE',
    domains: { 'contract.co.uk': true },
    page: 100,
    keeps: (hosts) => hosts,
  };

  /** A list of numbered fields; a word why it is refused. */
  function listOf(form: Map<string, string>): Stored[] | string {
    const list: Stored[] = [];
    for (let i = 1; form.has(`RecordType${i}`); i++) {
      const field = (name: string) => form.get(`${name}${i}`);
      const [name, type, address, ttl] = [field('HostName'), field('RecordType'), field('Address'), field('TTL')];
      if (!name || !type || address === undefined) return 'Parameter is missing';
      if (!/^(A|AAAA|ALIAS|CAA|CNAME|MX|MXE|NS|TXT|URL|URL301|FRAME)$/.test(type)) return `Invalid type ${type}`;
      if (!ttl || Number(ttl) < 60 || Number(ttl) > 60000) return 'TTL is out of range';
      const target = ['ALIAS', 'CNAME', 'MX', 'NS'].includes(type) ? address.replace(/\.?$/, '.') : address;
      const title = field('AssociatedAppTitle') ?? '';
      list.push({ id: ids++, name, type, address: target, pref: field('MXPref') ?? '10', ttl, title });
    }
    const clash = list.find((a) => a.type === 'CNAME' && list.some((b) => b !== a && b.name === a.name));
    return clash ? `CNAME ${clash.name} is in the way` : list;
  }

  const standIn = await startStandIn(({ method, path, headers, body }) => {
    assert.deepEqual([method, path], ['POST', '/xml.response']);
    assert.match(String(headers['content-type']), /^application\/x-www-form-urlencoded/);
    const form = new Map(new URLSearchParams(String(body)));
    const user = ['ApiUser', 'UserName', 'ClientIp'].map((name) => form.get(name));
    if (form.get('ApiKey') !== 'a-key') return no('1011102', 'API Key is invalid or API access has not been enabled');
    assert.deepEqual(user, ['ada', 'ada', '192.0.2.9']);
    const command = form.get('Command');
    if (command === 'namecheap.domains.getList') {
      const [page, size] = [Number(form.get('Page') ?? 1), Math.min(world.page, Number(form.get('PageSize') ?? 20))];
      const all = Object.entries(world.domains).map(
        ([name, ours], i) => `<Domain ID="${i}" Name="${name}" User="ada" IsExpired="false" IsOurDNS="${ours}" />`,
      );
      const some = all.slice((page - 1) * size, page * size).join('\n');
      return ok(
        `<DomainGetListResult>${some}</DomainGetListResult><Paging><TotalItems>${all.length}</TotalItems><CurrentPage>${page}</CurrentPage><PageSize>${size}</PageSize></Paging>`,
      );
    }
    const [sld, tld] = [form.get('SLD'), form.get('TLD')];
    if (sld !== 'contract' || tld !== 'co.uk') return no('2019166', 'Domain not found');
    const ours = world.domains['contract.co.uk'];
    if (command === 'namecheap.domains.dns.getHosts') {
      const open = `<DomainDNSGetHostsResult Domain="contract.co.uk" EmailType="${world.email}" IsUsingOurDNS="${ours}"`;
      const list = ours ? world.hosts.map(printed).join('\n') : '';
      return ok(list ? `${open}>\n${list}\n</DomainDNSGetHostsResult>` : `${open} />`);
    }
    if (command !== 'namecheap.domains.dns.setHosts') return no('1010104', 'Parameter Command is missing');
    if (!ours) return no('2030288', 'Cannot complete this command as this domain is not using proper DNS servers');
    const list = listOf(form);
    if (typeof list === 'string') return no('2050900', list);
    world.email = form.get('EmailType') ?? 'FWD';
    // under another type MX records are not kept, and nothing is said
    const kept = list.filter(({ type }) => type !== 'MX' || ['MX', 'OX', 'GMAIL'].includes(world.email));
    world.hosts = world.keeps(kept);
    return ok(
      '<DomainDNSSetHostsResult Domain="contract.co.uk" IsSuccess="true"><Warnings /></DomainDNSSetHostsResult>',
    );
  });
  return { standIn, world };
}

const host = (name: string, type: string, address: string, more: Partial<Stored> = {}): Stored => ({
  ...{ id: 1, name, type, address, pref: '10', ttl: '1800', title: '' },
  ...more,
});

/** The same without its limits, which only make a test wait. */
const fast = { ...namecheap, limits: { ...namecheap.limits, requests: 1000, more: [] } };
const connect = (standIn: StandIn, key = 'a-key'): DnsProvider =>
  connectTo(fast, {
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
  return { provider: connect(standIn), definition: namecheap, zone, stop: standIn.stop };
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
    assert.equal(commands().length, 3);
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
      `${open}><host ${one} /></DomainDNSGetHostsResult>`,
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

describeUnless(noRecordings)('Namecheap, recorded', () => {
  it('sends a list back as the recorded client did, with what is changed', async () => {
    const [scenario] = recording('namecheap').scenarios.filter(({ name }) => name.startsWith('create_record_for_A_'));
    const answerTo = (command: string) => scenario?.interactions.find(({ request }) => request.url.includes(command));
    const standIn = await startStandIn(({ body }) => ({
      body: answerTo(`${new URLSearchParams(String(body)).get('Command')}`)?.response.body,
    }));
    const after = dnsRecord({ host: 'new', type: 'A', value: '192.0.2.1', ttl: 60 }, 'unittest2.dev');
    const remote = { id: 'unittest2.dev', name: 'unittest2.dev' };
    const [outcome] = await connect(standIn).apply(remote, [{ op: 'create', after }]);
    await standIn.stop();
    assert.ok(outcome && !outcome.ok && /holds A new otherwise/.test(outcome.error.message), 'it reads the old list');
    const fields = (body: unknown) => new Map(new URLSearchParams(String(body)));
    const theirs = fields(answerTo('setHosts')?.request.body);
    const ours = fields(standIn.requests.find(({ body }) => String(body).includes('setHosts'))?.body);
    assert.ok(theirs.has('RecordType32') && !theirs.has('RecordType33'));
    // what they add is the host 32
    const differ = [...theirs].filter(([field, value]) => !/32$/.test(field) && ours.get(field) !== value);
    assert.deepEqual(differ, []);
    const more = [...ours].filter(([field]) => !theirs.has(field) || /32$/.test(field));
    assert.deepEqual(Object.fromEntries(more), {
      ...{ ApiUser: 'ada', ApiKey: 'a-key', UserName: 'ada', ClientIp: '192.0.2.9' },
      ...{ Command: 'namecheap.domains.dns.setHosts', EmailType: 'FWD' },
      ...{ HostName32: 'new', RecordType32: 'A', Address32: '192.0.2.1', MXPref32: '10', TTL32: '60' },
    });
  });
});
