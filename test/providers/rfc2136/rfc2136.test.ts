import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord } from '../../../src/dns/record.js';
import { Deadline, underDeadline } from '../../../src/platform/common/deadline.js';
import { connectAdapter, connectProvider } from '../../../src/providers/connect.js';
import type { RrsetVerbs } from '../../../src/providers/kit/rrsets/from-rrsets.js';
import type { RecordSet } from '../../../src/providers/kit/rrsets/record-set.js';
import type { Change, DnsProvider, ProviderError, RemoteZone } from '../../../src/providers/provider.js';
import { rfc2136 } from '../../../src/providers/rfc2136/declaration.js';
import { bindMissing, listen, type NameServer, startBind } from '../../support/bind.js';
import { connectOptions } from '../../support/connect-options.js';
import { dig } from '../../support/dig.js';
import { knotMissing, startKnot } from '../../support/knot.js';
import { atEndOfTest, describeUnless } from '../../support/suites.js';
import { providerContract } from '../contract.js';

const ZONE = 'example.com';
const TIMEOUT_MS = 5000;

const OPTIONS = connectOptions(TIMEOUT_MS);

function credentialsOf(server: NameServer, more: Record<string, string> = {}) {
  return {
    server: '127.0.0.1',
    port: String(server.port),
    tsig_name: server.tsig.name,
    tsig_algorithm: server.tsig.algorithm,
    tsig_secret: server.tsig.secret,
    zones: ZONE,
    ...more,
  };
}
const open = (server: NameServer, more: Record<string, string> = {}): DnsProvider =>
  connectProvider(rfc2136, credentialsOf(server, more), OPTIONS);

const record = (host: string, type: string, value: string, ttl = 600): DnsRecord =>
  dnsRecord({ host, type, value, ttl }, ZONE);
const create = (...args: Parameters<typeof record>) => ({ op: 'create' as const, after: record(...args) });

const afterTest = atEndOfTest();

/** A stand-in on loopback between client and server that changes what goes through. */
async function proxy(target: number, onAnswer: (sent: Buffer, whole: Buffer) => Buffer | null) {
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let whole = Buffer.alloc(0);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    client.pipe(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('data', (chunk) => {
      whole = Buffer.concat([whole, chunk]);
      const answer = onAnswer(chunk, whole);
      if (answer) client.write(answer);
      else client.end();
    });
  });
  const port = await listen(server);
  afterTest(() => new Promise((done) => server.close(done)));
  return { port: String(port) };
}

