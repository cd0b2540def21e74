import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Client, LocalServer, type Server, ServerProcess, startProcess } from '../support/server.js';
import { describeUnless, thorough } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import {
  addAccount,
  addDomain,
  cacheLines,
  done,
  each,
  made,
  powerdnsLines,
  startWorld,
  until,
  type World,
} from '../support/world.js';

const WRITES = 60;
const CONCURRENCY = 8;
/** the server is ended after so many answers, in rounds on the same data; `stop` is the orderly end */
const ENDS: ['kill' | 'stop', number][] = [
  ['kill', 15],
  ['kill', 45],
  ['stop', 30],
];

// processes of their own, until the last start: they are killed
for (const { kind, skip } of thorough ? databases('sqlite', 'postgresql') : databases('postgresql')) {
  describeUnless(skip || noPowerdns)(`kill -9 in the middle of writes, on ${kind}`, () => {
    let world: World;
    let server: Server;
    let env: Record<string, string>;

    beforeAll(async () => {
      world = await startWorld(kind, {}, 'lmdb', startProcess);
      server = world.server;
      env = { DATABASE_URL: world.databaseUrl };
    });
    afterAll(async () => {
      await server?.kill();
      await world?.stop();
    });

    const client = (): Client => server.as(world.token);

    /** Starts again on the same data, and waits until the unfinished writes are settled. */
    async function startAgain(): Promise<void> {
      server = await ServerProcess.start(env, world.server.dataDir);
      await until('the service is ready', async () => (await fetch(`${server.url}/health/ready`)).ok);
      await until('no intent is open', async () => (await openIntents(world)) === 0);
    }

    /** One write of a mixed stream: creates, and edits, status changes and deletions of what was there before. */
    function write(i: number, round: number, old: { id: number; host: string }[]): Promise<unknown> {
      const { records } = world;
      const target = old[i % Math.max(1, old.length)];
      const value = `10.${round}.${i >> 8}.${i & 255}`;
      if (i % 2 === 0 || !target) return client().post(records, { host: `h${i % 5}`, type: 'A', value });
      if (i % 8 === 1) return client().delete(`${records}/${target.id}`);
      if (i % 8 === 3) return client().patch(`${records}/${target.id}/status`, { enabled: i % 16 === 3 });
      if (i % 8 === 5) return client().put(`${records}/${target.id}`, { host: `m${i % 3}` });
      return client().put(`${records}/${target.id}`, { value, ttl: 300 + (i % 7) });
    }

    it(`${WRITES} writes: ${ENDS.map(([how, after]) => `${how} after ${after}`).join(', ')}`, async () => {
      for (const [round, [how, endAfter]] of ENDS.entries()) {
        const old = done(await client().get(`${world.records}?type=A`)).list;
        let answers = 0;
        let killed: Promise<unknown> | undefined;
        await each(Array.from({ length: WRITES }), CONCURRENCY, async (_none, i) => {
          if (killed) return;
          await write(i, round, old).then(
            () => {
              answers++;
              if (answers < endAfter || killed) return;
              killed = server[how]();
            },
            () => assert.ok(killed, 'writes fail only because the server ended'),
          );
        });
        await killed;
        if (how === 'stop') {
          assert.equal(await openIntents(world), 0, 'what was begun was ended');
        }
        await startAgain();
        await world.agree(client());
        const { total, list } = done(await client().get(world.records));
        assert.equal(total, list.length, 'the stored count is exact');
      }
      assert.ok(done(await client().get(world.records)).total > 20);
    });

    it('a long list that was accepted is carried on with, killed twice on its way', async () => {
      const { records, domain, proxy } = world;
      const LENGTH = 700;
      const changes = Array.from({ length: LENGTH }, (_, i) => ({
        op: 'create',
        host: `list${i}`,
        type: 'A',
        value: '192.0.2.1',
      }));
      let writes = 0;
      let killed: Promise<unknown> | undefined;
      proxy.fault = async (request, forward) => {
        if (request.method !== 'PATCH') return forward();
        writes++;
        // once before and once after the provider has applied it
        if (writes === 3) {
          killed = server.kill();
          await killed;
          return 'close';
        }
        const reply = await forward();
        if (writes !== 6) return reply;
        killed = server.kill();
        await killed;
        return 'close';
      };
      const accepted = await client().post(`${records}/batch`, { changes });
      assert.equal(accepted.status, 202);
      const path = `/api/domains/${domain}/changes/${accepted.data.change_set_id as number}` as const;
      for (const after of [3, 6]) {
        await until('the service was killed', async () => writes >= after && killed !== undefined, 60_000);
        await killed;
        killed = undefined;
        server = await ServerProcess.start(env, world.server.dataDir);
        await until('the service is ready', async () => (await fetch(`${server.url}/health/ready`)).ok);
      }
      await until('the list is done', async () => done(await client().get(path)).state === 'done', 120_000);
      proxy.fault = null;
      const { counts } = done(await client().get(path));
      const { list } = done(await client().get(records));
      const made = list.filter((r) => r.host.startsWith('list')).length;
      assert.equal(counts.applied, made, 'what is said to be applied is there, and nothing else');
      // the piece that was cut off before the provider saw it was tried, and is not done again unasked
      assert.deepEqual([counts.applied + counts.failed, counts.failed <= 100, counts.pending], [LENGTH, true, 0]);
      await world.agree(client());
    });

    it('killed between the success at the provider and its own commit', async () => {
      const { pdns, proxy } = world;
      // each in a zone of its own, since an account writes one thing after the other: all are on their way at once
      const ops = ['create', 'update', 'delete', 'status'] as const;
      const zones = await Promise.all(
        ops.map(async (op) => {
          const zone = `${op}.example`;
          await pdns.createZone(zone);
          const account = await addAccount(client(), 'powerdns', { url: proxy.url, api_key: pdns.apiKey });
          const domain = await addDomain(client(), account, zone);
          const records = `/api/domains/${domain}/records` as const;
          const add = (last: number) => client().post(records, { host: 'edge', type: 'A', value: `192.0.2.${last}` });
          made(await add(1));
          const { id } = made(await add(2));
          const path = `${records}/${id}`;
          const start = {
            create: () => add(3),
            update: () => client().put(path, { value: '192.0.2.3' }),
            delete: () => client().delete(path),
            status: () => client().patch(`${path}/status`, { enabled: false }),
          }[op];
          return { op, zone, domain, records, start };
        }),
      );
      let applied = 0;
      let killed: Promise<unknown> | undefined;
      proxy.fault = async (request, forward) => {
        const reply = await forward();
        if (request.method !== 'PATCH') return reply;
        applied++;
        // applied there, and nobody here lives to hear it
        await until('all are applied', async () => applied === ops.length);
        killed ??= server.kill();
        await killed;
        return 'close';
      };
      await Promise.all(zones.map(({ start }) => assert.rejects(start())));
      await killed;
      assert.equal(await openIntents(world), ops.length, 'each left its intent');
      proxy.fault = null;
      await startAgain();
      const wanted = { create: ['1', '2', '3'], update: ['1', '3'], delete: ['1'], status: ['1', '2-'] };
      for (const { op, zone, domain, records } of zones) {
        assert.deepEqual(await cacheLines(client(), domain), powerdnsLines(await pdns.zone(zone)));
        const { list } = done(await client().get(`${records}?host=edge`));
        const values = list.map((r) => `${r.value.slice(-1)}${r.enabled ? '' : '-'}`);
        assert.deepEqual(values.toSorted(), wanted[op], op);
      }
    });

    it('killed before the provider was reached: nothing remains', async () => {
      const { proxy, records } = world;
      let killed: Promise<unknown> | undefined;
      proxy.fault = async (request, forward) => {
        if (request.method !== 'PATCH') return forward();
        killed = server.kill();
        await killed;
        return 'close';
      };
      await assert.rejects(client().post(records, { host: 'never', type: 'A', value: '192.0.2.1' }));
      proxy.fault = null;
      await startAgain();
      await world.agree(client());
      assert.equal(done(await client().get(`${records}?host=never`)).total, 0);
    });

    it('started while the provider is down: it serves, and settles when the provider is back', async () => {
      const { proxy, records } = world;
      let killed: Promise<unknown> | undefined;
      proxy.fault = async (request, forward) => {
        const reply = await forward();
        if (request.method !== 'PATCH') return reply;
        killed = server.kill();
        await killed;
        return 'close';
      };
      await assert.rejects(client().post(records, { host: 'late', type: 'A', value: '192.0.2.9' }));
      proxy.fault = null;
      await proxy.down();
      server = await LocalServer.start(env, world.server.dataDir);
      await until('the service is ready', async () => (await fetch(`${server.url}/health/ready`)).ok);
      assert.equal(done(await client().get(`${records}?host=late`)).total, 0);
      assert.equal(await openIntents(world), 1);
      await proxy.up();
      done(await client().post(`/api/accounts/${world.account}/sync`));
      assert.equal(await openIntents(world), 0);
      assert.equal(done(await client().get(`${records}?host=late`)).total, 1);
      await world.agree(client());
    });
  });
}
