import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, it, jest } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { sha256 } from '../../src/platform/common/hash.js';
import type { Db } from '../../src/platform/database/db.js';
import { type Held, LeaseLost, Leases } from '../../src/platform/database/leases.js';
import { databases } from '../support/databases.js';
import { ELSEWHERE, emptyDatabase, gate, plant } from '../support/leases.js';
import { seedOf } from '../support/seed.js';
import { SILENT } from '../support/silent.js';
import { sleep } from '../support/sleep.js';
import { describeUnless } from '../support/suites.js';
import { until } from '../support/until.js';

const ZONE = 'zone|1';
const PART = { within: ZONE };
const WHOLE = { whole: true };
const TAKEN = { code: 409001 };
const LONG = 120_000;
/** ms that a name is held while others ask for theirs */
const HOLD_MS = 30;
const never = async () => assert.fail('it was let in');
const SEED = seedOf('leases of names and zones');

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`names and their zone on ${kind}`, () => {
    let db: Db;
    let close: () => Promise<void>;
    /** two of them share nothing but the database */
    let here: Leases;
    let there: Leases;
    beforeAll(async () => {
      ({ db, close } = await emptyDatabase(kind));
      here = new Leases(db, SILENT);
      there = new Leases(db, SILENT);
    });
    afterAll(() => close?.());
    beforeEach(() => db.run('DELETE FROM leases'));

    const count = async () => Number((await db.row<{ n: number }>('SELECT COUNT(*) AS n FROM leases'))?.n);
    const confirm = (held: Held) => db.transaction((manager) => held.confirm(manager));
    /** Holds until it is told to end. */
    async function held(leases: Leases, names: string[], options: object) {
      const [inside, done] = [gate(), gate()];
      const over = leases.hold(
        names,
        LONG,
        async (what) => {
          inside.open();
          await done.opened;
          await confirm(what);
        },
        options,
      );
      await Promise.race([inside.opened, over]);
      return () => {
        done.open();
        return over;
      };
    }

    it('exclude each other, in one process and between two', async () => {
      for (const other of [here, there]) {
        const endPart = await held(here, ['a', 'b'], PART);
        await assert.rejects(other.hold([ZONE], 100, never, WHOLE), TAKEN);
        assert.equal(await other.hold(['c'], LONG, async () => 'c', PART), 'c');
        assert.equal(await other.hold(['zone|2'], 0, async () => 'another', WHOLE), 'another');
        await endPart();

        const endWhole = await held(here, [ZONE], WHOLE);
        await assert.rejects(other.hold(['c'], 100, never, PART), TAKEN);
        await assert.rejects(other.hold([ZONE], 100, never, WHOLE), TAKEN);
        assert.equal(await other.hold(['c'], 0, async () => 'c', { within: 'zone|2' }), 'c');
        await endWhole();
        assert.equal(await other.hold(['c'], LONG, async () => 'c', PART), 'c');
        assert.equal(await count(), 0);
      }
    });

    it('say of each other that they are held', async () => {
      const endPart = await held(here, ['a'], PART);
      assert.equal(await there.isHeld(['a'], PART), true);
      assert.equal(await there.isHeld(['b'], PART), false);
      assert.equal(await there.isHeld([ZONE], WHOLE), true);
      assert.equal(await there.isHeld([ZONE]), false);
      await endPart();
      const endWhole = await held(here, [ZONE], WHOLE);
      assert.equal(await there.isHeld(['b'], PART), true);
      assert.equal(await there.isHeld(['b'], { within: 'zone|2' }), false);
      await endWhole();
      assert.equal(await there.isHeld([ZONE], WHOLE), false);
    });

    it('give the zone its turn though names are taken all the time', async () => {
      let busy = true;
      let rounds = 0;
      const writers = [here, there, here, there].map(async (leases, i) => {
        // each is held until the next one asks: without giving way the zone would never find all of them free
        while (busy) {
          await leases.hold([`n${i}`], LONG, () => sleep(HOLD_MS), PART);
          rounds++;
        }
      });
      await until('names are taken', () => rounds >= 4);
      try {
        for (const leases of [here, there, here]) {
          await leases.hold([ZONE], LONG, async () => assert.equal(busy, true), WHOLE);
          const before = rounds;
          await until('names are taken again', () => rounds > before);
        }
      } finally {
        busy = false;
        await Promise.all(writers);
      }
      assert.equal(await count(), 0);
    });

    for (const [where, late] of [
      ['between processes', 0],
      ['in one process, where the zone has come and is not seen yet', 500],
    ] as const)
      it(`do not wait for each other in a circle ${where}: who has some names and finds the zone wanted gives them back`, async () => {
        const endB = await held(here, ['b'], PART);
        const order: string[] = [];
        // has `a`, or `c`, by the order of their hashes, and waits for `b`
        const names = there.hold(['a', 'b', 'c'], LONG, async () => order.push('names'), PART);
        await until('two names are held', async () => (await count()) >= 2);
        const run = jest.spyOn(db, 'run').mockImplementation(async function (this: Db, sql, values = [], ...rest) {
          if (sql.startsWith('INSERT') && values[0] === sha256(ZONE)) await sleep(late);
          return (Object.getPrototypeOf(db) as Db).run.call(db, sql, values, ...rest);
        });
        try {
          const zone = (late ? there : here).hold([ZONE], LONG, async () => order.push('zone'), WHOLE);
          await until('the zone is wanted', async () => (await count()) === 2 && (await here.isHeld([ZONE])));
          await endB();
          await Promise.all([names, zone]);
        } finally {
          run.mockRestore();
        }
        assert.deepEqual(order, ['zone', 'names']);
      });

    it('of the dead stop nobody, and what was taken from the living does not let a commit through', async () => {
      await plant(db, 'x', ELSEWHERE, -1, ZONE);
      assert.equal(await here.hold([ZONE], 0, async () => 'zone', WHOLE), 'zone');
      await plant(db, ZONE, ELSEWHERE, -1);
      assert.equal(await here.hold(['x'], 0, async () => 'x', PART), 'x');
      assert.equal(await count(), 0);
      for (const [mine, mineIs, other, otherIs] of [
        ['x', PART, ZONE, WHOLE],
        [ZONE, WHOLE, 'x', PART],
      ] as const) {
        await here.hold(
          [mine],
          0,
          async (lost) => {
            await db.run('UPDATE leases SET expires_at = ?', [now(-1)]);
            await there.hold(
              [other],
              0,
              async (held) => {
                // as a late answer to a renewal might: nothing brings it back
                await db.run('UPDATE leases SET expires_at = ?', [now(LONG)]);
                await assert.rejects(confirm(lost), LeaseLost);
                await confirm(held);
              },
              otherIs,
            );
          },
          mineIs,
        );
      }
    });

    it(`never overlap, in any order of requests (TEST_SEED=${SEED})`, async () => {
      let state = SEED;
      const below = (most: number) => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return Math.floor((state / 2 ** 32) * most);
      };
      const inside = new Map<string, number>();
      let zone = 0;
      let done = 0;
      const seen = { names: 0, zone: 0, gaveUp: 0 };
      const enter = async (names: string[], ms: number) => {
        const whole = names[0] === ZONE;
        const fits = () => (whole ? zone === 1 && inside.size === 0 : zone === 0);
        if (whole) zone++;
        else for (const name of names) inside.set(name, (inside.get(name) ?? 0) + 1);
        const assertAlone = () => {
          assert.ok(fits(), `${names} beside ${[...inside.keys()]}, zone ${zone}`);
          for (const name of names) assert.ok(whole || inside.get(name) === 1, name);
        };
        assertAlone();
        await sleep(ms);
        assertAlone();
        if (whole) zone--;
        else for (const name of names) inside.delete(name);
        seen[whole ? 'zone' : 'names']++;
      };
      const holder = async (leases: Leases) => {
        for (let i = 0; i < 40; i++) {
          const whole = below(5) === 0;
          const names = whole ? [ZONE] : Array.from({ length: 1 + below(4) }, () => `r${below(6)}`);
          const ms = below(8);
          const patience = below(6) === 0 ? below(30) : LONG;
          try {
            await leases.hold(
              [...new Set(names)],
              patience,
              async (held) => {
                await enter([...new Set(names)], ms);
                await confirm(held);
              },
              whole ? WHOLE : PART,
            );
          } catch (error) {
            assert.equal((error as { code?: number }).code, 409001, String(error));
            seen.gaveUp++;
          }
          done++;
        }
      };
      // the third and the fourth are one process
      const third = new Leases(db, SILENT);
      await Promise.all([here, there, third, third].map(holder));
      assert.equal(done, 160);
      assert.ok(seen.names > 50 && seen.zone > 5, JSON.stringify(seen));
      assert.equal(await count(), 0);
    });
  });
}