for (const [label, start, missing] of [
  ['BIND', startBind, bindMissing()],
  ['Knot DNS', startKnot, knotMissing()],
] as const) {
  providerContract(
    `rfc2136 with ${label}`,
    async () => {
      const server = await start({ zones: [ZONE] });
      return {
        provider: open(server),
        stranger: open(server, { tsig_secret: Buffer.alloc(32, 7).toString('base64') }),
        definition: rfc2136,
        cannot: {
          'telling a missing zone from refused credentials': 'NOTAUTH means either (RFC 8945 and RFC 2136)',
        },
        zone: { id: ZONE, name: ZONE },
        dig: (name, type) => dig(server.port, name, type),
        stop: server.stop,
      };
    },
    missing,
  );

  describeUnless(missing)(`rfc2136 with ${label}`, () => {
    const zone: RemoteZone = { id: ZONE, name: ZONE };
    let server: NameServer;
    let provider: DnsProvider;
    beforeAll(async () => {
      server = await start({ zones: [ZONE, 'example.net'] });
      provider = open(server);
    });
    afterAll(() => server?.stop());

    const done = async (...changes: Change[]) => {
      for (const outcome of await provider.apply(zone, changes)) assert.ok(outcome.ok, JSON.stringify(outcome));
    };
    const find = async (host: string, type: string) =>
      (await provider.listRecords(zone)).filter((r) => r.host === host && r.type === type);
    const kinds = async (...changes: Change[]) =>
      (await provider.apply(zone, changes)).map((o) => (o.ok ? 'ok' : o.error.kind));

    it('refuses an unknown key, a wrong secret and another algorithm as wrong credentials, naming the field', async () => {
      const wrong = [
        [{ tsig_name: 'nobody' }, /tsig_name/],
        [{ tsig_secret: Buffer.alloc(32, 7).toString('base64') }, /tsig_secret/],
        [{ tsig_algorithm: 'hmac-sha512' }, /tsig_algorithm/],
      ] as const;
      for (const [credentials, words] of wrong) {
        const other = open(server, credentials);
        const expected = (error: ProviderError) => error.kind === 'auth' && words.test(error.message);
        await assert.rejects(other.check(), expected);
        await assert.rejects(other.listRecords(zone), { kind: 'auth' });
        const [outcome] = await other.apply(zone, [create('never', 'A', '192.0.2.1')]);
        assert.equal(outcome?.ok === false && outcome.error.kind, 'auth');
      }
    });

    it('names the zone that the server does not serve instead of leaving it out', async () => {
      const other = open(server, { zones: `${ZONE}, example.org` });
      await assert.rejects(other.listZones(), /example\.org/);
      const both = await open(server, { zones: `${ZONE} Example.NET.` }).listZones();
      assert.deepEqual(
        both.map((z) => z.name),
        [ZONE, 'example.net'],
      );
    });

    it('takes host, host:port and dns:// as endpoint, in place of server and port', async () => {
      for (const endpoint of [`127.0.0.1:${server.port}`, `dns://127.0.0.1:${server.port}`, '127.0.0.1']) {
        await open(server, { server: '192.0.2.1', endpoint }).check();
      }
      await assert.rejects(open(server, { endpoint: 'http://127.0.0.1/' }).check(), { kind: 'rejected' });
    });

    it('knows that a refused connection changed nothing', async () => {
      const closed = open(server, { port: '1' });
      const [outcome] = await closed.apply(zone, [create('never', 'A', '192.0.2.1')]);
      assert.ok(outcome && !outcome.ok);
      assert.equal(outcome.error.kind, 'unavailable');
      assert.equal(outcome.error.mayHaveApplied, false);
      await assert.rejects(closed.check(), { kind: 'unavailable', mayHaveApplied: false });
    });

    it('refuses an answer that is not signed, or changed on its way', async () => {
      const strip = await proxy(server.port, (chunk) => {
        const [at, copy] = [chunk.lastIndexOf('zoneward-test') - 1, Buffer.from(chunk)];
        copy.writeUInt16BE(at - 2, 0); // everything up to the TSIG record
        copy.writeUInt16BE(copy.readUInt16BE(12) - 1, 12); // additional records
        return copy.subarray(0, at);
      });
      await assert.rejects(open(server, { port: strip.port }).check(), { kind: 'unavailable', message: /not signed/ });
      const alter = await proxy(server.port, (chunk) => {
        const copy = Buffer.from(chunk);
        copy[5] = (copy[5] as number) ^ 0x20; // a flag
        return copy;
      });
      await assert.rejects(open(server, { port: alter.port }).check(), { kind: 'auth', message: /signature/ });
    });

    it('an update whose answer is lost may have been applied', async () => {
      let exchanges = 0;
      const lossy = await proxy(server.port, (chunk) =>
        (chunk[4] as number) >> 3 === 0x15 && ++exchanges > 1 ? null : chunk,
      );
      const [outcome] = await open(server, { port: lossy.port }).apply(zone, [create('lost', 'A', '192.0.2.1')]);
      assert.equal(outcome?.ok === false && outcome.error.mayHaveApplied, true);
      assert.equal((await find('lost', 'A')).length, 1);
    });

    it('a transfer that is cut short is an error, not a smaller zone', async () => {
      const many = Array.from({ length: 400 }, (_, i) => create(`bulk${i}`, 'TXT', 'x'.repeat(250)));
      await done(...many);
      assert.ok((await provider.listRecords(zone)).length >= 400);
      const cut = await proxy(server.port, (chunk, whole) => (whole.length > 70_000 ? null : chunk));
      const other = open(server, { port: cut.port });
      await assert.rejects(other.listRecords(zone), { kind: 'unavailable', message: /cut short/ });
      const list = (await provider.listRecords(zone)).filter((r) => r.host.startsWith('bulk'));
      await done(...list.map((r): Change => ({ op: 'delete', before: r })));
    });

    it('writers at one set lose nothing of each other', async () => {
      const values = Array.from({ length: 4 }, (_, i) => `192.0.2.${i + 1}`);
      const outcomes = await Promise.all(
        values.map((value) => open(server).apply(zone, [create('shared', 'A', value)])),
      );
      // each needs at most as many attempts as there are writers
      assert.ok(outcomes.flat().every((o) => o.ok));
      assert.deepEqual((await find('shared', 'A')).map((r) => r.value).sort(), values);
    });

    it('does not write on what another writer has changed since it was read', async () => {
      const verbs = (await connectAdapter(rfc2136, credentialsOf(server), OPTIONS)) as DnsProvider & RrsetVerbs;
      const members = (value: string) => [{ remoteId: value, rdata: value, enabled: true }];
      const read = async () => (await verbs.readSets(zone, [{ host: 'race', type: 'A' }]))[0] as RecordSet;
      const write = (members: RecordSet['members'], was: RecordSet) =>
        verbs.replaceSets?.(zone, [{ ...was, members }], [was]);
      const absent = await read();
      await done(create('race', 'A', '192.0.2.1'));
      assert.equal(await write(members('192.0.2.2'), absent), false);
      const present = await read();
      await done(create('race', 'A', '192.0.2.3'));
      assert.equal(await write([], present), false);
      assert.deepEqual((await find('race', 'A')).map((r) => r.value).sort(), ['192.0.2.1', '192.0.2.3']);
    });

    it('shows types that it does not write, readable, and leaves them alone', async () => {
      const shown: [string, string][] = [
        ['HINFO', '"PC" "Linux 6"'],
        ['AFSDB', '1 afs.example.net.'],
        ['KX', '1 kx.example.net.'],
        ['CSYNC', '1 3 A NS AAAA'],
        ['TYPE65280', '\\# 3 abcdef'],
      ];
      const like = record('shown', 'A', '192.0.2.1');
      for (const [type, value] of shown) {
        await done({ op: 'create', after: { ...like, type, host: `ro-${type.toLowerCase()}`, value } });
      }
      const list = await provider.listRecords(zone);
      for (const [type, value] of shown) {
        const found = list.find((r) => r.type === type);
        assert.deepEqual([found?.value, found?.readOnly], [value, true]);
        const [text] = await dig(server.port, `ro-${type.toLowerCase()}.${ZONE}`, type);
        assert.equal(text?.replaceAll(' ', '').toLowerCase(), value.replaceAll(' ', '').toLowerCase());
      }
      await done(create('beside', 'A', '192.0.2.1'));
      for (const [type] of shown) assert.equal((await find(`ro-${type.toLowerCase()}`, type)).length, 1);
    });

    it('does not take what a wildcard answers for a record', async () => {
      await done(create('*', 'A', '192.0.2.9'));
      await done(create('same', 'A', '192.0.2.9', 60));
      assert.equal((await find('same', 'A')).length, 1);
      await done(create('more', 'A', '192.0.2.10'));
      assert.deepEqual(
        (await find('more', 'A')).map((r) => r.value),
        ['192.0.2.10'],
      );
      const [same] = await find('same', 'A');
      assert.equal(same?.ttl, 60);
    });

    it('reads and writes delegations and the addresses below them', async () => {
      await done(create('sub', 'NS', 'ns.sub.example.com'), create('ns.sub', 'A', '192.0.2.53'));
      await done(create('sub', 'NS', 'ns.example.net'), create('ns.sub', 'A', '192.0.2.54'));
      assert.equal((await find('sub', 'NS')).length, 2);
      const glue = await find('ns.sub', 'A');
      assert.deepEqual(glue.map((r) => r.value).sort(), ['192.0.2.53', '192.0.2.54']);
      for (const before of [...glue, ...(await find('sub', 'NS'))]) await done({ op: 'delete', before });
      assert.equal((await provider.listRecords(zone)).filter((r) => r.host.endsWith('sub')).length, 0);
    });

    it('changes the TTL of a set, at the apex too, and replaces all NS of the apex but never removes the last', async () => {
      await done(create('@', 'NS', 'ns2.example.net', 1200));
      assert.deepEqual(
        (await find('@', 'NS')).map((r) => r.ttl),
        [1200, 1200],
      );
      const [ns1] = (await find('@', 'NS')).filter((r) => r.value === 'ns1.example.com');
      assert.ok(ns1);
      await done({ op: 'update', before: ns1, after: { ...ns1, value: 'ns3.example.net', ttl: 60 } });
      const list = await find('@', 'NS');
      assert.deepEqual(list.map((r) => `${r.value} ${r.ttl}`).sort(), ['ns2.example.net 60', 'ns3.example.net 60']);
      // what is refused at a host is refused whole: one of the two alone may go
      const gone = list.map((r): Change => ({ op: 'delete', before: r }));
      assert.deepEqual(await kinds(...gone), ['rejected', 'rejected']);
      assert.deepEqual([await kinds(...gone.slice(0, 1)), await kinds(...gone.slice(1))], [['ok'], ['rejected']]);
      const [last] = await find('@', 'NS');
      assert.ok(last);
      await done({ op: 'update', before: last, after: { ...last, ttl: 900 } });
      assert.deepEqual(await find('@', 'NS'), [{ ...last, ttl: 900 }]);
    });

    it('rejects what has no form on the wire, nothing being sent', async () => {
      const long: Change = {
        op: 'create',
        after: { ...record('x', 'NAPTR', '1 2 "u" "s" "" .'), value: `1 2 "${'u'.repeat(256)}" "" "" .` },
      };
      const [outcome] = await provider.apply(zone, [long]);
      assert.ok(outcome && !outcome.ok);
      assert.deepEqual([outcome.error.kind, outcome.error.mayHaveApplied], ['rejected', false]);
    });

    it('sends no DS without a delegation, and takes no delegation from under one', async () => {
      const ds = create('child', 'DS', `1 13 2 ${'00ff'.repeat(16)}`);
      const ns = create('child', 'NS', 'ns1.example.net');
      assert.deepEqual(await kinds(ds), ['rejected']);
      assert.deepEqual(await kinds({ op: 'create', after: { ...ds.after, host: '@' } }), ['rejected']);
      const apply = (list: Change[]) => provider.apply(zone, list, { atomic: true });
      const whole = async (...list: Change[]) => (await apply(list)).map((o) => (o.ok ? 'ok' : o.error.kind));
      assert.deepEqual(await whole(create('other', 'A', '192.0.2.1'), ds), ['rejected', 'rejected']);
      assert.deepEqual(await find('other', 'A'), []);
      await done(ds, ns);
      const [oldDs] = await find('child', 'DS');
      const [oldNs] = await find('child', 'NS');
      assert.ok(oldDs && oldNs);
      const [outcome] = await provider.apply(zone, [{ op: 'delete', before: oldNs }]);
      assert.match(outcome?.ok === false ? outcome.error.message : '', /has a DS/);
      assert.deepEqual(await whole({ op: 'delete', before: oldNs }, create('other', 'A', '192.0.2.1')), [
        'rejected',
        'rejected',
      ]);
      assert.equal((await find('child', 'DS')).length, 1);
      await done({ op: 'update', before: oldNs, after: { ...oldNs, value: 'ns2.example.net' } });
      await done(
        { op: 'delete', before: { ...oldNs, ...(await find('child', 'NS'))[0] } },
        { op: 'delete', before: oldDs },
      );
      assert.deepEqual([...(await find('child', 'NS')), ...(await find('child', 'DS'))], []);
    });

    it('takes nothing away for a CNAME where something is that nobody here knows of', async () => {
      await done(create('hidden', 'A', '192.0.2.1'), create('hidden', 'TXT', 'past us'));
      const [before] = await find('hidden', 'A');
      assert.ok(before);
      const after = record('hidden', 'CNAME', 'target.example.net');
      const [outcome] = await provider.apply(zone, [{ op: 'update', before, after }]);
      assert.match(outcome?.ok === false ? outcome.error.message : '', /there is TXT as well/);
      assert.equal((await find('hidden', 'A')).length, 1);
    });

    it('says so when the server ignores a CNAME beside other data', async () => {
      await done(create('used', 'A', '192.0.2.1'), create('alias', 'CNAME', 'target.example.net'));
      assert.deepEqual(await kinds(create('used', 'CNAME', 'target.example.net')), ['rejected']);
      assert.deepEqual(await kinds(create('alias', 'A', '192.0.2.1')), ['rejected']);
      const list = [create('free', 'A', '192.0.2.1'), create('used', 'CNAME', 'target.example.net')];
      for (const one of await provider.apply(zone, list, { atomic: true }))
        assert.deepEqual(one.ok ? 'ok' : [one.error.kind, one.error.mayHaveApplied], ['rejected', false]);
      assert.deepEqual(await find('free', 'A'), []);
      const [alias] = await find('alias', 'CNAME');
      assert.ok(alias);
      await done({ op: 'delete', before: alias }, create('alias', 'A', '192.0.2.1'));
      assert.equal((await find('alias', 'A')).length, 1);
    });
  });
}

