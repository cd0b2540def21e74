import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { allPools, FairPool } from '../../src/platform/common/fair-pool.js';
import { type Bounds, POOLS } from '../../src/platform/common/pools.js';
import { stopClock } from '../support/clock.js';
import { until } from '../support/until.js';

const soon = () => new Promise((resolve) => setImmediate(resolve));

/** A pool, and work in it that goes on until `end` is called. */
function held(bounds: Partial<Bounds>) {
  const reason = 'downloads_pool_full' as const;
  const none = { all: 1, user: 1, target: 1, waiting: 1000, waitingOfUser: 1000, reason, seconds: 7 };
  const pool = new FairPool('downloads', { ...none, ...bounds });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const put = (name: string, user: number | null, target: string | number = name, signal?: AbortSignal) =>
    pool.run(
      { user, target },
      () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      },
      signal,
    );
  const end = async (name: string) => {
    ends.get(name)?.();
    await soon();
  };
  return { pool, begun, put, end };
}

describe('a pool that users share', () => {
  it('serves who waits in turns over users, and over the targets within a user', async () => {
    const { begun, put, end } = held({ all: 1, user: 1, target: 1 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) void put(name, 1, name === 'a4' ? 'other' : 'same');
    for (const name of ['b1', 'b2']) void put(name, 2, 'b');
    void put('c1', 3, 'c');
    await soon();
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a4', 'b2', 'a3']) {
      assert.equal(begun.at(-1), name);
      await end(name);
    }
    assert.equal(begun.length, 7);
  });

  it('lets one user have its share, and another come in while all of that hangs', async () => {
    const { begun, put, pool } = held({ all: 4, user: 2, target: 4 });
    for (let i = 0; i < 100; i++) void put(`a${i}`, 1);
    void put('b', 2);
    await soon();
    assert.deepEqual(begun, ['a0', 'a1', 'b']);
    assert.deepEqual([pool.inUse, pool.waiting], [3, 98]);
  });

  it('bounds what goes on at one target, of all users and of one, and goes on with the next target', async () => {
    const { begun, put, end } = held({ all: 10, user: 10, target: 3, userAtTarget: 2 });
    for (const name of ['a1', 'a2', 'a3']) void put(name, 1, 'x');
    void put('a4', 1, 'y');
    for (const name of ['b1', 'b2']) void put(name, 2, 'x');
    await soon();
    assert.deepEqual(begun, ['a1', 'a2', 'a4', 'b1']);
    await end('b1');
    assert.deepEqual(begun.slice(4), ['b2']);
    await end('a1');
    assert.deepEqual(begun.slice(5), ['a3']);
  });

  it('begins no more at a target within a second than it may, and the rest afterwards', async () => {
    const clock = stopClock();
    const { begun, put, end } = held({ all: 10, user: 10, target: 10, perSecond: 2 });
    for (const name of ['a1', 'a2', 'a3']) void put(name, 1, 'x');
    void put('a4', 1, 'y');
    await soon();
    assert.deepEqual(begun, ['a1', 'a2', 'a4']);
    // a target with nothing under way is not forgotten before its second is over
    for (const name of ['a1', 'a2', 'a4']) await end(name);
    assert.deepEqual(begun, ['a1', 'a2', 'a4']);
    await clock.advance(1000);
    await until('the third begins', () => begun.length === 4);
    assert.equal(begun[3], 'a3');
    clock.release();
  });

  it('serves who waits at a target when its second is over, though another one was waited at before', async () => {
    const clock = stopClock();
    const { begun, put } = held({ all: 10, user: 10, target: 10, perSecond: 1 });
    void put('early', 1, 'x');
    await clock.advance(600);
    void put('late', 2, 'y');
    void put('late2', 2, 'y');
    void put('early2', 1, 'x');
    await clock.advance(400);
    assert.deepEqual(begun, ['early', 'late', 'early2']);
    await clock.advance(600);
    assert.equal(begun[3], 'late2');
    clock.release();
  });

  it('refuses who would wait behind too many, of one user and of all, and counts it', async () => {
    const { pool, put } = held({ all: 1, user: 1, target: 1, waiting: 3, waitingOfUser: 2 });
    for (const name of ['a1', 'a2', 'a3']) void put(name, 1);
    assert.equal(pool.isFull({ user: 1 }), true);
    assert.equal(pool.isFull({ user: 2 }), false);
    await assert.rejects(put('a4', 1), { code: 429001, data: { reason: 'downloads_pool_full' }, retryAfterSeconds: 7 });
    void put('b1', 2);
    await assert.rejects(put('b2', 2), { code: 429001 });
    assert.deepEqual([pool.inUse, pool.waiting, pool.refused], [1, 3, 2]);
  });

  it('ends a wait when its signal says so, and leaves nothing behind', async () => {
    const { pool, begun, put, end } = held({});
    void put('a1', 1);
    const stop = new AbortController();
    const waits = put('b1', 2, 'b', stop.signal);
    void put('c1', 3);
    await soon();
    stop.abort(new Error('too late'));
    await assert.rejects(waits, { message: 'too late' });
    await assert.rejects(put('b2', 2, 'b', stop.signal), { message: 'too late' });
    await end('a1');
    assert.deepEqual(begun, ['a1', 'c1']);
    const idle = pool.onIdle();
    await end('c1');
    await idle;
    assert.deepEqual([pool.inUse, pool.waiting], [0, 0]);
  });

  it('gives the place back when the work fails', async () => {
    const { pool } = held({});
    await assert.rejects(
      pool.run({ user: 1 }, () => Promise.reject(new Error('broken'))),
      { message: 'broken' },
    );
    assert.equal(await pool.run({ user: 2 }, async () => 'well'), 'well');
  });

  it('counts work within other work for the user of that', async () => {
    const outer = new FairPool('jobs');
    const { pool, begun } = held({ all: 4, user: 2, target: 4 });
    void outer.run({ user: 1 }, async () => {
      for (const name of ['a', 'b', 'c'])
        void pool.run({ target: name }, async () => new Promise(() => begun.push(name)));
    });
    await soon();
    assert.deepEqual(begun, ['a', 'b']);
    void outer.run({ user: 2 }, async () => void pool.run({ target: 'd' }, async () => begun.push('d')));
    await soon();
    assert.deepEqual(begun, ['a', 'b', 'd']);
  });

  it('has a place at once, or none', () => {
    const { pool } = held({ all: 2, user: 1 });
    const release = pool.take({ user: 1 });
    assert.ok(release);
    assert.equal(pool.take({ user: 1 }), null);
    assert.throws(() => pool.takeOrRefuse({ user: 1 }), { code: 429001 });
    // without a target none is shared with others
    assert.ok(pool.take({ user: 2 }));
    release();
    // twice is once
    release();
    assert.equal(pool.inUse, 1);
    assert.ok(pool.take({ user: 1 }));
  });

  it('serves all where very many wait', async () => {
    const { pool, begun } = held({ all: 100, user: 10, waiting: 20_000, waitingOfUser: 20_000 });
    const all: Promise<void>[] = [];
    for (let i = 0; i < 20_000; i++)
      all.push(pool.run({ user: i % 50, target: i % 1000 }, async () => void begun.push(String(i))));
    await Promise.all(all);
    assert.equal(begun.length, 20_000);
  });
});

describe('the pools of the service', () => {
  it('leave to others about half of what one user can take, and each is found by its name', () => {
    for (const [name, bounds] of Object.entries(POOLS) as [string, Bounds][]) {
      // one core: nothing can be halved; logins of strangers are told apart by their networks, which queue
      if (bounds.all > 1 && name !== 'password hashes of strangers')
        assert.ok(bounds.user <= Math.ceil(bounds.all / 2), name);
      assert.ok(bounds.waiting <= 0 || bounds.waitingOfUser <= bounds.waiting, name);
    }
    assert.equal(allPools().get('downloads')?.name, 'downloads');
  });
});
