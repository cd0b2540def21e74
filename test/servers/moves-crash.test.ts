import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Client, type Server, ServerProcess, startProcess } from '../support/server.js';
import { describeUnless, thorough } from '../support/suites.js';
import { addAccount, addDomain, done, made, powerdnsLines, startWorld, until, type World } from '../support/world.js';

const PRELOADED = join(import.meta.dirname, '../support/kill-at.mjs');
const RECORDS = 20;
/** statements of a step after which the process is killed, further each time, until the step comes to its end */
const FIRST = 8;
const STRIDES = thorough ? { copy: 20, follow: 8, switch: 26 } : { copy: 60, follow: 14, switch: 80 };
const MOST = 400;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`kill -9 in the steps of a move, on ${kind}`, () => {
    let world: World;
    let server: Server;
    let env: Record<string, string>;
    let file: string;
    let files: number;

    beforeAll(async () => {
      world = await startWorld(kind, {}, 'sqlite', startProcess);
      files = await addAccount(world.admin, 'zonefile', {});
      file = join(world.server.dataDir, 'kill-at');
      env = { DATABASE_URL: world.databaseUrl, NODE_OPTIONS: `--import=${PRELOADED}`, KILL_AT_FILE: file };
      await world.server.kill();
      await startAgain();
    });
    afterAll(async () => {
      await server?.kill();
      await world?.stop();
    });

    const client = (): Client => server.as(world.token);
    async function startAgain(): Promise<void> {
      server = await ServerProcess.start(env, world.server.dataDir);
      await until('the service is ready', async () => (await fetch(`${server.url}/health/ready`)).ok);
    }

    /** Takes a step in a process that is killed at a statement, and starts it again. @returns whether it answered */
    async function answeredBefore(
      kill: string,
      step: string,
      path: `/api/domains/${number}/migration`,
    ): Promise<boolean> {
      writeFileSync(file, kill);
      const answer = await client()
        .post(`${path}/${step}` as `${typeof path}/copy`)
        .catch(() => null);
      if (answer) done(answer);
      // a statement of a job may kill the process right after the answer
      await server.kill();
      rmSync(file, { force: true });
      await startAgain();
      return answer !== null;
    }

    it.each(['copy', 'follow', 'switch'] as const)('%s, taken again, completes what was cut off', async (step) => {
      let kills = 0;
      for (const when of ['before', 'after'] as const)
        for (let count = FIRST; count < MOST; count += STRIDES[step]) {
          const name = `${step}-${when}-${count}.example`;
          const id = await addDomain(client(), world.account, name, true);
          const path = `/api/domains/${id}/records` as const;
          const changes = Array.from({ length: RECORDS }, (_, i) => ({
            ...{ op: 'create', host: `r${i}`, type: 'A', value: '192.0.2.1', ttl: 300 },
          }));
          done(await client().post(`${path}/batch`, { changes }));
          const ids = async () =>
            done(await client().get(path))
              .list.filter(({ type }) => type === 'A')
              .map((row) => [row.host, row.id]);
          const before = await ids();
          const migration = `/api/domains/${id}/migration` as const;
          made(await client().post(migration, { account_id: files, create: true }));
          for (const earlier of ['copy', 'follow', 'switch']) {
            if (earlier === step) break;
            done(await client().post(`${migration}/${earlier}` as `${typeof migration}/copy`));
          }
          if (await answeredBefore(`${when} ${count}`, step, migration)) break;
          kills++;
          // what the dead process held is free soon, and what it sent is settled
          await until('the step is completed', async () => {
            const { status } = await client().post(`${migration}/${step}` as `${typeof migration}/copy`);
            return status === 200;
          });
          for (const later of ['copy', 'follow', 'switch'].slice(['copy', 'follow', 'switch'].indexOf(step) + 1))
            done(await client().post(`${migration}/${later}` as `${typeof migration}/copy`));
          assert.deepEqual(await ids(), before, `${when} ${count}`);
          assert.equal(done(await client().get(`/api/domains/${id}`)).account_id, files);
          made(await client().post(path, { host: 'later', type: 'A', value: '192.0.2.2', ttl: 300 }));
          const old = async () => powerdnsLines(await world.pdns.zone(name)).filter((line) => / A /.test(line)).length;
          await until('the old zone has followed', async () => (await old()) === RECORDS + 1);
        }
      assert.ok(kills >= 3, `${kills} kills`);
    });
  });
}
