import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { steerClock } from '../support/clock.js';
import { startCloudflare } from '../support/cloudflare.js';
import { noPowerdns } from '../support/powerdns.js';
import { holdFirstWrite } from '../support/proxy.js';
import { type Client, ServerProcess, startProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { addAccount, addDomain, done, ended, made, startWorld, until, type World } from '../support/world.js';

/** A held write has no end of its own. */
const PATIENT = { PROVIDER_TIMEOUT_MS: '120000' };
/** Interval in ms at which each process looks for lists without an owner. */
const LOOK_MS = 17_000;

describeUnless(noPowerdns)('lists of changes under attack', () => {
  let world: World;
  let admin: Client;
  let records: World['records'];
  let batch: `${World['records']}/batch`;
  let changes: `/api/domains/${number}/changes`;
  beforeAll(async () => {
    world = await startWorld('sqlite', PATIENT);
    ({ admin, records } = world);
    batch = `${records}/batch`;
    changes = `/api/domains/${world.domain}/changes`;
  });
  afterAll(() => world?.stop());

  const add = async (host: string, value: string, more: object = {}) =>
    made(await admin.post(records, { host, type: 'A', value, ...more })).id;
  const token = async (more: object) =>
    world.server.as(made(await admin.post('/api/tokens', { name: 'attacker', ...more })).token);
  const many = (n: number, host: (i: number) => string, more: object = {}) =>
    Array.from({ length: n }, (_, i) => ({
      op: 'create',
      host: host(i),
      type: 'A',
      value: `10.1.${i >> 8}.${i & 255}`,
      ...more,
    }));

  it('two records that swap their values are both in DNS', async () => {
    const a = await add('sw', '192.0.2.1');
    const b = await add('sw', '192.0.2.2');
    const list = [
      { op: 'update', id: a, value: '192.0.2.99' },
      { op: 'update', id: b, value: '192.0.2.1' },
      { op: 'update', id: a, value: '192.0.2.2' },
    ];
    ended(await admin.post(batch, { changes: list }));
    await world.agree();
  });

  it('a value that is handed on to a record that was touched before is in DNS', async () => {
    const [a, b, c] = [await add('sh', '192.0.2.1'), await add('sh', '192.0.2.2'), await add('sh', '192.0.2.3')];
    const list = [
      { op: 'update', id: a, remark: 'first' },
      { op: 'update', id: c, value: '192.0.2.4' },
      { op: 'update', id: b, value: '192.0.2.3' },
      { op: 'update', id: a, value: '192.0.2.2' },
    ];
    ended(await admin.post(batch, { changes: list }));
    await world.agree();
  });

  it('the TTL that an edit gave a set stays when the record itself goes', async () => {
    const a = await add('ttl', '192.0.2.1', { ttl: 300 });
    await add('ttl', '192.0.2.2');
    const list = [
      { op: 'update', id: a, ttl: 60 },
      { op: 'delete', id: a },
      { op: 'create', host: 'ttl', type: 'A', value: '192.0.2.3' },
    ];
    ended(await admin.post(batch, { changes: list }));
    await world.agree();
  });

  it('a record that only carries the TTL of its set is not pending for ever', async () => {
    const a = await add('carry', '192.0.2.1', { ttl: 300 });
    const b = await add('carry', '192.0.2.2');
    world.proxy.fault = async (request, forward) => {
      const reply = await forward();
      return request.method === 'PATCH' ? 'close' : reply;
    };
    const list = [
      { op: 'update', id: a, ttl: 60 },
      { op: 'delete', id: a },
    ];
    const { change_set_id } = ended(await admin.post(batch, { changes: list }));
    world.proxy.fault = null;
    const path = `${changes}/${change_set_id as number}` as const;
    await until('it has an end', async () => done(await admin.get(path)).state === 'done');
    done(await admin.get(`${records}?refresh=true&limit=1`));
    const { ttl, pending } = done(await admin.get(`${records}/${b}`));
    assert.deepEqual([ttl, pending], [60, false]);
    await world.agree();
  });

  it('what was nothing to do is not pending for ever', async () => {
    const id = await add('idle', '192.0.2.1', { ttl: 300 });
    const list = [
      { op: 'update', id, ttl: 300 },
      { op: 'create', host: 'idle2', type: 'A', value: '192.0.2.1' },
    ];
    const { change_set_id } = ended(await admin.post(batch, { changes: list }));
    const set = done(await admin.get(`${changes}/${change_set_id as number}`));
    assert.deepEqual([set.state, set.counts.pending], ['done', 0]);
  });

  it('the history of what failed shows nobody what he may not read', async () => {
    made(await admin.post(records, { host: '_secret', type: 'TXT', value: 'TOP-SECRET-VALUE' }));
    const clash = { op: 'create', host: '_secret', type: 'CNAME', value: 'x.example.org.' };
    const { change_set_id } = ended(await admin.post(batch, { changes: [clash] }));
    const rules = [{ effect: 'allow', hosts: ['pub'], types: ['A'], actions: ['read'] }];
    const set = done(await (await token({ rules })).get(`${changes}/${change_set_id as number}`));
    assert.doesNotMatch(JSON.stringify(set), /TOP-SECRET-VALUE|_secret/);
  });

  it('who may write but not read reads nothing by writing nothing', async () => {
    const { id } = made(await admin.post(records, { host: 'wo', type: 'TXT', value: 'WRITE-ONLY-SECRET' }));
    const client = await token({ allowed_services: ['records:write'] });
    const answer = await client.put(`${records}/${id}`, {});
    assert.doesNotMatch(JSON.stringify(answer.data), /WRITE-ONLY-SECRET/);
  });

  it('the provider’s state of a record is told to nobody who may not read', async () => {
    const vendor = await startCloudflare('cf.example');
    try {
      const account = await addAccount(admin, 'cloudflare', { api_token: 'x', endpoint: vendor.url });
      const domain = await addDomain(admin, account, 'cf.example');
      const { id } = made(await admin.post(`/api/domains/${domain}/records`, { host: 'x', type: 'TXT', value: 'old' }));
      for (const kept of vendor.zones.get('cf.example') ?? []) kept.content = 'PAST-US-SECRET';
      const client = await token({ allowed_services: ['records:write'] });
      const answer = await client.put(`/api/domains/${domain}/records/${id}`, { ttl: 120 }, { 'if-match': '*' });
      assert.equal(answer.status, 412);
      assert.doesNotMatch(JSON.stringify(answer.data ?? {}), /PAST-US-SECRET/);
    } finally {
      await vendor.stop();
    }
  });

  it('an answer, and what is stored, does not grow with the value that is in the way', async () => {
    const value = 'x'.repeat(40_000);
    made(await admin.post(records, { host: 'big', type: 'TXT', value }));
    const list = Array.from({ length: 50 }, (_, i) => ({
      op: 'create',
      host: 'big',
      type: 'CNAME',
      value: `t${i}.example.net.`,
    }));
    const answer = ended(await admin.post(batch, { changes: list }));
    assert.ok(JSON.stringify(answer).length < 100_000, `${JSON.stringify(answer).length} bytes`);
  });

  it('a list that is accepted stands in the audit log once, with its domain', async () => {
    const answer = await admin.post(batch, { changes: many(201, (i) => `twice${i}`) });
    const path = `${changes}/${answer.data.change_set_id as number}` as const;
    await until('done', async () => done(await admin.get(path)).state === 'done');
    const { list } = done(await admin.get('/api/audit/logs?action=record.batch&limit=2'));
    assert.ok(
      list.every((entry) => entry.domain === world.zone),
      JSON.stringify(list.map((e) => [e.domain, e.after])),
    );
  });

  it('a list that is carried out is not taken for dead, and edits behind it stay', async () => {
    const base = ended(
      await admin.post(`${batch}?wait=60`, { changes: many(300, (i) => `live${i % 50}`, { ttl: 300 }) }),
    );
    const ids = (base.outcomes ?? []).map((o) => o.id as number);
    const clock = steerClock();
    try {
      const first = holdFirstWrite();
      world.proxy.fault = first.fault;
      const list = [...ids.map((id) => ({ op: 'status', id, enabled: false })), { op: 'delete', id: 2_147_483_600 }];
      const accepted = await admin.post(batch, { changes: list });
      const path = `${changes}/${accepted.data.change_set_id as number}` as const;
      await first.arrived;
      done(await admin.get(`${records}?refresh=true&limit=1`));
      const [row] = await rowsOf(world, `SELECT owner FROM change_sets WHERE id = ${accepted.data.change_set_id}`);
      assert.notEqual(row?.owner, '');
      await clock.advance(LOOK_MS);
      const last = `${records}/${ids[299] as number}` as const;
      const edit = admin.put(last, { value: '198.51.100.7', remark: 'mine' });
      await first.release();
      done(await edit);
      await until('the list has an end', async () => done(await admin.get(path)).state === 'done');
      await clock.advance(LOOK_MS);
      done(await admin.get(`${records}?refresh=true&limit=1`));
      const { value, remark } = done(await admin.get(last));
      assert.deepEqual([value, remark, done(await admin.get(path)).state], ['198.51.100.7', 'mine', 'done']);
    } finally {
      world.proxy.fault = null;
      clock.release();
    }
  });
});

describeUnless(noPowerdns)('processes with lists under attack', () => {
  let world: World;
  let server: ServerProcess;
  beforeAll(async () => {
    world = await startWorld('sqlite', PATIENT, 'lmdb', startProcess);
    server = world.server as unknown as ServerProcess;
  });
  afterAll(async () => {
    await server?.kill();
    await world?.stop();
  });
  const again = async () => {
    server = await ServerProcess.start({ DATABASE_URL: world.databaseUrl, ...PATIENT }, world.server.dataDir);
    await until('ready', async () => (await fetch(`${server.url}/health/ready`)).ok);
  };
  const many = (n: number, host: string) =>
    Array.from({ length: n }, (_, i) => ({ op: 'create', host: `${host}${i}`, type: 'A', value: '192.0.2.1' }));

  it('an orderly stop loses nothing of a list', async () => {
    const { records, domain, proxy } = world;
    const first = holdFirstWrite();
    proxy.fault = first.fault;
    const accepted = await world.admin.post(`${records}/batch`, { changes: many(500, 'st') });
    await first.arrived;
    const stopped = server.stop();
    await until('it takes no requests any more', () =>
      fetch(`${server.url}/health/ready`).then(
        ({ ok }) => !ok,
        () => true,
      ),
    );
    await first.release();
    await stopped;
    proxy.fault = null;
    await again();
    const path = `/api/domains/${domain}/changes/${accepted.data.change_set_id as number}` as const;
    const client = server.as(world.token);
    await until('done', async () => done(await client.get(path)).state === 'done');
    const { counts } = done(await client.get(path));
    assert.deepEqual([counts.applied, counts.failed], [500, 0]);
  });

  it('the part of a list that was carried out before a crash stands in the audit log with who asked', async () => {
    const { records, proxy } = world;
    let writes = 0;
    proxy.fault = async (request, forward) => {
      if (request.method !== 'PATCH' || ++writes < 2) return forward();
      await server.kill();
      return 'close';
    };
    await assert.rejects(server.as(world.token).post(`${records}/batch`, { changes: many(150, 'fg') }));
    proxy.fault = null;
    await again();
    const [set] = await rowsOf(world, 'SELECT MAX(id) AS id FROM change_sets');
    await until(
      'settled',
      async () => (await rowsOf(world, `SELECT id FROM change_sets WHERE state <> 'done'`)).length === 0,
    );
    const { list } = done(await server.as(world.token).get(`/api/audit/logs?change_set_id=${set?.id}`));
    assert.equal(list.filter((entry) => entry.actor.type === 'user').length, 1);
  });
});
