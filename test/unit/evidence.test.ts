import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { difference } from '../../src/cache/reconcile.js';
import type { InDoubtChange } from '../../src/changes/history/in-doubt.repository.js';
import { expectations, hostsOf, judge, localOnly, successors } from '../../src/changes/in-doubt/evidence.js';
import type { RemoteRecord } from '../../src/dns/record.js';
import { remote, rowValues as row } from '../support/rows.js';

const SENT = '2026-01-01T00:00:00.000Z';
const SURE = '2026-01-01T00:01:00.000Z';
/** lists that were begun before and after the provider can no longer apply it */
const EARLY = '2026-01-01T00:00:30.000Z';
const LATE = '2026-01-01T00:01:00.001Z';

const change = (more: Partial<InDoubtChange>): InDoubtChange => ({
  id: 1,
  change_set_id: 1,
  atomic: false,
  record_id: 7,
  host: 'www',
  host_before: null,
  before: null,
  after: null,
  own: null,
  expected: null,
  settle_after: SURE,
  late: null,
  ...more,
});
const judgedBy = (
  changes: InDoubtChange[],
  list: RemoteRecord[],
  begun: string,
  idOf: (id: number) => string | null,
  isAtomic = false,
) => judge(changes, list, begun, idOf, { took: successors(changes, list), isAtomic });
const verdict = (of: InDoubtChange, list: RemoteRecord[], begun: string, remoteId: string | null = 'a') => {
  const found = judgedBy([of], list, begun, () => remoteId).get(of);
  return found === undefined ? 'unknown' : found.applied ? `applied ${found.remoteId}` : 'failed';
};
/** What lists that were begun early and late prove. */
const proofs = (of: InDoubtChange, list: RemoteRecord[]) => [verdict(of, list, EARLY), verdict(of, list, LATE)];

const OLD = row('192.0.2.1');
const NEW = row('192.0.2.2');

