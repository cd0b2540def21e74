import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { bindMissing, type NameServer, startBind } from '../support/bind.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Fault, startTcpProxy, type TcpProxy } from '../support/proxy.js';
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

const SLOW_MS = 500;

/** What may go wrong, and the words that a client is told. `all` breaks reads, too; the others only writes. */
const FAULTS: Record<string, { words: RegExp; all?: boolean; fault: Fault | 'down' }> = {
  'is unreachable': { words: /cannot be reached/, all: true, fault: 'down' },
  'answers too late, having applied': {
    words: /did not answer within 0\.5 s/,
    fault: async (_request, forward) => {
      const reply = await forward();
      await sleep(SLOW_MS * 2);
      return reply;
    },
  },
  'is too slow to read': {
    words: /did not answer within 0\.5 s/,
    all: true,
    fault: async () => {
      await sleep(SLOW_MS * 2);
      return 'close';
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
const CHANGES: Record<string, (client: Client, records: string, host: string, id: number) => Promise<Answer>> = {
  create: (client, records, host) => client.post(records, { host, type: 'A', value: '192.0.2.99' }),
  update: (client, records, _host, id) => client.put(`${records}/${id}`, { value: '192.0.2.98' }),
  rename: (client, records, host, id) => client.put(`${records}/${id}`, { host: `moved.${host}` }),
  delete: (client, records, _host, id) => client.delete(`${records}/${id}`),
  status: (client, records, _host, id) => client.patch(`${records}/${id}/status`, { enabled: false }),
};

/** A job for each change, all at once: what takes long is waiting for time limits and between attempts. */
const forEachChange = <T>(job: (op: string, change: (typeof CHANGES)[string]) => Promise<T>): Promise<T[]> =>
  Promise.all(Object.entries(CHANGES).map(([op, change]) => job(op, change)));

describeUnless(noPowerdns)('a provider that fails', () => {
  let world: World;
  // each change has a name of its own
  const siblings = Object.keys(CHANGES).flatMap((op) => [`${op} A - 192.0.2.1 600 on`, `${op} A - 192.0.2.2 600 off`]);

  beforeAll(async () => {
    world = await startWorld('sqlite', { PROVIDER_TIMEOUT_MS: String(SLOW_MS) }, 'lmdb');
    const { admin, records } = world;
    await forEachChange(async (host) => {
      made(await admin.post(records, { host, type: 'A', value: '192.0.2.1' }));
      const { id } = made(await admin.post(records, { host, type: 'A', value: '192.0.2.2' }));
      done(await admin.patch(`${records}/${id}/status`, { enabled: false }));
    });
  });
  afterAll(() => world?.stop());
  afterEach(async () => {
    if (world.proxy.fault === null) return;
    world.proxy.fault = null;
  });

  interface Entry {
    id: string;
    action: string;
    target: { id: string | number | null } | null;
    error: string;
  }
  const failedEntries = async (): Promise<Entry[]> =>
    done(await world.admin.get('/api/audit/logs?result=failed&limit=500')).list;

  for (const [what, { words, all, fault }] of Object.entries(FAULTS)) {
    it(`that ${what}`, async () => {
      const { admin, records, proxy, pdns, zone, domain } = world;
      const create = (host: string) => admin.post(records, { host, type: 'A', value: '192.0.2.50' });
      const ids = new Map(await forEachChange(async (op) => [op, made(await create(op)).id as number] as const));
      const cached = await cacheLines(admin, domain);
      const earlier = new Set((await failedEntries()).map((entry) => entry.id));

      if (fault === 'down') await proxy.down();
      else
        proxy.fault = (request, forward) => (all || request.method === 'PATCH' ? fault(request, forward) : forward());
      await forEachChange(async (op, change) =>
        providerFailed(await change(admin, records, op, ids.get(op) as number), words),
      );

      // with the provider still out of order: the cache is readable, and says what was or what is
      const now = await cacheLines(admin, domain);
      const held = powerdnsLines(await pdns.zone(zone));
      for (const line of siblings) assert.ok(held.includes(line) && now.includes(line), `lost ${line}`);
      const entries = (await failedEntries()).filter((entry) => !earlier.has(entry.id));
      for (const [op, id] of ids) {
        const [was, says, is] = [cached, now, held].map((lines) =>
          lines.filter((line) => line.startsWith(`${op} `) || line.startsWith(`moved.${op} `)).join(),
        );
        assert.ok(says === was || says === is, `${op}: ${says} is neither ${was} nor ${is}`);
        const action = op === 'rename' ? 'record.update' : `record.${op}`;
        const mine = entries.filter((e) => e.action === action && (op === 'create' || Number(e.target?.id) === id));
        assert.equal(mine.length, 1, `${op} is in the audit log once`);
        assert.match(mine[0]?.error ?? '', words);
      }

      if (fault === 'down') await proxy.up();
      proxy.fault = null;
      done(await admin.post(`/api/accounts/${world.account}/sync`));
      await world.agree();
      const after = await cacheLines(admin, domain);
      for (const line of siblings) assert.ok(after.includes(line), `lost ${line}`);
      const { list } = done(await admin.get(`${records}?type=A`));
      const rest = list.filter((r: Answer['data']) => !['192.0.2.1', '192.0.2.2'].includes(r.value));
      await Promise.all(rest.map(async (r: Answer['data']) => done(await admin.delete(`${records}/${r.id}`))));
    });
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
    await until('the record is found', async () => done(await admin.get(`${records}?host=lost`)).total === 1, 20_000);
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
  let records: string;
  let account: number;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    bind = await startBind({ zones: [zone] });
    proxy = await startTcpProxy(bind.port);
    const service = await startService('sqlite', { PROVIDER_TIMEOUT_MS: '2000' });
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
      .list.map((r: Answer['data']) => r.value)
      .toSorted();
  const live = async () => (await ask(bind.port, `www.${zone}`, 'A')).map((p) => p.rdata).toSorted();

  for (const when of ['before', 'after'] as const) {
    it(`a connection that ends ${when} the server has applied`, async () => {
      for (const change of Object.values(CHANGES)) {
        made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }));
        const { id } = made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.50' }));
        const cached = await listed();
        proxy.fault = ({ update }) => (update ? when : 'pass');
        providerFailed(await change(admin, records, 'www', id), /connection/);
        proxy.fault = () => 'pass';
        const now = (await listed()).join();
        assert.ok(now === cached.join() || now === (await live()).join());
        assert.ok((await live()).includes('192.0.2.1'), 'the sibling is there');
        done(await admin.post(`/api/accounts/${account}/sync`));
        assert.deepEqual(await listed(), await live());
        const { list } = done(await admin.get(`${records}?type=A`));
        for (const r of list) if (['www', 'moved.www'].includes(r.host)) done(await admin.delete(`${records}/${r.id}`));
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

  it('what the server ignores without a word is told, and stays out of the cache', async () => {
    const answer = await admin.post(records, { host: '*.none', type: 'NS', value: 'ns1.example.net' });
    providerFailed(answer, /ignored.*wildcard/);
    assert.equal(done(await admin.get(`${records}?host=*.none`)).total, 0);
  });
});
