import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, beforeEach, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { powerdns } from '../../../src/providers/powerdns/declaration.js';
import type { Change, DnsProvider, RemoteZone } from '../../../src/providers/provider.js';
import { dig } from '../../support/dig.js';
import {
  noPowerdns,
  noPowerdnsOverPostgresql,
  type Powerdns,
  type PowerdnsBackend,
  type RawZone,
  startPowerdns,
} from '../../support/powerdns.js';
import { startProxy as startFaults } from '../../support/proxy.js';
import { describeUnless, thorough } from '../../support/suites.js';
import { connectTo, type Received, type StandIn, startStandIn } from '../../support/vendor.js';
import { providerContract } from '../contract.js';

const connect = (server: Powerdns, more: Record<string, string> = {}, definition = powerdns): DnsProvider =>
  connectTo(definition, { url: server.url, api_key: server.apiKey, server_id: 'localhost', ...more });

/** Why a backend cannot be run here, or false. */
const without = (backend: PowerdnsBackend) => (backend === 'postgresql' ? noPowerdnsOverPostgresql : noPowerdns);

const BACKENDS: PowerdnsBackend[] = ['sqlite', 'lmdb', 'postgresql'];

for (const backend of thorough ? BACKENDS : BACKENDS.slice(0, 1)) {
  providerContract(
    `PowerDNS over ${backend}`,
    async () => {
      const server = await startPowerdns({ backend });
      await server.createZone('contract.example');
      const standIn = await startProxy(server);
      return {
        provider: connect(server, { url: standIn.url }),
        stranger: connect(server, { api_key: 'not-the-right-key' }),
        connect: (definition) => connect(server, { url: standIn.url }, definition),
        standIn,
        definition: powerdns,
        zone: { id: 'contract.example.', name: 'contract.example' },
        cannot: {
          'an unknown field of a value survives':
            'a record has a content and a state; what else the server tells of it, such as modified_at, it sets itself',
          'an unknown field of a set survives':
            'a REPLACE takes name, type, TTL, records and comments, and keeps the comments that it does not name (OpenAPI)',
        },
        dig: (name, type) => dig(server.dnsPort, name, type),
        stop: async () => {
          await standIn.stop();
          await server.stop();
        },
      };
    },
    without(backend),
    backend === 'sqlite',
  );

  describeUnless(without(backend))(`PowerDNS over ${backend}: one change in a zone of 900 records`, () => {
    let server: Powerdns;
    let proxy: StandIn;
    let provider: DnsProvider;
    const zone: RemoteZone = { id: 'large.example.', name: 'large.example' };
    beforeAll(async () => {
      server = await startPowerdns({ backend });
      await server.createZone(zone.name);
      await server.createZone('other.example');
      const set = (name: string, type: string, ...contents: string[]) => {
        const records = contents.map((c) => ({ content: c.replace(/^off /, ''), disabled: c.startsWith('off ') }));
        return { name: `${name}.large.example.`, type, ttl: 300, changetype: 'REPLACE', records };
      };
      const hosts = Array.from({ length: 890 }, (_, i) => set(`h${i}`, 'A', '192.0.2.1'));
      const special = [
        set('dark', 'A', 'off 192.0.2.1', '192.0.2.2'),
        set('_x', 'TXT', '"underscore"'),
        // would match the name with the underscore, and hold it as a content
        set('ax', 'CNAME', '_x.large.example.'),
        set('*', 'A', 'off 192.0.2.3'),
        set('*.deep', 'A', '192.0.2.4'),
      ];
      const answer = await server.api('PATCH', '/zones/large.example.', { rrsets: [...hosts, ...special] });
      assert.equal(answer.status, 204, await answer.text());
    });
    afterAll(() => server?.stop());
    beforeEach(async () => {
      proxy = await startProxy(server);
      provider = connect(server, { url: proxy.url });
    });
    afterEach(() => proxy.stop());

    /** Adds a value at a name; how the zone was read, and what the name's set holds afterwards. */
    async function add(host: string, type: string, value: string) {
      const after = dnsRecord({ host, type, value, ttl: 300 }, zone.name);
      const [outcome] = await provider.apply(zone, [{ op: 'create', after }]);
      assert.ok(outcome?.ok, outcome && !outcome.ok ? outcome.error.message : '');
      const reads = proxy.requests.splice(0).filter((r) => r.method === 'GET');
      const set = (await server.zone(zone.name)).rrsets.find(
        (s) => s.name === `${host}.${zone.name}.` && s.type === type,
      );
      return {
        whole: reads.some((r) => r.path.includes('/zones/')),
        set: set?.records.map((r) => `${r.disabled ? 'off ' : ''}${r.content}`).sort(),
      };
    }
    const searches = backend !== 'lmdb';

    it(searches ? 'reads the name alone' : 'reads the whole zone, since this backend finds nothing', async () => {
      assert.deepEqual(await add('new', 'A', '192.0.2.9'), { whole: !searches, set: ['192.0.2.9'] });
      // no record is thought absent that this server does not find
      assert.deepEqual(await add('h7', 'A', '192.0.2.9'), { whole: !searches, set: ['192.0.2.1', '192.0.2.9'] });
    });

    it('keeps disabled siblings', async () => {
      const set = ['192.0.2.2', '192.0.2.9', 'off 192.0.2.1'];
      assert.deepEqual(await add('dark', 'A', '192.0.2.9'), { whole: !searches, set });
    });

    it('takes nothing else that matches for the name', async () => {
      const set = ['"more"', '"underscore"'];
      assert.deepEqual(await add('_x', 'TXT', 'more'), { whole: !searches, set });
      // a record of that name, but of a zone below
      await server.createZone('child.large.example');
      const child = { name: 'www.child.large.example.', type: 'A', ttl: 60, changetype: 'REPLACE' };
      const rrsets = [{ ...child, records: [{ content: '192.0.2.50', disabled: false }] }];
      assert.equal((await server.api('PATCH', '/zones/child.large.example.', { rrsets })).status, 204);
      assert.deepEqual(await add('www.child', 'A', '192.0.2.9'), { whole: !searches, set: ['192.0.2.9'] });
    });

    it('reads the whole zone for a wildcard, which means something else to a search', async () => {
      assert.deepEqual(await add('*', 'A', '192.0.2.9'), { whole: true, set: ['192.0.2.9', 'off 192.0.2.3'] });
      assert.deepEqual(await add('*.deep', 'A', '192.0.2.9'), { whole: true, set: ['192.0.2.4', '192.0.2.9'] });
    });
  });
}

