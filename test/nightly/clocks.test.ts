import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { noFaketime, offBy } from '../support/clocks.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { ADMIN, type Client, ServerProcess, type Service, startProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { startTargets, type Targets } from '../support/targets.js';
import { codeOf, enrol } from '../support/totp.js';
import { done, made, startWorld, until, type World } from '../support/world.js';

const SECRET_KEY = 'the-same-key-of-all-replicas-0123456789';
const METRICS_TOKEN = 'for-the-metrics-of-tests';
const env = { SECRET_KEY, METRICS: 'on', METRICS_TOKEN, OUTBOUND_ALLOW: '127.0.0.0/8' };
const FAST = 600;

const jobsOf = async (client: Client, query: `?${string}` = '?limit=100') =>
  done(await client.get(`/api/system/jobs${query}`)).list;
const metricsOf = async ({ url }: { url: string }) =>
  (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })).text();

for (const { kind, skip } of databases('postgresql', 'mysql')) {
  describeUnless(skip || noFaketime)(`a replica on ${kind} whose clock is ten minutes fast`, () => {
    let fast: Service<ServerProcess>;
    let right: ServerProcess;
    let dataDir: string;
    let admin: Client;
    beforeAll(async () => {
      fast = await startProcess(kind, { ...env, ...offBy(FAST) });
      dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
    });
    afterAll(async () => {
      await right?.kill();
      await fast?.stop();
      if (dataDir) rmSync(dataDir, { recursive: true, force: true });
    });

    it('says so, and answers', async () => {
      const health = async () => done(await fast.server.call('GET', '/health/ready'));
      const { clock_offset_seconds: offset = 0 } = await health();
      assert.equal(Math.round(offset / 10) * 10, FAST);
      await until('it is in the log', async () => fast.server.log.includes('the clock of this machine is off'));
      assert.match(await metricsOf(fast.server), /^zoneward_clock_offset_seconds\{.*\} (599|600)/m);
      made(await fast.admin.post('/api/tokens', { name: 'of a fast clock' }));
    });

    it('takes no jobs; that nobody does is a failing job, a metric and a notice', async () => {
      const channel = { id: 'hook', type: 'webhook', name: 'x', events: ['job.stopped', 'clock.off'], enabled: true };
      const channels = [{ ...channel, config: { url: 'http://127.0.0.1:9/' } }];
      done(await fast.admin.put('/api/settings/notifications', { channels }));
      await until('a job fails', async () =>
        (await jobsOf(fast.admin, '?failing=true')).some(({ last_error }) =>
          /has not run since/.test(last_error ?? ''),
        ),
      );
      assert.match(await metricsOf(fast.server), /^zoneward_jobs\{state="stopped"\} [1-9]/m);
      await until('it is told', async () =>
        done(await fast.admin.get('/api/system/notifications')).list.some(({ event }) => event === 'job.stopped'),
      );
      const begun = (await rowsOf(fast, 'SELECT name FROM jobs WHERE runs > 0')).length;
      assert.equal(begun, 0);
    });

    it('leaves them to one with a right clock, which names itself', async () => {
      right = await ServerProcess.start({ ...env, DATABASE_URL: fast.databaseUrl }, dataDir);
      admin = right.as(await right.login());
      await until('all ran', async () => (await jobsOf(admin)).every(({ runs, ended_at }) => runs > 0 && ended_at));
      const at = new Set<number>();
      const before = (await jobsOf(admin, '?name=failover.check'))[0]?.runs ?? 0;
      await until('some more ran', async () => {
        const list = await jobsOf(admin);
        for (const { state, pid, replica } of list)
          if (state === 'running') at.add(pid ?? 0) && assert.ok(replica, 'it has a name');
        return (list.find(({ name }) => name === 'failover.check')?.runs ?? 0) > before + 3;
      });
      assert.ok(
        [...at].every((pid) => pid === right.pid),
        `${[...at]} is ${right.pid}`,
      );
      await until('none fails', async () => (await jobsOf(admin, '?failing=true')).length === 0);
    });

    it('writes the time of the database, as the other one does', async () => {
      const at = async (client: Client, name: string) =>
        made(await client.post('/api/tokens', { name })).tokenData.created_at;
      const first = await at(fast.admin, 'first');
      const second = await at(admin, 'second');
      assert.ok(first <= second, `${first} <= ${second}`);
    });

    it('signs logins that the other one believes, and takes codes of telephones with the right time', async () => {
      done(await right.call('GET', '/api/auth/me', undefined, await fast.server.login()));
      done(await fast.server.call('GET', '/api/auth/me', undefined, await right.login()));
      const { secret } = await enrol(admin);
      const login = { ...ADMIN, totpCode: await codeOf(secret) };
      done(await fast.server.call('POST', '/api/auth/login', login));
    });

    it('stops nothing when it ends', async () => {
      await fast.server.stop();
      const runs = async () => (await jobsOf(admin, '?name=failover.check'))[0]?.runs ?? 0;
      const before = await runs();
      await until('jobs run', async () => (await runs()) > before + 2);
    });
  });
}

