import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, jest } from '@jest/globals';
import { type Looked, SettleQueue, type ToSettle } from '../../src/changes/in-doubt/settle-queue.js';
import { keepTime } from '../../src/platform/common/clock.js';
import { SILENT } from '../support/silent.js';

const MINUTE = 60_000;
const SICK = 1;
const WELL = 2;
const list: ToSettle[] = [
  ...Array.from({ length: 200 }, (_, i) => ({ id: i + 1, accountId: SICK })),
  { id: 901, accountId: WELL },
  { id: 902, accountId: WELL },
];

describe('what is to be settled', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    // a suite before this one may have followed the clock of a database
    keepTime(null);
  });
  afterEach(() => void jest.useRealTimers());

  let queue: SettleQueue;
  let looks: number[] = [];
  let wakes = 0;
  const start = (look: (id: number) => Promise<Looked>) => {
    looks = [];
    wakes = 0;
    queue = new SettleQueue(
      (id) => {
        looks.push(id);
        return look(id);
      },
      () => {
        wakes++;
        queue.offer(list.slice(-2));
      },
      SILENT,
    );
  };
  const settled = async () => {
    for (let i = 0; i < 500; i++) await Promise.resolve();
  };
  const sick = () => looks.filter((id) => id < 900);

  it('is not kept waiting by an account that hangs', async () => {
    start((id) => (id < 900 ? new Promise(() => undefined) : Promise.resolve('done')));
    queue.offer(list);
    await settled();
    assert.deepEqual(
      looks.filter((id) => id > 900),
      [901, 902],
    );
    assert.equal(sick().length, 2, 'no more of the other one');
  });

  it('of an account that is down is tried more and more seldom, each time other domains', async () => {
    start(async (id) => (id < 900 ? 'down' : 'done'));
    for (let second = 0; second < 3600; second += 5) {
      queue.offer(list);
      await settled();
      jest.advanceTimersByTime(5000);
    }
    assert.ok(looks.filter((id) => id === 901).length > 100, 'what works is looked at each time');
    assert.ok(sick().length < 60, `${sick().length} looks at what is down`);
    assert.ok(sick().length > 20, `${sick().length} looks at what is down`);
    assert.ok(new Set(sick()).size > 15, 'not always the same');
  });

  it('of an account with some bad zones goes on', async () => {
    start(async (id) => (id <= 4 ? 'down' : 'done'));
    queue.offer(list);
    for (let i = 0; i < 40; i++) {
      await settled();
      jest.advanceTimersByTime(15_000);
      queue.offer(list);
    }
    await settled();
    assert.equal(new Set(looks).size, list.length);
  });

  it('alone backs off alone', async () => {
    start(async (id) => (id === 901 ? 'failed' : 'done'));
    const well = list.slice(-2);
    for (let i = 0; i < 20; i++) {
      queue.offer(well);
      await settled();
      jest.advanceTimersByTime(5000);
    }
    const of = (id: number) => looks.filter((other) => other === id).length;
    assert.deepEqual([of(901), of(902)], [3, 20]);
    queue.works(901, WELL);
    queue.offer(well);
    await settled();
    assert.equal(of(901), 4, 'what was read meanwhile is tried at once');
  });

  it('is looked at again when the next look tells more', async () => {
    const again = Date.now() + MINUTE;
    start(async (id) => (id === 901 && looks.length < 3 ? { again } : 'done'));
    queue.offer(list.slice(-2));
    await settled();
    jest.advanceTimersByTime(MINUTE - 1);
    assert.equal(wakes, 0);
    jest.advanceTimersByTime(2);
    await settled();
    assert.equal(wakes, 1);
    assert.equal(looks.filter((id) => id === 901).length, 2);
  });

  it('is looked at once more when a change came into doubt during a look', async () => {
    let end = (_: Looked) => {};
    start(() => new Promise((resolve) => (end = resolve)));
    queue.offer(list.slice(-1));
    await settled();
    queue.offer(list.slice(-1));
    end('done');
    await settled();
    jest.advanceTimersByTime(1);
    await settled();
    assert.deepEqual(looks, [902, 901, 902]);
  });

  it('ends with the service', async () => {
    start(async () => 'done');
    queue.stop();
    queue.offer(list);
    await settled();
    assert.deepEqual(looks, []);
    await queue.idle();
  });
});
