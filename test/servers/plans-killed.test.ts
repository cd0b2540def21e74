import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { BatchResult } from '../../src/records/batch/batch.dto.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Answer, type Client, ServerProcess, startProcess } from '../support/server.js';
import { describeUnless, thorough } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import { done, made, startWorld, until, type World } from '../support/world.js';

const PRELOADED = join(import.meta.dirname, '../support/kill-at.mjs');
/** more statements than an apply has; the test ends where that does */
const MOST = 200;
/** the process is killed at each so many-th statement */
const EVERY = thorough ? 3 : 9;
/** ms in which a change that nobody saw the end of may still be carried out */
const UNCLEAR_AFTER_MS = '300';

interface Told {
  host: string;
  type: string;
  value: string;
  ttl: number;
}
const wordsOf = ({ host, type, value, ttl }: Told) => `${host} ${type} ${value} ${ttl}`;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`a process that is killed while it applies a plan, on ${kind}`, () => {
    let world: World;
    let server: ServerProcess;
    let env: Record<string, string>;

    beforeAll(async () => {
      world = await startWorld(kind, { UNCLEAR_AFTER_MS }, 'lmdb', startProcess);
      const { dataDir } = world.server;
      const file = join(dataDir, 'kill-at');
      env = { DATABASE_URL: world.databaseUrl, UNCLEAR_AFTER_MS, KILL_AT_FILE: file };
      env.NODE_OPTIONS = `--import=${PRELOADED}`;
      await (world.server as ServerProcess).kill();
      server = await ServerProcess.start(env, dataDir);
    });
    afterAll(async () => {
      await server?.kill();
      await world?.stop();
    });

    const client = (): Client => server.as(world.token);
    const base = () => `/api/domains/${world.domain}` as const;
    const killAt = (words: string) => writeFileSync(env.KILL_AT_FILE as string, words);

    async function startAgain(): Promise<void> {
      await server.kill();
      rmSync(env.KILL_AT_FILE as string, { force: true });
      server = await ServerProcess.start(env, world.server.dataDir);
      await until('the service is ready', async () => (await fetch(`${server.url}/health/ready`)).ok);
      await until('every change has an end', async () => (await openIntents(world)) === 0);
    }

    /** What stands at the names of a step, which are its own. */
    async function linesAt(step: number): Promise<string[]> {
      const { list } = done(await client().get(world.records));
      return list
        .filter(({ host }) => host.endsWith(`.k${step}`))
        .map(wordsOf)
        .toSorted();
    }

    /** A created, a changed, a deleted and a moved record, and a set with another TTL. */
    const wantedAt = (step: number): Told[] => [
      { host: `new.k${step}`, type: 'A', value: '192.0.2.1', ttl: 300 },
      { host: `set.k${step}`, type: 'A', value: '192.0.2.2', ttl: 600 },
      { host: `set.k${step}`, type: 'A', value: '192.0.2.3', ttl: 600 },
      { host: `txt.k${step}`, type: 'TXT', value: 'after', ttl: 300 },
    ];
    const beforeAt = (step: number): Told[] => [
      { host: `old.k${step}`, type: 'A', value: '192.0.2.1', ttl: 300 },
      { host: `set.k${step}`, type: 'A', value: '192.0.2.2', ttl: 300 },
      { host: `txt.k${step}`, type: 'TXT', value: 'before', ttl: 300 },
    ];

    const planOf = async (step: number) => {
      const target = { records: wantedAt(step), mode: 'sync', hosts: [`*.k${step}`] };
      return made(await client().post(`${base()}/plans`, target));
    };
    const apply = (id: number | null): Promise<Answer<BatchResult>> => client().post(`/api/plans/${id}/apply`, {});

    /** A plan says of itself what became of it: it is open, and nothing is done, or its change set has each end. */
    async function saysWhatBecame(step: number, id: number): Promise<void> {
      const plan = done(await client().get(`/api/plans/${id}`));
      const found = await linesAt(step);
      if (plan.state === 'open') {
        assert.deepEqual(found, beforeAt(step).map(wordsOf).toSorted(), `step ${step}: an open plan has done nothing`);
        const answer = await apply(id);
        assert.equal(answer.status, 200, `step ${step}: ${answer.msg}`);
        return;
      }
      assert.equal(plan.state, 'applied', `step ${step}`);
      const set = done(await client().get(`${base()}/changes/${plan.change_set_id as number}`));
      assert.equal(set.state, 'done', `step ${step}`);
      const { applied, unknown, pending } = set.counts;
      assert.deepEqual([unknown, pending], [0, 0], `step ${step}: each change has an end`);
      const wanted = wantedAt(step).map(wordsOf).toSorted();
      if (applied === set.total) assert.deepEqual(found, wanted, `step ${step}: what was said to be applied is there`);
      else assert.notDeepEqual(found, wanted, `step ${step}: what is there was said to be applied`);
    }

    it('goes on or says what was done, and applying the rest gives the wanted state, at whichever statement', async () => {
      let step = EVERY;
      for (; step < MOST; step += EVERY) {
        const changes = beforeAt(step).map((record) => ({ op: 'create', ...record }));
        done(await client().post(`${world.records}/batch`, { changes, atomic: true }));
        const plan = await planOf(step);
        killAt(`before ${step}`);
        const answer = await apply(plan.id).catch(() => null);
        // statements of jobs behind the answer do not count
        killAt('never 0');
        if (answer && (await lives())) break;
        await startAgain();
        await saysWhatBecame(step, plan.id as number);
        const rest = await planOf(step);
        if (rest.id !== null) assert.equal((await apply(rest.id)).status, 200, `step ${step}: the rest is applied`);
        assert.deepEqual(await linesAt(step), wantedAt(step).map(wordsOf).toSorted(), `step ${step}`);
        assert.deepEqual((await planOf(step)).changes, [], `step ${step}: nothing is left to do`);
      }
      assert.ok(step > 20, `an apply has more than ${step} statements`);
      assert.ok(step < MOST, 'an apply has an end');
      await world.agree(client());
    }, 900_000);

    const lives = () =>
      fetch(`${server.url}/health/live`).then(
        ({ ok }) => ok,
        () => false,
      );

    it('carries the rest of a long plan out behind its start', async () => {
      const LENGTH = 450;
      const records = Array.from({ length: LENGTH }, (_, i) => ({
        ...{ host: `l${i}.long`, type: 'A', value: '192.0.2.9', ttl: 300 },
      }));
      const plan = made(await client().post(`${base()}/plans`, { records, comment: 'long' }));
      const answer = await apply(plan.id);
      assert.equal(answer.status, 202);
      const path = `${base()}/changes/${answer.data.change_set_id as number}` as const;
      for (const statement of [5, 30, 60]) {
        killAt(`before ${statement}`);
        await until('it was killed', async () => !(await lives()));
        await server.kill();
        rmSync(env.KILL_AT_FILE as string, { force: true });
        server = await ServerProcess.start(env, world.server.dataDir);
      }
      await until('the list is done', async () => done(await client().get(path)).state === 'done', 120_000);
      const { counts } = done(await client().get(path));
      const rest = made(await client().post(`${base()}/plans`, { records }));
      assert.equal(rest.changes.length, LENGTH - counts.applied, 'what is said to be applied is there');
      if (rest.id !== null) await until('the rest is done', async () => (await apply(rest.id)).status !== 202);
      assert.deepEqual(made(await client().post(`${base()}/plans`, { records })).changes, []);
      await world.agree(client());
    }, 300_000);
  });
}
