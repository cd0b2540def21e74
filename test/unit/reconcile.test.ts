import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { driftOf } from '../../src/cache/drift.js';
import {
  type CacheRow,
  difference,
  type Expectation,
  remoteOf,
  Sieve,
  suspiciousLoss,
} from '../../src/cache/reconcile.js';
import type { RemoteRecord } from '../../src/dns/record.js';
import { remote, row as rowOf } from '../support/rows.js';

const row = (id: number, remote_id: string | null, value: string, more: Partial<CacheRow> = {}): CacheRow =>
  rowOf(id, { remote_id, value, ttl: 600, ...more });

const expects = (id: number, more: Partial<Expectation>): Map<number, Expectation> =>
  new Map([[id, { ids: [], contents: [], here: null, keep: false, ...more }]]);

describe('difference between cache and provider', () => {
  it('is nothing when both are the same, in whatever order', async () => {
    const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.2')];
    assert.deepEqual(await difference(rows, [remote('b', '192.0.2.2'), remote('a', '192.0.2.1')]), {
      insert: [],
      update: [],
      remove: [],
    });
  });

  it('has the remark of a provider that keeps such, and leaves it alone elsewhere', async () => {
    const rows = [row(1, 'a', '192.0.2.1', { remark: 'ours' }), row(2, 'b', '192.0.2.2', { remark: 'old' })];
    const none = await difference(rows, [remote('a', '192.0.2.1'), remote('b', '192.0.2.2', { ttl: 60 })]);
    assert.deepEqual(
      none.update.map((u) => [u.id, u.values.remark]),
      [[2, 'old']],
    );
    const list = [
      remote('a', '192.0.2.1', { remark: 'ours' }),
      remote('b', '192.0.2.2', { remark: 'theirs' }),
      remote('c', '192.0.2.3', { remark: 'new' }),
    ];
    const { update, insert } = await difference(rows, list);
    assert.deepEqual(
      update.map((u) => [u.id, u.values.remark]),
      [[2, 'theirs']],
    );
    assert.equal(insert[0]?.remark, 'new');
  });

  it('keeps the time at which a record ends when another field was changed at the provider', async () => {
    const expires_at = '2099-01-01T00:00:00.000Z';
    const changed = remote('a', '192.0.2.1', { ttl: 60 });
    const { update } = await difference([row(1, 'a', '192.0.2.1', { expires_at })], [changed]);
    assert.deepEqual(
      update.map(({ values }) => [values.ttl, values.expires_at]),
      [[60, expires_at]],
    );
  });

  it('leaves a row that exists only here alone when a read-only record says the same', async () => {
    const own = remote('sys', '192.0.2.1', { readOnly: true });
    const found = await difference([row(1, null, '192.0.2.1', { enabled: true })], [own]);
    assert.deepEqual([found.insert.length, found.update, found.remove], [1, [], []]);
    const soon = expects(1, { here: { enabled: false } });
    const { insert, update } = await difference([row(1, 'a', '192.0.2.1')], [own], soon);
    assert.deepEqual(
      [insert.length, update.map(({ id, values }) => [id, values.remote_id, values.read_only])],
      [1, [[1, null, false]]],
    );
    // one that the provider had follows it
    const moved = await difference([row(1, 'a', '192.0.2.1')], [own]);
    assert.deepEqual([moved.insert, moved.update[0]?.values.read_only], [[], true]);
  });

  it('has the reason of a record that is read-only, and none of one that is not', async () => {
    const rows = [
      row(1, 'a', '192.0.2.1', { read_only: true, read_only_reason: 'It is an alias' }),
      row(2, 'b', '192.0.2.2', { read_only: true }),
      row(3, 'c', '192.0.2.3', { read_only: true, read_only_reason: 'It is an alias' }),
    ];
    const alias = { readOnly: true, readOnlyReason: 'It is an alias' };
    const { update } = await difference(rows, [
      remote('a', '192.0.2.1', alias),
      remote('b', '192.0.2.2', alias),
      remote('c', '192.0.2.3', { readOnly: false, readOnlyReason: 'It was one' }),
    ]);
    assert.deepEqual(
      update.map(({ id, values }) => [id, values.read_only, values.read_only_reason]),
      [
        [2, true, 'It is an alias'],
        [3, false, null],
      ],
    );
  });

  it('does not take for one that is kept here what came in the place that it leaves', async () => {
    const rows = [row(1, 'a', '192.0.2.1')];
    const moved = await difference(
      rows,
      [remote('b', '192.0.2.1')],
      expects(1, { here: { host: 'other', enabled: false } }),
    );
    assert.deepEqual(
      [moved.insert.map((r) => r.remote_id), moved.update.map((u) => [u.id, u.values.host, u.values.remote_id])],
      [['b'], [[1, 'other', null]]],
    );
    const back = await difference(rows, [remote('b', '192.0.2.1')], expects(1, { here: { enabled: false } }));
    assert.deepEqual(
      back.update.map((u) => [u.id, u.values.remote_id, u.values.enabled]),
      [[1, 'b', true]],
    );
  });

  it('is new, changed and gone records, each once', async () => {
    const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.2')];
    const { insert, update, remove } = await difference(rows, [
      remote('a', '192.0.2.9', { ttl: 60 }),
      remote('c', '192.0.2.3'),
    ]);
    assert.deepEqual(
      insert.map((r) => [r.remote_id, r.value]),
      [['c', '192.0.2.3']],
    );
    assert.deepEqual(
      update.map((u) => [u.id, u.rekeyed, u.values.value, u.values.ttl]),
      [[1, false, '192.0.2.9', 60]],
    );
    assert.deepEqual(remove, [{ id: 2, host: 'www' }]);
  });

  for (const change of [
    { ttl: 1 },
    { line: 'cn' },
    { proxied: true },
    { priority: 5 },
    { weight: 5 },
    { enabled: false },
    { readOnly: true },
    { host: 'api' },
    { type: 'AAAA' },
  ] as Partial<RemoteRecord>[]) {
    it(`sees a change of ${Object.keys(change)}, and keeps the id`, async () => {
      const { insert, update, remove } = await difference(
        [row(7, 'a', '192.0.2.1')],
        [remote('a', '192.0.2.1', change)],
      );
      assert.deepEqual([insert.length, remove.length], [0, 0]);
      assert.deepEqual(
        update.map((u) => u.id),
        [7],
      );
    });
  }

  it('keeps the id of a record that the provider gave another one', async () => {
    const { insert, update, remove } = await difference([row(7, 'old', '192.0.2.1')], [remote('new', '192.0.2.1')]);
    assert.deepEqual([insert, remove], [[], []]);
    assert.deepEqual(
      update.map((u) => [u.id, u.rekeyed, u.values.remote_id]),
      [[7, true, 'new']],
    );
  });

  it('keeps the row of an unfinished write that reached the provider', async () => {
    const rows = [row(7, 'old', '192.0.2.1'), row(8, 'other', '192.0.2.8')];
    const now = [remote('new', '192.0.2.2'), remote('other', '192.0.2.8')];
    const { insert, update, remove } = await difference(rows, now, expects(7, { ids: ['new'] }));
    assert.deepEqual([insert, remove], [[], []]);
    assert.deepEqual(
      update.map((u) => [u.id, u.values.value]),
      [[7, '192.0.2.2']],
    );
  });

  it('keeps a row that was being disabled when its record has gone, and leaves it alone when it has not', async () => {
    const rows = [row(7, 'a', '192.0.2.1')];
    const meant = expects(7, { here: {} });
    const gone = await difference(rows, [], meant);
    assert.deepEqual([gone.insert, gone.remove], [[], []]);
    assert.deepEqual(
      gone.update.map((u) => [u.id, u.values.enabled, u.values.remote_id, u.values.value]),
      [[7, false, null, '192.0.2.1']],
    );
    assert.deepEqual(await difference(rows, [remote('a', '192.0.2.1')], meant), { insert: [], update: [], remove: [] });
  });

  it('gives a row that stays here what it was to become', async () => {
    const { update } = await difference(
      [row(7, 'a', '192.0.2.1')],
      [],
      expects(7, { here: { value: '192.0.2.9', ttl: 60 } }),
    );
    assert.deepEqual(
      update.map(({ values }) => [values.enabled, values.remote_id, values.value, values.ttl]),
      [[false, null, '192.0.2.9', 60]],
    );
  });

  it('does not remove a row while it is in doubt what the list says of it', async () => {
    const rows = [row(7, 'a', '192.0.2.1')];
    assert.deepEqual(await difference(rows, [], expects(7, { keep: true })), { insert: [], update: [], remove: [] });
    assert.deepEqual((await difference(rows, [], expects(7, {}))).remove, [{ id: 7, host: 'www' }]);
  });

  it('knows a row by the content that an unfinished write meant to give it', async () => {
    const meant = expects(7, { contents: [remote('', '192.0.2.2')], keep: true });
    const { insert, update, remove } = await difference(
      [row(7, 'a', '192.0.2.1')],
      [remote('new', '192.0.2.2')],
      meant,
    );
    assert.deepEqual([insert, remove], [[], []]);
    assert.deepEqual(
      update.map((u) => [u.id, u.rekeyed, u.values.value]),
      [[7, true, '192.0.2.2']],
    );
  });

  it('goes by the provider id before the content', async () => {
    const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.2')];
    const { update } = await difference(rows, [remote('a', '192.0.2.2'), remote('b', '192.0.2.1')]);
    assert.deepEqual(update.map((u) => [u.id, u.values.value]).sort(), [
      [1, '192.0.2.2'],
      [2, '192.0.2.1'],
    ]);
  });

  it('pairs equal contents one to one', async () => {
    const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.1')];
    const { insert, update, remove } = await difference(
      rows,
      ['x', 'y', 'z'].map((id) => remote(id, '192.0.2.1')),
    );
    assert.deepEqual(
      update.map((u) => u.id),
      [1, 2],
    );
    assert.deepEqual([insert.length, remove.length], [1, 0]);
  });

  it('goes by the priority before it takes another one for a change of it', async () => {
    const mx = (priority: number) => ({ type: 'MX', priority });
    const v = 'mx.example.net';
    const rows = [row(1, 'a', v, mx(10)), row(2, 'b', v, mx(20))];
    const { insert, update, remove } = await difference(rows, [remote('c', v, mx(20)), remote('d', v, mx(30))]);
    assert.deepEqual([insert, remove], [[], []]);
    assert.deepEqual(
      update.map((u) => [u.id, u.values.remote_id, u.values.priority]),
      [
        [2, 'c', 20],
        [1, 'd', 30],
      ],
    );
  });

  it('does not take another priority for a record that exists only here', async () => {
    const rows = [row(1, null, 'mx.example.net', { type: 'MX', priority: 20, enabled: false })];
    const found = remote('a', 'mx.example.net', { type: 'MX', priority: 10 });
    const { insert, update, remove } = await difference(rows, [found]);
    assert.deepEqual([insert.length, update, remove], [1, [], []]);
  });

  it('does not pair what differs in line', async () => {
    const { insert, remove } = await difference([row(1, 'a', '192.0.2.1')], [remote('b', '192.0.2.1', { line: 'cn' })]);
    assert.deepEqual([insert.length, remove.length], [1, 1]);
  });

  it('keeps rows that exist only here, and joins them with their record when it is back', async () => {
    const rows = [row(1, null, '192.0.2.1', { enabled: false })];
    assert.deepEqual(await difference(rows, []), { insert: [], update: [], remove: [] });
    const { insert, update } = await difference(rows, [remote('a', '192.0.2.1')]);
    assert.deepEqual(insert, []);
    assert.deepEqual(
      update.map((u) => [u.id, u.values.enabled, u.values.remote_id]),
      [[1, true, 'a']],
    );
  });

  it('takes a record that is listed twice as one', async () => {
    const twice = [remote('a', '192.0.2.1'), remote('a', '192.0.2.1')];
    assert.deepEqual(await difference([row(1, 'a', '192.0.2.1')], twice), { insert: [], update: [], remove: [] });
  });

  it('takes a new record that is listed twice as one', async () => {
    const twice = [remote('a', '192.0.2.1'), remote('b', '192.0.2.2'), remote('a', '192.0.2.1')];
    assert.deepEqual(
      (await difference([], twice)).insert.map((r) => r.remote_id),
      ['a', 'b'],
    );
  });

  it('says the same of twins of one id in whatever order they are listed', async () => {
    const twins = [remote('a', '192.0.2.1', { ttl: 60 }), remote('a', '192.0.2.1', { enabled: false, ttl: 30 })];
    for (const list of [twins, twins.toReversed()]) {
      assert.deepEqual(
        (await difference([], list)).insert.map((r) => [r.ttl, r.enabled]),
        [[60, true]],
      );
      const settled = row(1, 'a', '192.0.2.1', { ttl: 60 });
      assert.deepEqual(await difference([settled], list), { insert: [], update: [], remove: [] });
    }
  });

  it('keeps records of one content and different ids apart, and pairs them the same way each time', async () => {
    const two = [remote('x', '192.0.2.1'), remote('y', '192.0.2.1')];
    assert.equal((await difference([], two)).insert.length, 2);
    const rows = [row(1, 'x', '192.0.2.1'), row(2, 'y', '192.0.2.1')];
    for (const list of [two, two.toReversed()])
      assert.deepEqual(await difference(rows, list), { insert: [], update: [], remove: [] });
    const renewed = [remote('v', '192.0.2.1'), remote('w', '192.0.2.1')];
    for (const known of [rows, rows.toReversed()])
      assert.deepEqual(
        (await difference(known, renewed)).update.map((u) => [u.id, u.values.remote_id]),
        [
          [1, 'v'],
          [2, 'w'],
        ],
      );
  });

  it('removes all when the provider holds nothing', async () => {
    assert.deepEqual((await difference([row(1, 'a', '192.0.2.1')], [])).remove, [{ id: 1, host: 'www' }]);
  });
});