describeUnless(noFaketime)('a node on SQLite that began an hour ahead', () => {
  it('does its jobs as soon as its clock was set right', async () => {
    const node = await startProcess('sqlite', { ...env, ...offBy(3600) });
    const { dataDir } = node.server;
    let again: ServerProcess | undefined;
    try {
      await until('all ran', async () =>
        (await jobsOf(node.admin)).every(({ runs, ended_at }) => runs > 0 && ended_at),
      );
      const before = new Map((await jobsOf(node.admin)).map(({ name, runs }) => [name, runs]));
      await node.server.stop();
      again = await ServerProcess.start({ ...env, DATABASE_URL: node.databaseUrl }, dataDir);
      const admin = again.as(await again.login());
      // those of a day, which are due in a day and an hour, too
      await until('all ran once more', async () =>
        (await jobsOf(admin)).every(({ name, runs }) => runs > (before.get(name) ?? 0)),
      );
    } finally {
      await again?.kill();
      await node.stop();
    }
  });
});

for (const { kind, skip } of databases('postgresql'))
  describeUnless(skip || noPowerdns)('checks of failover whose process is frozen', () => {
    let world: World;
    let other: ServerProcess;
    let targets: Targets;
    let dataDir: string;
    beforeAll(async () => {
      targets = await startTargets();
      world = await startWorld(kind, env, 'lmdb', startProcess);
      dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
      other = await ServerProcess.start({ ...env, DATABASE_URL: world.databaseUrl }, dataDir);
    });
    afterAll(async () => {
      await other?.kill();
      await world?.stop();
      await targets?.stop();
      if (dataDir) rmSync(dataDir, { recursive: true, force: true });
    });

    it('are a failing job at the others, until one of them makes them', async () => {
      await targets.up('127.0.4.9');
      const check = { kind: 'tcp', interval_s: 1, timeout_s: 1, fall: 2, rise: 1, port: targets.port };
      done(await world.admin.put(`/api/domains/${world.domain}/rrsets/www/A`, { values: ['127.0.4.9'] }));
      const rule = { host: 'www', type: 'A', primary: ['127.0.4.9'], backup: [], check };
      done(await world.admin.post(`/api/domains/${world.domain}/failover`, { enabled: true, rules: [rule] }));
      const both = [world.server as ServerProcess, other];
      let busy: ServerProcess | undefined;
      await until('it was checked', async () => {
        const [job] = await jobsOf(world.admin, '?name=failover.check');
        busy = both.find(({ pid }) => pid === job?.pid);
        const { rules } = done(await world.admin.get(`/api/domains/${world.domain}/failover`));
        return busy !== undefined && rules[0]?.state.values[0]?.up === true;
      });
      const frozen = busy as ServerProcess;
      const rest = both.find((one) => one !== frozen) as ServerProcess;
      const client = rest.as(world.token);
      process.kill(frozen.pid, 'SIGSTOP');
      try {
        const failing = async () =>
          (await jobsOf(client, '?failing=true')).map(({ name, last_error }) => [name, last_error]);
        await until('it fails', async () =>
          (await failing()).some(
            ([name, error]) => name === 'failover.check' && /www.* have not run/.test(error ?? ''),
          ),
        );
        assert.match(await metricsOf(rest), /^zoneward_failover_checks_stopped\{.*\} 1$/m);
        await until('the other one checks', async () => (await failing()).length === 0);
        assert.equal((await jobsOf(client, '?name=failover.check'))[0]?.pid, rest.pid);
      } finally {
        process.kill(frozen.pid, 'SIGCONT');
      }
    });
  });