describeUnless(bindMissing())('rfc2136 with a server that has rules', () => {
  it('a refused name is rejected, and does not take the other changes with it', async () => {
    const server = await startBind({ zones: [ZONE], checkNames: 'fail' });
    try {
      const outcomes = await open(server).apply({ id: ZONE, name: ZONE }, [
        create('_under', 'A', '192.0.2.1'),
        create('fine', 'A', '192.0.2.2'),
      ]);
      assert.deepEqual(
        outcomes.map((o) => (o.ok ? 'ok' : o.error.kind)),
        ['rejected', 'ok'],
      );
    } finally {
      await server.stop();
    }
  });
});

describe('rfc2136 with a server that says nothing', () => {
  it('waits no longer than the request has time', async () => {
    // it reads, or it would not see the end of the connection
    const server = createServer((socket) => socket.on('error', () => undefined).resume());
    const port = await listen(server);
    const credentials = {
      server: '127.0.0.1',
      port: String(port),
      tsig_name: 'key',
      tsig_secret: 'c2VjcmV0LXNlY3JldA==',
    };
    const more = { tsig_algorithm: 'hmac-sha256', zones: ZONE };
    // the time for one message is longer than the test may take
    const provider = connectProvider(rfc2136, { ...credentials, ...more }, { ...OPTIONS, timeoutMs: 600_000 });
    const zone: RemoteZone = { id: ZONE, name: ZONE };
    const asked = underDeadline(new Deadline(1000), () => provider.listRecords(zone));
    await assert.rejects(asked, { kind: 'unavailable', message: /the time for the call is over/ });
    await new Promise((done) => server.close(done));
  });
});
