import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { now } from '../../src/platform/common/clock.js';
import { AppError } from '../../src/platform/common/errors.js';
import { allPools } from '../../src/platform/common/fair-pool.js';
import { createLogger } from '../../src/platform/common/logger.js';
import { POOLS } from '../../src/platform/common/pools.js';
import { databases } from '../support/databases.js';
import { cuttable, type Doer, inRedis, type JobFixture, jobFixture } from '../support/jobs.js';
import { ELSEWHERE, gate } from '../support/leases.js';
import { noRedis, REDIS_URL } from '../support/redis.js';
import { sleep } from '../support/sleep.js';
import { describeUnless, itUnless } from '../support/suites.js';
import { until } from '../support/world.js';

/** ms that a run takes, in which another process could begin one */
const WORK_MS = 20;

const EVERY_MS = 200;
let log = '';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`jobs on ${kind}`, () => {
    let fixture: JobFixture;
    const write = (line: string) => {
      log += line;
    };
    const logger = createLogger('info', { write });
    beforeEach(async () => {
      log = '';
      fixture = await jobFixture(kind, logger);
    });
    afterEach(() => fixture.close());

    /** The row of a job, of which there is one. */
    const row = async ({ db }: Doer, name: string) =>
      (await db.row<Record<string, string | number | null>>('SELECT * FROM jobs WHERE name = ?', [name])) ?? {};
    const state = async (doer: Doer, name: string) => (await row(doer, name)).state;

    for (const redis of [undefined, REDIS_URL]) {
      const engine = redis ? 'with Redis' : 'without Redis';
      const unless = redis ? noRedis : undefined;

      itUnless(unless)(`${engine} a job that is enqueued while it runs is run once more`, async () => {
        const doer = await fixture.doer(redis);
        let hold = gate();
        const did: unknown[] = [];
        doer.jobs.handle('asked', {
          run: async (payload, job) => {
            // what was done before it was asked for once more is no part of that
            did.push([payload, job.attempt, job.before]);
            job.progress({ payload });
            await hold.opened;
            if (payload === 'first') throw new Error('what comes next has its place');
          },
        });
        await doer.start();
        const id = await doer.jobs.enqueue('asked', 'first', 'k');
        const next = async (n: number, ...asked: string[]) => {
          await until(`run ${n}`, async () => did.length === n);
          for (const what of asked) assert.equal(await doer.jobs.enqueue('asked', what, 'k'), id);
          const last = hold;
          hold = gate();
          last.open();
        };
        await next(1, 'second', 'third', 'third');
        await next(2, 'fourth');
        await next(3);
        await until('it is done', async () => (await state(doer, 'asked')) === 'done');
        assert.deepEqual(
          did,
          ['first', 'third', 'fourth'].map((what) => [what, 1, null]),
        );
        assert.deepEqual([(await doer.reader.get(id)).runs, (await row(doer, 'asked')).asked], [3, null]);
      });

      itUnless(unless)(`${engine} each tick is one run, with three processes that poll`, async () => {
        const begun: number[] = [];
        const at: string[] = [];
        let under = 0;
        for (const who of ['a', 'b', 'c']) {
          const doer = await fixture.doer(redis);
          doer.jobs.schedule('tick', EVERY_MS, async () => {
            assert.equal(under++, 0, 'two at once');
            begun.push(Date.now());
            at.push(who);
            await sleep(WORK_MS);
            under--;
          });
          await doer.start();
        }
        const doer = await fixture.doer();
        await until('many ticks', async () => begun.length > 12);
        const { created_at, last_error } = await row(doer, 'tick');
        const ticks = Math.floor(((begun[12] as number) - Date.parse(String(created_at))) / EVERY_MS) + 1;
        assert.ok(begun.slice(0, 13).length <= ticks, `13 runs in ${ticks} ticks`);
        assert.equal(last_error, null);
        // every run is counted, and is no try any more
        await until('noted', async () => {
          const { runs, tries, state: is } = await row(doer, 'tick');
          return is === 'waiting' && Number(runs) === begun.length && Number(tries) === 0;
        });
      });

      itUnless(unless)(`${engine} a job whose process is killed is run again by another one`, async () => {
        const first = fixture.process(redis ?? '', 'long', 3_600_000, 600_000);
        await until('it runs', async () => first.runs() === 1, 60_000);
        const second = await fixture.doer(redis);
        let runs = 0;
        second.jobs.schedule('long', 3_600_000, async () => {
          runs++;
        });
        await second.start();
        assert.equal(await state(second, 'long'), 'running');
        first.child.kill('SIGKILL');
        await until('it is done', async () => (await state(second, 'long')) === 'waiting', 40_000);
        assert.equal(runs, 1);
        assert.equal(Number((await row(second, 'long')).runs), 2);
      });
    }

    it('a job of another host is taken over when its lease ends, and not before', async () => {
      const doer = await fixture.doer();
      const begun: string[] = [];
      doer.jobs.schedule('far', 3_600_000, async () => void begun.push(now()));
      await doer.start();
      await until('the first', async () => (await state(doer, 'far')) === 'waiting' && begun.length === 1);
      const end = now(3000);
      await doer.db.run(`UPDATE jobs SET state = 'running', owner = ?, next_at = ? WHERE name = 'far'`, [
        ELSEWHERE,
        end,
      ]);
      await until('the second', async () => begun.length === 2);
      assert.ok((begun[1] as string) >= end);
    });

    it('a scheduled job that fails is tried at the next tick, and shows its error until a run succeeds', async () => {
      const doer = await fixture.doer();
      let fails = true;
      doer.jobs.schedule('moody', EVERY_MS, async () => {
        if (fails) throw new Error('not\0today');
      });
      await doer.start();
      await until('some tries', async () => Number((await row(doer, 'moody')).tries) >= 3);
      assert.equal((await row(doer, 'moody')).last_error, 'not\uFFFDtoday');
      const failing = async () => (await doer.reader.list({ failing: true })).list.map(({ name }) => name);
      assert.deepEqual([await failing(), (await doer.reader.count()).failing], [['moody'], 1]);
      fails = false;
      await until('well', async () => (await row(doer, 'moody')).last_error === null);
      assert.deepEqual([await failing(), (await doer.reader.count()).failing], [[], undefined]);
    });

    it('a scheduled job emits events only when it begins to fail, also after a killed run, and when it succeeds again', async () => {
      const doer = await fixture.doer();
      const told: string[] = [];
      doer.events.on('job.changed', ({ what }) => told.push(what));
      let fails = false;
      let runs = 0;
      doer.jobs.schedule('told', 3_600_000, async () => {
        runs++;
        if (fails) throw new Error('no');
      });
      const next = async (killed: boolean) => {
        const before = runs;
        const left = killed
          ? ['running', ELSEWHERE, now(-1), 1]
          : ['waiting', null, now(), Number((await row(doer, 'told')).tries)];
        await doer.db.run(`UPDATE jobs SET state = ?, owner = ?, next_at = ?, tries = ? WHERE name = 'told'`, left);
        await until('it ran', async () => runs > before && (await state(doer, 'told')) === 'waiting');
      };
      await doer.start();
      await until('the first', async () => (await state(doer, 'told')) === 'waiting' && runs === 1);
      await next(true);
      fails = true;
      await next(true);
      await next(false);
      fails = false;
      await next(false);
      await until('both are told', async () => told.join() === 'failed,done');
      await next(false);
      assert.deepEqual(told, ['failed', 'done']);
    });

    it('a job that fails is tried again, then given up with a notification, and can be started again', async () => {
      const [asks, does] = [await fixture.doer(), await fixture.doer()];
      let fails = true;
      const told: [unknown, string, boolean][] = [];
      const before: unknown[] = [];
      does.jobs.handle<{ what: string }>('once', {
        tries: 2,
        run: async ({ what }, job) => {
          before.push(job.before);
          job.progress({ at: what });
          if (fails) throw new Error('no');
          return { did: what };
        },
        dead: async (payload, error, waits) => void told.push([payload, error.message, waits]),
      });
      await does.start();
      const id = await asks.jobs.enqueue('once', { what: 'this' });
      await until('it failed', async () => (await row(asks, 'once')).last_error === 'no');
      assert.deepEqual([await state(asks, 'once'), told], ['waiting', []]);
      // the delay is over
      await asks.db.run('UPDATE jobs SET next_at = ? WHERE id = ?', [now(), id]);
      await until('it is given up', async () => (await state(asks, 'once')) === 'failed');
      assert.deepEqual(told, [[{ what: 'this' }, 'no', false]]);
      fails = false;
      await asks.jobs.again(id);
      await until('it is done', async () => (await state(asks, 'once')) === 'done');
      const shown = await asks.reader.get(id);
      assert.deepEqual(
        [shown.result, shown.progress, shown.runs, shown.tries, shown.last_error, shown.next_run_at],
        [{ did: 'this' }, { at: 'this' }, 3, 0, null, null],
      );
      // a try knows how far the one before it came
      assert.deepEqual(before, [null, { at: 'this' }, { at: 'this' }]);
      await assert.rejects(asks.jobs.again(id), { code: 409001 });
    });

    it('a job that failed for the first time is due again in ten seconds, not later', async () => {
      const doer = await fixture.doer();
      doer.jobs.handle('fails once', { run: () => Promise.reject(new Error('no')) });
      await doer.start();
      await doer.jobs.enqueue('fails once', null);
      await until('it failed', async () => (await row(doer, 'fails once')).last_error === 'no');
      const { next_at, ended_at } = await row(doer, 'fails once');
      const pause = Date.parse(String(next_at)) - Date.parse(String(ended_at));
      // both times are read within one write of the row; the second pause is a minute
      assert.ok(pause > 0 && pause <= 10_000, `${pause} ms`);
    });

    it('scheduled jobs get new rows when the database was replaced', async () => {
      const doer = await fixture.doer();
      let runs = 0;
      doer.jobs.schedule('lasting', 3_600_000, async () => void runs++);
      await doer.start();
      await until('it ran', async () => runs === 1 && (await state(doer, 'lasting')) === 'waiting');
      await doer.db.run('DELETE FROM jobs');
      await until('it runs there, too', async () => runs === 2 && (await state(doer, 'lasting')) === 'waiting');
      const names = (await doer.reader.list({})).list.map(({ name }) => name);
      assert.deepEqual(names.toSorted(), ['jobs.tidy', 'lasting']);
    });

    it('scheduled jobs stay, however late they are, and are removed when no process has them any more', async () => {
      const [before, doer] = [await fixture.doer(), await fixture.doer()];
      for (const name of ['kept', 'gone']) before.jobs.schedule(name, 3_600_000, async () => undefined);
      doer.jobs.schedule('kept', 3_600_000, async () => undefined);
      await before.start();
      const ran = async (name: string) => Boolean((await row(doer, name)).ended_at);
      await until('both ran', async () => (await ran('kept')) && (await ran('gone')));
      await before.stop();
      const long = now(-40 * 86_400_000);
      await doer.db.run('UPDATE jobs SET next_at = ?, ended_at = ?, created_at = ?', [long, long, long]);
      await doer.jobs.scheduled.get('jobs.tidy')?.run(new AbortController().signal);
      const names = (await doer.reader.list({})).list.map(({ name }) => name);
      assert.deepEqual(names.toSorted(), ['jobs.tidy', 'kept']);
    });

    it('a job that kills its process each time is given up', async () => {
      const doer = await fixture.doer();
      let runs = 0;
      doer.jobs.handle('deadly', { tries: 2, run: async () => void runs++ });
      const id = await doer.jobs.enqueue('deadly', null);
      await doer.db.run(`UPDATE jobs SET state = 'running', owner = ?, next_at = ?, tries = 2 WHERE id = ?`, [
        ELSEWHERE,
        now(-1),
        id,
      ]);
      await doer.start();
      await until('given up', async () => (await state(doer, 'deadly')) === 'failed');
      assert.equal(runs, 0);
    });

    it('a key is unique: a waiting job stays, a running one runs once more, an ended one begins anew', async () => {
      const [a, b] = [await fixture.doer(), await fixture.doer()];
      const did: unknown[] = [];
      const hold = gate();
      for (const doer of [a, b])
        doer.jobs.handle('keyed', {
          run: async (payload) => {
            did.push(payload);
            await hold.opened;
          },
        });
      const ids = await Promise.all([1, 2, 3, 4].map((n) => (n % 2 ? a : b).jobs.enqueue('keyed', n, 'k')));
      assert.equal(new Set(ids).size, 1);
      await a.start();
      await b.start();
      await until('it runs', async () => did.length === 1);
      assert.equal(await a.jobs.enqueue('keyed', 5, 'k'), ids[0]);
      const conflict = await b.jobs.start('keyed', 6, 'k', 1000).catch((error: unknown) => error);
      assert.ok(conflict instanceof AppError);
      assert.deepEqual([conflict.code, conflict.data], [409001, { job_id: ids[0], reason: 'job_runs' }]);
      hold.open();
      await until('it is done', async () => (await state(a, 'keyed')) === 'done');
      assert.deepEqual(await b.jobs.start('keyed', 7, 'k', 5000), { id: ids[0], ended: true, result: undefined });
      assert.deepEqual(did.slice(1), [5, 7]);
    });

    it('a job that a caller waits for returns its result, and goes on when the wait is over', async () => {
      const doer = await fixture.doer();
      await doer.start();
      const hold = gate();
      const told: boolean[] = [];
      doer.jobs.handle<string>('asked', {
        run: async (what) => {
          if (what === 'fails') throw new Error('it did not');
          if (what === 'long') await hold.opened;
          return what;
        },
        dead: async (_payload, _error, waits) => void told.push(waits),
      });
      const short = await doer.jobs.start<string>('asked', 'short', null, 5000);
      assert.ok(short.ended && short.result === 'short');
      await assert.rejects(doer.jobs.start('asked', 'fails', null, 5000), /it did not/);
      assert.deepEqual(told, [true]);
      const long = await doer.jobs.start('asked', 'long', null, 1);
      assert.equal(long.ended, false);
      assert.equal((await doer.reader.get(long.id)).state, 'running');
      hold.open();
      await until('it is done', async () => (await doer.reader.get(long.id)).state === 'done');
    });

    it('a job that the end of its process cuts off goes on in another one at once', async () => {
      const [first, second] = [await fixture.doer(), await fixture.doer()];
      let begun = false;
      let ends = 0;
      for (const doer of [first, second])
        doer.jobs.handle('cut', {
          run: async (_payload, job) => {
            if (doer === second) return void ends++;
            begun = true;
            await new Promise((_resolve, reject) =>
              job.signal.addEventListener('abort', () => reject(job.signal.reason)),
            );
          },
        });
      await first.start();
      const started = first.jobs.start('cut', null, null, 60_000);
      await until('it runs', async () => begun);
      assert.equal(await state(second, 'cut'), 'running');
      await first.stop();
      const { id, ended } = await started;
      assert.equal(ended, false);
      assert.deepEqual([(await second.reader.get(id)).state, (await second.reader.get(id)).tries], ['waiting', 0]);
      await second.start();
      await until('it is done', async () => ends === 1);
    });

    it('jobs of an owner without a free slot hide no jobs of others, however many they are', async () => {
      const doer = await fixture.doer();
      const hold = gate();
      const did = new Set<number>();
      doer.jobs.handle<{ user: number }>('owned', {
        run: async ({ user }) => {
          did.add(user);
          await hold.opened;
        },
        user: ({ user }) => user,
      });
      const row = { name: 'owned', kind: 'once', state: 'waiting', next_at: now(-1000), created_at: now() };
      const more = { every_ms: null, owner: null, runs: 0, tries: 0 };
      await doer.db.transaction(async (manager) => {
        for (let i = 0; i < 600; i++) {
          const own = { unique_key: `owned|${i}`, payload: JSON.stringify({ user: i < 599 ? 1 : 2 }) };
          await doer.db.insert('jobs', { ...row, ...more, ...own }, manager);
        }
      });
      await doer.start();
      try {
        await until('the last one runs', async () => did.has(2));
      } finally {
        hold.open();
      }
    });

    it('jobs that callers wait for take slots, and begin later where none is free', async () => {
      const doer = await fixture.doer();
      const hold = gate();
      const did: string[] = [];
      doer.jobs.handle<{ user: number; what: string }>('shared', {
        run: async ({ what }) => {
          did.push(what);
          await hold.opened;
        },
        user: ({ user }) => user,
      });
      await doer.start();
      const start = (user: number, what: string, key: string, waitMs = 0) =>
        doer.jobs.start('shared', { user, what }, key, waitMs);
      const { user: places } = POOLS.jobs;
      try {
        for (let i = 0; i < places; i++) await start(1, 'first', `a${i}`);
        const late = await start(1, 'late', 'late', 60_000);
        assert.equal(late.ended, false);
        // the last request decides the payload
        assert.equal((await start(1, 'later', 'late')).id, late.id);
        await start(2, 'of another', 'b');
        await until('that of the other one is begun', async () => did.includes('of another'));
        assert.equal(did.length, places + 1);
        assert.equal(allPools().get('jobs')?.inUse, places + 1);
        assert.equal((await doer.reader.get(late.id)).state, 'waiting');
        const conflict = await start(1, 'once more', 'a0').catch((error: unknown) => error);
        assert.ok(conflict instanceof AppError && conflict.code === 409001);
        hold.open();
        await until('the rest follows', async () => (await doer.reader.get(late.id)).state === 'done');
        assert.deepEqual(did.slice(places + 1), ['later']);
        await until('all places are free', async () => allPools().get('jobs')?.inUse === 0);
      } finally {
        hold.open();
      }
    });

    it('many long jobs delay no scheduled job', async () => {
      const doer = await fixture.doer();
      const hold = gate();
      let begun = 0;
      let ticks = 0;
      doer.jobs.handle('slow', {
        run: async () => {
          begun++;
          await hold.opened;
        },
      });
      doer.jobs.schedule('quick', EVERY_MS, async () => void ticks++);
      const { user: places } = POOLS.jobs;
      for (let i = 0; i < places + 2; i++) await doer.jobs.enqueue('slow', i);
      await doer.start();
      await until('all places are taken', async () => begun === places);
      const before = ticks;
      await until('the other goes on', async () => ticks > before + 2);
      assert.equal(begun, places);
      hold.open();
      await until('the rest follows', async () => begun === places + 2);
    });

    itUnless(noRedis)('are handed out by Redis, found without it while it is away, and by it again', async () => {
      const way = await cuttable(REDIS_URL);
      const redis = new Redis(REDIS_URL);
      try {
        way.cut();
        let runs = 0;
        const doer = await fixture.doer(way.url);
        doer.jobs.schedule('tick', EVERY_MS, async () => void runs++);
        await doer.start();
        await until('found without it', async () => runs > 3);
        way.mend();
        await until('Redis is back', async () => log.includes('Redis answers again'));
        const { id } = await row(doer, 'tick');
        const first = await doer.db.row<{ at: string }>('SELECT MIN(created_at) AS at FROM jobs');
        const handed = async () => {
          const events = await redis.xrange(`${inRedis(String(first?.at))}:events`, '-', '+');
          return events.filter(([, of]) => of.includes('completed') && of.some((v) => v.startsWith(`${id}-`))).length;
        };
        await until('Redis hands them out', async () => (await handed()) > 3);
        way.cut();
        await until('it is told', async () => log.split('Redis does not answer').length === 3);
        const before = runs;
        await until('found without it again', async () => runs > before + 3);
        assert.equal(log.split('Redis does not answer').length, 3, 'one line each time');
        // one that froze keeps its connections, and takes what is sent
        way.mend();
        await until('Redis is back again', async () => log.split('Redis answers again').length === 3);
        const handedTo = await handed();
        await until('Redis hands them out again', async () => (await handed()) > handedTo + 3);
        way.freeze();
        await until('it is seen', async () => log.split('Redis does not answer').length === 4);
        const frozen = runs;
        await until('found without it once more', async () => runs > frozen + 3);
        way.mend();
        await until('Redis is thawed', async () => log.split('Redis answers again').length === 4);
        const thawed = await handed();
        await until('it hands them out as before', async () => (await handed()) > thawed + 3);
      } finally {
        way.close();
        redis.disconnect();
      }
    });
  });
}
