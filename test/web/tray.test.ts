import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { shownBody } from '../../web/src/api/calls.js';
import type { Fields } from '../../web/src/screens/zone/fields.js';
import { keptTrays } from '../../web/src/screens/zone/kept-trays.js';
import { changedByOthers } from '../../web/src/screens/zone/publish/others.js';
import { takeIn } from '../../web/src/screens/zone/take-in.js';
import {
  add,
  change,
  changesOf,
  EMPTY,
  MAX_EDITS,
  type Made,
  type Publishing,
  published,
  putBack,
  remove,
  type Tray,
  withdraw,
} from '../../web/src/screens/zone/tray.js';
import { lifetimeMs } from '../../web/src/session/lifetime.js';
import { FIELDS, rowOf as row } from '../support/record-fields.js';

const done =
  (...steps: ((tray: Tray) => Tray | null)[]) =>
  (tray: Tray) =>
    steps.reduce<Tray>((now, step) => step(now) as Tray, tray);

/** All that lies in the tray is being published. */
function sent(tray: Tray): { tray: Tray; publishing: Publishing } {
  const publishing = { plan: 1, key: 'k', edits: tray.edits.map(({ key }) => key), force: [] };
  return { tray: { ...tray, publishing }, publishing };
}

describe('what is edited again while it is published', () => {
  const made = (op: string, record_id: number, after: Partial<Fields> | null): Made => ({
    op,
    record_id,
    after: after && { ...FIELDS, ...after },
  });
  const first = sent(
    done(
      (now) => change(now, row(1), { ...FIELDS, ttl: 60 }),
      (now) => add(now, { ...FIELDS, host: 'new' }),
    )(EMPTY),
  );
  const [, creation] = first.tray.edits;
  const again = done(
    (now) => change(now, row(1), { ...FIELDS, value: '192.0.2.9' }),
    (now) => add(now, { ...FIELDS, host: 'new', ttl: 900 }, creation?.key),
  )(first.tray);

  it('is a change of what was published, once that is done', () => {
    const all = [made('update', 1, { ttl: 60 }), made('create', 7, { host: 'new' })];
    const after = published(again, first.publishing, [], all, true);
    assert.equal(after.publishing, null);
    assert.deepEqual(changesOf(after.edits).changes, [
      { op: 'update', record_id: 1, value: '192.0.2.9', ttl: 300 },
      { op: 'update', record_id: 7, ttl: 900 },
    ]);
  });

  it('is a change of what was there, where that failed', () => {
    const after = published(again, first.publishing, first.publishing.edits, [], false);
    assert.deepEqual(changesOf(after.edits).changes, [
      { op: 'update', record_id: 1, value: '192.0.2.9' },
      { op: 'create', host: 'new', type: 'A', value: '192.0.2.1', ttl: 900, line: 'default' },
    ]);
  });

  it('is kept where it takes back what is published, and goes where that failed', () => {
    const back = change(first.tray, row(1), FIELDS) as Tray;
    const after = published(back, first.publishing, [], [made('update', 1, { ttl: 60 })], true);
    assert.deepEqual(changesOf(after.edits).changes, [{ op: 'update', record_id: 1, ttl: 300 }]);
    const failed = published(back, first.publishing, first.publishing.edits, [], false);
    assert.deepEqual(
      failed.edits.map(({ id }) => id),
      [null],
    );
  });

  it('is made anew, or nothing, where the record is gone', () => {
    const going = sent(remove(EMPTY, row(1)) as Tray);
    const stays = change(going.tray, row(1), { ...FIELDS, ttl: 60 }) as Tray;
    const gone = [made('delete', 1, null)];
    assert.deepEqual(changesOf(published(stays, going.publishing, [], gone, true).edits).changes, [
      { op: 'create', host: 'www', type: 'A', value: '192.0.2.1', ttl: 60, line: 'default' },
    ]);
    const twice = remove(going.tray, row(1)) as Tray;
    assert.deepEqual(published(twice, going.publishing, [], gone, true).edits, []);
  });

  it('does not take the draft of another text with it', () => {
    const draft = { key: 'newer', text: 'b', base: 'a' };
    const publishing = { plan: 1, key: 'k', edits: [], force: [], draft: 'older' };
    assert.deepEqual(published({ ...EMPTY, draft, publishing }, publishing, [], [], true).draft, draft);
    const its = { ...publishing, draft: 'newer' };
    assert.equal(published({ ...EMPTY, draft, publishing: its }, its, [], [], true).draft, undefined);
    assert.deepEqual(published({ ...EMPTY, draft, publishing: its }, its, [], [], false).draft, draft);
  });
});

