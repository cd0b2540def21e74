import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { bindMissing, startBind } from '../support/bind.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Client, type Server, ServerProcess } from '../support/server.js';
import { describeUnless, itUnless } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import {
  addAccount,
  addDomain,
  ask,
  done,
  each,
  made,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

/** a multiple of three */
const MANY = 42;
const CONCURRENCY = 8;
const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';
const addresses = (net: number) => Array.from({ length: MANY }, (_none, i) => `10.0.${net}.${i}`);

// the second replica is a process of its own: replicas share nothing but the database
for (const { kind, skip } of databases('postgresql', 'mysql')) {
  describeUnless(skip || noPowerdns)(`two replicas on one ${kind}`, () => {
    let world: World;
    let second: Server;
    let clients: [Client, Client];

    beforeAll(async () => {
      world = await startWorld(kind, { SECRET_KEY }, 'lmdb');
      const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
      second = await ServerProcess.start({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, dataDir);
      clients = [world.admin, second.as(world.token)];
    });
    afterAll(async () => {
      await second?.kill();
      if (second) rmSync(second.dataDir, { recursive: true, force: true });
      await world?.stop();
    });

    const client = (i: number) => clients[i % 2] as Client;
    const inDns = async (host: string) =>
      (await ask(world.pdns.dnsPort, `${host}.${world.zone}`, 'A')).map((p) => p.rdata).toSorted();

    /** Creates many values at one name through both. @returns their ids */
    async function createAll(path: World['records'], host: string, values: string[]): Promise<number[]> {
      const ids: number[] = [];
      await each(values, CONCURRENCY, async (value, i) => {
        ids[i] = made(await client(i).post(path, { host, type: 'A', value })).id;
      });
      return ids;
    }

    it(`${MANY} creates, edits and deletions at one name`, async () => {
      const { records } = world;
      const values = addresses(1);
      const ids = await createAll(records, 'many', values);
      assert.equal(new Set(ids).size, MANY);
      assert.deepEqual(await inDns('many'), values.toSorted());
      await world.agree(client(1));

      // a third is changed, a third deleted, a third disabled, each through the replica that did not create it
      await each(ids, CONCURRENCY, async (id, i) => {
        const path = `${records}/${id}`;
        if (i % 3 === 0) done(await client(i + 1).put(path, { value: `10.0.2.${i}` }));
        else if (i % 3 === 1) done(await client(i + 1).delete(path));
        else done(await client(i + 1).patch(`${path}/status`, { enabled: false }));
      });
      assert.deepEqual(await inDns('many'), values.flatMap((_v, i) => (i % 3 ? [] : [`10.0.2.${i}`])).toSorted());
      await world.agree(client(0));
      assert.equal(done(await client(0).get(`${records}?host=many&enabled=false`)).total, MANY / 3);
    });

    it('the same value twice at the same time exists once', async () => {
      const body = { host: 'twin', type: 'A', value: '192.0.2.1' };
      const answers = await Promise.all([0, 1, 2, 3].map((i) => client(i).post(world.records, body)));
      assert.deepEqual(answers.map((a) => a.status).toSorted(), [201, 409, 409, 409]);
      await world.agree();
    });

    it('a CNAME and an address at the same time: one of them wins', async () => {
      for (let i = 0; i < 5; i++) {
        const host = `either${i}`;
        const answers = await Promise.all([
          client(i).post(world.records, { host, type: 'CNAME', value: 'a.example.net' }),
          client(i + 1).post(world.records, { host, type: 'A', value: '192.0.2.1' }),
        ]);
        assert.deepEqual(answers.map((a) => a.status).toSorted(), [201, 400]);
      }
      await world.agree();
    });

    it('a sync at one while the other writes loses nothing and leaves no ghosts', async () => {
      const { records, account } = world;
      let writing = true;
      const syncs = (async () => {
        let count = 0;
        while (writing) {
          done(await clients[0].post(`/api/accounts/${account}/sync`));
          count++;
        }
        return count;
      })();
      const values = addresses(3);
      const ids: number[] = [];
      await each(values, CONCURRENCY, async (value, i) => {
        const host = `busy${i % 10}`;
        const path = `${records}/${made(await clients[1].post(records, { host, type: 'A', value })).id}`;
        ids[i] = Number(path.split('/').at(-1));
        if (i % 4 === 0) done(await clients[1].delete(path));
        else if (i % 4 === 1) done(await clients[1].put(path, { host: `moved${i % 10}` }));
        else if (i % 4 === 2) done(await clients[1].put(path, { ttl: 900 }));
      }).finally(() => {
        writing = false;
      });
      assert.ok((await syncs) > 0);
      await world.agree(client(0));
      for (const [i, id] of ids.entries()) {
        const answer = await client(i).get(`${records}/${id}`);
        assert.equal(answer.status, i % 4 === 0 ? 404 : 200, `record ${i} kept its id`);
      }
      assert.equal(await openIntents(world), 0);
      const { total } = done(await client(0).get(records));
      assert.equal(done(await client(1).get(`/api/domains/${world.domain}`)).records_count, total);
    });

    it('a long list is done once, though another replica that starts finds it meanwhile', async () => {
      const { admin, proxy, domain, records } = world;
      const held = Array.from({ length: 150 }, (_, i) => ({
        op: 'create',
        host: `old${i}`,
        type: 'A',
        value: '10.0.6.1',
      }));
      done(await admin.post(`${records}/batch`, { changes: held.slice(0, 100) }));
      done(await admin.post(`${records}/batch`, { changes: held.slice(100) }));
      const { list } = done(await admin.get(`${records}?keyword=old&limit=200`));
      const changes = list.flatMap(({ id }, i) => [
        { op: 'delete', id },
        { op: 'upsert', host: `new${i}`, type: 'A', value: '10.0.6.2' },
      ]);
      let reads = 0;
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const sent: string[] = [];
      proxy.fault = async ({ method, body }, forward) => {
        if (method === 'PATCH')
          sent.push(...[...body.matchAll(/"((?:old|new)\d+)\.example/g)].map(([, host]) => host as string));
        // the first piece is planned, and nobody is at it yet: the first reading accepts the list
        else if (++reads === 2) await gate;
        return forward();
      };
      const answer = await admin.post(`${records}/batch`, { changes });
      assert.equal(answer.status, 202, JSON.stringify(answer.data));
      await until('the first piece is asked for', async () => reads >= 2);
      const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
      const third = await ServerProcess.start({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, dataDir);
      try {
        done(await third.as(world.token).get(`/api/domains/${domain}`));
        release();
        const path = `/api/domains/${domain}/changes/${answer.data.change_set_id as number}` as const;
        await until('it is done', async () => done(await admin.get(path)).state === 'done');
        const { counts } = done(await admin.get(path));
        assert.deepEqual([counts.applied, counts.failed], [changes.length, 0], JSON.stringify(counts));
        assert.equal(sent.length, new Set(sent).size, 'each change is sent once');
        await world.agree();
      } finally {
        proxy.fault = null;
        await third.kill();
        rmSync(dataDir, { recursive: true, force: true });
      }
    });

    it('a token revoked at one is refused at the other at the very next request', async () => {
      const { token, tokenData } = made(await clients[0].post('/api/tokens', { name: 'ci' }));
      const path = `${world.records}?limit=1`;
      for (const change of ['disable', 'enable', 'delete']) {
        if (change === 'enable') refused(await second.as(token).get(path), 401, 401001);
        else done(await second.as(token).get(path));
        if (change === 'delete') done(await clients[0].delete(`/api/tokens/${tokenData.id}`));
        else done(await clients[0].patch(`/api/tokens/${tokenData.id}/status`, { is_active: change === 'enable' }));
      }
      refused(await second.as(token).get(path), 401, 401001);
    });

    itUnless(bindMissing())('values at one name of BIND', async () => {
      const zone = 'bind.example';
      const bind = await startBind({ zones: [zone] });
      try {
        const { name, algorithm, secret } = bind.tsig;
        const key = { tsig_name: name, tsig_algorithm: algorithm, tsig_secret: secret };
        const account = await addAccount(clients[0], 'rfc2136', {
          server: '127.0.0.1',
          port: bind.port,
          zones: zone,
          ...key,
        });
        const records = `/api/domains/${await addDomain(clients[1], account, zone)}/records` as const;
        const live = async () => (await ask(bind.port, `many.${zone}`, 'A')).map((p) => p.rdata).toSorted();
        const values = addresses(4);
        const ids = await createAll(records, 'many', values);
        assert.deepEqual(await live(), values.toSorted());
        await each(ids, CONCURRENCY, async (id, i) => {
          const path = `${records}/${id}`;
          if (i % 3 === 0) done(await client(i + 1).put(path, { value: `10.0.5.${i}` }));
          else if (i % 3 === 1) done(await client(i + 1).delete(path));
          else done(await client(i + 1).patch(`${path}/status`, { enabled: false }));
        });
        const wanted = values.flatMap((_v, i) => (i % 3 ? [] : [`10.0.5.${i}`])).toSorted();
        assert.deepEqual(await live(), wanted);
        done(await clients[0].post(`/api/accounts/${account}/sync`));
        const { list } = done(await clients[1].get(`${records}?host=many`));
        const cached = list.filter((r) => r.enabled).map((r) => r.value);
        assert.deepEqual(cached.toSorted(), wanted);
        assert.equal(list.length, (MANY / 3) * 2);
      } finally {
        await bind.stop();
      }
    });
  });
}
