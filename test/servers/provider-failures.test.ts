import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { connectProvider } from '../../src/providers/connect.js';
import { rfc2136 } from '../../src/providers/rfc2136/declaration.js';
import { bindMissing, type NameServer, startBind } from '../support/bind.js';
import { type SteeredClock, steerClock } from '../support/clock.js';
import { connectOptions } from '../support/connect-options.js';
import { noPowerdns, startPowerdns } from '../support/powerdns.js';
import { type Fault, startProxy, startTcpProxy, type TcpProxy } from '../support/proxy.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import {
  addAccount,
  addDomain,
  ask,
  cacheLines,
  done,
  made,
  powerdnsLines,
  providerFailed,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

/** more than a busy machine needs to answer what is not meant to be late */
const SLOW_MS = 30_000;
/** how many requests are never answered */
let lost = 0;

/** What may go wrong, and the words that a client is told. `all` breaks reads, too; the others only writes. */
const FAULTS: Record<string, { words: RegExp; all?: boolean; slow?: boolean; fault: Fault | 'down' }> = {
  'is unreachable': { words: /cannot be reached/, all: true, fault: 'down' },
  'answers too late, having applied': {
    words: /did not answer within 30 s/,
    slow: true,
    fault: async (_request, forward) => {
      await forward();
      lost++;
      return new Promise(() => undefined);
    },
  },
  'is too slow to read': {
    words: /did not answer within 30 s/,
    all: true,
    slow: true,
    fault: () => {
      lost++;
      return new Promise(() => undefined);
    },
  },
  'answers 500': {
    words: /the disk is full.*HTTP 500/,
    fault: async () => ({ status: 500, body: 'the disk is full' }),
  },
  'answers 422': {
    words: /the moon is wrong.*HTTP 422/,
    fault: async () => ({ status: 422, body: JSON.stringify({ error: 'the moon is wrong' }) }),
  },
  'answers cut-off JSON': {
    words: /cut off/,
    all: true,
    fault: async (_request, forward) => {
      const reply = await forward();
      return { ...reply, body: reply.body.slice(0, reply.body.length / 2) };
    },
  },
  'breaks off in the middle of an answer': {
    words: /broke the connection/,
    all: true,
    fault: async (_request, forward) => ({ ...(await forward()), cut: 20 }),
  },
  'closes the connection after applying': {
    words: /broke the connection/,
    fault: async (_request, forward) => {
      await forward();
      return 'close';
    },
  },
  'closes the connection before applying': { words: /broke the connection/, fault: async () => 'close' },
};

/** Changes of a record at a name that has two other values, one of them disabled. */
const CHANGES: Record<string, (client: Client, records: string, id: number) => Promise<Answer>> = {
  create: (client, records) => client.post(records, { host: 'www', type: 'A', value: '192.0.2.99' }),
  update: (client, records, id) => client.put(`${records}/${id}`, { value: '192.0.2.98' }),
  rename: (client, records, id) => client.put(`${records}/${id}`, { host: 'moved' }),
  delete: (client, records, id) => client.delete(`${records}/${id}`),
  status: (client, records, id) => client.patch(`${records}/${id}/status`, { enabled: false }),
};

type Job = (op: string, change: (typeof CHANGES)[string]) => Promise<void>;

/** A job for each change, all at once: what takes long is waiting between attempts. */
const forEachChange = (job: Job) => Promise.all(Object.entries(CHANGES).map(([op, change]) => job(op, change)));
/** The same one after another, since they share the clock. */
const oneByOne = async (job: Job) => {
  for (const [op, change] of Object.entries(CHANGES)) await job(op, change);
};

type Site = Pick<World, 'pdns' | 'proxy' | 'account' | 'domain' | 'zone' | 'records'>;

