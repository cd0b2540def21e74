import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { TICK_MS } from '../../src/changes/engine.service.js';
import { lockOf } from '../../src/changes/in-doubt/locks.js';
import { lockOf as rulesLockOf } from '../../src/monitoring/failover/switcher.service.js';
import { Leases } from '../../src/platform/database/leases.js';
import type { Failure } from '../support/answers.js';
import { type SteeredClock, stopClock } from '../support/clock.js';
import { waitsForLock, whileWaiting } from '../support/late-writes.js';
import { gate } from '../support/leases.js';
import { readDescription } from '../support/openapi.js';
import { noPowerdns } from '../support/powerdns.js';
import { holdFirstWrite } from '../support/proxy.js';
import { type Answer, applicationOf } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import { addAccount, addDomain, done, made, refused, startWorld, until, type World } from '../support/world.js';

const A = { host: 'www', type: 'A', value: '192.0.2.1' };
/** ms in which a request is answered */
const DEADLINE_MS = 50_000;

/** That a failure says when to try again, in the body and in the header. */
function assertDated(answer: Answer): Failure {
  const { data, headers } = refused(answer, 500, 500002);
  assert.equal(data.retryable, true);
  assert.match(String(data.retry_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(Number(headers.get('retry-after')) >= 1, String(headers.get('retry-after')));
  return data;
}

describeUnless(noPowerdns)('a provider that wants to be asked again in a second, throughout', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld('sqlite');
  });
  afterAll(() => world?.stop());

  it('is asked ten times at most for one change, which then fails and says when to try again', async () => {
    const { admin, proxy, records } = world;
    proxy.fault = async () => ({ status: 429, body: '{"error": "slow down"}', headers: { 'retry-after': '1' } });
    proxy.requests.length = 0;
    const answer = await admin.post(records, A);
    assert.ok(proxy.requests.length <= 10, `${proxy.requests.length} requests`);
    assertDated(answer);
    assert.match(answer.msg, /slow down|refused/);
    proxy.fault = null;
    made(await admin.post(records, A));
  });
});

