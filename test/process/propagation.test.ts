import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import packet from 'dns-packet';
import { type SteeredClock, stopClock } from '../support/clock.js';
import { type Internet, internetMissing, startInternet } from '../support/delegations.js';
import { type Client, type Service, startProcess, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { ending } from '../support/until.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

/**
 * Seconds that a request waits for what will come, by a clock that stands still. All of them together are less than the
 * 300 s by which the clock of a signed message may be off.
 */
const LONG_S = 20;
/** Timeout in ms of a question to a server of a zone. */
const SERVER_MS = 3000;
/** ms until an unanswered question is sent for the third time: each such wait of the stopped clock is a question. */
const SECOND_RESEND_MS = 1500;
/** `wait` in s of a request that ends before that. */
const SHORT_S = 2;
const PREFER = `respond-published; wait=${LONG_S}`;
/** Pauses between rounds of questions in ms that end only when the test lets them; the last one is cut by the end. */
const PAUSES_MS = [1266, 1898, 2848, 4000, 1488];

describeUnless(internetMissing())('whether a record is live', () => {
  let folder: string;
  let certificate: string;
  let net: Internet;
  let service: Service;
  let admin: Client;
  /** Of the service: no question and no request takes too long, unless the test lets the time pass. */
  let clock: SteeredClock;
  let domain: number;
  let records: `/api/domains/${number}/records`;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'zoneward-tls-'));
    const file = (name: string) => join(folder, name);
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    const whose = ['-subj', '/CN=resolver.test', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', [...made, ...whose, '-keyout', file('key.pem'), '-out', file('cert.pem')], {
      stdio: 'ignore',
    });
    const tls = { key: readFileSync(file('key.pem'), 'utf8'), cert: readFileSync(file('cert.pem'), 'utf8') };
    net = await startInternet('21.1', { primary: 'bind', tls });
    certificate = file('cert.pem');
    service = await startService('sqlite', { OUTBOUND_ALLOW: '127.0.0.0/8' });
    clock = stopClock();
    ({ admin, domain, records } = await begin(service));
  });

  /** Adds the zone to a service. */
  const begin = async ({ admin }: Service) => {
    done(await admin.put('/api/settings', { dns_resolvers: [net.resolver] }));
    const { name, algorithm, secret } = net.primary.tsig;
    const account = await addAccount(admin, 'rfc2136', {
      server: net.primary.address,
      tsig_name: name,
      tsig_algorithm: algorithm,
      tsig_secret: secret,
      zones: net.zone,
    });
    const domain = await addDomain(admin, account, net.zone);
    return { admin, domain, records: `/api/domains/${domain}/records` as const };
  };

  afterAll(async () => {
    clock?.release();
    await service?.stop();
    await net?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const create = (host: string, value: string, prefer?: string, type = 'A') =>
    admin.post(records, { host, type, value, ttl: 60 }, prefer ? { prefer } : {});
  const look = async (id: number, wait = 0) =>
    done(await polled(admin.get(`${records}/${id}/propagation?wait=${wait}`)));
  /** The end of a request that looks again and again: each pause that the clock holds up is ended. */
  const polled = async <T>(work: Promise<T>): Promise<T> => {
    let over = false;
    const end = work.finally(() => {
      over = true;
    });
    await until('the request has an answer', async () => {
      const pause = PAUSES_MS.find((ms) => clock.countBegun(ms));
      if (pause !== undefined) await clock.advance(pause);
      return over;
    });
    return end;
  };
  /** A server that answers no question, except that it refuses questions for `refused` once that is set. */
  const startSilent = async () => {
    const socket = createSocket('udp4');
    /** By the id of the message: a question is sent again. */
    const questions = new Map<number, string>();
    const silent = { questions, refused: '', close: () => socket.close() };
    socket.on('message', (raw, { port, address }) => {
      const [question] = packet.decode(raw).questions ?? [];
      questions.set(raw.readUInt16BE(), `${question?.name} ${question?.type}`);
      if (question?.name !== silent.refused) return;
      raw.writeUInt16BE(0x8005, 2);
      socket.send(raw, port, address);
    });
    await new Promise<void>((bound) => socket.bind(53, net.address(20), bound));
    return silent;
  };
  type Silent = Awaited<ReturnType<typeof startSilent>>;
  /** Waits until the silent server was asked for the SOA `soas` times and no other server has a question to answer. */
  const onlySilent = ({ questions }: Silent, soas: number) =>
    until('all other servers have answered', () => {
      const count = (type: string) => [...questions.values()].filter((one) => one === `${net.zone} ${type}`).length;
      // only the resolver sends other question types
      return count('SOA') === soas && clock.countBegun(SECOND_RESEND_MS) === count('SOA') + count('NS');
    });
  const atPrimary = async (host: string) =>
    String(execFileSync('dig', [`@${net.primary.address}`, '+short', `${host}.${net.zone}`, 'A'])).trim();
  type Report = Awaited<ReturnType<typeof look>>;
  const statuses = ({ servers }: Report) =>
    servers.map(({ role, name, status }) => `${role === 'resolver' ? role : name.split('.')[0]} ${status}`).sort();

  it('is partial until the secondary has it, and the long poll ends then', async () => {
    const { id } = made(await create('www', '192.0.2.1'));
    const first = await look(id);
    assert.deepEqual([first.verdict, first.found_by], ['partial', 'parent']);
    assert.deepEqual(
      statuses(first).filter((s) => /^ns/.test(s)),
      ['ns1 published', 'ns2 missing'],
    );
    const [one, two] = first.servers;
    assert.ok((one?.serial as number) > (two?.serial as number), JSON.stringify(first.servers));
    const waiting = admin.get(`${records}/${id}/propagation?wait=${LONG_S}`).then(done);
    let over = false;
    void waiting.finally(() => {
      over = true;
    });
    await until('rounds were made', () => PAUSES_MS.some((ms) => clock.countBegun(ms)));
    assert.equal(over, false, 'it waits');
    await net.secondary.refresh();
    const then = await polled(waiting);
    assert.deepEqual(statuses(then).slice(0, 2), ['ns1 published', 'ns2 published']);
    assert.equal(then.verdict, 'published');
    assert.deepEqual(
      then.servers.slice(0, 2).map(({ ttl }) => ttl),
      [60, 60],
    );
  });

  it('reports a server with an old value, and a deletion is published when all servers have it', async () => {
    const { id } = made(await create('old', '192.0.2.1'));
    await net.secondary.refresh();
    assert.equal((await look(id, LONG_S)).verdict, 'published');
    done(await admin.put(`${records}/${id}`, { value: '192.0.2.9' }));
    assert.deepEqual(
      statuses(await look(id)).filter((s) => /^ns/.test(s)),
      ['ns1 published', 'ns2 stale'],
    );
    const gone = await polled(admin.delete(`${records}/${id}`, undefined, { prefer: PREFER }));
    assert.equal(gone.status, 202);
    const report = gone.data as unknown as Report;
    assert.equal(report.verdict, 'partial');
    assert.deepEqual(
      statuses(report).filter((s) => /^ns/.test(s)),
      ['ns1 published', 'ns2 stale'],
    );
  });

  it('accepts the answer of a wildcard for a deleted record', async () => {
    made(await create('*.wild', '192.0.2.7'));
    const { id } = made(await create('x.wild', '192.0.2.8'));
    await net.secondary.refresh();
    assert.equal((await look(id, LONG_S)).verdict, 'published');
    const waiting = admin.delete(`${records}/${id}`, undefined, { prefer: PREFER });
    await until('the wildcard answers', async () => (await atPrimary('x.wild')) === '192.0.2.7');
    await net.secondary.refresh();
    assert.equal((await polled(waiting)).status, 200);
  });

  it('answers a change when all servers agree, where the client prefers it', async () => {
    const late = await polled(create('slow', '192.0.2.1', PREFER));
    assert.equal(late.status, 202);
    assert.equal(late.headers.get('preference-applied'), 'respond-published');
    assert.ok(late.data.id > 0);
    assert.equal((late.data as unknown as Report).verdict, 'partial');
    const waiting = create('quick', '192.0.2.1', PREFER);
    await until('the primary has it', async () => (await atPrimary('quick')).length > 0);
    await net.secondary.refresh();
    const answer = await polled(waiting);
    assert.equal(answer.status, 201);
    assert.deepEqual(Object.keys(answer.data), ['id']);
    assert.equal(answer.headers.get('preference-applied'), 'respond-published');
    // nothing to do: it is there
    const again = await admin.put(`${records}/${answer.data.id}`, { ttl: 60 }, { prefer: PREFER });
    assert.equal(again.status, 200);
    assert.equal(again.headers.get('preference-applied'), 'respond-published');
    // for whoever may not read it, it is not there
    const rules = [{ effect: 'allow', domains: [domain], actions: ['create'] }];
    const { token } = made(await admin.post('/api/tokens', { name: 'writer', rules }));
    const path = `${records}/${answer.data.id}` as const;
    const writer = await service.server.as(token).put(path, { ttl: 60 }, { prefer: PREFER });
    assert.deepEqual([writer.status, writer.headers.get('preference-applied')], [404, null]);
    // what of a list has failed is not waited for, the rest is
    const changes = [
      { op: 'create', host: 'part', type: 'A', value: '192.0.2.1' },
      { op: 'delete', id: 999_999 },
    ];
    const list = await polled(admin.post(`${records}/batch`, { changes }, { prefer: PREFER }));
    assert.deepEqual([list.status, list.headers.get('preference-applied')], [207, 'respond-published']);
  });

  it('compares texts, targets and sets in canonical form', async () => {
    const made_ = [
      await create('both', '192.0.2.1'),
      await create('both', '192.0.2.2'),
      await create('text', `long "text" ${'x'.repeat(300)} é`, undefined, 'TXT'),
      await create('alias', 'Target.Example.NET', undefined, 'CNAME'),
      await create('sub', 'ns.example.net', undefined, 'NS'),
    ].map((answer) => made(answer).id);
    await net.secondary.refresh();
    for (const id of made_) assert.equal((await look(id, LONG_S)).verdict, 'published', String(id));
  });

  it('names a server that does not answer, and one that does not serve the zone, and does not hang', async () => {
    const silent = await startSilent();
    try {
      const { id } = made(await create('bad', '192.0.2.1'));
      await net.secondary.refresh();
      await look(id, LONG_S);
      await net.delegate({ ...net.hosts, ns3: net.address(20), ns4: net.address(21), ns5: net.address(1) });
      const looking = look(id);
      await onlySilent(silent, 1);
      await clock.advance(SERVER_MS);
      const report = await looking;
      assert.equal(report.verdict, 'partial');
      const errors = Object.fromEntries(report.servers.map(({ name, error }) => [name.split('.')[0], error]));
      assert.match(errors.ns3 as string, /no answer within 3 s/);
      assert.match(errors.ns4 as string, /refused/);
      assert.match(errors.ns5 as string, /does not serve the zone/);
    } finally {
      silent.close();
      await net.delegate(net.hosts);
    }
  });

  it('answers when the time is over, also where servers and resolvers are silent', async () => {
    const silent = await startSilent();
    try {
      const { id } = made(await create('patient', '192.0.2.1'));
      await net.secondary.refresh();
      assert.equal((await look(id, LONG_S)).verdict, 'published');
      await net.delegate({ ...net.hosts, ns3: net.address(20) });
      const requests = Promise.all([
        look(id, SHORT_S),
        create('pushed', '192.0.2.1', `respond-published; wait=${SHORT_S}`),
      ]);
      await onlySilent(silent, 2);
      await clock.advance(SHORT_S * 1000);
      const [report, change] = await requests;
      assert.deepEqual(
        [report.verdict, report.found_by, statuses(report)],
        ['partial', 'parent', ['ns1 published', 'ns2 published', 'ns3 unreachable', 'resolver published']],
      );
      const errorOf = ({ servers }: Report, host: string) =>
        servers.find(({ name }) => name === `${host}.${net.zone}`)?.error;
      // and not because the server was silent for as long as each may be
      assert.equal(errorOf(report, 'ns3'), 'no answer before the time was over');
      assert.equal(change.status, 202);
      // not even the servers are found in time: those that the records here name
      done(await admin.put('/api/settings', { dns_resolvers: [net.address(20), net.resolver] }));
      silent.refused = `patient.${net.zone}`;
      const looking = look(id, SHORT_S);
      await until('the first resolver was asked for the servers', () =>
        [...silent.questions.values()].includes('test NS'),
      );
      await clock.advance(SHORT_S * 1000);
      const blind = await looking;
      assert.deepEqual([blind.verdict, blind.found_by], ['unreachable', 'zone']);
      assert.deepEqual(statuses(blind), [
        ...['ns1 unreachable', 'ns2 unreachable', 'resolver published', 'resolver unreachable'],
      ]);
    } finally {
      silent.close();
      done(await admin.put('/api/settings', { dns_resolvers: [net.resolver] }));
      await net.delegate(net.hosts);
    }
  });

  it('asks resolvers over TLS and HTTPS', async () => {
    // in a process that trusts the certificate
    const other = await startProcess('sqlite', { NODE_EXTRA_CA_CERTS: certificate, OUTBOUND_ALLOW: '127.0.0.0/8' });
    const { admin, records } = await begin(other);
    const look = async (id: number, wait = 0) => done(await admin.get(`${records}/${id}/propagation?wait=${wait}`));
    const { id } = made(await admin.post(records, { host: 'secure', type: 'A', value: '192.0.2.1', ttl: 60 }));
    await net.secondary.refresh();
    const { dot, doh } = net.tls;
    const resolvers = [
      `tls://127.0.0.1:${dot}`,
      `https://127.0.0.1:${doh}/dns-query`,
      `https://127.0.0.1:${doh}/other`,
    ];
    done(await admin.put('/api/settings', { dns_resolvers: resolvers }));
    try {
      assert.equal((await look(id, LONG_S)).verdict, 'published');
      // a resolver that was slow once is asked again
      let report: Report | undefined;
      await until('both have answered', async () => {
        report = await look(id);
        return report.servers.slice(2, 4).every(({ status }) => status === 'published');
      });
      const said = report?.servers.filter(({ role }) => role === 'resolver').map(({ name, status }) => [name, status]);
      assert.deepEqual(said, [
        [resolvers[0], 'published'],
        [resolvers[1], 'published'],
        [resolvers[2], 'unreachable'],
      ]);
      assert.match(report?.servers.at(-1)?.error as string, /HTTP status 404/);
    } finally {
      await other.stop();
    }
  });

  it('refuses what it cannot wait for, and a record that is not there', async () => {
    refused(await admin.get(`${records}/999999/propagation`), 404, 404001);
    refused(await admin.get(`${records}/1/propagation?wait=301`), 400, 400001);
  });

  it('answers requests that wait with the state so far when the service shuts down', async () => {
    const asked = new Map<string, number>();
    const server = createSocket('udp4');
    server.on('message', (raw, { port, address }) => {
      const [question] = packet.decode(raw).questions ?? [];
      const key = `${question?.name} ${question?.type}`;
      asked.set(key, (asked.get(key) ?? 0) + 1);
      // REFUSED
      raw.writeUInt16BE(0x8005, 2);
      server.send(raw, port, address);
    });
    await new Promise<void>((bound) => server.bind(53, net.address(20), bound));
    // a process of its own: its end is what is tested
    const other = await startProcess('sqlite', { OUTBOUND_ALLOW: '127.0.0.0/8' });
    const { admin, records } = await begin(other);
    try {
      const record = (host: string) => ({ host, type: 'A', value: '192.0.2.1', ttl: 60 });
      const { id } = made(await admin.post(records, record('seen')));
      await net.delegate({ ...net.hosts, ns3: net.address(20) });
      const looking = admin.get(`${records}/${id}/propagation?wait=300`).then(done);
      const changing = admin.post(records, record('last'), { prefer: 'respond-published; wait=300' });
      // who is asked a second time was asked by all
      for (const host of ['seen', 'last'])
        await until(`${host} was looked at`, async () => (asked.get(`${host}.${net.zone} A`) ?? 0) > 1);
      assert.equal(await ending('the service ends', other.server.stop(), 60_000), 0);
      const words = ['ns1 published', 'ns2 missing', 'ns3 unreachable'];
      const report = await looking;
      assert.deepEqual([report.verdict, statuses(report)], ['partial', words]);
      const answer = await changing;
      assert.deepEqual([answer.status, answer.headers.get('preference-applied')], [202, 'respond-published']);
      assert.ok(answer.data.id > 0);
      assert.deepEqual(statuses(answer.data as unknown as Report), words);
    } finally {
      server.close();
      await other.stop();
    }
  });
});