describeUnless(noPowerdns)('a provider that fails', () => {
  let world: World;
  let clock: SteeredClock;
  // each change has a PowerDNS of its own: an account's writes wait for each other
  const sites = new Map<string, Site>();
  const siblings = ['www A - 192.0.2.1 600 on', 'www A - 192.0.2.2 600 off'];

  async function startSite(zone: string): Promise<Site> {
    const pdns = await startPowerdns({ backend: 'lmdb' });
    await pdns.createZone(zone);
    const proxy = await startProxy(pdns.url);
    const account = await addAccount(world.admin, 'powerdns', { url: proxy.url, api_key: pdns.apiKey });
    const domain = await addDomain(world.admin, account, zone);
    return { pdns, proxy, account, domain, zone, records: `/api/domains/${domain}/records` };
  }

  beforeAll(async () => {
    world = await startWorld('sqlite', { PROVIDER_TIMEOUT_MS: String(SLOW_MS) }, 'lmdb');
    clock = steerClock();
    for (const op of Object.keys(CHANGES)) sites.set(op, await startSite(`${op}.test`));
    await forEachChange(async (op) => {
      const { records } = sites.get(op) as Site;
      made(await world.admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }));
      const { id } = made(await world.admin.post(records, { host: 'www', type: 'A', value: '192.0.2.2' }));
      done(await world.admin.patch(`${records}/${id}/status`, { enabled: false }));
    });
  });
  afterAll(async () => {
    clock?.release();
    await world?.stop();
    for (const { proxy, pdns } of sites.values()) {
      await proxy.stop();
      await pdns.stop();
    }
  });
  afterEach(() => {
    for (const { proxy } of [world, ...sites.values()]) proxy.fault = null;
  });

  const failedEntries = async (action: string, domain: string) => {
    const query = `action=${action}&domain=${domain}&result=failed&limit=500`;
    return done(await world.admin.get(`/api/audit/logs?${query}`)).list;
  };

  for (const [what, { words, all, slow, fault }] of Object.entries(FAULTS)) {
    it(`that ${what}`, () =>
      (slow ? oneByOne : forEachChange)(async (op, change) => {
        const { admin } = world;
        const { account, records, proxy, pdns, zone, domain } = sites.get(op) as Site;
        const { id } = made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.50' }));
        const cached = await cacheLines(admin, domain);
        const action = op === 'rename' ? 'record.update' : `record.${op}`;
        const failures = (await failedEntries(action, zone)).length;

        if (fault === 'down') await proxy.down();
        else
          proxy.fault = (request, forward) => (all || request.method === 'PATCH' ? fault(request, forward) : forward());
        const seen = lost;
        const answer = change(admin, records, id);
        if (slow) {
          await until('the provider has the request', async () => lost > seen);
          await clock.advance(SLOW_MS);
        }
        providerFailed(await answer, words);

        // with the provider still out of order: the cache is readable, and says what was or what is
        const now = await cacheLines(admin, domain);
        const held = powerdnsLines(await pdns.zone(zone));
        assert.ok(
          [cached, held].some((lines) => lines.join() === now.join()),
          `${op}: ${now} is neither ${cached} nor ${held}`,
        );
        for (const line of siblings) assert.ok(held.includes(line) && now.includes(line), `${op} lost ${line}`);
        const entries = await failedEntries(action, zone);
        assert.equal(entries.length, failures + 1, `${op} is in the audit log once`);
        assert.match(entries[0]?.error ?? '', words);

        if (fault === 'down') await proxy.up();
        proxy.fault = null;
        done(await admin.post(`/api/accounts/${account}/sync`));
        const after = await cacheLines(admin, domain);
        assert.deepEqual(after, powerdnsLines(await pdns.zone(zone)));
        for (const line of siblings) assert.ok(after.includes(line), `${op} lost ${line}`);
        const { list } = done(await admin.get(`${records}?type=A`));
        for (const r of list)
          if (!['192.0.2.1', '192.0.2.2'].includes(r.value)) done(await admin.delete(`${records}/${r.id}`));
      }));
  }

  it('a write that was applied without an answer is found without a sync being asked for', async () => {
    const { admin, records, proxy } = world;
    let broken = true;
    proxy.fault = async (request, forward) => {
      const reply = await forward();
      return broken && request.method === 'PATCH' ? 'close' : reply;
    };
    providerFailed(await admin.post(records, { host: 'lost', type: 'A', value: '192.0.2.60' }), /broke the connection/);
    broken = false;
    await until('the record is found', async () => done(await admin.get(`${records}?host=lost`)).total === 1);
    await world.agree();
  });

  it('an edit of a record that is gone at the provider says so, and a sync removes it', async () => {
    const { admin, records, pdns, zone, account } = world;
    const { id } = made(await admin.post(records, { host: 'gone', type: 'A', value: '192.0.2.61' }));
    const name = `gone.${zone}.`;
    const removal = { rrsets: [{ name, type: 'A', changetype: 'DELETE' }] };
    assert.equal((await pdns.api('PATCH', `/zones/${zone}.`, removal)).status, 204);
    providerFailed(await admin.put(`${records}/${id}`, { value: '192.0.2.62' }), /no longer exists/);
    done(await admin.post(`/api/accounts/${account}/sync`));
    refused(await admin.get(`${records}/${id}`), 404, 404001);
    await world.agree();
  });

  it('what the provider refuses is told in its own words', async () => {
    const { admin, records, pdns, zone } = world;
    // known to PowerDNS only: a CNAME made out of band
    const records_ = [{ content: 'a.example.net.', disabled: false }];
    const set = { name: `alias.${zone}.`, type: 'CNAME', ttl: 60, changetype: 'REPLACE', records: records_ };
    assert.equal((await pdns.api('PATCH', `/zones/${zone}.`, { rrsets: [set] })).status, 204);
    const answer = await admin.post(records, { host: 'alias', type: 'A', value: '192.0.2.63' });
    providerFailed(answer, /Conflicts with pre-existing RRset.*HTTP 422/);
    done(await admin.get(`${records}?refresh=true`));
    await world.agree();
  });
});