describeUnless(noPowerdns)('the time of a request', () => {
  let world: World;
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-reload-'));
  const script = join(folder, 'reload');
  const go = join(folder, 'go');
  const begun = join(folder, 'begun');
  let clock: SteeredClock;
  beforeAll(async () => {
    // it does not end when it is told to
    writeFileSync(script, `#!/bin/sh\ntrap '' TERM\ntouch ${begun}\nuntil [ -e ${go} ]; do sleep 0.1; done\n`, {
      mode: 0o755,
    });
    writeFileSync(go, '');
    world = await startWorld('sqlite', {
      REQUEST_DEADLINE_MS: String(DEADLINE_MS),
      PROVIDER_TIMEOUT_MS: '120000',
      ZONEFILE_RELOAD_COMMAND: script,
    });
    clock = stopClock();
  });
  afterAll(async () => {
    writeFileSync(go, '');
    clock?.release();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    world.proxy.fault = null;
  });

  it('bounds a write that is not answered: it is in doubt, and gets its end from what the provider holds', async () => {
    const { admin, proxy, records } = world;
    const late = holdFirstWrite();
    proxy.fault = late.fault;
    const answer = admin.post(records, { ...A, host: 'slow' });
    await late.arrived;
    await clock.advance(DEADLINE_MS);
    // answered while the provider is still at it
    assert.equal(assertDated(await answer).applied, 'unknown');
    await late.release();
    proxy.fault = null;
    await until('the record is there', async () => {
      const { list } = done(await admin.get(`${records}?refresh=true&host=slow`));
      return list.length === 1 && !list[0]?.pending;
    });
  });

  it('bounds reading, and the addition of a domain', async () => {
    const { admin, proxy, pdns, records, account } = world;
    await pdns.createZone('slow.example');
    const { opened, open } = gate();
    let hanging = 0;
    proxy.fault = async (_request, forward) => {
      hanging++;
      await opened;
      return forward();
    };
    const answers = Promise.all([
      admin.get(`${records}?refresh=true`),
      admin.post('/api/domains', { name: 'slow.example', account_id: account }),
      admin.put(`/api/accounts/${account}`, { credentials: { url: `${proxy.url}/`, api_key: pdns.apiKey } }),
    ]);
    await until('the provider has all three', async () => hanging === 3);
    await clock.advance(DEADLINE_MS);
    for (const answer of await answers) assert.equal(assertDated(answer).applied, 'no');
    open();
  });

  it('bounds also a write whose client has gone away', async () => {
    const { admin, proxy, records, account, server, token } = world;
    const writes = () => proxy.requests.filter(({ method }) => method === 'PATCH').length;
    proxy.requests.length = 0;
    proxy.fault = async ({ method }, forward) =>
      method === 'PATCH' && writes() === 1 ? { status: 429, body: '{}', headers: { 'retry-after': '60' } } : forward();
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ ...A, host: 'gone' });
    const asked = fetch(server.url + records, { method: 'POST', headers, body, signal: gone.signal });
    // the client goes away while the provider is being asked
    const fault = proxy.fault;
    proxy.fault = async (request, forward) => {
      gone.abort();
      await asked.catch(() => undefined);
      return fault(request, forward);
    };
    await assert.rejects(asked);
    await until('the change has an end', async () => writes() > 0 && (await openIntents(world)) === 0);
    assert.equal(writes(), 1, 'it is not tried when the time of the request is over');
    done(await admin.post(`/api/accounts/${account}/resume`));
    assert.equal(done(await admin.get(`${records}?refresh=true&host=gone`)).total, 0);
  });

  it('counts the waiting for a lock', async () => {
    const { admin, records, domain, server } = world;
    const { opened, open } = gate();
    const leases = applicationOf(server.dataDir)?.get(Leases) as Leases;
    const name = lockOf(domain, 'locked');
    const held = leases.hold([name], 0, () => opened, { within: lockOf(domain, null) });
    const answer = admin.post(records, { ...A, host: 'locked' });
    await waitsForLock(clock);
    await clock.advance(DEADLINE_MS);
    assert.equal(assertDated(await answer).applied, 'no');
    open();
    await held;
    made(await admin.post(records, { ...A, host: 'locked' }));
  });

  it('does not bound a list that goes on in the background, nor a job', async () => {
    const { admin, proxy, account, domain } = world;
    const { opened, open } = gate();
    const hanging: string[] = [];
    proxy.fault = async ({ method }, forward) => {
      hanging.push(method);
      await opened;
      return forward();
    };
    const changes = Array.from({ length: 250 }, (_, i) => ({ op: 'create', ...A, host: `many${i}` }));
    const answers = Promise.all([
      admin.post(`/api/domains/${domain}/records/batch?wait=100`, { changes }),
      admin.post(`/api/accounts/${account}/sync`),
    ]);
    await until('the provider has both', async () => hanging.length > 1);
    await clock.advance(DEADLINE_MS + 10_000);
    open();
    const [batch, sync] = await answers;
    assert.ok(done(batch).outcomes?.every(({ ok }) => ok));
    assert.equal(sync.status, 202);
    const { job_id } = sync.data as unknown as { job_id: number };
    await until('it ends', async () => {
      await clock.advance(1000);
      return done(await admin.get(`/api/system/jobs/${job_id}`)).state === 'done';
    });
  });

  it('is kept where something does not end: the change goes on behind the answer', async () => {
    const { admin } = world;
    const account = await addAccount(admin, 'zonefile', {});
    const domain = await addDomain(admin, account, 'files.example', true);
    const records = `/api/domains/${domain}/records` as const;
    for (const file of [go, begun]) rmSync(file);
    const answer = admin.post(records, A);
    await until('it is at it', async () => existsSync(begun));
    await clock.advance(DEADLINE_MS);
    assert.equal(assertDated(await answer).applied, 'unknown');
    writeFileSync(go, '');
    await until('the record is there', async () => {
      const { list } = done(await admin.get(`${records}?host=www`));
      return list.length === 1 && !list[0]?.pending;
    });
  });
});

