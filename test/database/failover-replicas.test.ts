import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Client, ServerProcess, startProcess } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import { describeUnless } from '../support/suites.js';
import { openIntents, rowsOf } from '../support/tables.js';
import { startTargets, type Targets } from '../support/targets.js';
import { done, startWorld, until, type World } from '../support/world.js';

/** ms in which a configuration could overtake a switch */
const OVERTAKE_MS = 1000;

const [P1, P2, B1, B2] = ['127.0.4.1', '127.0.4.2', '127.0.5.1', '127.0.5.2'] as const;
const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';
const METRICS_TOKEN = 'for-the-metrics-of-tests';
const CHECK = { kind: 'tcp', interval_s: 1, timeout_s: 1, fall: 2, rise: 1 };

// processes of their own: they are killed
for (const { kind, skip } of databases('postgresql')) {
  describeUnless(skip || noPowerdns)(`failover of two replicas on one ${kind}`, () => {
    let world: World;
    let targets: Targets;
    let dataDir: string;
    let env: Record<string, string>;
    /** the replicas that are alive */
    const replicas: ServerProcess[] = [];

    beforeAll(async () => {
      const same = { SECRET_KEY, OUTBOUND_ALLOW: '127.0.0.0/8', METRICS: 'on', METRICS_TOKEN };
      targets = await startTargets();
      world = await startWorld(kind, same, 'lmdb', startProcess);
      env = { ...same, DATABASE_URL: world.databaseUrl };
      replicas.push(world.server as ServerProcess);
      dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
      replicas.push(await ServerProcess.start(env, dataDir));
    });
    afterAll(async () => {
      for (const one of replicas) await one.kill();
      if (dataDir) rmSync(dataDir, { recursive: true, force: true });
      await world?.stop();
      await targets?.stop();
    });

    const client = (): Client => (replicas.at(-1) as ServerProcess).as(world.token);
    const failover = () => `/api/domains/${world.domain}/failover` as const;
    const only = async () => done(await client().get(failover())).rules[0] as { id: number } & Rule;
    type Rule = Awaited<ReturnType<typeof rules>>[0];
    const rules = async () => done(await client().get(failover())).rules;
    const held = async (host: string) => {
      const sets = (await world.pdns.zone(world.zone)).rrsets;
      const set = sets.find(({ name, type }) => name === `${host}.${world.zone}.` && type === 'A');
      return (set?.records ?? []).map(({ content }) => content).toSorted();
    };
    const holds = (host: string, ...values: string[]) =>
      until(`${host} is ${values}`, async () => String(await held(host)) === String(values), 60_000);
    const known = (value: string, up: boolean) =>
      until(`${value} is ${up ? 'up' : 'down'}`, async () =>
        (await only()).state.values.some((one) => one.value === value && one.up === up),
      );
    const begin = async (host: string, primary: string[], backup: string[]) => {
      await targets.up(...primary, ...backup);
      done(await client().put(`/api/domains/${world.domain}/rrsets/${host}/A`, { values: primary }));
      const rule = { host, type: 'A', primary, backup, check: { ...CHECK, port: targets.port } };
      done(await client().post(failover(), { enabled: true, rules: [rule] }));
      for (const value of [...primary, ...backup]) await known(value, true);
    };
    /** how many checks a replica has made */
    const checksOf = async ({ url }: ServerProcess): Promise<number> => {
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
      const found = (await answer.text()).matchAll(/^zoneward_failover_checks_total\{.*\} (\d+)$/gm);
      return [...found].reduce((sum, [, n]) => sum + Number(n), 0);
    };
    /** the sides that the log says a name was switched to */
    const switchesOf = async (host: string) =>
      done(await client().get('/api/audit/logs?action=failover.switch'))
        .list.filter(({ target }) => target?.name === `${host}.${world.zone} A`)
        .map(({ after }) => (after as { active: string }).active);
    const switches = async () => done(await client().get(`${failover()}/history`)).total;
    /** Kills the replica that checks, as a crash would, and starts another one. */
    const killed = async () => {
      const [job] = await rowsOf(world, "SELECT owner FROM jobs WHERE name = 'failover.check'");
      const at = replicas.findIndex(({ pid }) => String(job?.owner).split('/')[3] === String(pid));
      assert.ok(at >= 0, String(job?.owner));
      const [dead] = replicas.splice(at, 1);
      await dead?.kill();
      return dead as ServerProcess;
    };

    it('one replica checks and switches, and the other one goes on when it is killed', async () => {
      await begin('www', [P1], [B1]);
      const times = new Set<unknown>();
      await until(
        'each has had its turn',
        async () => times.add((await only()).state.values[1]?.last_check_at).size > 5,
      );
      assert.deepEqual(
        (await Promise.all(replicas.map(checksOf))).map(Boolean).toSorted(),
        [false, true],
        'one checks',
      );
      await targets.down(P1);
      await holds('www', B1);
      await until('it is told', async () => (await only()).state.switches === 1);
      assert.equal(await switches(), 1);
      const dead = await killed();
      await targets.up(P1);
      await holds('www', P1);
      await until('it is told', async () => (await only()).state.switches === 2);
      assert.equal(await switches(), 2);
      replicas.unshift(await ServerProcess.start(env, dead.dataDir));
    });

    it('a configuration waits for a switch in flight, and begins with its result', async () => {
      await begin('meant', [P1], [B1]);
      await targets.up(B2);
      const rule = await only();
      let put: Promise<unknown> | undefined;
      world.proxy.fault = async (request, forward) => {
        if (request.method === 'PATCH' && !put) {
          const rules = [{ ...rule, backup: [B1, B2] }];
          put = client().post(failover(), { enabled: true, rules }).then(done);
          await Promise.race([put, sleep(OVERTAKE_MS)]);
        }
        return forward();
      };
      try {
        await targets.down(P1);
        await until('it was switched', async () => put !== undefined);
        await put;
        await holds('meant', B1, B2);
        await until('it is told', async () => (await only()).state.switches === 2);
        assert.deepEqual([(await only()).hold, await switchesOf('meant')], [false, ['backup', 'backup']]);
      } finally {
        world.proxy.fault = null;
      }
    });

    it('a switch that wrote nothing leaves nothing to finish', async () => {
      await begin('refused', [P1], [B1]);
      const intended = async () => (await rowsOf(world, 'SELECT intended FROM failover_rules'))[0]?.intended;
      let refusal: 'close' | { status: number; body: string } = { status: 422, body: '{"error": "not today"}' };
      let tries = 0;
      world.proxy.fault = async (request, forward) => {
        if (request.method !== 'PATCH') return forward();
        tries++;
        return refusal;
      };
      try {
        await targets.down(P1);
        await until('it was tried', async () => tries > 0);
        await until('nothing is to be finished', async () => (await intended()) === null);
        // now it is in doubt whether it was written
        refusal = 'close';
        const before = tries;
        await until('it was tried again', async () => tries > before && (await intended()) !== null);
        await targets.up(P1);
        await known(P1, true);
      } finally {
        world.proxy.fault = null;
      }
      await until('it is finished', async () => (await intended()) === null);
      const { hold, state } = await only();
      assert.deepEqual([await held('refused'), hold, state.switches, state.active], [[P1], false, 0, 'primary']);
      assert.deepEqual(await switchesOf('refused'), []);
    });

    for (const when of ['before', 'after'] as const) {
      it(`kill -9 in a switch, ${when} the provider has applied it, leaves the old set or the new one`, async () => {
        const host = `cut-${when}`;
        await begin(host, [P1, P2], [B1, B2]);
        const seen: string[][] = [];
        let end: Promise<ServerProcess> | undefined;
        world.proxy.fault = async (request, forward) => {
          if (request.method !== 'PATCH' || end) return forward();
          if (when === 'after') await forward();
          end = killed();
          await end;
          seen.push(await held(host));
          return 'close';
        };
        try {
          await targets.down(P1, P2);
          await until('it was killed', async () => end !== undefined && seen.length > 0);
        } finally {
          world.proxy.fault = null;
        }
        assert.deepEqual(seen, [when === 'after' ? [B1, B2] : [P1, P2]]);
        await holds(host, B1, B2);
        await until('it is told', async () => (await only()).state.active === 'backup');
        const { hold, state } = await only();
        assert.deepEqual([hold, state.switches, await openIntents(world)], [false, 1, 0]);
        replicas.unshift(await ServerProcess.start(env, ((await end) as ServerProcess).dataDir));
      });
    }
  });
}
