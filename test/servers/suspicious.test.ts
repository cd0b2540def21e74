import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Query } from '../support/answers.js';
import { addTeam, addUser, grant, openDatabase } from '../support/database.js';
import { databases, type Kind } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import {
  addAccount,
  addDomain,
  cacheLines,
  done,
  made,
  providerFailed,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`lists of a provider that lack too much, on ${kind}`, () => suite(kind));

function suite(kind: Kind): void {
  let world: World;
  const ZONES = ['two.example', 'three.example', 'four.example', 'five.example'];
  beforeAll(async () => {
    world = await startWorld(kind);
    for (const zone of ZONES) await world.pdns.createZone(zone);
    assert.equal(done(await sync()).added, ZONES.length);
  });
  afterAll(() => world?.stop());
  afterEach(() => {
    world.proxy.fault = null;
  });

  const sync = (query: Query = '') => world.admin.post(`/api/accounts/${world.account}/sync${query}`);
  const domains = async () =>
    done(await world.admin.get('/api/domains')).map((d) => `${d.name} ${d.status} ${d.records_count}`);
  const entries = async (action: string, result: string) =>
    done(await world.admin.get(`/api/audit/logs?action=${action}&result=${result}`)).list;
  /** Lets PowerDNS list these zones only. */
  const listing = (...names: string[]) => {
    world.proxy.fault = async (request, forward) => {
      const reply = await forward();
      if (request.method !== 'GET' || !request.path.endsWith('/zones')) return reply;
      const zones = JSON.parse(reply.body).filter((z: { name: string }) => names.includes(z.name.slice(0, -1)));
      return { ...reply, body: JSON.stringify(zones) };
    };
  };

  it('a list of zones without most of the known ones, or without any, changes nothing until it is confirmed', async () => {
    const before = await domains();
    for (const left of [[], ['two.example'], ['two.example', 'three.example']]) {
      listing(...left);
      const { data, msg } = refused(await sync(), 409, 409002);
      const lost = [world.zone, ...ZONES].filter((zone) => !left.includes(zone));
      assert.deepEqual([data.count, data.of, data.names.toSorted()], [lost.length, 5, lost.toSorted()]);
      assert.match(msg, /confirm=true/);
      assert.deepEqual(await domains(), before);
      assert.equal(done(await world.admin.get(`/api/accounts/${world.account}`)).last_error, msg);
      const [failed] = await entries('account.sync', 'failed');
      assert.equal(failed.error, msg);
    }
    // three of five is not suspicious, and what is missing already is lost no more
    listing('two.example', 'three.example', world.zone);
    assert.equal(done(await sync()).missing, 2);
    listing('two.example', world.zone);
    assert.equal(done(await sync()).missing, 3);
    listing(world.zone);
    assert.equal(done(await sync()).missing, 4);
    listing();
    const { params: _, ...data } = refused(await sync(), 409, 409002).data as unknown as Record<string, unknown>;
    assert.deepEqual(data, { count: 1, of: 1, names: [world.zone], reason: 'zones_suspicious' });
    assert.equal(done(await sync('?confirm=true')).missing, 5);
    assert.ok((await domains()).every((line) => line.includes('missing')));
    const [accepted] = await entries('account.sync', 'ok');
    assert.deepEqual([accepted.after?.confirmed, accepted.after?.lost], [true, [world.zone]]);
    // nothing is known as active: nothing can be lost
    assert.equal(done(await sync()).missing, 5);
    world.proxy.fault = null;
    assert.equal(done(await sync()).updated, 5);
    assert.deepEqual(await domains(), before);
    refused(await sync('?confirm=maybe'), 400, 400001);
  });

  it('what was confirmed is the list that was shown, not the one of a later try', async () => {
    const { admin, databaseUrl, proxy, server } = world;
    const before = await domains();
    proxy.fault = async ({ path }, forward) => (path.endsWith('/zones') ? { status: 503, body: 'later' } : forward());
    const answer = await sync('?confirm=true&wait=0');
    assert.equal(answer.status, 202);
    const { job_id } = answer.data as unknown as { job_id: number };
    const job = async () => done(await admin.get(`/api/system/jobs/${job_id}`));
    await until('the first try failed', async () => (await job()).state === 'waiting');
    listing();
    const { db, close } = await openDatabase(databaseUrl, server.dataDir);
    // the delay is over
    await db.run('UPDATE jobs SET next_at = ? WHERE id = ?', [now(), job_id]).finally(close);
    await until('the second try failed', async () => (await job()).state === 'failed');
    assert.match(String((await job()).last_error), /lists 0 of 5 known zones.*confirm=true/);
    assert.deepEqual(await domains(), before);
    proxy.fault = null;
    assert.equal(done(await sync()).updated, 5);
  });

  it('the first synchronisation of an account, and a zone that was empty, are not suspicious', async () => {
    const { admin, pdns, proxy } = world;
    const good = { url: proxy.url, api_key: pdns.apiKey };
    const account = await addAccount(admin, 'powerdns', good);
    listing();
    assert.equal(done(await admin.post(`/api/accounts/${account}/sync`)).added, 0);
    listing('two.example');
    assert.equal(done(await admin.post(`/api/accounts/${account}/sync`)).added, 1);
    done(await admin.delete(`/api/accounts/${account}?force=true`));
  });

  const many = async (zone: string, values: string[], host = 'many') => {
    const records = values.map((content) => ({ content, disabled: false }));
    const change = values.length ? { changetype: 'REPLACE', ttl: 600, records } : { changetype: 'DELETE' };
    const set = { name: `${host}.${zone}.`, type: 'A', ...change };
    assert.equal((await world.pdns.api('PATCH', `/zones/${zone}.`, { rrsets: [set] })).status, 204);
  };
  const addresses = (net: number, count: number) => Array.from({ length: count }, (_, i) => `10.0.${net}.${i + 1}`);

  it('a list of records without most of the known ones changes nothing until somebody who may write says so', async () => {
    const { admin, server, zone, records, domain } = world;
    await many(zone, addresses(1, 30));
    done(await admin.get(`${records}?refresh=true`));
    const before = await cacheLines(admin, domain);
    const of = before.length;
    // other values in their place are a change, not a loss
    await many(zone, addresses(2, 30));
    done(await admin.get(`${records}?refresh=true`));
    await world.agree();
    const held = await cacheLines(admin, domain);
    const shown = done(await admin.get(records)).list;
    await many(zone, addresses(2, 3));
    const { data, msg } = refused(await admin.get(`${records}?refresh=true`), 409, 409002);
    assert.deepEqual([data.count, data.of, data.records.length], [27, of, 27]);
    assert.deepEqual(data.records[0], { id: data.records[0].id, host: 'many', type: 'A' });
    assert.match(msg, /27 of \d+ known records.*confirm=true/);
    refused(await admin.get(`${records}?refresh=true`), 409, 409002);
    const failed = (await entries('record.refresh', 'failed')).filter((e) => e.error === msg);
    assert.equal(failed.length, 1, 'told once');
    // inside the synchronisation of its account it fails, whatever is confirmed of the zones
    for (const query of ['', '?confirm=true'] as const) {
      assert.equal(done(await sync(query)).failed, 1);
      const { last_error } = done(await admin.get(`/api/accounts/${world.account}`));
      assert.match(last_error ?? '', new RegExp(`${zone} without 27 of ${of}`));
    }
    assert.deepEqual(await cacheLines(admin, domain), held);
    assert.deepEqual(done(await admin.get(records)).list, shown);

    // a reader may refresh, and may not confirm; a token with rules, or one that may only read, neither
    const { db, close } = await openDatabase(world.databaseUrl, server.dataDir);
    const reader = { username: 'reader', password: 'reader-secret-1' };
    await grant(db, await addTeam(db, 'readers', [await addUser(db, reader)]), domain, 'read');
    await close();
    const token = async (more: object) =>
      server.as(made(await admin.post('/api/tokens', { name: 't', ...more })).token);
    const hidden = await token({ rules: [{ effect: 'allow', hosts: ['@'] }] });
    for (const client of [
      server.as(await server.login(reader)),
      await token({ allowed_services: ['records:read'] }),
      hidden,
    ]) {
      refused(await client.get(`${records}?refresh=true`), 409, 409002);
      const { data } = refused(await client.get(`${records}?refresh=true&confirm=true`), 403, 403001);
      assert.equal(data.required, `domain:${domain}:write`);
      assert.deepEqual(await cacheLines(admin, domain), held);
    }
    assert.deepEqual(refused(await hidden.get(`${records}?refresh=true`), 409, 409002).data.records, []);
    assert.equal(refused(await admin.get(`${records}?confirm=true`), 400, 400001).data.errors[0].path, 'confirm');
    const answer = done(await admin.get(`${records}?refresh=true&confirm=true`));
    assert.equal(answer.total, of - 27);
    await world.agree();
    const [accepted] = await entries('record.refresh', 'ok');
    assert.deepEqual([accepted.after?.confirmed, accepted.after?.of, accepted.actor.username], [27, of, 'admin']);
    assert.equal(done(await sync()).failed, 0);
    assert.equal(done(await admin.get(`/api/accounts/${world.account}`)).last_error, null);
  });

  it('a write without a known end waits for a list that can be believed, and the audit log says so', async () => {
    const { admin, proxy, zone, records } = world;
    await many(zone, addresses(3, 30));
    done(await admin.get(`${records}?refresh=true`));
    const before = (await entries('record.refresh', 'failed')).length;
    proxy.fault = async (request, forward) => {
      if (request.method !== 'PATCH') return forward();
      await many(zone, []);
      await forward();
      return 'close';
    };
    providerFailed(await admin.post(records, { host: 'lost', type: 'A', value: '192.0.2.1' }), /broke the connection/);
    proxy.fault = null;
    await until('the audit log says it', async () => (await entries('record.refresh', 'failed')).length > before);
    const [told] = await entries('record.refresh', 'failed');
    assert.deepEqual([told.actor.type, told.domain], ['system', zone]);
    assert.equal(await openIntents(world), 1);
    assert.equal(done(await admin.get(`${records}?host=lost`)).total, 0);
    assert.equal(done(await admin.get(`${records}?host=many`)).total, 30);
    done(await admin.get(`${records}?refresh=true&confirm=true`));
    assert.equal(await openIntents(world), 0);
    assert.equal(done(await admin.get(`${records}?host=lost`)).total, 1);
    await world.agree();
  });

  it('what an own write may have taken away is no loss', async () => {
    const { admin, proxy, zone, records } = world;
    await many(zone, addresses(4, 40), 'own');
    done(await admin.get(`${records}?refresh=true`));
    const { list } = done(await admin.get(`${records}?host=own`));
    proxy.fault = async (request, forward) => {
      if (request.method !== 'PATCH') return forward();
      await forward();
      await many(zone, [], 'own');
      return 'close';
    };
    providerFailed(await admin.delete(`${records}/${list[0].id}`), /broke the connection/);
    proxy.fault = null;
    await until('it is settled', async () => (await openIntents(world)) === 0, 40_000);
    await world.agree();
  });

  it('a zone is small, or new, without suspicion', async () => {
    const { admin, account, pdns } = world;
    await pdns.createZone('small.example');
    const id = await addDomain(admin, account, 'small.example');
    await many('small.example', addresses(5, 15));
    done(await admin.get(`/api/domains/${id}/records?refresh=true`));
    await many('small.example', []);
    assert.equal(done(await admin.get(`/api/domains/${id}/records?refresh=true`)).total, 1);
    await many('small.example', addresses(5, 40));
    assert.equal(done(await admin.get(`/api/domains/${id}/records?refresh=true`)).total, 41);
  });
}