describeUnless(noPowerdns)('PowerDNS', () => {
  let server: Powerdns;
  let provider: DnsProvider;
  const zone: RemoteZone = { id: 'work.example.', name: 'work.example' };
  beforeAll(async () => {
    server = await startPowerdns();
    provider = connect(server);
    await server.createZone(zone.name);
  });
  afterAll(() => server?.stop());

  const record = (host: string, type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host, type, value, ...more }, zone.name);
  const create = (host: string, type: string, value: string): Change => ({
    op: 'create',
    after: record(host, type, value),
  });
  const patch = async (rrsets: object[], id = zone.id) => {
    const answer = await server.api('PATCH', `/zones/${id}`, { rrsets });
    assert.equal(answer.status, 204, await answer.text());
  };

  it('takes the URL with or without slash and path, and the endpoint in its place', async () => {
    for (const url of [`${server.url}/`, `${server.url}/api/v1`, `${server.url}/api/v1/`]) {
      await connect(server, { url }).check();
    }
    await connect(server, { url: 'http://127.0.0.1:1', endpoint: server.url }).check();
  });

  it('refuses a wrong key, without showing it', async () => {
    const wrong = connect(server, { api_key: 'not-the-right-key' });
    await assert.rejects(wrong.check(), (error: Error & { kind: string }) => {
      assert.equal(error.kind, 'auth');
      assert.ok(!error.message.includes('not-the-right-key'), error.message);
      return true;
    });
  });

  it('names what does not exist: server, zone', async () => {
    await assert.rejects(connect(server, { server_id: 'other' }).check(), { kind: 'not_found' });
    const absent = { id: 'absent.example.', name: 'absent.example' };
    await assert.rejects(provider.listRecords(absent), { kind: 'not_found' });
    const [outcome] = await provider.apply(absent, [create('www', 'A', '192.0.2.1')]);
    assert.equal(outcome?.ok === false && outcome.error.kind, 'not_found');
  });

  it('keeps texts and states of siblings, and the comments of the set', async () => {
    const name = 'set.work.example.';
    const comments = [{ content: 'ask the mail team', account: 'mail', modified_at: 1700000000 }];
    const records = [
      { content: '"in " "two parts"', disabled: false },
      { content: '"off"', disabled: true },
    ];
    await patch([{ name, type: 'TXT', ttl: 300, changetype: 'REPLACE', records, comments }]);
    const [outcome] = await provider.apply(zone, [create('set', 'TXT', 'new')]);
    assert.ok(outcome?.ok);
    const set = (await server.zone(zone.name)).rrsets.find((s) => s.name === name);
    assert.deepEqual(
      set?.records.toSorted((a, b) => (a.content < b.content ? -1 : 1)),
      [records[0], { content: '"new"', disabled: false }, records[1]],
    );
    assert.deepEqual(set?.comments, comments);
  });

  it('a record that moves takes the comments of its set along', async () => {
    const comments = [{ content: 'ask the mail team', account: 'mail', modified_at: 1700000000 }];
    const records = [{ content: '192.0.2.1', disabled: false }];
    await patch([{ name: 'from.work.example.', type: 'A', ttl: 300, changetype: 'REPLACE', records, comments }]);
    const before = (await provider.listRecords(zone)).find(({ host }) => host === 'from');
    assert.ok(before);
    const [outcome] = await provider.apply(zone, [{ op: 'update', before, after: { ...before, host: 'to' } }]);
    assert.ok(outcome?.ok);
    const sets = (await server.zone(zone.name)).rrsets;
    assert.deepEqual(
      sets.filter(({ name }) => /^(from|to)\./.test(name)).map((set) => [set.name, set.comments]),
      [['to.work.example.', comments]],
    );
  });

  it('shows types that it does not know read-only and leaves them alone', async () => {
    const records = [{ content: 'A "return \'192.0.2.1\'"', disabled: false }];
    await patch([{ name: 'lua.work.example.', type: 'LUA', ttl: 60, changetype: 'REPLACE', records }]);
    const found = (await provider.listRecords(zone)).find((r) => r.type === 'LUA');
    assert.equal(found?.readOnly, true);
    assert.equal(found?.host, 'lua');
  });

  it('says in the words of the server why it refused', async () => {
    const [outcome] = await provider.apply(zone, [create('@', 'ALIAS', 'a.example'), create('@', 'A', '192.0.2.1')]);
    assert.ok(outcome?.ok);
    const cname: Change = { op: 'create', after: { ...record('c', 'CNAME', 'a.example'), host: '@' } };
    const [refused] = await provider.apply(zone, [cname]);
    assert.ok(refused?.ok === false && refused.error.kind === 'rejected');
    assert.match(refused.error.message, /CNAME.*[Cc]onflict/);
  });

  it('carries out 40 writes at once although SQLite locks', async () => {
    const second = connect(server);
    const jobs = Array.from({ length: 40 }, (_, i) =>
      (i % 8 ? provider : second).apply(zone, [create(`many${i}`, 'A', '192.0.2.1')]),
    );
    for (const [outcome] of await Promise.all(jobs)) {
      assert.ok(outcome?.ok, outcome && !outcome.ok ? outcome.error.message : '');
    }
    const made = (await provider.listRecords(zone)).filter((r) => r.host.startsWith('many'));
    assert.equal(made.length, 40);
  });

  it('moves a name from A to CNAME in one step', async () => {
    await provider.apply(zone, [create('swap', 'A', '192.0.2.1')]);
    const remote = (await provider.listRecords(zone)).find((r) => r.host === 'swap');
    assert.ok(remote);
    const [outcome] = await provider.apply(zone, [
      { op: 'update', before: remote, after: record('swap', 'CNAME', 'target.example') },
    ]);
    assert.ok(outcome?.ok, outcome && !outcome.ok ? outcome.error.message : '');
    assert.deepEqual(await dig(server.dnsPort, 'swap.work.example', 'A'), ['target.example.']);
  });

  it('creates a zone that answers, with name servers where they are given', async () => {
    const plain = await provider.createZone?.('new.example');
    assert.deepEqual(plain, { id: 'new.example.', name: 'new.example' });
    assert.match(
      (await dig(server.dnsPort, 'new.example', 'SOA')).join(),
      /^new\.example\. hostmaster\.new\.example\. \d+/,
    );
    await connect(server, { nameservers: 'ns1.example.net, ns2.example.net.' }).createZone?.('delegated.example');
    assert.match((await dig(server.dnsPort, 'delegated.example', 'SOA')).join(), /^ns1\.example\.net\. hostmaster\./);
    assert.deepEqual((await dig(server.dnsPort, 'delegated.example', 'NS')).sort(), [
      'ns1.example.net.',
      'ns2.example.net.',
    ]);
    await assert.rejects(async () => provider.createZone?.('new.example'), { kind: 'rejected' });
  });

  it('writes nothing on what it could not read whole', async () => {
    const name = 'whole.example';
    const plain = await provider.createZone?.(name);
    assert.ok(plain);
    const record = (value: string) => dnsRecord({ host: 'www', type: 'A', value }, name);
    for (const value of ['192.0.2.1', '192.0.2.2']) {
      const [outcome] = await provider.apply(plain, [{ op: 'create', after: record(value) }]);
      assert.ok(outcome?.ok);
    }
    const proxy = await startFaults(server.url);
    const through = connect({ ...server, url: proxy.url });
    const soa = { name: `${name}.`, type: 'SOA', ttl: 60, records: [] };
    const cut = [[], [soa], [{ ...soa, records: [{ content: null }] }], [{ ...soa, ttl: undefined }]];
    for (const rrsets of cut) {
      proxy.fault = async ({ method, path }, forward) =>
        method === 'GET' && path.includes(name) ? { status: 200, body: JSON.stringify({ name, rrsets }) } : forward();
      const [outcome] = await through.apply(plain, [{ op: 'create', after: record('192.0.2.10') }]);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'unavailable');
    }
    await proxy.stop();
    assert.deepEqual((await dig(server.dnsPort, `www.${name}`, 'A')).sort(), ['192.0.2.1', '192.0.2.2']);
  });

  it('works in a zone whose name has a slash (RFC 2317)', async () => {
    const reverse = await provider.createZone?.('0/25.2.0.192.in-addr.arpa');
    assert.ok(reverse);
    const pointer = dnsRecord({ host: '7', type: 'PTR', value: 'host.example.net' }, reverse.name);
    const [outcome] = await provider.apply(reverse, [{ op: 'create', after: pointer }]);
    assert.ok(outcome?.ok, outcome && !outcome.ok ? outcome.error.message : '');
    assert.deepEqual(
      (await provider.listRecords(reverse)).map((r) => [r.host, r.type, r.value]),
      [['7', 'PTR', 'host.example.net']],
    );
  });

  it('reads a zone of 10 000 records once for a list of changes', async () => {
    await server.createZone('big.example');
    const big = { id: 'big.example.', name: 'big.example' };
    const hosts = Array.from({ length: 10_000 }, (_, i) => `h${i}`);
    const records = [{ content: '192.0.2.1', disabled: false }];
    const rrsets = hosts.map((h) => ({
      name: `${h}.big.example.`,
      type: 'A',
      ttl: 600,
      changetype: 'REPLACE',
      records,
    }));
    await patch(rrsets, big.id);
    const proxy = await startProxy(server);
    try {
      const outcomes = await connect(server, { url: proxy.url }).apply(
        big,
        hosts.slice(0, 100).map((host) => ({
          op: 'create',
          after: dnsRecord({ host, type: 'A', value: '192.0.2.2' }, big.name),
        })),
      );
      assert.ok(outcomes.every((o) => o.ok));
      assert.deepEqual(
        proxy.requests.map((r) => r.method),
        ['GET', 'PATCH'],
      );
      assert.equal((await provider.listRecords(big)).length, 10_101);
    } finally {
      await proxy.stop();
    }
  });

  it('reads the whole zone where a search fails, or may be cut', async () => {
    const [kept, added] = ['192.0.2.1', '192.0.2.2'];
    await provider.apply(zone, [create('unsearched', 'A', kept)]);
    const soa = { name: 'work.example.', type: 'SOA', content: 'x', ttl: 60, zone: 'work.example.', disabled: false };
    const proxy = await startFaults(server.url);
    try {
      for (const answer of [
        { status: 500, body: '{}' },
        { status: 404, body: '' },
        { status: 200, body: '{}' },
        { status: 200, body: '[]' },
        { status: 200, body: '[null]' },
        { status: 200, body: JSON.stringify([{ ...soa, content: undefined }]) },
        { status: 200, body: JSON.stringify([soa, ...Array(2000).fill({ ...soa, type: 'TXT' })]) },
        // of a zone of that name that is not this one
        { status: 200, body: JSON.stringify([{ ...soa, zone: 'example.' }]) },
      ]) {
        proxy.fault = async ({ path }, forward) => (path.includes('/search-data') ? answer : forward());
        const through = connect({ ...server, url: proxy.url });
        const [outcome] = await through.apply(zone, [create('unsearched', 'A', added)]);
        assert.ok(outcome?.ok, outcome && !outcome.ok ? outcome.error.message : '');
        const set = (await server.zone(zone.name)).rrsets.find((s) => s.name === 'unsearched.work.example.');
        assert.deepEqual(set?.records.map((r) => r.content).sort(), [kept, added], JSON.stringify(answer).slice(0, 80));
        const rrset = { name: 'unsearched.work.example.', type: 'A', ttl: 60, changetype: 'REPLACE' };
        await patch([{ ...rrset, records: [{ content: kept, disabled: false }] }]);
      }
    } finally {
      await proxy.stop();
    }
  });

  it('says that a write may have been carried out when one attempt may have been, whatever became of the next', async () => {
    const standIn = await startStandIn();
    const whole = { name: zone.id, rrsets: [{ name: zone.id, type: 'SOA', ttl: 60, records: [{ content: 'x' }] }] };
    const denied = { status: 401, body: 'Unauthorized' };
    const invalid = { status: 422, body: { error: 'not canonical' } };
    try {
      for (const [first, next] of [
        [{ status: 500, body: { error: 'busy' } }, denied],
        [{ status: 500, body: { error: 'busy' } }, invalid],
        [{ body: '{"long": "enough"}', breakAfter: 3 }, denied],
      ]) {
        let patches = 0;
        standIn.handler = ({ method, path }) => {
          if (method === 'PATCH') return (++patches === 1 ? first : next) as object;
          return path.includes('/zones/') ? { body: whole } : { body: path.includes('/search-data') ? [] : {} };
        };
        for (const changes of [[create('a', 'A', '192.0.2.1')], ['a', 'b'].map((h) => create(h, 'A', '192.0.2.1'))]) {
          patches = 0;
          const outcomes = await connect(server, { url: standIn.url }).apply(zone, changes);
          // one that was sent and broken off may still come: it is not repeated
          assert.equal(patches >= 2, !('breakAfter' in (first as object)));
          for (const outcome of outcomes) assert.ok(!outcome.ok && outcome.error.mayHaveApplied && outcome.tried);
        }
      }
      // what could only not be read is certain not to be written
      standIn.handler = () => ({ body: '{"long": "enough"}', breakAfter: 3 });
      const [unread] = await connect(server, { url: standIn.url }).apply(zone, [create('a', 'A', '192.0.2.1')]);
      assert.ok(unread && !unread.ok && unread.error.kind === 'unavailable' && !unread.error.mayHaveApplied);
    } finally {
      await standIn.stop();
    }
  });

  it('finds a zone by its name', async () => {
    assert.deepEqual(await provider.findZone?.(zone.name), zone);
    assert.equal(await provider.findZone?.('absent.example'), null);
  });

  it('reads single sets from servers since 5.0, which show disabled records then', async () => {
    const proxy = await startProxy(server, '5.0.1');
    try {
      const [outcome] = await connect(server, { url: proxy.url }).apply(zone, [create('set', 'TXT', 'new server')]);
      assert.ok(outcome?.ok);
      const reads = proxy.requests.filter((r) => r.method === 'GET' && r.path.includes('/zones'));
      assert.deepEqual(
        reads.map((r) => r.query),
        [{ rrset_name: 'set.work.example.', rrset_type: 'TXT' }],
      );
      const set = (await server.zone(zone.name)).rrsets.find((s) => s.name === 'set.work.example.');
      assert.equal(set?.records.length, 4);
    } finally {
      await proxy.stop();
    }
  });

  it('takes a cut or senseless listing for an error', async () => {
    const whole = JSON.stringify(await server.zone(zone.name));
    const soa = JSON.stringify({ ...JSON.parse(whole), rrsets: [] });
    const cases: [string, number?][] = [[whole.slice(0, 500)], [whole, 500], [soa], ['{}'], ['null'], [''], ['[]']];
    const standIn = await startStandIn();
    try {
      for (const [body, breakAfter] of cases) {
        standIn.handler = () => ({ body, ...(breakAfter ? { breakAfter } : {}) });
        const cut = connect(server, { url: standIn.url });
        await assert.rejects(cut.listRecords(zone), { kind: 'unavailable' }, body.slice(0, 40));
        if (body !== soa) {
          const [outcome] = await cut.apply(zone, [create('www', 'A', '192.0.2.1')]);
          assert.equal(outcome?.ok === false && outcome.error.kind, 'unavailable', body.slice(0, 40));
        }
      }
      assert.ok(
        standIn.requests.every((r) => r.method === 'GET'),
        'nothing was written',
      );
    } finally {
      await standIn.stop();
    }
  });

  it('understands errors of older servers', async () => {
    const standIn = await startStandIn(() => ({ status: 422, body: { error: "Could not find domain 'x.example.'" } }));
    try {
      await assert.rejects(connect(server, { url: standIn.url }).listRecords(zone), {
        kind: 'not_found',
        message: "Could not find domain 'x.example.' (HTTP 422)",
      });
    } finally {
      await standIn.stop();
    }
  });
});

/** A proxy before the server, which may claim another version and then answers single sets as 5.0 does. */
async function startProxy(server: Powerdns, version?: string): Promise<StandIn> {
  return startStandIn(async (request: Received) => {
    const { rrset_name: name, rrset_type: type } = request.query;
    const query = name || !Object.keys(request.query).length ? '' : `?${new URLSearchParams(request.query)}`;
    const answer = await fetch(server.url + request.path + query, {
      method: request.method,
      headers: { 'x-api-key': server.apiKey },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
    const text = await answer.text();
    // a zone that is not there is no JSON, but "Not Found"
    if (!/^[[{]/.test(text)) return { status: answer.status, ...(text && { body: text }) };
    const body = JSON.parse(text) as { version?: string } & Partial<RawZone>;
    if (version && body.version) body.version = version;
    if (name && body.rrsets) body.rrsets = body.rrsets.filter((s) => s.name === name && s.type === type);
    return { status: answer.status, body };
  });
}