/**
 * Writes that take `wait`, its bounds, and a body; of a list and what goes on as a job, 0 means that nothing is waited
 * for.
 */
const TAKING: Record<string, [least: number, most: number, body?: object]> = {
  'POST /api/accounts/{id}/sync': [0, 50],
  'POST /api/domains/{domain_id}/records/batch': [0, 120, { changes: [{ op: 'create', ...A }] }],
  'POST /api/plans/{id}/apply': [0, 50],
  'POST /api/plans/{id}/approve': [0, 50],
  'POST /api/system/clear-cache': [0, 50],
  'POST /api/domains/{domain_id}/records': [1, 50, A],
  'PUT /api/domains/{domain_id}/records/{record_id}': [1, 50, { ttl: 600 }],
  'DELETE /api/domains/{domain_id}/records/{record_id}': [1, 50],
  'PATCH /api/domains/{domain_id}/records/{record_id}/status': [1, 50, { enabled: false }],
  'PUT /api/domains/{domain_id}/rrsets/{host}/{type}': [1, 50, { values: ['192.0.2.1'] }],
  'DELETE /api/domains/{domain_id}/rrsets/{host}/{type}': [1, 50],
  'POST /api/domains/{domain_id}/failover': [1, 50, { enabled: false, rules: [] }],
  'DELETE /api/domains/{domain_id}/failover': [1, 50],
  'POST /api/domains/{domain_id}/failover/{ruleId}/switch': [1, 50, { to: 'backup' }],
  'POST /api/tunnels': [1, 50, { account_id: 1, name: 'walked' }],
  'PUT /api/tunnels/{id}': [1, 50, { name: 'walked' }],
  'DELETE /api/tunnels/{id}': [1, 50],
  'POST /api/tunnels/{id}/rotate-token': [1, 50],
};

describeUnless(noPowerdns)('a write with `wait`', () => {
  let world: World;
  let clock: SteeredClock;
  beforeAll(async () => {
    world = await startWorld('sqlite', { PROVIDER_TIMEOUT_MS: '120000' });
    clock = stopClock();
  });
  afterAll(async () => {
    clock?.release();
    await world?.stop();
  });
  afterEach(() => {
    world.proxy.fault = null;
  });

  it('is answered by then and in doubt when the provider hangs, and nothing is lost afterwards', async () => {
    const { admin, proxy, records, domain } = world;
    const { opened, open } = gate();
    let hanging = 0;
    proxy.fault = async ({ method }, forward) => {
      if (method === 'PATCH') {
        hanging++;
        await opened;
      }
      return forward();
    };
    const bounded = admin.put(`/api/domains/${domain}/rrsets/bounded/A?wait=2`, { values: ['192.0.2.7'] });
    await until('the provider has it', async () => hanging > 0);
    let isOver = false;
    const other = admin.post(records, { ...A, host: 'unbounded' }).finally(() => {
      isOver = true;
    });
    // behind the one at the provider
    await waitsForLock(clock);
    await clock.advance(2000);
    assert.equal(assertDated(await bounded).applied, 'unknown');
    assert.equal(isOver, false, 'the other one has the time of every request');
    open();
    made(await other);
    await until('the set is there', async () => {
      const { list } = done(await admin.get(`${records}?refresh=true&host=bounded`));
      return list.length === 1 && list[0]?.value === '192.0.2.7' && !list[0]?.pending;
    });
    assert.equal(await openIntents(world), 0);
  });

  it('is not done when it was not begun by then', async () => {
    const { admin, proxy, records, domain, server } = world;
    const { opened, open } = gate();
    const leases = applicationOf(server.dataDir)?.get(Leases) as Leases;
    const held = leases.hold([lockOf(domain, 'held')], 0, () => opened, { within: lockOf(domain, null) });
    proxy.requests.length = 0;
    const refusal = assertDated(await admin.post(`${records}?wait=1`, { ...A, host: 'held' }));
    assert.deepEqual([refusal.retryable, refusal.applied], [true, 'no']);
    assert.equal(proxy.requests.filter(({ method }) => method === 'PATCH').length, 0);
    open();
    await held;
    made(await admin.post(`${records}?wait=50`, { ...A, host: 'held' }));
  });

  it('is bounded while rules of failover are locked', async () => {
    const { admin, domain, server } = world;
    const { opened, open } = gate();
    const leases = applicationOf(server.dataDir)?.get(Leases) as Leases;
    const held = leases.hold([rulesLockOf(domain)], 0, () => opened, { whole: true });
    const path = `/api/domains/${domain}/failover` as const;
    assertDated(await admin.post(`${path}?wait=1`, { enabled: false, rules: [] }));
    open();
    await held;
    done(await admin.post(`${path}?wait=1`, { enabled: false, rules: [] }));
  });

  it('has the same parameter everywhere, which names itself when it is out of its bounds', async () => {
    const { records, domain, server, token } = world;
    const { id } = made(await world.admin.post(records, { ...A, host: 'walked' }));
    const { operations } = await readDescription(server);
    const taking = operations.filter(
      ({ method, operation }) => method !== 'get' && operation.parameters?.some(({ name }) => name === 'wait'),
    );
    assert.deepEqual(taking.map(({ name }) => name).sort(), Object.keys(TAKING).sort());
    for (const { name, method, path } of taking) {
      const [least, most, body = {}] = TAKING[name] as (typeof TAKING)[string];
      const placed = path
        .replace('{domain_id}', String(domain))
        .replace('{record_id}', String(id))
        .replace('{host}/{type}', 'walked/A')
        .replace('{id}', String(world.account))
        .replaceAll(/\{\w+\}/g, '999999');
      const fields = async (wait: number | string) => {
        const answer = await server.call(method.toUpperCase(), `${placed}?wait=${wait}&strange=1`, body, token);
        assert.equal(answer.code, 400001, name);
        return (answer.data as Failure).errors.map(({ path: field }) => field).filter((field) => field === 'wait');
      };
      for (const wrong of [least - 1, most + 1, 'x', '1.5']) assert.deepEqual(await fields(wrong), ['wait'], name);
      for (const right of [least, most]) assert.deepEqual(await fields(right), [], name);
    }
  });
});