describe('edits that were taken out', () => {
  it('come back, but for those of records that were edited since', () => {
    const tray = done(
      (now) => change(now, row(1), { ...FIELDS, ttl: 60 }),
      (now) => change(now, row(2), { ...FIELDS, ttl: 60 }),
      (now) => add(now, { ...FIELDS, host: 'new' }),
    )(EMPTY);
    const keys = tray.edits.map(({ key }) => key);
    const since = change(withdraw(tray, keys), row(2), { ...FIELDS, ttl: 900 }) as Tray;
    const back = putBack(since, tray.edits).edits;
    assert.deepEqual(
      back.map(({ id, after }) => [id, after?.ttl]),
      [
        [1, 60],
        [null, 300],
        [2, 900],
      ],
    );
  });

  it('come back as far as there is room: what was edited since stays', () => {
    const full = Array.from({ length: MAX_EDITS }, (_none, i) => i + 1).reduce<Tray>(
      (now, id) => change(now, row(id), { ...FIELDS, ttl: 60 }) as Tray,
      EMPTY,
    );
    const back = putBack(full, [{ ...full.edits[0], key: 'old', id: null } as Tray['edits'][number]]);
    assert.deepEqual(back.edits, full.edits);
  });
});

describe('the trays that a browser keeps', () => {
  const storage = new Map<string, string>();
  const pages: ((name: string) => void)[] = [];
  const trays = keptTrays({
    storage: () => ({
      getItem: (name) => storage.get(name) ?? null,
      setItem: (name, text) => void storage.set(name, text),
      removeItem: (name) => void storage.delete(name),
    }),
    hear: (listener) => pages.push(listener),
  });
  /** Another page of this browser puts an edit into the tray. @param tells whether this one has heard of it */
  const elsewhere = (name: string, id: number, tells: boolean) => {
    const { tray = EMPTY } = JSON.parse(storage.get(name) ?? '{}') as { tray?: Tray };
    storage.set(name, JSON.stringify({ domain: 'example.com', tray: remove(tray, row(id)) }));
    if (tells) for (const listener of pages) listener(name);
  };
  const ids = (name: string) => trays.held(name, 'example.com').tray.edits.map(({ id }) => id);

  it('have the edits of all pages, also when no screen shows them meanwhile', () => {
    const leave = trays.on(() => undefined);
    trays.set('t1', 'example.com', (now) => remove(now, row(1)));
    leave();
    elsewhere('t1', 2, true);
    assert.deepEqual(ids('t1'), [1, 2]);
  });

  it('lose nothing where two pages edit at once', () => {
    trays.set('t2', 'example.com', (now) => remove(now, row(1)));
    elsewhere('t2', 2, false);
    trays.set('t2', 'example.com', (now) => remove(now, row(3)));
    assert.deepEqual(ids('t2'), [1, 2, 3]);
  });
});

describe('what others changed of the records of a plan', () => {
  const edit = (id: number, before: Fields) => ({ key: `${id}`, id, before, after: null });
  it('is told by the record, whatever its name is by now', () => {
    const edits = [edit(1, FIELDS), edit(2, FIELDS), edit(3, { ...FIELDS, value: 'x'.repeat(900) })];
    const changes = [
      { id: 1, record_id: 1, before: FIELDS },
      { id: 2, record_id: 2, before: { ...FIELDS, host: 'renamed' } },
      // of a long value plans have the beginning
      { id: 3, record_id: 3, before: { ...FIELDS, value: `${'x'.repeat(250)}…` } },
      { id: 4, record_id: 4, before: { ...FIELDS, ttl: 1 } },
      { id: 5, record_id: null, before: null },
    ];
    assert.deepEqual([...changedByOthers(changes, edits)], [2]);
  });
});

describe('the text of a zone takes in what others changed', () => {
  const base = 'a A 1\nb A 2\nc A 3\n';
  it('at its end, and without what they removed', () => {
    assert.equal(
      takeIn('a A 1\nb A 9\nc A 3\nmine A 4\n', base, 'a A 1\nb A 2\nd A 5\n'),
      'a A 1\nb A 9\nmine A 4\nd A 5\n',
    );
  });
  it('once, where both made the same', () => {
    assert.equal(takeIn(`${base}d A 5`, base, `${base}d A 5\n`), `${base}d A 5`);
    assert.equal(takeIn(base, base, base), base);
  });
});

describe('the life of a session', () => {
  it('is counted by the clock of the service', () => {
    const ends = '2026-11-25T12:00:00.000Z';
    assert.equal(lifetimeMs(ends, 'Wed, 25 Nov 2026 00:00:00 GMT'), 12 * 3_600_000);
    assert.ok(Math.abs(lifetimeMs(new Date(Date.now() + 60_000).toISOString(), null) - 60_000) < 5000);
  });
});

describe('the calls that are shown', () => {
  it('have no address of a chat, which is all that is needed to write there', () => {
    const config = { url: 'https://hooks.example/T1/s3cret', to: ['a@example.com'] };
    const body = { channels: [{ name: 'ops', type: 'slack', config }] };
    const shown = shownBody(JSON.stringify(body)) ?? '';
    assert.doesNotMatch(shown, /hooks|s3cret/);
    assert.match(shown, /"name":"ops"/);
  });
});