describe('a list that lacks too much', () => {
  const rows = Array.from({ length: 20 }, (_, i) => row(i + 1, `r${i}`, `192.0.2.${i}`, { host: `h${i}` }));
  const loss = async (known: CacheRow[], left: number, more: RemoteRecord[] = [], except: string[] = []) => {
    const list = known.slice(0, left).map((r) => remote(r.remote_id as string, r.value, { host: r.host }));
    return suspiciousLoss(known, await difference(known, [...list, ...more]), new Set(except));
  };

  it('has lost more than half of at least twenty', async () => {
    assert.equal(await loss(rows, 10), null);
    assert.deepEqual([(await loss(rows, 9))?.lost.length, (await loss(rows, 9))?.of], [11, 20]);
    assert.equal(await loss(rows.slice(0, 19), 0), null);
    assert.equal(await loss([], 0), null);
  });

  it('has not lost what is changed, what we may have changed, and what exists only here', async () => {
    const others = rows.map((r) => remote(`x${r.id}`, '198.51.100.1', { host: r.host }));
    assert.equal(await loss(rows, 0, others), null);
    assert.equal((await loss(rows, 0, others.slice(0, 9)))?.lost.length, 11);
    assert.equal(await loss(rows, 9, [], ['h19']), null);
    const here = rows.map((r) => (r.id > 15 ? { ...r, remote_id: null, enabled: false } : r));
    assert.equal(await loss(here, 0), null);
  });

  it('has lost all when it is the list of something else', async () => {
    const foreign = rows.map((r) => remote(`x${r.id}`, r.value, { host: `other${r.id}` }));
    assert.equal((await loss(rows, 0, foreign))?.lost.length, 20);
  });
});

