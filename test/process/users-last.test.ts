import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { atOnce } from '../support/at-once.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, type Client, ServerProcess, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused } from '../support/world.js';

const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';
const ROUNDS = 20;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`super administrators on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    beforeAll(async () => {
      service = await startService(kind, { SECRET_KEY });
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      const rate_limits = { login: 100, public: 0, user: 0, token: 0 };
      done(await admin.put('/api/settings/security', { rate_limits }));
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    /** Another one, signed in. */
    const person = async (username: string, server = service.server) => {
      const user = { username, password: `${username}-secret` };
      const path = `/api/users/${await addUser(db, user, 3)}`;
      const login = () => server.login(user);
      return { path, login, client: server.as(await login()) };
    };
    const left = async () => (await db.rows('SELECT id FROM users WHERE role = 3 AND status = 1')).length;

    it('are never all removed: an active one is left', async () => {
      const me = '/api/users/1';
      await db.run('UPDATE users SET role = 1 WHERE id <> 1 AND role = 3');
      const sleeping = await person('sleeping');
      done(await admin.put(sleeping.path, { status: 0 }));
      for (const answer of [
        await admin.delete(me),
        await admin.put(me, { role: 2 }),
        await admin.put(me, { status: 0 }),
      ]) {
        assert.match(refused(answer, 409, 409001).msg, /last active super administrator/);
      }
      done(await admin.get('/api/users'));
      done(await admin.put(me, { nickname: 'myself', role: 3, status: 1 }));
      const { list } = done(await admin.get('/api/audit/logs?action=user.delete'));
      assert.deepEqual([list[0].result, list[0].actor.user_id], ['failed', 1]);
      done(await admin.put(sleeping.path, { status: 1 }));
      done(await admin.put(me, { role: 1 }));
      refused(await admin.get('/api/users'), 403, 403001);
      refused(await service.server.as(await sleeping.login()).put(sleeping.path, { role: 1 }), 409, 409001);
      await db.run('UPDATE users SET role = 3 WHERE id = 1');
    });

    it(`are left in ${ROUNDS} rounds of two who put each other out at once`, async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
      // a process of its own: replicas share nothing but the database
      const second =
        kind === 'sqlite'
          ? null
          : await ServerProcess.start({ DATABASE_URL: service.databaseUrl, SECRET_KEY }, dataDir);
      try {
        const WAYS: ((client: Client, path: string) => Promise<Answer>)[] = [
          (client, path) => client.delete(path),
          (client, path) => client.put(path, { role: 1 }),
          (client, path) => client.put(path, { status: 0 }),
        ];
        for (let round = 0; round < ROUNDS; round++) {
          await db.run('UPDATE users SET role = 1 WHERE role = 3');
          const [a, b] = [await person(`a${round}`), await person(`b${round}`, second ?? service.server)];
          const way = (i: number) => WAYS[(round + i) % WAYS.length] as (typeof WAYS)[0];
          // each round another pair of ways: the same one twice, then two that differ
          const answers = await atOnce(db, kind, [
            () => way(0)(a.client, b.path),
            () => way(round % 2)(b.client, a.path),
          ]);
          const statuses = answers.map((answer) => answer.status).toSorted();
          // on SQLite the one may be through before the other has said who it is
          if (second || statuses[1] === 409) assert.deepEqual(statuses, [200, 409], `round ${round}`);
          else assert.ok(statuses[0] === 200 && [401, 403].includes(statuses[1] as number), `${statuses}`);
          assert.equal(await left(), 1, `round ${round}`);
        }
      } finally {
        await second?.kill();
        rmSync(dataDir, { recursive: true, force: true });
        await db.run('UPDATE users SET role = 3 WHERE id = 1');
      }
    });

    it('are left when four changes of two of them come at once', async () => {
      for (let round = 0; round < 5; round++) {
        await db.run('UPDATE users SET role = 1 WHERE role = 3');
        const [a, b] = [await person(`self-a${round}`), await person(`self-b${round}`)];
        await atOnce(db, kind, [
          () => a.client.put(a.path, { role: 1 }),
          () => a.client.delete(b.path),
          () => b.client.put(b.path, { status: 0 }),
          () => b.client.put(a.path, { role: 2 }),
        ]);
        assert.equal(await left(), 1);
      }
      await db.run('UPDATE users SET role = 3 WHERE id = 1');
    });
  });
}
