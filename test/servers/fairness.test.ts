import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { AA, answerTo, firstRecord, LONG, pointer, startHostile, TC } from '../support/hostile.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, startWorld, until, type World } from '../support/world.js';

const OTHER = { username: 'other', password: 'amber-lantern-47' };
const HOSTILE = '127.33.1.1';
/** How often each domain is read and changed, at least, under load; continues until a large file was written. */
const ROUNDS = 12;

const root = process.getuid?.() === 0 ? undefined : 'not root: name servers listen on port 53';
describeUnless(root || noPowerdns)('while one user asks for all that is heavy at once', () => {
  let world: World;
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    // what hangs has no end of its own while the test runs
    world = await startWorld('sqlite', { OUTBOUND_ALLOW: '127.0.0.0/8', PROVIDER_TIMEOUT_MS: '120000' });
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
    await world?.stop();
  });

  it('the changes of another are made before what hangs has an end', async () => {
    const { admin, pdns, proxy, server } = world;
    // of the other one, whose provider is well
    made(await admin.post('/api/users', { ...OTHER, role: 2 }));
    const other = server.as(await server.login(OTHER));
    const own = await addAccount(other, 'powerdns', { url: pdns.url, api_key: pdns.apiKey });
    await pdns.createZone('mine.example');
    const mine = await addDomain(other, own, 'mine.example');
    const www = made(await other.post(`/api/domains/${mine}/records`, { host: 'www', type: 'A', value: '192.0.2.1' }));

    // name servers whose answers are as large as can be
    const bomb = await startHostile([HOSTILE], 53, (asked) => {
      if (!asked.tcp) return [answerTo(asked, [], AA | TC)];
      const next = { owner: pointer(firstRecord(asked)), type: asked.type, rdata: Buffer.alloc(0) };
      return [
        answerTo(asked, [[{ owner: LONG, type: asked.type, rdata: Buffer.alloc(0) }, ...Array(5000).fill(next)]]),
      ];
    });
    ends.push(() => bomb.stop());
    for (let i = 0; i < 8; i++) {
      made(await admin.post(world.records, { host: '@', type: 'NS', value: `ns${i}.${world.zone}.` }));
      made(await admin.post(world.records, { host: `ns${i}`, type: 'A', value: HOSTILE }));
    }
    // targets that take a connection and say nothing
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, '0.0.0.0', resolve));
    const { port } = silent.address() as { port: number };
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const check = { kind: 'http' as const, port, interval_s: 1, timeout_s: 1, fall: 20, rise: 2 };
    const rules = Array.from({ length: 60 }, (_, i) => ({
      host: `f${i}`,
      type: 'A' as const,
      primary: [`127.34.0.${i + 1}`],
      backup: ['127.34.1.1'],
      check,
    }));
    done(await admin.post(`/api/domains/${world.domain}/failover`, { enabled: true, rules }));
    // a large file
    const files = await addAccount(admin, 'zonefile', {});
    const file = await addDomain(admin, files, 'file.example', true);
    const lines = Array.from({ length: 8000 }, (_, i) => `h${i} 300 IN A 10.1.${i >> 8}.${i & 255}`);
    const head = '@ 3600 IN SOA ns1 mail 1 3600 600 86400 300\n@ 3600 IN NS ns1.example.net.\n';
    writeFileSync(join(server.dataDir, 'zones', 'file.example.zone'), `${head}${lines.join('\n')}\n`);
    done(await admin.get(`/api/domains/${file}/records?refresh=true&limit=1`));

    // its provider hangs, but at one zone, where it always wants to be left alone for a second
    await pdns.createZone('limited.example');
    const limited = await addDomain(admin, world.account, 'limited.example');
    let letGo: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let hanging = 0;
    proxy.fault = async ({ path }, forward) => {
      if (path.includes('limited')) return { status: 429, body: '{}', headers: { 'retry-after': '1' } };
      hanging++;
      await released;
      return forward();
    };
    let on = true;
    const order: string[] = [];
    const again = async (name: string, ask: () => Promise<unknown>) => {
      do {
        const answer = await ask();
        // 202: it goes on behind the answer
        if ((answer as { status?: number }).status !== 202) order.push(name);
      } while (on);
    };
    let round = 0;
    const auth = { authorization: `Bearer ${world.token}` };
    const changes = Array.from({ length: 1000 }, (_, i) => ({
      op: 'create',
      host: `b${i}`,
      type: 'A',
      value: '192.0.2.1',
    }));
    const heavy = [
      again('list', () => admin.post(`${world.records}/batch?wait=50`, { changes })),
      again('synchronisation', () => admin.post(`/api/accounts/${world.account}/sync?wait=50`)),
      ...[1, 2, 3].map(() => again('health', () => admin.get(`/api/domains/${world.domain}/health`))),
      ...[1, 2, 3].map((n) =>
        again('limited', () =>
          admin.post(`/api/domains/${limited}/records`, { host: `l${n}`, type: 'A', value: '192.0.2.1' }),
        ),
      ),
      again('large file', () =>
        admin.put(`/api/domains/${file}/rrsets/w/A`, { values: [`192.0.2.${round++ & 255}`], ttl: 300 }),
      ),
      again('export', () =>
        fetch(`${server.url}/api/audit/export?format=ndjson`, { headers: auth }).then((a) => a.text()),
      ),
    ];
    await until('all of it has begun', async () => hanging > 0 && bomb.count() > 0 && order.includes('large file'));
    const others = () => order.slice(order.indexOf('other'), order.lastIndexOf('other') + 1);
    for (let i = 1; i <= ROUNDS || !others().includes('large file'); i++) {
      done(await server.call('GET', '/health/live'));
      const value = `198.51.100.${i % 250}`;
      done(await other.put(`/api/domains/${mine}/records/${www.id}`, { value }));
      const { rrsets } = await pdns.zone('mine.example');
      const set = rrsets.find(({ name }) => name === 'www.mine.example.');
      assert.deepEqual(
        set?.records.map(({ content }) => content),
        [value],
      );
      order.push('other');
    }
    assert.ok(!order.includes('list') && !order.includes('synchronisation'), order.join(' '));
    on = false;
    proxy.fault = null;
    letGo();
    await Promise.all(heavy);
  });
});
