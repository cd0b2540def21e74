import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { now } from '../../src/platform/common/clock.js';
import { databases } from '../support/databases.js';
import { inRedis } from '../support/jobs.js';
import { noPowerdns } from '../support/powerdns.js';
import { noRedis, REDIS_URL } from '../support/redis.js';
import { type Client, ServerProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { done, made, refused, startWorld, until, type World } from '../support/world.js';

const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';

for (const [i, { kind, skip }] of databases('postgresql', 'mysql').entries()) {
  // what Redis hands out does not depend on the database
  for (const redis of i === 0 ? ['', REDIS_URL] : ['']) {
    const env = { SECRET_KEY, REDIS_URL: redis };
    const unless = skip || noPowerdns || (redis && noRedis) || undefined;
    describeUnless(unless)(`jobs of two replicas on one ${kind}, ${redis ? 'with' : 'without'} Redis`, () => {
      let world: World;
      let second: ServerProcess;
      let dataDir: string;
      let other: Client;

      const startSecond = async () => {
        second = await ServerProcess.start({ DATABASE_URL: world.databaseUrl, ...env }, dataDir);
        other = second.as(world.token);
      };
      beforeAll(async () => {
        world = await startWorld(kind, env);
        dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
        await startSecond();
      });
      afterAll(async () => {
        await second?.kill();
        if (dataDir) rmSync(dataDir, { recursive: true, force: true });
        const [first] = world ? await rowsOf(world, 'SELECT MIN(created_at) AS birth FROM jobs') : [];
        await world?.stop();
        if (!redis || !first) return;
        const client = new Redis(redis);
        const keys = await client.keys(`${inRedis(String(first.birth))}:*`);
        if (keys.length) await client.del(keys);
        client.disconnect();
      });

      const jobs = async (query: `?${string}` = '?limit=100') =>
        done(await world.admin.get(`/api/system/jobs${query}`)).list;
      const jobOf = async (name: string) => (await jobs(`?name=${name}`))[0];
      const sync = (query: '' | `?${string}` = '') => other.post(`/api/accounts/${world.account}/sync${query}`);

      it('each scheduled job has run once', async () => {
        await until('all ran', async () =>
          (await jobs()).every(({ kind: of, runs, ended_at }) => of === 'once' || (runs > 0 && ended_at !== null)),
        );
        for (const name of ['sessions.sweep', 'mails.tidy', 'token-uses.prune', 'jobs.tidy'])
          assert.equal((await jobOf(name))?.runs, 1, name);
      });

      it('a long synchronisation is answered with its job, which goes on and reports progress', async () => {
        const { proxy } = world;
        let open: () => void = () => undefined;
        const opened = new Promise<void>((resolve) => {
          open = resolve;
        });
        proxy.fault = async ({ path }, forward) => {
          if (path.includes('/zones/')) await opened;
          return forward();
        };
        try {
          const answer = await sync('?wait=0');
          assert.equal(answer.status, 202, answer.msg);
          const { job_id: id } = answer.data as unknown as { job_id: number };
          assert.equal(answer.headers.get('location'), `/api/system/jobs/${id}`);
          const job = async () => done(await world.admin.get(`/api/system/jobs/${id}`));
          await until('it reads', async () => (await job()).progress !== null);
          const { name, subject, state, next_run_at, progress } = await job();
          assert.deepEqual(
            [name, subject, state, next_run_at],
            ['account.sync', `account.sync|${world.account}`, 'running', null],
          );
          const { begun, ...rest } = progress as { begun: string };
          assert.deepEqual(rest, { zones: 1, done: 0, failed: 0, reading: [world.zone], errors: [] });
          assert.ok(begun <= now());
          assert.deepEqual(refused(await sync(), 409, 409001).data, { job_id: id, reason: 'job_runs' });
          refused(await world.admin.post(`/api/system/jobs/${id}/retry`), 409, 409001);
          open();
          await until('it is done', async () => (await job()).state === 'done');
          assert.deepEqual((await job()).result, { added: 0, updated: 1, missing: 0, failed: 0 });
          refused(await world.admin.post(`/api/system/jobs/${id}/retry`), 409, 409001);
          const logs = done(await world.admin.get('/api/audit/logs?action=account.sync&limit=1'));
          assert.deepEqual([logs.list[0]?.actor.username, logs.list[0]?.ip], ['admin', '127.0.0.1']);
        } finally {
          open();
          proxy.fault = null;
        }
      });

      it('a job whose process is killed goes on in the other one', async () => {
        const { proxy } = world;
        let asked = 0;
        let hold = true;
        proxy.fault = async ({ path }, forward) => {
          if (!path.includes('/zones/')) return forward();
          asked++;
          return hold ? new Promise(() => undefined) : forward();
        };
        try {
          assert.equal((await sync('?wait=0')).status, 202);
          await until('it reads', async () => asked > 0);
          hold = false;
          await second.kill();
          await until('the other one did it', async () => (await jobOf('account.sync'))?.state === 'done', 60_000);
          const ended = await jobOf('account.sync');
          assert.deepEqual([ended?.result, ended?.last_error], [{ added: 0, updated: 1, missing: 0, failed: 0 }, null]);
          await startSecond();
        } finally {
          proxy.fault = null;
        }
      });

      it('a job that fails is tried again, then notified of, and can be started again', async () => {
        const { proxy, admin, account } = world;
        const path = `/api/accounts/${account}` as const;
        await proxy.down();
        done(await admin.put(path, { sync_interval_minutes: 60 }));
        // it was looked at, and will be in a minute
        const [due] = await jobs('?name=accounts.due');
        done(await admin.post(`/api/system/jobs/${due?.id}/retry`));
        const job = await new Promise<number>((resolve, reject) => {
          until('it failed once', async () => {
            const found = await jobOf('account.sync');
            if (!found?.last_error) return false;
            resolve(found.id);
            return true;
          }).catch(reject);
        });
        // the test does not wait for the delay of the next try
        for (let i = 0; i < 3; i++) {
          await until('it waits', async () => (await jobOf('account.sync'))?.state !== 'running');
          if ((await jobOf('account.sync'))?.state === 'failed') break;
          const { runs } = (await jobOf('account.sync')) as { runs: number };
          await rowsOf(world, `UPDATE jobs SET next_at = '2020-01-01T00:00:00.000Z' WHERE id = ${job}`);
          await until('the next try', async () => ((await jobOf('account.sync'))?.runs ?? 0) > runs);
        }
        await until('it is given up', async () => (await jobOf('account.sync'))?.state === 'failed');
        assert.equal((await jobOf('account.sync'))?.tries, 3);
        assert.match(done(await admin.get(path)).last_error ?? '', /cannot be reached|refused|closed/i);
        const logs = done(await admin.get('/api/audit/logs?action=account.sync&limit=1'));
        assert.deepEqual([logs.list[0]?.actor.type, logs.list[0]?.result], ['system', 'failed']);
        assert.equal((await jobs('?state=failed')).length, 1);

        await proxy.up();
        assert.equal(done(await other.post(`/api/system/jobs/${job}/retry`)).state !== 'failed', true);
        await until('it is done', async () => (await jobOf('account.sync'))?.state === 'done');
        const { last_error, sync_interval_minutes } = done(await admin.get(path));
        assert.deepEqual([last_error, sync_interval_minutes], [null, 60]);
      });

      it('tokens may read jobs but not start them, and only administrators may do either', async () => {
        const { id } = (await jobOf('jobs.tidy')) as { id: number };
        const { token } = made(await world.admin.post('/api/tokens', { name: 'looks' }));
        const client = world.server.as(token);
        done(await client.get('/api/system/jobs'));
        refused(await client.post(`/api/system/jobs/${id}/retry`), 403, 403001);
        refused(await world.admin.post('/api/system/jobs/999999/retry'), 404, 404001);
        refused(await world.admin.get('/api/system/jobs?state=none'), 400, 400001);
        refused(await sync('?wait=51'), 400, 400001);
        refused(await world.admin.put(`/api/accounts/${world.account}`, { sync_interval_minutes: -1 }), 400, 400001);
      });
    });
  }
}