describeUnless(noPowerdns)('a write behind one that the provider may still carry out', () => {
  let world: World;
  let clock: SteeredClock;
  beforeAll(async () => {
    world = await startWorld('sqlite', { UNCLEAR_AFTER_MS: '30000' });
    clock = stopClock();
  });
  afterAll(async () => {
    clock?.release();
    await world?.stop();
  });

  it('is not begun after its request has ended, and so does not undo a later one', async () => {
    const { admin, proxy, domain } = world;
    const set = `/api/domains/${domain}/rrsets/late/A` as const;
    done(await admin.put(set, { values: ['192.0.2.1'] }));
    const late = holdFirstWrite();
    proxy.fault = late.fault;
    const bounded = admin.put(`${set}?wait=1`, { values: ['192.0.2.2'] });
    await late.arrived;
    await clock.advance(1000);
    const first = refused(await bounded, 500, 500002);
    assert.equal(first.data.applied, 'unknown');
    const deletion = whileWaiting(clock, () => clock.advance(1000), admin.delete(`${set}?wait=1`));
    assert.equal(refused(await deletion, 500, 500002).data.applied, 'no');
    await late.release();
    await until('the first one has an end', async () => {
      await admin.get(`/api/domains/${domain}/records?refresh=true`);
      return (await openIntents(world)) === 0;
    });
    done(await admin.put(set, { values: ['192.0.2.3'] }));
    await until('nothing is under way', async () => (await openIntents(world)) === 0);
    // longer than a writer waits between two looks
    for (let look = 0; look < 4; look++) {
      await clock.advance(TICK_MS);
      done(await admin.get(`/api/domains/${domain}/records?refresh=true`));
    }
    const held = done(await admin.get(`/api/domains/${domain}/records?refresh=true&host=late`)).list;
    assert.deepEqual(
      held.map(({ value }) => value),
      ['192.0.2.3'],
    );
  });
});
