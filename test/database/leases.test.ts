import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, beforeEach, it, jest } from '@jest/globals';
import { hasJumped, keepTime, now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { type Held, LeaseLost, Leases, PROCESS } from '../../src/platform/database/leases.js';
import { heldUp } from '../support/at-once.js';
import { steerClock } from '../support/clock.js';
import { databases } from '../support/databases.js';
import { ELSEWHERE, emptyDatabase, gate, plant } from '../support/leases.js';
import { SILENT } from '../support/silent.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';
import { ending, until } from '../support/until.js';

const [HOST, NAMESPACE, BOOT] = PROCESS.split('/') as [string, string, string];
const MACHINE = `${HOST}/${NAMESPACE}/${BOOT}`;
/** above the largest pid there is */
const NOBODY = 4194399;
const TAKEN = { code: 409001 };
/** ms that are waited for what only a hang keeps away */
const LONG = 120_000;
/** ms that the locks of others last: nearly as long as locks do */
const LASTS = 30_000;
/** ms between two renewals */
const RENEW_MS = 10_000;
const never = async () => assert.fail('it was let in');

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`leases on ${kind}`, () => {
    let db: Db;
    let close: () => Promise<void>;
    /** two of them share nothing but the database */
    let leases: Leases;
    let others: Leases;
    beforeAll(async () => {
      ({ db, close } = await emptyDatabase(kind));
      leases = new Leases(db, SILENT);
      others = new Leases(db, SILENT);
    });
    afterAll(() => close?.());
    beforeEach(() => db.run('DELETE FROM leases'));
    afterEach(() => void jest.restoreAllMocks());

    const owners = async () => (await db.rows<{ owner: string }>('SELECT owner FROM leases')).map((row) => row.owner);
    const confirm = (held: Held) => db.transaction((manager) => held.confirm(manager));
    /** Whether a process has read the locks since this call. */
    const looksFrom = (): (() => boolean) => {
      const { calls } = jest.spyOn(db, 'rows').mock;
      const before = calls.length;
      return () => calls.slice(before).some(([sql]) => sql.startsWith('SELECT name, owner'));
    };

    it('let one holder in at a time, whatever the order of the names', async () => {
      let inside = 0;
      let rounds = 0;
      const visit = (names: string[], i: number) =>
        (i % 4 < 2 ? leases : others).hold(names, LONG, async (held) => {
          inside++;
          assert.equal(inside, 1);
          await confirm(held);
          inside--;
          rounds++;
        });
      await Promise.all(Array.from({ length: 20 }, (_, i) => visit(i % 2 ? ['x', 'y'] : ['y', 'x', 'y'], i)));
      assert.equal(rounds, 20);
      assert.deepEqual(await owners(), []);
    });

    it('are free again after a failure', async () => {
      await assert.rejects(
        leases.hold(['f'], 1000, () => Promise.reject(new Error('no'))),
        /no/,
      );
      assert.deepEqual(await owners(), []);
      assert.equal(await leases.hold(['f'], 1000, async () => 'again'), 'again');
    });

    it('say who holds them while they are held', async () => {
      await leases.hold(['h'], 1000, async () => {
        const [owner = ''] = await owners();
        assert.ok(owner.startsWith(`${PROCESS}/`), owner);
        assert.ok(owner.length <= 128);
        for (const each of [leases, others]) assert.equal(await each.isHeld(['other', 'h']), true);
      });
      assert.equal(await leases.isHeld(['h']), false);
    });

    it('of another machine are waited for until they expire', async () => {
      const clock = steerClock();
      try {
        await plant(db, 'e', ELSEWHERE, LASTS);
        assert.equal(await leases.isHeld(['e']), true);
        await assert.rejects(leases.hold(['e'], 100, never), TAKEN);
        await db.run('UPDATE leases SET expires_at = ? WHERE owner = ?', [now(LASTS), ELSEWHERE]);
        let over = false;
        const taken = leases.hold(['e'], LONG, async () => over);
        await until('who waits has looked', looksFrom());
        over = true;
        await clock.advance(LASTS + 1);
        assert.equal(await taken, true);
        assert.deepEqual(await owners(), []);
      } finally {
        clock.release();
      }
    });

    it('that last longer than locks do were taken by a wrong clock, and are free', async () => {
      await plant(db, 'w', ELSEWHERE, 3_600_000);
      assert.equal(await leases.isHeld(['w']), false);
      assert.equal(await leases.hold(['w'], 100, async () => 'taken'), 'taken');
    });

    it('are over for who held them when the machine has slept, and the time is asked for before the next ones', async () => {
      const real = Date.now;
      keepTime(real());
      try {
        await leases.hold(['s'], 1000, async ({ heldUntil }) => {
          assert.ok(heldUntil() > performance.now());
          // the monotonic clock stands still meanwhile
          Date.now = () => real() + 60_000;
          assert.ok(heldUntil() <= performance.now());
        });
        assert.equal(hasJumped(), true);
        await leases.hold(['s'], 1000, async ({ heldUntil }) => assert.ok(heldUntil() > performance.now()));
        assert.equal(hasJumped(), false);
      } finally {
        Date.now = real;
        keepTime(null);
      }
    });

    it('of a process of this machine that is gone are taken at once', async () => {
      await plant(db, 'd', `${MACHINE}/${NOBODY}/00000000/00000000`, LASTS);
      // and of one that had our pid before us
      await plant(db, 'b', `${MACHINE}/${process.pid}/00000000/00000000`, LASTS);
      assert.equal(await leases.isHeld(['d', 'b']), false);
      assert.equal(await leases.hold(['a', 'b', 'c', 'd'], 0, async () => 'taken'), 'taken');
    });

    it('of a process of this machine that lives are not', async () => {
      await plant(db, 'l', `${MACHINE}/${process.ppid}/00000000/00000000`, LASTS);
      assert.equal(await leases.isHeld(['l']), true);
      await assert.rejects(leases.hold(['l'], 50, never), TAKEN);
    });

    it('of a machine with the same name that was started apart, or of an older version, are not judged by a pid', async () => {
      const twin = `${HOST}/${NAMESPACE}/0123456789abcdef/${NOBODY}/00000000/00000000`;
      const older = `${HOST}/${NAMESPACE}/${NOBODY}/00000000`;
      for (const [i, owner] of [twin, older].entries()) {
        await plant(db, `t${i}`, owner, LASTS);
        assert.equal(await leases.isHeld([`t${i}`]), true, owner);
        await assert.rejects(leases.hold([`t${i}`], 50, never), TAKEN);
      }
      assert.match(BOOT, /^[0-9a-f]{16}$/);
    });

    it('are not waited for longer than was asked, in one process too, and who gives up lets nobody in', async () => {
      const [inside, done] = [gate(), gate()];
      const first = leases.hold(['q'], 1000, async () => {
        inside.open();
        await done.opened;
        return 'first';
      });
      await inside.opened;
      let over = false;
      const third = leases.hold(['q'], LONG, async () => over);
      const givesUp = (names: string[]) =>
        assert.rejects(ending('who waits gives up', leases.hold(names, 100, never)), TAKEN);
      await givesUp(['p', 'q']);
      await givesUp(['q']);
      assert.equal(await leases.hold(['p'], 100, async () => 'p'), 'p');
      assert.equal(await leases.isHeld(['q']), true);
      over = true;
      done.open();
      assert.deepEqual(await Promise.all([first, third]), ['first', true]);
    });

    it('that were lost do not let a commit through', async () => {
      const lost = (spoil: () => Promise<unknown>) =>
        leases.hold(['v', 'w'], 1000, async (held) => {
          await confirm(held);
          await spoil();
          await assert.rejects(confirm(held), LeaseLost);
        });
      // ended, though nobody has it: others may have counted on that
      await lost(() => db.run('UPDATE leases SET expires_at = ?', [now(-1)]));
      // taken by others who hold it, and by others who have given it back
      const end = () => db.run('UPDATE leases SET expires_at = ? WHERE owner LIKE ?', [now(-1), `${PROCESS}/%`]);
      const [inside, done] = [gate(), gate()];
      let other: Promise<unknown> | undefined;
      await lost(async () => {
        await end();
        other = others.hold(['w'], LONG, async (held) => {
          inside.open();
          await done.opened;
          await confirm(held);
        });
        await inside.opened;
      });
      done.open();
      await other;
      await lost(async () => {
        await end();
        await others.hold(['v'], LONG, async () => {});
      });
      assert.deepEqual(await owners(), []);
    });

    it('that were confirmed cannot be taken before the transaction ends', async () => {
      const clock = steerClock();
      const seen: string[] = [];
      let other: Promise<unknown> | undefined;
      /** Whether the second holder waits for a row lock. SQLite has one connection, so every statement waits. */
      const isHeldUp = async () =>
        kind === 'sqlite' || (await heldUp(db, kind)).some(({ text }) => /^\w+ (INTO|FROM) leases/.test(text ?? ''));
      try {
        await leases.hold(['k'], 1000, async (held) => {
          await db.run('UPDATE leases SET expires_at = ?', [now(2000)]);
          await db.transaction(async (manager) => {
            await held.confirm(manager);
            await clock.advance(2001); // to others it looks as if it had ended
            other = others.hold(['k'], LONG, async () => seen.push('other'));
            await until('the other one is held up', async () => seen.includes('other') || isHeldUp());
            seen.push('committed');
          });
          const looks = looksFrom();
          await until('the other one has looked again', () => seen.includes('other') || looks());
          seen.push('done');
        });
        await other;
        assert.deepEqual(seen, ['committed', 'done', 'other']);
      } finally {
        clock.release();
      }
    });

    it('are renewed while they are held, and not once they have ended', async () => {
      const clock = steerClock();
      const runs = jest.spyOn(db, 'run');
      try {
        await leases.hold(['r'], 1000, async (held) => {
          const ends = async () => (await db.row<{ expires_at: string }>('SELECT expires_at FROM leases'))?.expires_at;
          /** Whether locks that last so many ms are renewed when it is time to. */
          const isRenewed = async (ms: number) => {
            const was = now(ms);
            await db.run('UPDATE leases SET expires_at = ?', [was]);
            const before = runs.mock.calls.length;
            await clock.advance(RENEW_MS);
            assert.ok(runs.mock.calls.length > before, 'it was tried');
            await Promise.all(runs.mock.results.map(({ value }) => value));
            return (await ends()) !== was;
          };
          assert.equal(await isRenewed(25_000), true);
          await confirm(held);
          assert.equal(await isRenewed(-1), false);
          await assert.rejects(confirm(held), LeaseLost);
        });
      } finally {
        runs.mockRestore();
        clock.release();
      }
    });

    it('that cannot be given back take nothing from the result, and lock nobody out', async () => {
      const names = ['name|1|aa', 'name|1|zz'];
      const run = jest.spyOn(db, 'run').mockImplementation(function (this: Db, sql, ...rest) {
        if (sql.startsWith('DELETE')) return Promise.reject(new Error('away'));
        return (Object.getPrototypeOf(db) as Db).run.call(db, sql, ...rest);
      });
      try {
        assert.equal(await leases.hold(names, 1000, async () => 'done'), 'done');
      } finally {
        run.mockRestore();
      }
      assert.equal((await owners()).length, 2);
      for (const name of names) assert.equal(await leases.isHeld([name]), false);
      assert.equal(await leases.hold(names, 1000, async () => 'again'), 'again');
      assert.deepEqual(await owners(), []);
    });

    it('cost few statements, however many the names', async () => {
      const cost = async (work: () => Promise<unknown>) => {
        const told = tellStatements();
        await work();
        return told().filter(({ sql }) => sql.includes('leases')).length;
      };
      const many = Array.from({ length: 50 }, (_none, i) => `m${i}`);
      assert.equal(await cost(() => leases.hold(['m'], 0, async () => {})), 2);
      assert.equal(await cost(() => leases.hold(['m'], 0, async () => {}, { within: 'z' })), 3);
      assert.equal(await cost(() => leases.hold(many, 0, async () => {}, { within: 'z' })), 3);
      assert.equal(await cost(() => leases.hold([], 0, async () => {})), 0);
      await plant(db, 'm30', `${MACHINE}/${NOBODY}/00000000/00000000`, LASTS);
      assert.equal(await cost(() => leases.hold(many, 0, async () => {}, { within: 'z' })), 7);
    });
  });
}
