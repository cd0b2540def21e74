import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Client, ServerProcess, startProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import { done, ended, made, startWorld, until, type World } from '../support/world.js';

const PRELOADED = join(import.meta.dirname, '../support/kill-at.mjs');
/** statements that an apply has at most */
const MOST = 400;

interface Wanted {
  host: string;
  type: string;
  value: string;
  ttl: number;
}
const a = (host: string, last: number, ttl = 300): Wanted => ({ host, type: 'A', value: `192.0.2.${last}`, ttl });
const many = (last: number, count: number) => Array.from({ length: count }, (_, i) => a(`k${i}`, last));

/** Two states, of which a plan makes one of the other; every so manieth statement ends the process. */
const PLANS: [name: string, states: [Wanted[], Wanted[]], stride: number][] = [
  [
    'a small plan',
    [
      [a('k0', 1), a('k1', 1), a('k1', 2)],
      [a('k0', 2), a('k1', 1, 600), a('k2', 1)],
    ],
    1,
  ],
  ['one of more than 200 changes', [[], many(3, 240)], 5],
];

// a process of its own: it is killed
for (const { kind, skip } of databases('sqlite', 'postgresql'))
  describeUnless(skip || noPowerdns)(`kill -9 in the middle of the apply of a plan, on ${kind}`, () => {
    let world: World;
    let server: ServerProcess;
    let env: Record<string, string>;
    let file: string;

    beforeAll(async () => {
      world = await startWorld(kind, {}, 'lmdb', startProcess);
      const { dataDir } = world.server;
      file = join(dataDir, 'kill-at');
      const preload = { NODE_OPTIONS: `--import=${PRELOADED}`, KILL_AT_FILE: file };
      env = { DATABASE_URL: world.databaseUrl, ...preload };
      await world.server.kill();
      server = await ServerProcess.start(env, dataDir);
    });
    afterAll(async () => {
      await server?.kill();
      await world?.stop();
    });

    const client = (): Client => server.as(world.token);
    const base = () => `/api/domains/${world.domain}` as const;
    const plan = async (records: Wanted[]) =>
      made(await client().post(`${base()}/plans`, { records, mode: 'sync', hosts: ['k*'] }));
    const apply = (id: number | null, force: { key: string }[]) =>
      client().post(`/api/plans/${id as number}/apply?wait=40`, { force: force.map(({ key }) => key) as never });
    const words = ({ host, type, value, ttl }: Wanted) => `${host} ${ttl} ${type} ${value}`;

    /** What is there, here and at the provider alike. */
    async function there(): Promise<string[]> {
      await world.agree(client());
      const { list } = done(await client().get(`${base()}/records?type=A`));
      return list
        .filter(({ host }) => host.startsWith('k'))
        .map(words)
        .toSorted();
    }

    /** @returns whether it ended before it was answered */
    async function killed(at: string, id: number | null, force: { key: string }[]): Promise<boolean> {
      writeFileSync(file, at);
      const answer = await apply(id, force).catch(() => null);
      if (answer) {
        ended(answer);
        rmSync(file, { force: true });
        return false;
      }
      await server.kill();
      rmSync(file, { force: true });
      server = await ServerProcess.start(env, world.server.dataDir);
      await until('the service is ready', async () => (await fetch(`${server.url}/health/ready`)).ok);
      await until('every change has an end', async () => (await openIntents(world)) === 0);
      return true;
    }

    it.each(PLANS)(
      '%s: at whichever statement, it goes on or says what was done, and the rest can be applied',
      async (_name, states, stride) => {
        let deaths = 0;
        let begun = 0;
        for (let step = 1; step < MOST; step += stride) {
          const target = states[deaths % 2 ? 0 : 1];
          const { id, guards, changes } = await plan(target);
          const before = await there();
          if (!(await killed(`${deaths % 2 ? 'after' : 'before'} ${step}`, id, guards))) break;
          deaths++;
          const { state, change_set_id: set } = done(await client().get(`/api/plans/${id as number}`));
          const after = await there();
          if (state === 'open') assert.deepEqual(after, before, `step ${step}: an open plan has done nothing`);
          else {
            begun++;
            assert.equal(state, 'applied');
            const path = `${base()}/changes/${set as number}` as const;
            await until('the list is done', async () => done(await client().get(path)).state === 'done');
            const { changes: list } = done(await client().get(path));
            const now = await there();
            for (const one of list) {
              const isDone = one.state === 'applied';
              const [kept, gone] = isDone ? [one.after, one.before] : [one.before, one.after];
              if (kept)
                assert.ok(now.includes(words(kept)), `step ${step}: ${one.state}, and ${words(kept)} is not there`);
              if (gone && (!kept || words(gone) !== words(kept)))
                assert.ok(!now.includes(words(gone)), `step ${step}: ${one.state}, and ${words(gone)} is there`);
            }
            assert.equal(list.length, changes.length);
          }
          const rest = await plan(target);
          if (rest.id !== null) ended(await apply(rest.id, rest.guards));
          assert.deepEqual(await there(), target.map(words).toSorted(), `step ${step}: the rest is applied`);
        }
        assert.ok(deaths > 5 && begun > 2, `it died ${deaths} times, ${begun} of them with something begun`);
      },
      600_000,
    );
  });