describe('what somebody else changed', () => {
  const told = async (rows: CacheRow[], list: RemoteRecord[], except: string[] = []) => {
    const { added, changed, removed, names } =
      (await driftOf('d.example', rows, await difference(rows, list), new Set(except)))?.details ?? {};
    return added === undefined ? null : [added, changed, removed, names];
  };
  const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.2')];

  it('is nothing where only ids, remarks or the SOA differ, or names that are ours to change', async () => {
    const soa = { type: 'SOA', host: '@' };
    const same = [remote('c', '192.0.2.1', { remark: 'x' }), remote('b', '192.0.2.2'), remote('s', 'ns. mail. 2', soa)];
    assert.equal(await told([...rows, row(3, 's', 'ns. mail. 1', soa)], same), null);
    assert.equal(await told(rows, [], ['www']), null);
  });

  it('counts a value in the place of another as changed, what is left as added or removed', async () => {
    const list = ['3', '4', '5'].map((n) => remote(n, `192.0.2.${n}`));
    assert.deepEqual(await told(rows, list), [1, 2, 0, 'www A']);
    assert.deepEqual(await told(rows, [remote('a', '192.0.2.1', { ttl: 60 })]), [0, 1, 1, 'www A']);
    assert.deepEqual(await told(rows, [...list.slice(0, 1), remote('m', 'mail', { host: 'm', type: 'CNAME' })]), [
      1,
      1,
      1,
      'm CNAME, www A',
    ]);
  });
});

