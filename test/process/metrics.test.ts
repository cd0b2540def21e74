import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Client, ServerProcess, type Service, startProcess, startService } from '../support/server.js';
import { EventStream } from '../support/stream.js';
import { describeUnless } from '../support/suites.js';
import { startStandIn } from '../support/vendor.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

const METRICS_TOKEN = 'a-token-for-who-looks-at-numbers';
const scrape = (url: string, token?: string) =>
  fetch(`${url}/metrics`, { headers: token ? { authorization: `Bearer ${token}` } : {} });

/** The value of a sample, by its name and labels as they are written. */
const sampleOf = (text: string, sample: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${sample} `))
      ?.split(' ')[1] ?? Number.NaN,
  );

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`metrics on ${kind}`, () => {
    let service: Service<ServerProcess>;
    let admin: Client;
    beforeAll(async () => {
      // nothing listens there
      service = await startProcess(kind, { METRICS: 'on', METRICS_TOKEN, REDIS_URL: 'redis://127.0.0.1:9' });
      ({ admin } = service);
    });
    afterAll(() => service?.stop());

    it('require the token', async () => {
      const { url } = service.server;
      for (const token of [undefined, service.token, `${METRICS_TOKEN}x`, 'x'])
        assert.equal((await scrape(url, token)).status, 401);
      const answer = await scrape(url, METRICS_TOKEN);
      assert.equal(answer.status, 200);
      assert.match(String(answer.headers.get('content-type')), /^text\/plain; version=0\.0\.4/);
      await answer.text();
    });

    it('count what happened, with labels that clients cannot add values to', async () => {
      const { server } = service;
      const domain = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'one.example', true);
      made(await admin.post(`/api/domains/${domain}/records`, { host: 'www', type: 'A', value: '192.0.2.1' }));
      refused(await server.call('POST', '/api/auth/login', { username: 'admin', password: 'wrong' }), 401, 401001);
      for (let i = 0; i < 5; i++) refused(await admin.get(`/api/made-up-${i}`), 404, 404001);
      await fetch(`${server.url}/api/site`, { method: 'PROPFIND' });
      const side = await openDatabase(service.databaseUrl, server.dataDir);
      for (const [name, synced_at, status] of [
        ['older.example', now(-48 * 3_600_000), 'active'],
        ['never.example', null, 'active'],
        ['gone.example', now(), 'missing'],
      ])
        await side.db.run(
          `INSERT INTO domains (name, account_id, remote_id, status, remark, records_count, revision, created_at, synced_at)
            SELECT ?, account_id, ?, ?, '', 7, 0, created_at, ? FROM domains WHERE id = ?`,
          [name as string, name as string, status as string, synced_at as string, domain],
        );
      await side.close();
      const stream = await EventStream.open(server.url, service.token);
      await stream.next('ready');
      const text = await (await scrape(server.url, METRICS_TOKEN)).text();
      stream.close();
      const is = (sample: string, value: number) => assert.equal(sampleOf(text, sample), value, sample);
      is('zoneward_logins_total{result="ok"}', 1);
      is('zoneward_logins_total{result="failed"}', 1);
      is('zoneward_record_changes_total{state="applied"}', 1);
      is('zoneward_change_sets{state="open"}', 0);
      is('zoneward_change_sets{state="unknown"}', 0);
      is('zoneward_event_streams{kind="open"}', 1);
      const ages = (more: object) => ({ hour: 0, day: 0, week: 0, older: 0, never: 0, ...more });
      const agesOf = (name: string) =>
        Object.fromEntries(Object.keys(ages({})).map((age) => [age, sampleOf(text, `${name}{synced="${age}"}`)]));
      assert.deepEqual(agesOf('zoneward_domains'), ages({ hour: 1, week: 1, never: 1 }));
      assert.deepEqual(agesOf('zoneward_cached_records'), ages({ hour: 2, week: 7, never: 7 }));
      is('zoneward_remembered_total{what="connections",result="miss"}', 1);
      assert.ok(sampleOf(text, 'zoneward_remembered_total{what="connections",result="hit"}') > 0);
      const created = 'method="POST",route="/api/domains/:id/records",status="201"';
      is(`zoneward_http_request_duration_seconds_count{${created}}`, 1);
      is('zoneward_provider_call_duration_seconds_count{kind="zonefile",verb="apply",outcome="ok"}', 1);
      assert.ok(sampleOf(text, 'nodejs_eventloop_lag_p99_seconds') >= 0);
      assert.match(text, /^zoneward_build_info\{version="\d+\.\d+\.\d+(-rc\.\d+)?"\} 1$/m);
      assert.ok(!text.includes('made-up') && !text.includes('PROPFIND') && !text.includes('one.example'));
      if (kind === 'sqlite') assert.ok(!text.includes('zoneward_database_connections{'));
      else assert.ok(sampleOf(text, 'zoneward_database_connections{state="idle"}') > 0);
    });

    it('show what alerts are made of: a changed audit log, a change in doubt, unavailable Redis', async () => {
      const { server } = service;
      const value = async (sample: string) => sampleOf(await (await scrape(server.url, METRICS_TOKEN)).text(), sample);
      done(await admin.get('/api/audit/verify'));
      assert.equal(await value('zoneward_audit_broken{by="verification"}'), 0);
      assert.equal(await value('zoneward_in_doubt_seconds{of="oldest"}'), 0);
      const zone = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'doubt.example', true);
      made(await admin.post(`/api/domains/${zone}/records`, { host: 'www', type: 'A', value: '192.0.2.1' }));
      const side = await openDatabase(service.databaseUrl, server.dataDir);
      const [change] = await side.db.rows<{ id: number; tried_at: string }>('SELECT id, tried_at FROM record_changes');
      await side.db.run("UPDATE record_changes SET state = 'unknown', tried_at = ?", [now(-600_000)]);
      const age = await value('zoneward_in_doubt_seconds{of="oldest"}');
      await side.db.run("UPDATE record_changes SET state = 'applied', tried_at = ?", [change?.tried_at ?? null]);
      assert.ok(age >= 600 && age < 1200, String(age));
      await side.db.run("UPDATE audit_logs SET action = 'forged' WHERE seq = 1");
      done(await admin.get('/api/audit/verify'));
      await side.close();
      assert.equal(await value('zoneward_audit_broken{by="verification"}'), 1);
      assert.equal(await value('zoneward_redis{state="away"}'), 1);
    });
  });
}

describe('metrics', () => {
  it('are off by default', async () => {
    const service = await startService('sqlite');
    try {
      assert.equal((await scrape(service.server.url)).status, 404);
    } finally {
      await service.stop();
    }
  });

  it('are counted by each application of a process for itself', async () => {
    const env = { METRICS: 'on', METRICS_TOKEN };
    const services = [await startService('sqlite', env), await startService('sqlite', env)];
    try {
      await services[1]?.server.login();
      const texts = await Promise.all(
        services.map(async ({ server }) => (await scrape(server.url, METRICS_TOKEN)).text()),
      );
      const ok = texts.map((text) => sampleOf(text, 'zoneward_logins_total{result="ok"}'));
      assert.deepEqual(ok, [1, 2]);
      for (const text of texts) assert.ok(sampleOf(text, 'process_resident_memory_bytes') > 0);
    } finally {
      for (const service of services) await service.stop();
    }
  });

  it('say of a list that turns out to be cut, or that is whole, how its call ended', async () => {
    const soa = { content: 'ns1.example.net. h.example. 1 1 1 1 1', disabled: false };
    const zone = { id: 'cut.example.', name: 'cut.example.' };
    const rrsets: object[] = [{ name: zone.name, type: 'A', ttl: 60, records: [{ content: '192.0.2.1' }] }];
    const vendor = await startStandIn(({ path }) => ({ body: path.endsWith('/zones') ? [zone] : { ...zone, rrsets } }));
    const env = { METRICS: 'on', METRICS_TOKEN, OUTBOUND_ALLOW: '127.0.0.0/8' };
    const service = await startService('sqlite', env);
    try {
      const account = await addAccount(service.admin, 'powerdns', { url: vendor.url, api_key: 'x' });
      const counted = async () => {
        const text = await (await scrape(service.server.url, METRICS_TOKEN)).text();
        const call = 'zoneward_provider_call_duration_seconds_count{kind="powerdns",verb="listRecords"';
        return ['ok', 'unavailable'].map((outcome) => sampleOf(text, `${call},outcome="${outcome}"}`) || 0);
      };
      assert.equal(done(await service.admin.post(`/api/accounts/${account}/sync`)).failed, 1);
      assert.deepEqual(await counted(), [0, 1]);
      rrsets.push({ name: zone.name, type: 'SOA', ttl: 60, records: [soa] });
      assert.equal(done(await service.admin.post(`/api/accounts/${account}/sync`)).failed, 0);
      assert.deepEqual(await counted(), [1, 1]);
    } finally {
      await service.stop();
      await vendor.stop();
    }
  });

  it('can have a port of their own, which is closed with the service', async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const service = await startProcess('sqlite', { METRICS_PORT: String(port) });
    const own = `http://127.0.0.1:${port}`;
    try {
      assert.equal((await scrape(service.server.url)).status, 404);
      const answer = await scrape(own);
      assert.equal(answer.status, 200);
      assert.ok((await answer.text()).includes('zoneward_http_request_duration_seconds_count'));
      assert.equal((await fetch(`${own}/api/site`)).status, 404);
      // one that has it already ends the start, in words
      const env = { METRICS_PORT: String(port), DATABASE_URL: 'sqlite:other.db' };
      await assert.rejects(ServerProcess.start(env), /EADDRINUSE/);
      assert.equal(await service.server.stop(), 0);
      await assert.rejects(scrape(own));
    } finally {
      await service.stop();
    }
  });
});

