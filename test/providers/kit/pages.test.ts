import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { allPages, counted, eachOf } from '../../../src/providers/kit/http/pages.js';
import { fewOrAll } from '../../../src/providers/kit/rrsets/plain-sets.js';
import { ProviderError } from '../../../src/providers/provider.js';

const gone = new ProviderError('not_found', 'gone', false);
const refused = new ProviderError('rejected', 'no', false);
const zone = { id: 'z', name: 'example.com' };

describe('entries of a list of ids', () => {
  it('come in the order of the list, some at once', async () => {
    let [now, most] = [0, 0];
    const ids = Array.from({ length: 20 }, (_, i) => i);
    const found = await eachOf(ids, async (id) => {
      most = Math.max(most, ++now);
      await new Promise((done) => setImmediate(done));
      now--;
      return `entry ${id}`;
    });
    assert.deepEqual(
      found,
      ids.map((id) => `entry ${id}`),
    );
    assert.ok(most > 1 && most < 20);
  });

  it('are an error when the list is none, or an entry is missing', async () => {
    const read = async () => 'x';
    for (const list of [undefined, {}, [1.5], [null], [2 ** 60]])
      await assert.rejects(eachOf(list as number[], read), { kind: 'unavailable' });
    await assert.rejects(
      eachOf([1], () => Promise.reject(gone)),
      { kind: 'unavailable' },
    );
    await assert.rejects(
      eachOf([1], () => Promise.reject(refused)),
      { kind: 'rejected' },
    );
    assert.deepEqual(await eachOf([], read), []);
  });
});

describe('pages of a vendor that does not know how it is asked for them', () => {
  it('have an end, which is an error', async () => {
    const entries = ['a', 'b'];
    for (const page of [{ entries }, { entries, total: 5 }])
      await assert.rejects(
        allPages(
          (one) => one,
          async () => page,
          2,
        ),
        { kind: 'unavailable' },
      );
  });
});

describe('pages', () => {
  it('that are the same again and again are a list that is cut', async () => {
    for (const more of [{ total: 3 }, { next: 1 }, { next: null, total: 3 }]) {
      let asked = 0;
      const same = async () => ({
        entries: [1, 2],
        ...more,
        ...('next' in more && more.next ? { next: ++asked } : {}),
      });
      await assert.rejects(
        allPages((n: number) => n, same),
        { kind: 'unavailable' },
      );
    }
  });
});

describe('lists and sets', () => {
  it('that are left out are empty only where nothing is announced', () => {
    assert.deepEqual(counted(null, 0), { entries: [], total: 0 });
    assert.deepEqual(counted(undefined, '0'), { entries: [], total: 0 });
    assert.deepEqual(counted(['a'], '1'), { entries: ['a'], total: 1 });
    assert.deepEqual(counted(null, 1), { entries: undefined, total: 1 });
    assert.deepEqual(counted([], undefined), { entries: [], total: Number.NaN });
    assert.equal(counted(null, undefined).entries, undefined);
  });

  it('are read one by one while they are few', async () => {
    const asked: string[] = [];
    const set = (name: string) => ({
      name: `${name}.example.com`,
      type: 'A',
      ttl: 60,
      values: [{ rdata: '192.0.2.1' }],
    });
    const readSets = fewOrAll(
      1,
      async (_zone, { host }) => (asked.push(host) ? [set(host)] : []),
      async () => (asked.push('all') ? [set('a'), set('b'), set('c')] : []),
    );
    const key = (host: string) => ({ host, type: 'A' });
    assert.equal((await readSets(zone, [key('a')]))[0]?.members.length, 1);
    assert.deepEqual(
      (await readSets(zone, [key('a'), key('x')])).map(({ members }) => members.length),
      [1, 0],
    );
    assert.deepEqual(asked, ['a', 'all']);
  });
});
