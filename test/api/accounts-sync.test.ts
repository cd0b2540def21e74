import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { Events, type Notice } from '../../src/events/events.js';
import { databases, type Kind } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { applicationOf } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import {
  addAccount,
  cacheLines,
  done,
  made,
  providerFailed,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

for (const { kind, skip } of databases()) {
  describeUnless(skip || noPowerdns)(`accounts, domains and synchronisation on ${kind}`, () => suite(kind));
}

function suite(kind: Kind): void {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(kind);
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

  it('a list that names records twice, at the first synchronisation and later, is the list of each once', async () => {
    const { admin, pdns, proxy } = world;
    await pdns.createZone('twice.example');
    const twice = (reply: { body: string }) => {
      const zone = JSON.parse(reply.body);
      const sets = zone.rrsets.map((set: { records: object[] }) => ({
        ...set,
        records: [...set.records, ...set.records],
      }));
      return JSON.stringify({ ...zone, rrsets: [...sets, ...sets] });
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

  it('tells of zones that are gone, once, and of synchronisations that fail while nobody waits', async () => {
    const { admin, pdns, server } = world;
    const told: Notice[] = [];
    applicationOf(server.dataDir)
      ?.get(Events)
      .on('notice', (notice) => told.push(notice));
    await pdns.createZone('lost.example');
    done(await sync());
    assert.equal((await pdns.api('DELETE', '/zones/lost.example.')).status, 204);
    done(await sync());
    done(await sync());
    assert.deepEqual(
      told.map(({ event, domain }) => [event, domain]),
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
    await until('it is told', async () => told.length === 2);
    assert.deepEqual([told[1]?.event, told[1]?.details], ['sync.failed', { account_id: id, account: 'wrong' }]);
    const failed = () => rowsOf(world, `SELECT runs FROM jobs WHERE name = 'account.sync' AND state = 'failed'`);
    await until('it is noted', async () => (await failed()).length === 1);
    // the same once more is no news
    done(await admin.put(`/api/accounts/${id}`, { sync_interval_minutes: 6 }));
    await until('it is looked for again', async () => (await again()) === 200);
    await until('it failed again', async () => Number((await failed())[0]?.runs) === 2);
    assert.equal(told.length, 2);
    assert.match(done(await admin.get(`/api/accounts/${id}`)).last_error ?? '', /401/);
    done(await admin.delete(`/api/accounts/${id}?force=true`));
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
    // a value that somebody added out of band survives an edit that knew nothing of it
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
}