describeUnless(bindMissing())('dynamic updates that fail', () => {
  const zone = 'example.com';
  let bind: NameServer;
  let proxy: TcpProxy;
  let admin: Client;
  let records: World['records'];
  let account: number;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    bind = await startBind({ zones: [zone] });
    proxy = await startTcpProxy(bind.port);
    const service = await startService('sqlite', { PROVIDER_TIMEOUT_MS: '120000' });
    ({ admin, stop } = service);
    const { name, algorithm, secret } = bind.tsig;
    const key = { tsig_name: name, tsig_algorithm: algorithm, tsig_secret: secret };
    account = await addAccount(admin, 'rfc2136', { server: '127.0.0.1', port: proxy.port, zones: zone, ...key });
    records = `/api/domains/${await addDomain(admin, account, zone)}/records`;
  });
  afterAll(async () => {
    await stop?.();
    await proxy?.stop();
    await bind?.stop();
  });

  const listed = async (): Promise<string[]> =>
    done(await admin.get(`${records}?host=www&enabled=true`))
      .list.map((r) => r.value)
      .toSorted();
  const live = async () => (await ask(bind.port, `www.${zone}`, 'A')).map((p) => p.rdata).toSorted();

  for (const when of ['before', 'after'] as const) {
    it(`a connection that ends ${when} the server has applied`, async () => {
      for (const change of Object.values(CHANGES)) {
        made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }));
        const { id } = made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.50' }));
        const cached = await listed();
        proxy.fault = ({ update }) => (update ? when : 'pass');
        providerFailed(await change(admin, records, id), /connection/);
        proxy.fault = () => 'pass';
        const now = (await listed()).join();
        assert.ok(now === cached.join() || now === (await live()).join());
        assert.ok((await live()).includes('192.0.2.1'), 'the sibling is there');
        done(await admin.post(`/api/accounts/${account}/sync`));
        assert.deepEqual(await listed(), await live());
        const { list } = done(await admin.get(`${records}?type=A`));
        for (const r of list) if (['www', 'moved'].includes(r.host)) done(await admin.delete(`${records}/${r.id}`));
      }
    });
  }

  it('a value whose answer was lost keeps its row: changed, or disabled where the server knows no such thing', async () => {
    const { id } = made(await admin.post(records, { host: 'kept', type: 'A', value: '192.0.2.70' }));
    const lose = async (change: () => Promise<Answer>) => {
      proxy.fault = ({ update }) => (update ? 'after' : 'pass');
      providerFailed(await change(), /connection/);
      proxy.fault = () => 'pass';
      done(await admin.post(`/api/accounts/${account}/sync`));
      return done(await admin.get(`${records}/${id}`));
    };
    const changed = await lose(() => admin.put(`${records}/${id}`, { value: '192.0.2.71', remark: 'mine' }));
    assert.deepEqual([changed.value, changed.enabled], ['192.0.2.71', true]);
    const parked = await lose(() => admin.patch(`${records}/${id}/status`, { enabled: false }));
    assert.deepEqual([parked.value, parked.enabled], ['192.0.2.71', false]);
    assert.deepEqual(await ask(bind.port, `kept.${zone}`, 'A'), []);
    done(await admin.patch(`${records}/${id}/status`, { enabled: true }));
    assert.equal((await ask(bind.port, `kept.${zone}`, 'A'))[0]?.rdata, '192.0.2.71');
  });

  it('a change that the server ignores silently is an error', async () => {
    const { name: tsig_name, algorithm: tsig_algorithm, secret: tsig_secret } = bind.tsig;
    const credentials = {
      server: '127.0.0.1',
      port: String(proxy.port),
      zones: zone,
      tsig_name,
      tsig_algorithm,
      tsig_secret,
    };
    const provider = connectProvider(rfc2136, credentials, { ...connectOptions(60_000), installation: {} });
    const [remote] = await provider.listZones();
    assert.ok(remote);
    const after = { host: '*.none', type: 'NS', value: 'ns1.example.net', ttl: 300, priority: null, weight: null };
    const more = { line: 'default', proxied: false, enabled: true };
    const [outcome] = await provider.apply(remote, [{ op: 'create', after: { ...after, ...more } }], { atomic: true });
    assert.match(outcome?.ok === false ? outcome.error.message : 'applied', /ignored.*wildcard/);
    refused(await admin.post(records, { host: '*.none', type: 'NS', value: 'ns1.example.net' }), 400, 400001);
    assert.equal(done(await admin.get(`${records}?host=*.none`)).total, 0);
  });
});