describe('a list that is compared piece by piece', () => {
  /** What is to be done when a list comes in pieces of this size. */
  const sifted = async (rows: readonly CacheRow[], list: readonly RemoteRecord[], size: number) => {
    const sieve = new Sieve();
    for (let i = 0; i < list.length; i += size) {
      const ids = new Set(list.slice(i, i + size).map(({ remoteId }) => remoteId));
      sieve.take(
        list.slice(i, i + size),
        rows.filter(({ remote_id }) => remote_id !== null && ids.has(remote_id)),
      );
    }
    const left = rows.filter(({ id }) => !sieve.same.has(id));
    return { ...(await difference(left, sieve.rows().map(remoteOf))), left: left.length };
  };
  const sorted = ({ insert, update, remove }: Awaited<ReturnType<typeof difference>>) => ({
    insert: insert.map((one) => JSON.stringify(one)).sort(),
    update: update.toSorted((a, b) => a.id - b.id),
    remove: remove.toSorted((a, b) => a.id - b.id),
  });

  it('comes to what the whole list comes to, whatever was changed, listed twice, or has another id', async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 16807) % 2147483647;
      return seed % below;
    };
    for (let round = 0; round < 500; round++) {
      const rows = Array.from({ length: random(8) }, (_none, i) =>
        row(i + 1, random(4) ? `id${i}` : null, `192.0.2.${random(4)}`, { ttl: 60 * (1 + random(2)) }),
      );
      const list = Array.from({ length: random(10) }, () => {
        const like = rows[random(rows.length || 1)];
        const id = like?.remote_id && random(4) ? like.remote_id : `id${random(9)}`;
        const value = like && random(4) ? like.value : `192.0.2.${random(4)}`;
        const ttl = like && random(4) ? like.ttl : 60;
        return remote(id, value, { ttl, enabled: random(8) > 0, ...(random(6) === 0 && { readOnly: true }) });
      });
      const whole = sorted(await difference(rows, list));
      for (const size of [1, 3, 100]) {
        const { left, ...parts } = await sifted(rows, list, size);
        assert.deepEqual(sorted(parts), whole, JSON.stringify({ rows, list, size, left }));
      }
    }
  });

  it('keeps nothing of what is the same', async () => {
    const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.2')];
    const list = [remote('a', '192.0.2.1'), remote('b', '192.0.2.3')];
    assert.equal((await sifted(rows, list, 1)).left, 1);
  });

  it('is suspicious by all rows, not by those alone that differ', () => {
    const rows = Array.from({ length: 30 }, (_none, i) => row(i, `id${i}`, `192.0.2.${i}`));
    const gone = { insert: [], update: [], remove: rows.map(({ id, host }) => ({ id, host })) };
    assert.equal(suspiciousLoss(rows, gone, new Set(), 29)?.of, 59);
    assert.equal(suspiciousLoss(rows, gone, new Set(), 30), null);
  });
});
