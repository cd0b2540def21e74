import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { ProviderError } from '../../../src/providers/kit/http/errors.js';
import { coalesce } from '../../../src/providers/kit/rrsets/coalesce.js';
import { fromRrsets } from '../../../src/providers/kit/rrsets/from-rrsets.js';
import { leastWork, type PlainSet } from '../../../src/providers/kit/rrsets/plain-sets.js';
import type { RecordSet } from '../../../src/providers/kit/rrsets/record-set.js';
import type { Change, Outcome } from '../../../src/providers/provider.js';

const ZONE = { id: 'a.example.', name: 'a.example' };
const create = (host: string, zone = ZONE): Change => ({
  op: 'create',
  after: dnsRecord({ host, type: 'A', value: '192.0.2.1' }, zone.name),
});
const hostsOf = (changes: readonly Change[]) => changes.map((c) => ('after' in c ? c.after.host : c.before.host));

/** A vendor whose writes take until `answer` is called. */
function slow() {
  const calls: { hosts: string[]; zone: string; deadline: number | undefined; end(outcomes?: Outcome[]): void }[] = [];
  const apply = coalesce(
    (zone, changes, options) =>
      new Promise((resolve) => {
        const end = (outcomes = changes.map((): Outcome => ({ ok: true, remoteId: 'x' }))) => resolve(outcomes);
        calls.push({ hosts: hostsOf(changes), zone: zone.id, deadline: options?.deadline, end });
      }),
    3,
  );
  return { calls, apply };
}
const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('single changes of one zone that come at once', () => {
  it('are sent in one call after the one in flight, as many as a call may hold', async () => {
    const { calls, apply } = slow();
    const until = performance.now() + 60_000;
    const all = ['a', 'b', 'c', 'd', 'e'].map((host, i) => apply(ZONE, [create(host)], { deadline: until - i }));
    const other = apply({ id: 'b', name: 'b.example' }, [create('a')]);
    assert.deepEqual(
      calls.map((call) => call.hosts),
      [['a'], ['a']],
    );
    calls[0]?.end();
    await soon();
    assert.deepEqual(calls[2]?.hosts, ['b', 'c', 'd']);
    // that of the one who has least time
    assert.equal(calls[2]?.deadline, until - 3);
    const error = new ProviderError('rejected', 'no', false);
    calls[2]?.end([
      { ok: true, remoteId: 'b' },
      { ok: false, error, tried: true },
      { ok: true, remoteId: 'd' },
    ]);
    await soon();
    assert.deepEqual(calls[3]?.hosts, ['e']);
    for (const call of calls) call.end();
    const [, b, c, d] = (await Promise.all(all)).flat();
    assert.ok(b?.ok && b.remoteId === 'b' && d?.ok && d.remoteId === 'd');
    assert.ok(c && !c.ok && c.error === error);
    await other;
    // nobody is left behind: the next one goes at once
    void apply(ZONE, [create('f')]);
    assert.deepEqual(calls.at(-1)?.hosts, ['f']);
  });

  it('that are past their deadline are not tried, and do not shorten the call of the others', async () => {
    const { calls, apply } = slow();
    const first = apply(ZONE, [create('a')]);
    const [over, other] = [apply(ZONE, [create('b')], { deadline: performance.now() - 1 }), apply(ZONE, [create('c')])];
    calls[0]?.end();
    await soon();
    assert.deepEqual([calls[1]?.hosts, calls[1]?.deadline], [['c'], undefined]);
    calls[1]?.end();
    const [outcome] = await over;
    assert.ok(outcome && !outcome.ok && !outcome.tried);
    await Promise.all([first, other]);
  });

  it('that are near their deadline do not join a call, which they would cut short', async () => {
    const { calls, apply } = slow();
    const until = performance.now() + 60_000;
    const first = apply(ZONE, [create('a')]);
    const short = apply(ZONE, [create('b')], { deadline: performance.now() + 2_000 });
    const other = apply(ZONE, [create('c')], { deadline: until });
    calls[0]?.end();
    await soon();
    assert.deepEqual([calls[1]?.hosts, calls[1]?.deadline], [['c'], until]);
    const [outcome] = await short;
    assert.ok(outcome && !outcome.ok && !outcome.tried);
    // by itself it may try
    const alone = apply(ZONE, [create('d')], { deadline: performance.now() + 2_000 });
    calls[1]?.end();
    await soon();
    assert.deepEqual(calls[2]?.hosts, ['d']);
    calls[2]?.end();
    await Promise.all([first, other, alone]);
  });

  it('that have little time are sent apart from those with much, and cut no other one short', async () => {
    const { calls, apply } = slow();
    const [little, much] = [performance.now() + 8_000, performance.now() + 60_000];
    const all = [
      apply(ZONE, [create('a')]),
      apply(ZONE, [create('b')], { deadline: much }),
      apply(ZONE, [create('c')], { deadline: little }),
      apply(ZONE, [create('d')], { deadline: much }),
    ];
    for (const at of [0, 1, 2]) {
      calls[at]?.end();
      await soon();
    }
    await Promise.all(all);
    assert.deepEqual(
      calls.map(({ hosts, deadline }) => [hosts, deadline]),
      [
        [['a'], undefined],
        [['b', 'd'], much],
        [['c'], little],
      ],
    );
  });

  it('leave at their deadline while another one is in flight', async () => {
    const { calls, apply } = slow();
    const first = apply(ZONE, [create('a')]);
    // told while the first one still runs
    const [outcome] = await apply(ZONE, [create('b')], { deadline: performance.now() + 20 });
    assert.ok(outcome && !outcome.ok && !outcome.tried);
    calls[0]?.end();
    await first;
    assert.equal(calls.length, 1);
  });

  it('are not joined with lists of several, and each gets the failure of its call', async () => {
    const { calls, apply } = slow();
    void apply(ZONE, [create('a')]);
    void apply(ZONE, [create('b'), create('c')]);
    assert.deepEqual(
      calls.map((call) => call.hosts),
      [['a'], ['b', 'c']],
    );
    const failing = coalesce(() => Promise.reject(new Error('broken')), 3);
    const ends = await Promise.allSettled(['a', 'b', 'c'].map((host) => failing(ZONE, [create(host)])));
    assert.deepEqual(
      ends.map((end) => end.status),
      ['rejected', 'rejected', 'rejected'],
    );
  });

  it('are not refused with one that the vendor refuses, and all are in doubt where the answer was lost', async () => {
    const held = new Map<string, RecordSet>();
    const written: string[][] = [];
    let lose = false;
    const apply = coalesce(
      fromRrsets({
        readSets: async (_zone, keys) => {
          await soon();
          return keys.map((key) => held.get(key.host) ?? { ...key, ttl: 600, members: [] });
        },
        replaceSets: async (_zone, sets) => {
          written.push(sets.map((set) => set.host));
          if (lose) throw new ProviderError('unavailable', 'lost', true);
          if (sets.some((set) => set.host === 'bad')) throw new ProviderError('rejected', 'bad', false);
          for (const set of sets) held.set(set.host, set);
          return true;
        },
      }),
      100,
    );
    const all = (hosts: string[]) => Promise.all(hosts.map((host) => apply(ZONE, [create(host)])));
    const outcomes = (await all(['first', 'a', 'bad', 'b', 'c'])).flat();
    assert.deepEqual(
      outcomes.map((outcome) => outcome.ok),
      [true, true, false, true, true],
    );
    assert.deepEqual([...held.keys()].sort(), ['a', 'b', 'c', 'first']);
    assert.deepEqual(written.slice(0, 2), [['first'], ['a', 'bad', 'b', 'c']]);
    lose = true;
    for (const [outcome] of await all(['x', 'y', 'z']))
      assert.ok(outcome && !outcome.ok && outcome.error.mayHaveApplied);
  });
});