describe('what a list proves of a change in doubt', () => {
  it('a creation: its content', () => {
    const create = change({ record_id: null, after: NEW });
    assert.deepEqual(proofs(create, [remote('n', '192.0.2.2', { ttl: 1 })]), ['applied n', 'applied n']);
    assert.deepEqual(proofs(create, [remote('a', '192.0.2.1')]), ['unknown', 'failed']);
    assert.deepEqual(proofs(create, []), ['unknown', 'failed']);
  });

  it('a creation of a disabled record: not the record, live', () => {
    const create = change({ record_id: null, after: { ...NEW, enabled: false } });
    assert.deepEqual(proofs(create, [remote('n', '192.0.2.2')]), ['unknown', 'failed']);
    assert.deepEqual(proofs(create, [remote('n', '192.0.2.2', { enabled: false })]), ['applied n', 'applied n']);
  });

  it('one that may be carried out once more: nothing, until it no longer can be', () => {
    const create = change({ record_id: null, after: NEW, late: 'again' });
    assert.deepEqual(proofs(create, [remote('n', '192.0.2.2')]), ['unknown', 'applied n']);
    const once = change({ record_id: null, after: NEW, late: 'once' });
    assert.deepEqual(proofs(once, [remote('n', '192.0.2.2')]), ['applied n', 'applied n']);
  });

  it('a list that was begun in the last ms in which the provider may apply it proves no failure', () => {
    assert.equal(verdict(change({ record_id: null, after: NEW }), [], SURE), 'unknown');
  });

  it('an update: all of its content, under its own id or another one', () => {
    const update = change({ before: OLD, after: NEW });
    assert.deepEqual(proofs(update, [remote('a', '192.0.2.2')]), ['applied a', 'applied a']);
    assert.deepEqual(proofs(update, [remote('n', '192.0.2.2')]), ['applied n', 'applied n']);
    // what it left as it was may have been changed since
    assert.deepEqual(proofs(update, [remote('a', '192.0.2.2', { ttl: 60 })]), ['applied a', 'applied a']);
    const both = change({ before: OLD, after: { ...NEW, ttl: 300 } });
    for (const list of [[remote('a', '192.0.2.1')], [remote('a', '192.0.2.2', { ttl: 60 })], []])
      assert.deepEqual(proofs(both, list), ['unknown', 'failed']);
  });

  it('an update of the remark: the remark, where the provider keeps it', () => {
    const noted = change({ before: OLD, after: OLD, own: { from: { remark: '' }, to: { remark: 'noted' } } });
    assert.deepEqual(proofs(noted, [remote('a', '192.0.2.1', { remark: '' })]), ['unknown', 'failed']);
    assert.deepEqual(proofs(noted, [remote('a', '192.0.2.1', { remark: 'noted' })]), ['applied a', 'applied a']);
  });

  it('an id that is derived from the content proves it where it is a new one', () => {
    const update = change({ before: OLD, after: { ...NEW, ttl: 60 }, expected: 'n' });
    assert.deepEqual(proofs(update, [remote('n', '192.0.2.2')]), ['applied n', 'applied n']);
    const ttl = change({ before: OLD, after: row('192.0.2.1', { ttl: 60 }), expected: 'a' });
    assert.deepEqual(proofs(ttl, [remote('a', '192.0.2.1')]), ['unknown', 'failed']);
    assert.deepEqual(proofs(ttl, [remote('a', '192.0.2.1', { ttl: 60 })]), ['applied a', 'applied a']);
  });

  it('an id that another record had, which was to make room: nothing, while the old one is there', () => {
    const room = change({ id: 2, record_id: 8, before: { ...NEW, remote_id: 'n' }, after: null });
    const update = change({ before: { ...OLD, remote_id: 'a' }, after: NEW, expected: 'n' });
    const ends = (list: RemoteRecord[]) => {
      const verdicts = judgedBy([room, update], list, LATE, (id) => (id === 7 ? 'a' : 'n'));
      return [room, update].map((one) => verdicts.get(one)?.applied);
    };
    assert.deepEqual(ends([remote('a', '192.0.2.1'), remote('n', '192.0.2.2')]), [false, false]);
    assert.deepEqual(ends([remote('n', '192.0.2.2')]), [true, true]);
  });

  it('a row of records of which each takes the place of the next: all of them, when the first one is gone', async () => {
    const at = (id: number, value: string, remote_id: string) => ({ ...row(value, { remote_id }), id, remark: '' });
    const rows = [at(7, '192.0.2.1', 'a'), at(8, '192.0.2.2', 'b'), at(9, '192.0.2.3', 'c')];
    const moves = rows.map((before, i) => {
      const to = rows[i + 1];
      const after = to ? row(to.value) : null;
      return change({ id: 10 - i, record_id: before.id, before, after, expected: to?.remote_id ?? null });
    });
    const judged = async (list: RemoteRecord[]) => {
      const verdicts = judgedBy(moves, list, LATE, (id) => rows.find((one) => one.id === id)?.remote_id ?? null);
      const { insert, update, remove } = await difference(
        rows,
        list,
        expectations(moves, LATE, successors(moves, list)),
      );
      const kept = update.map(({ id, values }) => [id, values.remote_id]);
      return [moves.map((one) => verdicts.get(one)?.applied), kept, remove.map(({ id }) => id), insert];
    };
    const [a, b, c] = [remote('a', '192.0.2.1'), remote('b', '192.0.2.2'), remote('c', '192.0.2.3')];
    assert.deepEqual(await judged([b, c]), [
      [true, true, true],
      [
        [7, 'b'],
        [8, 'c'],
      ],
      [9],
      [],
    ]);
    assert.deepEqual(await judged([a, b, c]), [[false, false, false], [], [], []]);
  });

  it('of an atomic list a record that somebody else has made, too: nothing, while the rest is not there', () => {
    const [a, b] = [NEW, row('192.0.2.3')].map((after, i) =>
      change({ id: i + 1, atomic: true, record_id: null, after }),
    ) as [InDoubtChange, InDoubtChange];
    const twin = change({ id: 3, change_set_id: 2, record_id: null, after: NEW });
    const ends = (list: RemoteRecord[], begun: string, isAtomic = true) => {
      const verdicts = judgedBy([a, b, twin], list, begun, () => null, isAtomic);
      return [a, b, twin].map((one) => verdicts.get(one)?.applied);
    };
    const some = [remote('n', '192.0.2.2')];
    const all = [...some, remote('m', '192.0.2.3')];
    assert.deepEqual(ends(some, EARLY), [undefined, undefined, true]);
    assert.deepEqual(ends(some, LATE), [false, false, true]);
    assert.deepEqual(ends(all, EARLY), [true, true, true]);
    // where a provider may carry out a part
    assert.deepEqual(ends(some, LATE, false), [true, false, true]);
  });

  it('edits of one record in one list have one end, that of what was sent', () => {
    const first = change({ id: 1, before: OLD, after: NEW });
    const other = change({ id: 3, change_set_id: 2, before: OLD, after: NEW });
    const ends = (second: InDoubtChange, list: RemoteRecord[]) => {
      const verdicts = judgedBy([first, second, other], list, LATE, () => 'a');
      return [first, second, other].map((one) => verdicts.get(one)?.applied);
    };
    const deleted = change({ id: 2, before: NEW });
    assert.deepEqual(ends(deleted, []), [true, true, false]);
    assert.deepEqual(ends(deleted, [remote('a', '192.0.2.1')]), [false, false, false]);
    const again = change({ id: 2, before: NEW, after: row('192.0.2.3') });
    assert.deepEqual(ends(again, [remote('a', '192.0.2.3')]), [true, true, false]);
    const early = expectations([first, deleted], EARLY).get(7);
    assert.deepEqual([early?.contents, early?.keep], [[], false]);
  });

  it('a deletion, and disabling where the record goes: that it is gone', () => {
    for (const gone of [
      change({ before: OLD }),
      change({ before: OLD, after: row('192.0.2.1', { enabled: false }), expected: '' }),
    ]) {
      assert.deepEqual(proofs(gone, []), ['applied null', 'applied null']);
      assert.deepEqual(proofs(gone, [remote('x', '192.0.2.1')]), ['applied null', 'applied null']);
      assert.deepEqual(proofs(gone, [remote('a', '192.0.2.9')]), ['unknown', 'failed']);
    }
  });

  it('a creation, a change and a deletion of what is kept here: not done, since nothing was written', () => {
    const parked = (value: string) => row(value, { remote_id: null, enabled: false });
    for (const one of [
      change({ before: parked('192.0.2.1') }),
      change({ before: parked('192.0.2.1'), after: parked('192.0.2.2'), expected: '' }),
      change({ record_id: null, after: parked('192.0.2.1'), expected: '' }),
    ])
      for (const list of [[], [remote('a', '192.0.2.1')]])
        assert.deepEqual([verdict(one, list, EARLY, null), verdict(one, list, LATE, null)], ['failed', 'failed']);
  });

  it('of one that is kept here, in a list that is done whole: nothing, it shares the end of the rest', () => {
    const here = row('192.0.2.1', { remote_id: null, enabled: false });
    const parked = change({ atomic: true, record_id: null, after: here, expected: '' });
    assert.equal(verdict(parked, [], LATE, null), 'unknown');
    const [moved, removed] = [
      change({ atomic: true, before: here, after: here }),
      change({ atomic: true, before: here }),
    ];
    const live = change({ atomic: true, record_id: 8, before: OLD });
    assert.deepEqual(localOnly([parked, moved, removed, live]), [parked, moved, removed]);
  });

  it('enabling what was kept here: its content', () => {
    const enable = change({ before: row('192.0.2.1', { remote_id: null, enabled: false }), after: OLD });
    assert.deepEqual(proofs(enable, [remote('n', '192.0.2.1')]), ['applied n', 'applied n']);
    assert.equal(verdict(enable, [], EARLY, null), 'unknown');
    assert.equal(verdict(enable, [], LATE, null), 'failed');
  });

  it('one from before contents were kept: its id, and else that nobody knows', () => {
    const legacy = (expected: string | null) => change({ expected, settle_after: SENT });
    assert.equal(verdict(legacy('n'), [remote('n', '192.0.2.2')], LATE), 'applied n');
    assert.equal(verdict(legacy('n'), [remote('a', '192.0.2.1')], LATE), 'failed');
    assert.equal(verdict(legacy(''), [], LATE), 'applied null');
    assert.equal(verdict(legacy(''), [remote('a', '192.0.2.1')], LATE), 'failed');
    assert.equal(verdict(legacy(null), [remote('a', '192.0.2.1')], LATE), 'failed');
  });
});

