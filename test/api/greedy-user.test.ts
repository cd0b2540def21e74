import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { DelegationWatch } from '../../src/monitoring/delegation/watch.service.js';
import { Certificates } from '../../src/monitoring/expiry/certificates.service.js';
import { RegistrationWatch } from '../../src/monitoring/expiry/registration-watch.service.js';
import type { Db } from '../../src/platform/database/db.js';
import { Jobs } from '../../src/platform/jobs/jobs.js';
import { addUser, openDatabase } from '../support/database.js';
import { rdapDomain } from '../support/registries.js';
import { applicationOf, type Client, type Service, startService } from '../support/server.js';
import { type StandIn, startStandIn } from '../support/vendor.js';
import { addAccount, addDomain, done, each, made, until } from '../support/world.js';

const GREEDY = { username: 'greedy', password: 'violet-harbour-92' };
const OTHER = { username: 'other', password: 'amber-lantern-47' };
const HANGS = '127.3.0.1';
const WORKS = '127.3.0.2';

/** Takes connections and packets at all addresses of loopback, and answers the connections at one of them only. */
async function startHanging(): Promise<{ port: number; stop(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    if (socket.localAddress === WORKS) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as { port: number };
  const mute = createSocket('udp4');
  await new Promise<void>((resolve) => mute.bind(port, '0.0.0.0', () => resolve()));
  return {
    port,
    stop: () => {
      mute.close();
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const ends = (path: string) => rdapDomain(path.split('/').at(-1) as string, '2030-01-01T00:00:00Z');

// each hangs until the end of its test: what is asserted is that the other one is served meanwhile
describe('while one user takes all that there is, another is served', () => {
  let service: Service;
  let db: Db;
  let close: () => Promise<void>;
  let account: number;
  let greedy: Client;
  let other: Client;
  let greedyId: number;
  let otherId: number;
  let hanging: Awaited<ReturnType<typeof startHanging>>;
  let rdap: StandIn;
  const domains: number[] = [];
  let its: number;
  const app = () => applicationOf(service.server.dataDir) as NonNullable<ReturnType<typeof applicationOf>>;

  beforeAll(async () => {
    hanging = await startHanging();
    rdap = await startStandIn(({ path }) => ends(path));
    service = await startService('sqlite', {
      OUTBOUND_ALLOW: '127.0.0.0/8',
      EXPIRY_LOOKUPS: 'on',
      RDAP_BOOTSTRAP_URL: `${rdap.url}/none`,
      RDAP_SERVERS: `com=${rdap.url}/com,net=${rdap.url}/net,org=${rdap.url}/org,dev=${rdap.url}/dev`,
      PROVIDER_TIMEOUT_MS: '60000',
      METRICS: 'on',
      METRICS_TOKEN: 'a'.repeat(16),
    });
    ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
    greedyId = await addUser(db, GREEDY);
    otherId = await addUser(db, OTHER);
    greedy = service.server.as(await service.server.login(GREEDY));
    other = service.server.as(await service.server.login(OTHER));
    account = await addAccount(service.admin, 'zonefile', {});
    await each(Array.from({ length: 45 }), 4, async (_, i) => {
      const tld = ['com', 'net', 'org'][i % 3];
      domains.push(await addDomain(service.admin, account, `greedy-${i}.${tld}`, true));
    });
    its = await addDomain(service.admin, account, 'other-one.com', true);
    await db.run('UPDATE domains SET owner_id = ? WHERE id <> ?', [greedyId, its]);
    await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [otherId, its]);
    // looked at when a test says so
    await db.run(
      `UPDATE jobs SET next_at = '2040-01-01T00:00:00.000Z' WHERE name LIKE 'expiry%' OR name LIKE 'delegations%'`,
    );
    // nobody answers there
    done(await service.admin.put('/api/settings', { dns_resolvers: [`${HANGS}:${hanging.port}`] }));
  });
  afterAll(async () => {
    hanging?.stop();
    await rdap?.stop();
    await close?.();
    await service?.stop();
  });

  const metric = async (name: string, pool: string) => {
    const headers = { authorization: `Bearer ${'a'.repeat(16)}` };
    const text = await (await fetch(`${service.server.url}/metrics`, { headers })).text();
    const line = text.split('\n').find((one) => one.startsWith(`zoneward_pool_${name}{pool="${pool}"}`));
    return Number(line?.split(' ').at(-1));
  };

  it('by checks of failover, also at the same target, which is not asked by everybody at once', async () => {
    const check = { kind: 'http' as const, port: hanging.port, interval_s: 10, timeout_s: 10, fall: 1, rise: 1 };
    const rules = (count: number, at: (i: number) => string) =>
      Array.from({ length: count }, (_, i) => ({
        host: `h${i}`,
        type: 'A' as const,
        primary: [at(i)],
        backup: ['127.3.9.9'],
        check,
      }));
    // all at one target, and at very many
    await each(domains.slice(0, 9), 2, async (id, i) => {
      const at = (n: number) => (i === 0 ? HANGS : `127.4.${i}.${n + 1}`);
      done(await greedy.post(`/api/domains/${id}/failover`, { enabled: true, rules: rules(60, at) }));
    });
    // of its domains together: one domain of them has fewer targets than that
    await until('the share is used up', async () => (await metric('in_use', 'failover checks')) >= 400);
    const quick = { ...check, interval_s: 1, timeout_s: 1 };
    const own = [{ host: 'www', type: 'A' as const, primary: [WORKS], backup: [], check: quick }];
    done(await other.post(`/api/domains/${its}/failover`, { enabled: true, rules: own }));
    const state = async () => done(await other.get(`/api/domains/${its}/failover`)).rules[0]?.state.values[0]?.up;
    await until('the rule of the other one is checked', async () => (await state()) === true);
    assert.ok((await metric('waiting', 'failover checks')) > 0, 'the others still wait');
    assert.ok((await metric('in_use', 'failover checks')) <= 401);
    for (const id of domains.slice(0, 9)) await greedy.delete(`/api/domains/${id}/failover`);
    done(await other.delete(`/api/domains/${its}/failover`));
  });

  it('by looks at the health of domains, of which the next one is refused', async () => {
    const statuses: number[] = [];
    const all = domains.slice(0, 40).map(async (id) => {
      statuses.push((await greedy.get(`/api/domains/${id}/health`)).status);
    });
    await until('the line is full', async () => statuses.filter((status) => status === 429).length === 20);
    const mine = other.get(`/api/domains/${its}/health`);
    await until('that of the other one goes on', async () => (await metric('in_use', 'zone health')) === 11);
    assert.equal(await metric('waiting', 'zone health'), 10);
    assert.ok(done(await mine).checked_at);
    await Promise.all(all);
    assert.equal(await metric('refused_total', 'zone health'), 20);
  });

  it('by requests that wait for publication', async () => {
    const record = async (client: Client, id: number) =>
      made(await client.post(`/api/domains/${id}/records`, { host: 'www', type: 'A', value: WORKS })).id;
    const paths: `/api/domains/${number}/records/${number}/propagation`[] = [];
    for (const id of domains.slice(0, 4))
      paths.push(`/api/domains/${id}/records/${await record(greedy, id)}/propagation`);
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${await service.server.login(GREEDY)}` };
    const statuses: number[] = [];
    const all = Array.from({ length: 120 }, (_, i) =>
      fetch(`${service.server.url}${paths[i % 4]}?wait=300`, { headers, signal: gone.signal }).then(
        ({ status }) => statuses.push(status),
        () => undefined,
      ),
    );
    await until('all of its places are taken', async () => statuses.length >= 20);
    assert.deepEqual(new Set(statuses), new Set([429]));
    const own = await record(other, its);
    const answer = await other.get(`/api/domains/${its}/records/${own}/propagation?wait=2`);
    assert.ok(done(answer).checked_at);
    assert.equal(await metric('in_use', 'publication'), 100);
    gone.abort();
    await Promise.all(all);
  });

  it('by questions to registries, those that somebody waits for and those of each day', async () => {
    const held: (() => void)[] = [];
    const asked: string[] = [];
    const hang = () => {
      asked.length = 0;
      rdap.handler = async ({ path }) => {
        asked.push(path);
        if (path.includes('greedy')) await new Promise<void>((resolve) => held.push(resolve));
        return ends(path);
      };
    };
    const letGo = () => {
      rdap.handler = ({ path }) => ends(path);
      for (const go of held.splice(0)) go();
    };
    await db.run('DELETE FROM registrations');
    hang();
    const statuses: number[] = [];
    const all = domains.slice(0, 30).map(async (id) => {
      statuses.push((await greedy.post(`/api/domains/${id}/expiry`)).status);
    });
    await until('its share is asked, and its line is full', async () => held.length === 6 && statuses.length === 18);
    assert.deepEqual(new Set(statuses), new Set([429]));
    const mine = done(await other.post(`/api/domains/${its}/expiry`));
    assert.equal(mine.expires_at?.slice(0, 10), '2030-01-01');
    // those that were given up let others of the same user in, and never more
    assert.ok((await metric('in_use', 'registry look-ups now')) <= 6);
    letGo();
    await Promise.all(all);
    // the daily ones: two at each registry, of two users
    await db.run('DELETE FROM registrations');
    hang();
    const stop = new AbortController();
    const tick = app()
      .get(RegistrationWatch)
      .tick(stop.signal)
      .catch(() => undefined);
    await until('that of the other one is asked about', async () => asked.some((path) => path.includes('other-one')));
    assert.ok((await metric('in_use', 'registry look-ups')) <= 4);
    stop.abort();
    letGo();
    await tick;
  });

  it('by looks at certificates', async () => {
    const closed = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as { port: number };
    // a name that every machine has, in many accounts
    for (const id of [...domains.slice(0, 12), its]) {
      const own = await addAccount(service.admin, 'zonefile', {});
      const at = id === its ? port : hanging.port;
      const watched = `UPDATE domains SET account_id = ?, name = 'localhost', watch_certificates = ?, certificate_port = ? WHERE id = ?`;
      await db.run(watched, [own, true, at, id]);
      await db.run(
        'UPDATE dns_records SET type = ?, host = ? WHERE id = (SELECT MIN(id) FROM dns_records WHERE domain_id = ?)',
        ['A', '@', id],
      );
    }
    const stop = new AbortController();
    const tick = app()
      .get(Certificates)
      .tick(stop.signal)
      .catch(() => undefined);
    const looked = () => db.row('SELECT id FROM certificates WHERE domain_id = ?', [its]);
    await until('the share is used up', async () => (await metric('in_use', 'certificate looks')) >= 8);
    await until('that of the other one was looked at', async () => (await looked()) !== undefined);
    assert.ok((await metric('waiting', 'certificate looks')) > 0, 'the others still wait');
    stop.abort();
    await tick;
    closed.close();
  });

  it('by the watch over delegations', async () => {
    await db.run('DELETE FROM delegations');
    await db.run(`UPDATE domains SET created_at = '2026-01-01T00:00:00.000Z'`);
    const stop = new AbortController();
    const tick = app()
      .get(DelegationWatch)
      .look(stop.signal)
      .catch(() => undefined);
    await until(
      'six of one user, and that of the other',
      async () => (await metric('in_use', 'delegation watch')) === 7,
    );
    assert.equal(await metric('waiting', 'delegation watch'), domains.length - 6);
    stop.abort();
    await tick;
  });

  it('by streams of events', async () => {
    const token = await service.server.login(GREEDY);
    const gone = new AbortController();
    const open = (credential: string) =>
      fetch(`${service.server.url}/api/events`, {
        headers: { authorization: `Bearer ${credential}` },
        signal: gone.signal,
      });
    const all = await Promise.all(Array.from({ length: 12 }, () => open(token)));
    assert.deepEqual(all.map(({ status }) => status).toSorted(), [...Array(10).fill(200), 429, 429]);
    assert.equal((await open(await service.server.login(OTHER))).status, 200);
    gone.abort();
  });

  it('by passwords that are hashed', async () => {
    const statuses: number[] = [];
    const all = Array.from({ length: 60 }, async (_, i) => {
      const user = { username: `many-${i}`, password: 'quiet-mountain-55' };
      statuses.push((await service.admin.post('/api/users', user)).status);
    });
    await until('its line is full', async () => statuses.includes(429));
    assert.ok(await service.server.login(OTHER));
    assert.ok((await metric('waiting', 'password hashes')) > 0, 'the others still wait');
    await Promise.all(all);
  });

  it('by synchronisations of accounts at a provider that hangs', async () => {
    let isMute = false;
    const answer = ({ path }: { path: string }) => ({
      body: path.endsWith('/zones')
        ? []
        : { id: 'localhost', type: 'Server', daemon_type: 'authoritative', version: '4.9.0' },
    });
    const held: (() => void)[] = [];
    const vendor = await startStandIn(async (request) => {
      if (isMute) await new Promise<void>((resolve) => held.push(resolve));
      return answer(request);
    });
    const well = await startStandIn(answer);
    const accounts: number[] = [];
    for (let i = 0; i < 40; i++)
      accounts.push(await addAccount(service.admin, 'powerdns', { url: vendor.url, api_key: 'x' }));
    const own = await addAccount(service.admin, 'powerdns', { url: well.url, api_key: 'x' });
    await db.run('UPDATE dns_accounts SET owner_id = ? WHERE id <> ?', [greedyId, own]);
    isMute = true;
    well.requests.length = 0;
    const jobs = app().get(Jobs);
    const begin = (id: number, owner: number) =>
      jobs.enqueue(
        'account.sync',
        { account: id, confirm: false, at: new Date().toISOString(), who: null, owner },
        `account|${id}`,
      );
    for (const id of accounts) await begin(id, greedyId);
    await until('they hang', async () => held.length >= 16);
    await begin(own, otherId);
    await until('that of the other one is read', async () => well.requests.length > 0);
    assert.ok((await metric('in_use', 'synchronisations')) <= 33);
    isMute = false;
    for (const go of held.splice(0)) go();
    await until('all are done', async () => (await metric('in_use', 'synchronisations')) === 0);
    await vendor.stop();
    await well.stop();
  });
});
