import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { openDatabase } from '../support/database.js';
import { databases, type Kind } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Answer } from '../support/server.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { startStandIn } from '../support/vendor.js';
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

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`accounts, domains and synchronisation on ${kind}`, () => suite(kind));
}

function suite(kind: Kind): void {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
  });
  afterAll(() => world?.stop());
  afterEach(() => {
    world.proxy.fault = null;
  });

  const accounts = async () => done(await world.admin.get('/api/accounts')) as { id: number; credentials: object }[];
  const sync = () => world.admin.post(`/api/accounts/${world.account}/sync`);
  const domains = async () =>
    done(await world.admin.get('/api/domains')) as {
      id: number;
      name: string;
      status: string;
      records_count: number;
    }[];
  const good = () => ({ url: world.proxy.url, api_key: world.pdns.apiKey });
  /** Changes a set at PowerDNS past the service. */
  const outOfBand = async (host: string, ...values: string[]) => {
    const records = values.map((content) => ({ content, disabled: false }));
    const set = { name: `${host}.${world.zone}.`, type: 'A', ttl: 600, changetype: 'REPLACE', records };
    const { status } = await world.pdns.api('PATCH', `/zones/${world.zone}.`, { rrsets: [set] });
    assert.equal(status, 204);
  };

  it('credentials are tried before they are stored', async () => {
    const { admin } = world;
    const wrong = { provider: 'powerdns', name: 'wrong', credentials: { ...good(), api_key: 'not-the-key' } };
    const before = await accounts();
    providerFailed(await admin.post('/api/accounts', wrong), /Unauthorized.*401/);
    assert.deepEqual(await accounts(), before);
    const { id } = made(await admin.post('/api/accounts?check=false', wrong));
    providerFailed(await admin.post(`/api/accounts/${id}/sync`), /401/);
    assert.match(done(await admin.get(`/api/accounts/${id}`)).last_error ?? '', /401/);
    providerFailed(await admin.put(`/api/accounts/${id}`, { credentials: { api_key: 'nor-is-this' } }), /401/);
    done(await admin.put(`/api/accounts/${id}`, { credentials: { api_key: world.pdns.apiKey } }));
    done(await admin.post(`/api/accounts/${id}/sync`));
    assert.equal(done(await admin.get(`/api/accounts/${id}`)).last_error, null);
    refused(await admin.delete(`/api/accounts/${id}`), 409, 409001);
    done(await admin.delete(`/api/accounts/${id}?force=true`));
    refused(await admin.get(`/api/accounts/${id}`), 404, 404001);
    assert.equal((await world.pdns.zone(world.zone)).name, `${world.zone}.`);
  });

  it('values that a set holds twice are shown read-only, each of them, with the reason', async () => {
    const { admin, pdns, proxy } = world;
    await pdns.createZone('equal.example');
    proxy.fault = async ({ method, path }, forward) => {
      const reply = await forward();
      if (method !== 'GET' || !path.includes('/zones/equal')) return reply;
      const zone = JSON.parse(reply.body);
      const rrsets = zone.rrsets.map((set: { records: object[] }) => ({
        ...set,
        records: [...set.records, ...set.records],
      }));
      return { ...reply, body: JSON.stringify({ ...zone, rrsets }) };
    };
    const account = await addAccount(admin, 'powerdns', good());
    for (let i = 0; i < 2; i++) assert.equal(done(await admin.post(`/api/accounts/${account}/sync`)).failed, 0);
    const { id } = done(await admin.get('/api/domains?name=equal.example'))[0] as { id: number };
    const { list } = done(await admin.get(`/api/domains/${id}/records`));
    assert.ok(list.length >= 2 && list.length % 2 === 0, JSON.stringify(list));
    for (const record of list) {
      assert.equal(record.read_only, true);
      assert.match(record.read_only_reason ?? '', /several times/);
    }
    done(await admin.delete(`/api/accounts/${account}?force=true`));
    proxy.fault = null;
    assert.equal((await pdns.api('DELETE', '/zones/equal.example.')).status, 204);
  });

  it('a list that names sets twice counts each once, at the first synchronisation and later', async () => {
    const { admin, pdns, proxy } = world;
    await pdns.createZone('twice.example');
    const twice = (reply: { body: string }) => {
      const zone = JSON.parse(reply.body);
      return JSON.stringify({ ...zone, rrsets: [...zone.rrsets, ...zone.rrsets] });
    };
    proxy.fault = async ({ method, path }, forward) => {
      const reply = await forward();
      return method === 'GET' && path.includes('/zones/twice') ? { ...reply, body: twice(reply) } : reply;
    };
    const account = await addAccount(admin, 'powerdns', good());
    assert.equal(done(await admin.post(`/api/accounts/${account}/sync`)).failed, 0);
    const { id } = done(await admin.get('/api/domains?name=twice.example'))[0] as { id: number };
    const first = await cacheLines(admin, id);
    assert.ok(first.length > 0);
    assert.equal(new Set(first).size, first.length);
    assert.equal(done(await admin.post(`/api/accounts/${account}/sync`)).failed, 0);
    assert.deepEqual(await cacheLines(admin, id), first);
    done(await admin.delete(`/api/accounts/${account}?force=true`));
    assert.equal((await pdns.api('DELETE', '/zones/twice.example.')).status, 204);
  });

  it('wrong fields of credentials are all named, and nothing is asked of the provider', async () => {
    const before = world.proxy.requests.length;
    const answer = await world.admin.post('/api/accounts', {
      provider: 'powerdns',
      name: 'x',
      credentials: { url: 'ftp://example.net', apikey: 'k' },
    });
    const paths = refused(answer, 400, 400001)
      .data.errors.map((e) => e.path)
      .toSorted();
    assert.deepEqual(paths, ['credentials.apikey', 'credentials.url']);
    const kinds = await world.admin.post('/api/accounts', { provider: 'nosuch', name: 'x', credentials: {} });
    assert.equal(refused(kinds, 400, 400001).data.errors[0].path, 'provider');
    assert.equal(world.proxy.requests.length, before);
  });

  it('secrets are shown as ***, kept by *** and by leaving them out, cleared by null', async () => {
    const { admin, pdns } = world;
    const id = await addAccount(admin, 'powerdns', { ...good(), nameservers: 'ns1.example.net' });
    const path = `/api/accounts/${id}` as const;
    const shown = done(await admin.get(path)).credentials;
    assert.deepEqual(shown, {
      url: world.proxy.url,
      api_key: '***',
      server_id: 'localhost',
      nameservers: 'ns1.example.net',
    });
    assert.deepEqual(done(await admin.put(path, { credentials: shown, remark: 'sent back' })).credentials, shown);
    const moved = { url: pdns.url, api_key: pdns.apiKey };
    assert.deepEqual(done(await admin.put(path, { credentials: moved })).credentials, {
      ...shown,
      url: pdns.url,
    });
    // still the right key: PowerDNS lists with it
    done(await admin.post(`${path}/sync`));
    const cleared = done(await admin.put(path, { credentials: { nameservers: null } })).credentials;
    assert.deepEqual(cleared, { url: pdns.url, api_key: '***', server_id: 'localhost' });
    const required = refused(await admin.put(path, { credentials: { api_key: null } }), 400, 400001);
    assert.equal(required.data.errors[0].path, 'credentials.api_key');
    const kept = done(await admin.get(path));
    assert.deepEqual([kept.remark, kept.name], ['sent back', 'powerdns account']);
    assert.equal(refused(await admin.put(path, { provider: 'zonefile' }), 400, 400001).data.errors[0].path, 'provider');
    done(await admin.delete(`${path}?force=true`));
  });

  it('a domain is a zone that exists, or one that is created', async () => {
    const { admin, account, pdns } = world;
    const add = (body: object) => admin.post('/api/domains', { account_id: account, ...body });
    refused(await add({ name: 'absent.example' }), 404, 404001);
    refused(await add({ name: world.zone.toUpperCase() }), 409, 409001);
    refused(await add({ name: 'x.example', account_id: 999_999 }), 404, 404001);
    refused(await add({ name: 'not a name' }), 400, 400001);
    const created = made(await add({ name: 'Bücher.Example.', create: true, remark: 'books' }));
    assert.deepEqual([created.name, created.unicode_name], ['xn--bcher-kva.example', 'bücher.example']);
    assert.equal((await pdns.zone('xn--bcher-kva.example')).name, 'xn--bcher-kva.example.');
    const path = `/api/domains/${created.id}` as const;
    made(await admin.post(`${path}/records`, { host: '@', type: 'A', value: '192.0.2.1' }));
    const changed = done(await admin.put(path, { expires_at: '2027-03-04T05:06:07+02:00' }));
    assert.deepEqual(
      [changed.expires_at, changed.remark, changed.records_count],
      ['2027-03-04T03:06:07.000Z', 'books', created.records_count + 1],
    );
    assert.deepEqual(done(await admin.put(path, { remark: '', expires_at: null })).expires_at, null);
    assert.equal(
      refused(await admin.put(path, { expires_at: '2027-02-30' }), 400, 400001).data.errors[0].path,
      'expires_at',
    );
    refused(await admin.put(path, { name: 'other.example' }), 400, 400001);
    done(await admin.delete(path));
    refused(await admin.get(path), 404, 404001);
    assert.equal((await pdns.api('GET', '/zones/xn--bcher-kva.example.')).status, 200, 'kept at the provider');
    await pdns.api('DELETE', '/zones/xn--bcher-kva.example.');
  });

  it('an account that is deleted while a domain of it is added, or a record written, is a conflict', async () => {
    const { admin, pdns, proxy } = world;
    await pdns.createZone('short.example');
    /** Deletes the account while a request is at the provider. */
    const meanwhile = async (account: number, at: string, request: () => Promise<Answer<unknown>>) => {
      let arrived = false;
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      proxy.fault = async ({ method }, forward) => {
        if (method !== at) return forward();
        arrived = true;
        await held;
        return forward();
      };
      const answer = request();
      await until('it is at the provider', async () => arrived);
      const deleted = admin.delete(`/api/accounts/${account}?force=true`);
      // a write that is at the provider is waited for, and so has its own answer
      if (at === 'GET') done(await deleted);
      release();
      if (at === 'GET') refused(await answer, 409, 409001);
      else made(await answer);
      done(await deleted);
      proxy.fault = null;
    };
    const one = await addAccount(admin, 'powerdns', good());
    await meanwhile(one, 'GET', () => admin.post('/api/domains', { name: 'short.example', account_id: one }));
    const two = await addAccount(admin, 'powerdns', good());
    const domain = await addDomain(admin, two, 'short.example');
    const record = { host: 'late', type: 'A', value: '192.0.2.1' };
    await meanwhile(two, 'PATCH', () => admin.post(`/api/domains/${domain}/records`, record));
    await pdns.api('DELETE', '/zones/short.example.');
  });

  it('notifies of zones that are gone, once, and of scheduled synchronisations that fail', async () => {
    const { admin, pdns, proxy } = world;
    const standIn = await startStandIn(() => ({ status: 204 }));
    const events = ['domain.missing', 'sync.failed'];
    const channel = { id: 'sync', type: 'webhook', name: 'Sync', config: { url: standIn.url }, events };
    done(await admin.put('/api/settings/notifications', { channels: [channel] }));
    const told = async () => rowsOf(world, 'SELECT event, domain, content FROM deliveries ORDER BY id');
    await pdns.createZone('lost.example');
    done(await sync());
    assert.equal((await pdns.api('DELETE', '/zones/lost.example.')).status, 204);
    // notified together with the mark as missing, whatever becomes of the rest of the synchronisation
    let whileReading: number | null = null;
    proxy.fault = async ({ path }, forward) => {
      if (!path.endsWith('/zones')) whileReading ??= (await told()).length;
      return forward();
    };
    done(await sync());
    proxy.fault = null;
    assert.equal(whileReading, 1);
    done(await sync());
    assert.deepEqual(
      (await told()).map(({ event, domain }) => [event, domain]),
      [['domain.missing', 'lost.example']],
    );
    const { id: lost } = (await domains()).find((d) => d.name === 'lost.example') as { id: number };
    done(await admin.delete(`/api/domains/${lost}`));

    const credentials = { ...good(), api_key: 'not-the-key' };
    const body = { provider: 'powerdns', name: 'wrong', credentials, sync_interval_minutes: 5 };
    const { id } = made(await admin.post('/api/accounts?check=false', body));
    const again = async () => {
      const [job] = done(await admin.get('/api/system/jobs?name=accounts.due')).list;
      return (await admin.post(`/api/system/jobs/${job?.id}/retry`)).status;
    };
    // it may be at it
    await until('it is looked for', async () => (await again()) === 200);
    await until('it is told', async () => (await told()).length === 2);
    const [, failure] = await told();
    assert.equal(failure?.event, 'sync.failed');
    assert.deepEqual(JSON.parse(String(failure?.content)).details, { account_id: id, account: 'wrong' });
    const failed = () => rowsOf(world, `SELECT runs FROM jobs WHERE name = 'account.sync' AND state = 'failed'`);
    await until('it is noted', async () => (await failed()).length === 1);
    // the same once more is no news
    done(await admin.put(`/api/accounts/${id}`, { sync_interval_minutes: 6 }));
    await until('it is looked for again', async () => (await again()) === 200);
    await until('it failed again', async () => Number((await failed())[0]?.runs) === 2);
    assert.equal((await told()).length, 2);
    assert.match(done(await admin.get(`/api/accounts/${id}`)).last_error ?? '', /401/);
    done(await admin.delete(`/api/accounts/${id}?force=true`));
    done(await admin.put('/api/settings/notifications', { channels: [] }));
    await standIn.stop();
  });

  it('a synchronisation that finds nothing new writes down that it was, and nothing else', async () => {
    done(await sync());
    const revisions = () => rowsOf(world, 'SELECT id, revision, records_count FROM domains ORDER BY id');
    const before = await revisions();
    const told = tellStatements();
    done(await sync());
    const writes = told().flatMap(
      ({ sql }) => /^\s*(?:INSERT INTO|UPDATE|DELETE FROM) (\w+(?: SET \w+)?)/.exec(sql)?.[1] ?? [],
    );
    const itself =
      /^(leases|jobs|sessions|audit_\w+|events_log|mails|deliveries|limits|dns_accounts|domains) ?(SET (?!revision|records_count)\w+)?$/;
    assert.ok(writes.includes('domains SET synced_at'), writes.join());
    assert.deepEqual(
      writes.filter((write) => !itself.test(write)),
      [],
    );
    assert.deepEqual(await revisions(), before);
  });

  it('what is changed here while a list is read stays as it is here', async () => {
    const { admin, proxy, records } = world;
    await outOfBand('slowly', '192.0.2.1');
    done(await sync());
    const [row] = done(await admin.get(`${records}?host=slowly`)).list as { id: number }[];
    const change = async () => {
      done(await admin.put(`${records}/${row?.id}`, { host: 'slowly', type: 'A', value: '192.0.2.2' }));
      made(await admin.post(records, { host: 'meanwhile', type: 'A', value: '192.0.2.3' }));
    };
    let changing: Promise<void> | undefined;
    proxy.fault = async ({ method, path }, forward) => {
      const reply = await forward();
      // the list says what was there before
      if (changing || method !== 'GET' || !path.includes(`/zones/${world.zone}`)) return reply;
      changing = change();
      await changing;
      return reply;
    };
    const { failed } = done(await sync()) as { failed: number };
    assert.equal(failed, 0);
    await changing;
    proxy.fault = null;
    await world.agree();
    done(await sync());
    await world.agree();
  });

  it('an account that is deleted during its synchronisation is answered 404', async () => {
    const { admin, proxy } = world;
    const id = await addAccount(admin, 'powerdns', good());
    const before = await domains();
    proxy.fault = async ({ path }, forward) => {
      const reply = await forward();
      if (path.endsWith('/zones')) done(await admin.delete(`/api/accounts/${id}`));
      return reply;
    };
    refused(await admin.post(`/api/accounts/${id}/sync`), 404, 404001);
    proxy.fault = null;
    assert.deepEqual(await domains(), before);
  });

  it('a sync adds what is new, keeps ids, and flags what is gone', async () => {
    const { admin, pdns } = world;
    await pdns.createZone('second.example');
    const first = done(await sync());
    assert.deepEqual(first, { added: 1, updated: 1, missing: 0, failed: 0 });
    const ids = (await domains()).map((d) => d.id);
    const records = done(await admin.get(world.records)).list.map((r) => r.id);
    assert.deepEqual(done(await sync()), { added: 0, updated: 2, missing: 0, failed: 0 });
    assert.deepEqual(
      (await domains()).map((d) => d.id),
      ids,
    );
    assert.deepEqual(
      done(await admin.get(world.records)).list.map((r) => r.id),
      records,
    );

    assert.equal((await pdns.api('DELETE', '/zones/second.example.')).status, 204);
    assert.deepEqual(done(await sync()), { added: 0, updated: 1, missing: 1, failed: 0 });
    const gone = (await domains()).find((d) => d.name === 'second.example');
    assert.deepEqual([gone?.status, gone?.records_count], ['missing', 1]);
    await pdns.createZone('second.example');
    done(await sync());
    assert.deepEqual(
      (await domains()).map((d) => [d.id, d.status]),
      ids.map((id) => [id, 'active']),
    );
    await pdns.api('DELETE', '/zones/second.example.');
    done(await admin.delete(`/api/domains/${gone?.id}`));
  });

  it('what was changed out of band is picked up, even right after an own write at the same name', async () => {
    const { admin, records } = world;
    const { id } = made(await admin.post(records, { host: 'band', type: 'A', value: '192.0.2.1' }));
    const other = made(await admin.post(records, { host: 'band', type: 'A', value: '192.0.2.2' })).id;
    await outOfBand('band', '192.0.2.1', '192.0.2.3');
    done(await sync());
    await world.agree();
    done(await admin.get(`${records}/${id}`));
    refused(await admin.get(`${records}/${other}`), 404, 404001);
    done(await admin.put(`${records}/${id}`, { value: '192.0.2.4' }));
    await outOfBand('band', '192.0.2.5');
    done(await admin.get(`${records}?refresh=true`));
    await world.agree();
    // a value that was added out of band survives an edit that was made without it
    const { list } = done(await admin.get(`${records}?host=band`));
    await outOfBand('band', '192.0.2.5', '192.0.2.6');
    done(await admin.put(`${records}/${list[0].id}`, { value: '192.0.2.7' }));
    const held = (await world.pdns.zone(world.zone)).rrsets.find((s) => s.name.startsWith('band.'))?.records;
    assert.deepEqual(held?.map((r) => r.content).toSorted(), ['192.0.2.6', '192.0.2.7']);
    // so does an edit, or a creation, that makes a value equal to one that was added out of band
    await outOfBand('band', '192.0.2.6', '192.0.2.7', '192.0.2.8', '192.0.2.9');
    assert.equal(done(await admin.put(`${records}/${list[0].id}`, { value: '192.0.2.8' })).value, '192.0.2.8');
    made(await admin.post(records, { host: 'band', type: 'A', value: '192.0.2.9' }));
    const now = (await world.pdns.zone(world.zone)).rrsets.find((s) => s.name.startsWith('band.'))?.records;
    assert.deepEqual(now?.map((r) => r.content).toSorted(), ['192.0.2.6', '192.0.2.8', '192.0.2.9']);
    done(await sync());
    await world.agree();
  });

  it('notifies once of changes at the provider: not of the first list, nor of changes made here', async () => {
    const { admin, pdns, proxy, server } = world;
    const standIn = await startStandIn(() => ({ status: 204 }));
    const config = { url: standIn.url };
    const channel = { id: 'drift', type: 'webhook', name: 'Drift', config, events: ['domain.drift'] };
    const { db, close } = await openDatabase(world.databaseUrl, server.dataDir);
    try {
      done(await sync());
      done(await admin.put('/api/settings/notifications', { channels: [channel] }));
      await pdns.createZone('first.example');
      done(await sync());
      const own = { host: 'ours', type: 'A', value: '192.0.2.1', ttl: 600 };
      made(await admin.post(world.records, own));
      // an unclear change cannot be attributed to anybody
      proxy.fault = async (request, forward) => {
        const reply = await forward();
        return request.method === 'PATCH' ? 'close' : reply;
      };
      assert.equal((await admin.post(world.records, { ...own, host: 'unclear' })).status, 500);
      proxy.fault = null;
      done(await sync());
      done(await sync());
      for (let i = 0; i < 11; i++) await outOfBand(`drift-${i}`, '192.0.2.1');
      await outOfBand('ours', '192.0.2.2');
      done(await sync());
      done(await sync());
      for (let i = 0; i < 11; i++) await outOfBand(`drift-${i}`);
      done(await admin.get(`${world.records}?refresh=true`));
      await until('both are sent', async () => standIn.requests.length === 2);
      const rows = await db.rows("SELECT id FROM deliveries WHERE event = 'domain.drift'");
      assert.equal(rows.length, 2);
      const names =
        'drift-0 A, drift-1 A, drift-10 A, drift-2 A, drift-3 A, drift-4 A, drift-5 A, drift-6 A, drift-7 A, drift-8 A';
      const told = standIn.requests.map(({ body }) => body as Record<string, unknown>);
      assert.deepEqual(
        told.map(({ domain, details }) => [domain, details]),
        [
          [world.zone, { added: 11, changed: 1, removed: 0, names: `${names} and 2 more` }],
          [world.zone, { added: 0, changed: 0, removed: 11, names: `${names} and 1 more` }],
        ],
      );
      assert.match(String(told[0]?.text), /^Records of example\.com .*: 11 added, 1 changed, 0 removed \(drift-0 A, /);
    } finally {
      done(await admin.put('/api/settings/notifications', { channels: [] }));
      await close();
      await standIn.stop();
      await pdns.api('DELETE', '/zones/first.example.');
    }
  });

  it('a list of zones that fails or is cut short changes nothing', async () => {
    const { admin, proxy } = world;
    const before = [await domains(), await cacheLines(admin, world.domain)];
    const zones = (path: string) => path.endsWith('/zones');
    const faults: [RegExp, typeof proxy.fault][] = [
      [/HTTP 500/, async () => ({ status: 500, body: 'broken' })],
      [/cut off/, async (_r, forward) => ({ status: 200, body: (await forward()).body.slice(0, -5) })],
      [/broke the connection/, async (_r, forward) => ({ ...(await forward()), cut: 10 })],
      [/did not answer a list/, async () => ({ status: 200, body: '{}' })],
      [/did not answer a list/, async () => ({ status: 200, body: '' })],
    ];
    for (const [words, fault] of faults) {
      proxy.fault = (request, forward) => (fault && zones(request.path) ? fault(request, forward) : forward());
      providerFailed(await sync(), words);
      assert.deepEqual([await domains(), await cacheLines(admin, world.domain)], before);
      assert.match(done(await admin.get(`/api/accounts/${world.account}`)).last_error ?? '', words);
    }
    proxy.fault = null;
    done(await sync());
    assert.equal(done(await admin.get(`/api/accounts/${world.account}`)).last_error, null);
    const { list } = done(await admin.get('/api/audit/logs?action=account.sync&result=failed'));
    assert.ok(list.length >= faults.length);
  });

  it('a zone whose records cannot be read counts as failed, and keeps its cache', async () => {
    const { admin, proxy, pdns } = world;
    await pdns.createZone('readable.example');
    const before = await cacheLines(admin, world.domain);
    proxy.fault = async ({ path }, forward) =>
      path.includes(`/zones/${world.zone}`) ? { status: 503, body: 'later' } : forward();
    const result = done(await sync());
    assert.deepEqual([result.added, result.failed], [1, 1]);
    assert.deepEqual(await cacheLines(admin, world.domain), before);
    assert.equal((await domains()).find((d) => d.name === 'readable.example')?.records_count, 1);
    proxy.fault = null;
    await pdns.api('DELETE', '/zones/readable.example.');
  });

  // the last test: its domains stay
  it('hundreds of new zones are added in transactions between which others get their turn', async () => {
    const zones = Array.from({ length: 900 }, (_none, i) => ({
      id: `z${i}.many.example.`,
      name: `z${i}.many.example.`,
    }));
    world.proxy.fault = async ({ method, path }, forward) => {
      if (path.includes('.many.example.')) return { status: 404, body: '{}' };
      const reply = await forward();
      if (method !== 'GET' || !path.endsWith('/zones')) return reply;
      return { ...reply, body: JSON.stringify([...JSON.parse(reply.body), ...zones]) };
    };
    const told = tellStatements();
    const { added } = done(await sync());
    const steps = told().flatMap(({ sql }) => /^(COMMIT|INSERT INTO .?domains\b)/.exec(sql)?.[0] ?? []);
    assert.equal(added, zones.length);
    const inserts = steps.flatMap((step, i) => (step === 'COMMIT' ? [] : [i]));
    assert.ok(inserts.length >= 3, steps.join());
    const commits = steps.slice(inserts[0], inserts.at(-1)).filter((step) => step === 'COMMIT').length;
    assert.ok(commits >= 2, steps.join());
  });
}
