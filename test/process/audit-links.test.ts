import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { LocalServer, type Server, ServerProcess, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, until } from '../support/world.js';

const WRITERS = 24;
const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';

/** An entry as a service that dies after its commit leaves it. */
const PENDING = `INSERT INTO audit_pending (created_at, actor_type, action, result, ip, user_agent, request_id)
  VALUES (?, 'system', ?, 'ok', '', '', '')`;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`linking of audit entries on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    const verify = async (server: Server = service.server) =>
      done(await server.as(service.token).get('/api/audit/verify'));
    const list = async (query: string) => done(await service.admin.get(`/api/audit/logs?limit=500&${query}`)).list;
    const waiting = async () => (await db.rows('SELECT id FROM audit_pending')).length;
    beforeAll(async () => {
      service = await startService(kind, { SECRET_KEY });
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
    });
    afterAll(async () => {
      await close();
      // it was started again
      await service.server.stop();
      await service.stop();
    });

    it(`of ${WRITERS} writers of different domains: links all their changes`, async () => {
      const account = await addAccount(service.admin, 'zonefile', {});
      const domains: number[] = [];
      for (let i = 0; i < WRITERS; i++) domains.push(await addDomain(service.admin, account, `z${i}.example`, true));
      const create = (domain: number, last: number) =>
        service.admin.post(`/api/domains/${domain}/records`, { host: 'www', type: 'A', value: `192.0.2.${last}` });
      const all = () => Promise.all(domains.map((domain, i) => create(domain, i + 1)));
      if (kind === 'sqlite') for (const answer of await all()) made(answer);
      else {
        // no writer waits while the end of the chain is locked
        await db.transaction(async (manager) => {
          await db.lock(manager, 'audit_chain', { id: 1 });
          for (const answer of await all()) made(answer);
        });
      }
      const entries = await list('action=record.create');
      assert.equal(entries.length, WRITERS);
      assert.deepEqual(new Set(entries.map((entry) => entry.domain_id)), new Set(domains));
      const { ok, entries: linked } = await verify();
      assert.deepEqual([ok, linked], [true, done(await service.admin.get('/api/audit/logs')).total]);
    });

    it('happens without a reader', async () => {
      made(await service.admin.post('/api/tokens', { name: 'soon' }));
      await until('linked', async () => (await waiting()) === 0);
    });

    it('happens after a process died between commit and link', async () => {
      await service.server.stop();
      const opened = await openDatabase(service.databaseUrl, service.server.dataDir);
      for (const name of ['left.one', 'left.two']) await opened.db.run(PENDING, [now(), name]);
      await opened.close();
      const again = await LocalServer.start({ DATABASE_URL: service.databaseUrl, SECRET_KEY }, service.server.dataDir);
      Object.assign(service, { server: again, admin: again.as(service.token) });
      await until('linked', async () => (await waiting()) === 0);
      const [two, one] = await list('action=left.*');
      assert.deepEqual([one?.action, two?.action, two?.seq], ['left.one', 'left.two', Number(one?.seq) + 1]);
      assert.equal((await verify()).ok, true);
    });

    if (kind !== 'sqlite') {
      it('includes an entry that is committed after a later one', async () => {
        await db.transaction(async (manager) => {
          await db.run(PENDING, [now(), 'late.commit'], manager);
          made(await service.admin.post('/api/tokens', { name: 'earlier commit' }));
          assert.equal((await list('action=token.create'))[0]?.target?.name, 'earlier commit');
        });
        const [late] = await list('action=late.commit');
        const [early] = await list('action=token.create');
        assert.ok(Number(late?.seq) > Number(early?.seq));
        assert.equal((await verify()).ok, true);
      });

      it('survives two processes that link at once, one of which is killed', async () => {
        const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
        const env = { DATABASE_URL: service.databaseUrl, SECRET_KEY };
        const second = await ServerProcess.start(env, dataDir);
        try {
          const clients = [service.admin, second.as(service.token)];
          const write = (i: number) => clients[i % 2]?.post('/api/tokens', { name: `both${i}` });
          const read = (i: number) => clients[i % 2]?.get('/api/audit/logs?limit=1');
          const before = done(await service.admin.get('/api/audit/logs')).total;
          await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 4 === 3 ? read(i) : write(i))));
          assert.equal((await verify(second)).ok, true);
          assert.equal(done(await service.admin.get('/api/audit/logs')).total, before + 30);
          // answered, and not linked: the end of the chain is locked meanwhile
          let answered = 0;
          await db.transaction(async (manager) => {
            await db.lock(manager, 'audit_chain', { id: 1 });
            for (let i = 0; i < 5; i++) {
              made(await second.as(service.token).post('/api/tokens', { name: `killed${i}` }));
              answered += 1;
            }
            await second.kill();
          });
          assert.equal((await list('action=token.create&keyword=killed')).length, answered);
          assert.equal((await verify()).ok, true);
        } finally {
          await second.kill();
          rmSync(dataDir, { recursive: true, force: true });
        }
      });
    }
  });

  describeUnless(skip)(`an audit log of an older version on ${kind}`, () => {
    it('is continued, and its old entries still verify', async () => {
      const old = await startService(kind);
      try {
        for (let i = 0; i < 3; i++) made(await old.admin.post('/api/tokens', { name: `old${i}` }));
        const verified = async (server: Server) => done(await server.as(old.token).get('/api/audit/verify'));
        const { entries } = await verified(old.server);
        await old.server.stop();
        const { db, close } = await openDatabase(old.databaseUrl, old.server.dataDir);
        // as the previous version left it
        await db.run('UPDATE audit_logs SET seal = NULL');
        await db.run('UPDATE audit_chain SET secret = NULL, signature = NULL, unsealed_seq = NULL');
        rmSync(join(old.server.dataDir, 'audit-checkpoint.json'), { force: true });
        await close();
        const server = await LocalServer.start({ DATABASE_URL: old.databaseUrl }, old.server.dataDir);
        try {
          made(await server.as(old.token).post('/api/tokens', { name: 'new' }));
          const { ok, entries: all, checkpoint } = await verified(server);
          assert.deepEqual([ok, all, checkpoint?.unsealed_seq], [true, entries + 1, entries]);
          const opened = await openDatabase(old.databaseUrl, old.server.dataDir);
          await opened.db.run(`UPDATE audit_logs SET username = 'forged' WHERE seq = 2`);
          await opened.close();
          assert.equal((await verified(server)).first_bad_seq, 2);
        } finally {
          await server.stop();
        }
      } finally {
        await old.stop();
      }
    });
  });
}
