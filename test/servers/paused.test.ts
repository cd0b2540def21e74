import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases, type Kind } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Answer, type Client, isStopped, ServerProcess, startProcess } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import { describeUnless } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import { ending } from '../support/until.js';
import { made, startWorld, until, type World } from '../support/world.js';

/** ms that a write may come late; the stopped process sleeps for longer */
const UNCLEAR_AFTER_MS = '700';
/** longer than any lock is waited for */
const ANSWERED_MS = 90_000;
/** ms between two looks whether it is stopped once more */
const WAKE_MS = 50;
/** looks in a row that find something held up by a lock of the stopped process: one of another is released by then */
const LOOKS: Record<Kind, number> = { sqlite: 10, postgresql: 3, mysql: 3 };
const PRELOADED = join(import.meta.dirname, '../support/kill-at.mjs');
/** more steps than a change has; the test ends where the road does */
const MOST = 150;

const WAITING: Record<Exclude<Kind, 'sqlite'>, string> = {
  postgresql: `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  mysql: `SELECT trx_id FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id
           WHERE trx_state = 'LOCK WAIT' AND db = DATABASE()`,
};

/** Whether something waits for a lock of the database. */
const isHeldUp = async (db: Db, kind: Kind): Promise<boolean> => {
  if (kind !== 'sqlite') return (await db.rows(WAITING[kind])).length > 0;
  // one process writes at a time
  return db.run('DELETE FROM leases WHERE 1 = 0').then(
    () => false,
    () => true,
  );
};

/** What work ends with, or null where a lock of the stopped process holds it up. */
async function unlessHeldUp<T>(db: Db, kind: Kind, work: Promise<T>): Promise<T | null> {
  let over = false;
  const end = work.finally(() => {
    over = true;
  });
  let looks = 0;
  await until('it ends, or is held up', async () => {
    looks = !over && (await isHeldUp(db, kind)) ? looks + 1 : 0;
    return over || looks >= LOOKS[kind];
  });
  return over ? end : null;
}

/** @param there whether the record is at the provider */
function saysTheTruth({ status, code, msg, data }: Answer, there: boolean, who: string): void {
  const words = `${who}: ${status} ${code} ${msg}`;
  assert.notEqual(code, 500001, words);
  if (status === 201) assert.ok(there, `${words}, and it is lost`);
  else if ((data as { applied?: string } | null)?.applied !== 'unknown') assert.ok(!there, `${words}, and it is there`);
}

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`a process that is paused on the road of a change, on ${kind}`, () => {
    let world: World;
    let paused: ServerProcess;
    let file: string;
    let expire: () => Promise<unknown>;
    let db: Db;
    /** requests that are on their way to the provider */
    let onTheWay = 0;
    let ended = false;
    let close: () => Promise<void>;

    beforeAll(async () => {
      world = await startWorld(kind, { UNCLEAR_AFTER_MS }, 'lmdb', startProcess);
      const { dataDir } = world.server;
      file = join(dataDir, 'kill-at');
      const env = { NODE_OPTIONS: `--import=${PRELOADED}`, KILL_AT_FILE: file };
      paused = await ServerProcess.start({ DATABASE_URL: world.databaseUrl, UNCLEAR_AFTER_MS, ...env }, dataDir);
      const database = await openDatabase(world.databaseUrl, dataDir);
      ({ db, close } = database);
      world.proxy.fault = async (_request, forward) => {
        onTheWay++;
        return forward().finally(() => {
          onTheWay--;
        });
      };
      // the paused process may have the one write lock: nobody waits for that here
      if (kind === 'sqlite') await db.rows('PRAGMA busy_timeout = 20');
      // as time does, which the test does not wait for
      expire = () =>
        db.run(`UPDATE leases SET expires_at = '2020-01-01T00:00:00.000Z' WHERE owner LIKE ?`, [`%/${paused.pid}/%`]);
    });
    afterAll(async () => {
      ended = true;
      await paused?.kill();
      await close?.();
      await world?.stop();
    });

    const add = (client: Client, host: string, last: number): Promise<Answer> =>
      client.post(world.records, { host, type: 'A', value: `192.0.2.${last}` });

    it('removes nothing that another process has acknowledged meanwhile, at whichever step', async () => {
      const said: { host: string; step: number; answers: Answer[]; meanwhile: Answer | null }[] = [];
      for (let step = 1; step <= MOST; step++) {
        const host = `s${step}`;
        made(await add(world.admin, host, 1));
        writeFileSync(file, `pause ${step}`);
        let over = false;
        const first = add(paused.as(world.token), host, 2).finally(() => {
          over = true;
        });
        await until('it is stopped, or done', async () => over || isStopped(paused.pid));
        if (!isStopped(paused.pid)) {
          writeFileSync(file, 'never 0');
          // a step of something else may stop it before it has read that
          const wake = async () => {
            for (; !ended; await sleep(WAKE_MS)) if (isStopped(paused.pid)) process.kill(paused.pid, 'SIGCONT');
          };
          void wake();
          assert.equal((await first).status, 201);
          break;
        }
        const expired = expire().catch(() => undefined);
        await unlessHeldUp(db, kind, expired);
        // its write is at the provider, or arrives when the process continues
        await until('nothing is on its way to the provider', async () => onTheWay === 0);
        const second = add(world.admin, host, 3);
        const meanwhile = await unlessHeldUp(db, kind, second);
        process.kill(paused.pid, 'SIGCONT');
        const answers = await ending(`step ${step}`, Promise.all([first, second]), ANSWERED_MS);
        said.push({ host, step, answers, meanwhile });
      }
      assert.ok(said.length > 10, `the road has more than ${said.length} steps`);
      assert.ok(said.length < MOST, 'the road has an end');
      await until('every change has an end', async () => (await openIntents(world)) === 0);
      await world.agree();
      const { rrsets } = await world.pdns.zone(world.zone);
      for (const { host, step, answers } of said) {
        const set = rrsets.find(({ name }) => name === `${host}.${world.zone}.`)?.records.map(({ content }) => content);
        for (const [i, answer] of answers.entries())
          saysTheTruth(
            answer,
            set?.includes(`192.0.2.${i + 2}`) ?? false,
            `step ${step}, ${i ? 'the other' : 'the paused'} process`,
          );
      }
      // what is done when the paused one has gone on already proves nothing
      const taken = said.filter(({ meanwhile }) => meanwhile?.status === 201).length;
      assert.ok(taken > said.length / 3, `the other process had its way at ${taken} of ${said.length} steps`);
    }, 900_000);
  });
}