describe('the log', () => {
  let service: Service<ServerProcess>;
  const lines = () =>
    service.server.log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const line = (msg: string) => lines().find((one) => one.msg === msg);
  beforeAll(async () => {
    const env = { SLOW_REQUEST_MS: '1', TRUSTED_PROXIES: '192.0.2.0/24', METRICS: 'on', METRICS_TOKEN };
    service = await startProcess('sqlite', env);
  });
  afterAll(() => service?.stop());

  it('has the start with version and configuration, and no secrets', () => {
    const { version, config } = line('starting') as { version: string; config: Record<string, unknown> };
    assert.match(version, /^\d+\.\d+\.\d+(-rc\.\d+)?$/);
    assert.equal((config.database as { type: string }).type, 'sqlite');
    assert.deepEqual(config.trustedProxies, ['192.0.2.0/24']);
    assert.ok(!service.server.log.includes(METRICS_TOKEN) && !service.server.log.includes('correct-horse'));
  });

  it('warns of slow requests', async () => {
    const { admin } = service;
    await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'slow.example', true);
    // the hash of a password takes a while
    await service.server.login();
    await until('a slow request is told', async () =>
      lines().some((one) => one.msg === 'slow request' && one.path === '/api/auth/login' && one.level === 40),
    );
  });

  it('has requests whose client disconnected, which are counted as well', async () => {
    const { url } = service.server;
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const head = 'POST /api/gone HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{';
    socket.write(head, () => socket.destroy());
    await until('it is told', async () => lines().some((one) => one.path === '/api/gone' && one.status === 499));
    const sample = 'zoneward_http_request_duration_seconds_count{method="POST",route="none",status="499"}';
    assert.equal(sampleOf(await (await scrape(url, METRICS_TOKEN)).text(), sample), 1);
  });

  it('has a failure in one line: method, path, reason', async () => {
    const { admin } = service;
    const credentials = { url: 'http://127.0.0.1:9', api_key: 'secret-of-nobody' };
    const answer = await admin.post('/api/accounts', { provider: 'powerdns', name: 'down', credentials });
    refused(answer, 500, 500002);
    await until('it is told', async () => line('failed') !== undefined);
    const told = line('failed');
    assert.deepEqual([told?.method, told?.path, told?.reason], ['POST', '/api/accounts', answer.msg]);
    const raw = service.server.log.split('\n').filter((text) => text.includes('"msg":"failed"'));
    for (const text of raw) assert.equal(text.split('"msg":').length, 2, text);
  });

  it('warns once of X-Forwarded-For from an untrusted proxy', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    for (let i = 0; i < 3; i++) done(await service.server.call('GET', '/api/site', undefined, undefined, headers));
    const warnings = () => lines().filter((one) => String(one.msg).startsWith('X-Forwarded-For'));
    await until('it is told', async () => warnings().length > 0);
    assert.equal(warnings().length, 1);
  });

  it('has the stop', async () => {
    assert.equal(await service.server.stop(), 0);
    await until('it is told', async () => line('stopped') !== undefined);
    assert.equal(line('stopping')?.signal, 'SIGTERM');
    assert.equal(line('stopped')?.code, 0);
  });

  it('warns when all proxies are trusted', async () => {
    const open = await startProcess('sqlite', { TRUSTED_PROXIES: '0.0.0.0/0' });
    try {
      assert.match(open.server.log, /TRUSTED_PROXIES trusts everybody/);
    } finally {
      await open.stop();
    }
  });
});