describe('what changes in doubt may have made of a row', () => {
  const of = (changes: InDoubtChange[], begun = EARLY) => expectations(changes, begun).get(7);

  it('keeps it while the list may be of another moment', () => {
    const update = change({ before: OLD, after: NEW, expected: 'n' });
    assert.deepEqual(of([update]), { ids: ['n'], contents: [NEW], here: null, keep: true });
    assert.equal(of([update], LATE)?.keep, false);
    assert.equal(of([update, change({ change_set_id: 2, before: NEW, after: OLD, settle_after: SENT })])?.keep, true);
  });

  it('lets it go when the change was to take it away, and keeps it here when it was to be disabled', () => {
    assert.deepEqual(of([change({ before: OLD })]), { ids: [], contents: [], here: null, keep: false });
    const off = row('192.0.2.1', { enabled: false });
    assert.deepEqual(of([change({ before: OLD, after: off, expected: '' })])?.here, { enabled: false });
    const other = row('192.0.2.9', { enabled: false });
    assert.deepEqual(of([change({ before: OLD, after: other, expected: '' })])?.here, {
      value: '192.0.2.9',
      enabled: false,
    });
    assert.deepEqual(of([change({ expected: '' })])?.here, {});
  });

  it('says nothing of rows that are not there yet', () => {
    assert.equal(expectations([change({ record_id: null, after: NEW })], EARLY).size, 0);
  });
});

it('a change touches one name or two', () => {
  assert.deepEqual(hostsOf({ host: 'a', host_before: null }), ['a']);
  assert.deepEqual(hostsOf({ host: 'a', host_before: 'a' }), ['a']);
  assert.deepEqual(hostsOf({ host: 'a', host_before: 'b' }), ['a', 'b']);
});