describe('some names of a zone', () => {
  it('are asked for one by one where the zone is known to be large, one name always, else the zone is read', async () => {
    const asked: string[] = [];
    let size = 900;
    const set: PlainSet = { name: 'a.example.', type: 'SOA', ttl: 60, values: [] };
    const read = leastWork(
      async (_zone, keys) => {
        asked.push(`${keys.length} names`);
        return [];
      },
      async function* () {
        asked.push('whole');
        for (let left = size; left > 0; left -= 300) yield Array.from({ length: Math.min(left, 300) }, () => set);
      },
    );
    const keys = (...hosts: string[]) => hosts.map((host) => ({ host, type: 'A', line: 'default' }));
    await read(ZONE, keys('a'));
    await read(ZONE, keys('a', 'b'));
    size = 2000;
    await read(ZONE, keys('a', 'b'));
    await read(ZONE, keys('a', 'b', 'c'));
    await read(ZONE, keys('a', 'b', 'c', 'd'));
    assert.deepEqual(asked, ['1 names', 'whole', 'whole', '3 names', 'whole']);
  });

  it('are read with the whole zone where the server cannot tell, of which one other name is kept', async () => {
    const set = (name: string): PlainSet => ({ name: `${name}.${ZONE.name}.`, type: 'A', ttl: 60, values: [] });
    const odd = { ...set('x'), entry: {} };
    const read = leastWork(
      async () => null,
      async function* () {
        yield [set('b'), set('a'), set('c')];
        yield [set('d'), odd, set('a')];
      },
    );
    const near = await read(ZONE, [{ host: 'a', type: 'A', line: 'default' }]);
    assert.deepEqual(near, [set('b'), set('a'), odd, set('a')]);
  });
});
