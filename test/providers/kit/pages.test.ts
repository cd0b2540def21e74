import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import {
  allPages,
  counted,
  eachOf,
  nextLink,
  type Page,
  type PageRequest,
} from '../../../src/providers/kit/http/pages.js';
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
    for (const list of [undefined, {}, null])
      await assert.rejects(eachOf(list as unknown as number[], read), { kind: 'unavailable' });
    const strange = [1.5, null, 2 ** 60, { id: 1 }] as number[];
    assert.deepEqual(await eachOf([...strange, 1], read), [...strange, 'x']);
    for (const empty of [undefined, null, {}, ''])
      await assert.rejects(
        eachOf([1], async () => empty),
        { kind: 'unavailable' },
      );
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

describe('pages of a vendor that ignores the page number', () => {
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

describe('lists that come in pages', () => {
  const list = (pages: Page<string>[] | ((at: PageRequest) => Page<string>), perPage?: number) => {
    const asked: PageRequest[] = [];
    const read = async (at: PageRequest) => {
      asked.push(at);
      return (Array.isArray(pages) ? pages[asked.length - 1] : pages(at)) ?? { entries: [] };
    };
    return { asked, all: () => allPages((entry: string) => entry, read, perPage) };
  };
  const cut = { kind: 'unavailable', message: /cut short|kept changing/ };

  it('are read by number, offset, cursor, link, or until a page is not full', async () => {
    const numbered = list([
      { entries: ['a', 'b'], total: 3 },
      { entries: ['c'], total: 3 },
    ]);
    assert.deepEqual(await numbered.all(), ['a', 'b', 'c']);
    assert.deepEqual(numbered.asked, [
      { page: 1, offset: 0, next: null },
      { page: 2, offset: 2, next: null },
      // whether anything moved there meanwhile
      { page: 1, offset: 0, next: null },
    ]);
    const linked = list(
      [
        { entries: ['a'], next: 'x' },
        { entries: [], next: 'y' },
      ]
        .slice(0, 1)
        .concat({ entries: ['b'], next: null as never }),
    );
    assert.deepEqual(await linked.all(), ['a', 'b']);
    assert.deepEqual(linked.asked.at(-1), { page: 2, offset: 1, next: 'x' });
    assert.deepEqual(await list([{ entries: ['a', 'b'] }, { entries: ['c'] }], 2).all(), ['a', 'b', 'c']);
    assert.deepEqual(await list([{ entries: [], total: 0 }]).all(), []);
  });

  it('go on behind an empty page that names the next one', async () => {
    const pages = list([
      ...[
        { entries: [], next: 'x' },
        { entries: ['a'], next: 'y' },
        { entries: [], next: 'z' },
      ],
      ...[
        { entries: [], next: 'zz' },
        { entries: ['b'], next: null },
      ],
    ]);
    assert.deepEqual(await pages.all(), ['a', 'b']);
    assert.equal(pages.asked.length, 5);
    const endless = list(({ page }) => ({ entries: [], next: `to ${page}` }));
    await assert.rejects(endless.all(), { kind: 'unavailable', message: /does not end/ });
  });

  type Entry = { id: number; is?: string } | null | string | number | object;
  const idOf = (entry: Entry) => (entry as { id: number }).id;

  it('hold entries without an id, or of another form, and different ones with one id', async () => {
    const entries: Entry[] = [{ id: 1 }, { id: 2, is: 'a' }, { id: 2, is: 'b' }, null, 'x', 7, {}, { is: 'c' }];
    assert.deepEqual(await allPages(idOf, async () => ({ entries, total: entries.length })), entries);
    // what is there twice, and the same, is one
    const twice = [...entries, null, { id: 1 }];
    assert.deepEqual(await allPages(idOf, async () => ({ entries: twice, total: twice.length })), entries);
    const pages = async ({ page }: PageRequest) => ({ entries: entries.slice((page - 1) * 2, page * 2), total: 8 });
    assert.deepEqual(await allPages(idOf, pages), entries);
    const twins = async ({ page }: PageRequest) => ({ entries: [{ id: 1, is: `on ${page}` }], total: 2 });
    assert.deepEqual(await allPages(idOf, twins), [
      { id: 1, is: 'on 1' },
      { id: 1, is: 'on 2' },
    ]);
  });

  it('are read again where an entry is another one on the next page', async () => {
    let reads = 0;
    const all = await allPages(idOf, async ({ page }: PageRequest) => {
      reads++;
      const [now, is] = reads === 1 ? [[1, 2], 'old'] : [[0, 1, 2], 'new'];
      return { entries: now.slice((page - 1) * 2, page * 2).map((id) => ({ id, is })), next: page === 1 ? 'x' : null };
    });
    assert.deepEqual(
      all,
      [0, 1, 2].map((id) => ({ id, is: 'new' })),
    );
  });

  it('hold each entry once, also when pages shift', async () => {
    const shifted = [
      { entries: ['a', 'b'], total: 3 },
      { entries: ['b', 'c'], total: 3 },
    ];
    assert.deepEqual(await list(shifted).all(), ['a', 'b', 'c']);
  });

  it('are read again when they became shorter or longer, since one may be missed', async () => {
    // "a" was taken away after the first page: "c" moved to it
    let reads = 0;
    const moving = list(({ page }) => {
      reads++;
      if (reads === 1) return { entries: ['a', 'b'], total: 4 };
      const now = ['b', 'c', 'd'];
      return { entries: now.slice((page - 1) * 2, page * 2), total: 3 };
    });
    assert.deepEqual(await moving.all(), ['b', 'c', 'd']);
    let total = 100;
    await assert.rejects(list(() => ({ entries: [`${total}`], total: total++ })).all(), cut);
  });

  /** Pages of two, of a list that is another one once so many of them were read. */
  const shifting = (before: string[], after: string[], reads: number) => {
    let done = 0;
    return list(({ page, offset }) => {
      const now = done++ < reads ? before : after;
      assert.equal(offset, (page - 1) * 2);
      return { entries: now.slice(offset, offset + 2), total: now.length };
    });
  };

  it('are read again when one was taken away and another added, since one may be missed', async () => {
    const six = ['a', 'b', 'c', 'd', 'e', 'f'];
    // of which page it was taken away, once the pages up to it were read: the next one moved to there
    for (const [gone, reads] of [
      ['a', 1],
      ['a', 2],
      ['c', 2],
    ] as const) {
      const now = [...six.filter((entry) => entry !== gone), 'z'];
      const { all, asked } = shifting(six, now, reads);
      assert.deepEqual((await all()).sort(), now.sort());
      assert.ok(asked.length > 5);
    }
    // in another order, or with one less on its last page: nothing was missed
    assert.deepEqual((await shifting(six, ['b', 'a', 'd', 'c', 'e', 'f'], 3).all()).sort(), six);
    const much = Array.from({ length: 20 }, (_, i) => `e${i}`);
    const long = shifting(much, much, 0);
    assert.deepEqual(await long.all(), much);
    assert.equal(long.asked.length, 15);
    const single = shifting(['a', 'b'], ['a', 'b'], 0);
    await single.all();
    assert.equal(single.asked.length, 1);
    let other = 0;
    const never = list(({ page }) => ({
      entries: [`${other++}`, `${other++}`].slice(0, page === 1 ? 2 : 1),
      total: 3,
    }));
    await assert.rejects(never.all(), { kind: 'unavailable', message: /kept changing/ });
  });

  it('are not read a second time where they come by cursor', async () => {
    const pages = list([
      { entries: ['a'], next: 'x' },
      { entries: ['b'], next: null },
    ]);
    assert.deepEqual(await pages.all(), ['a', 'b']);
    assert.equal(pages.asked.length, 2);
  });

  it('are an error where nothing says that they end, and where they never end', async () => {
    await assert.rejects(list([{ entries: ['a'] }]).all(), cut);
    await assert.rejects(list([{ entries: [] }]).all(), cut);
    assert.deepEqual(await list([{ entries: ['a'] }], 2).all(), ['a']);
    const endless = list(({ page }) => ({ entries: [`${page}`], next: `to ${page}` }));
    await assert.rejects(endless.all(), { kind: 'unavailable', message: /does not end/ });
    assert.equal(endless.asked.length, 5000);
  });

  it('are an error where they hold more than a million entries, however few pages these are', async () => {
    const endless = list(({ page }) => ({
      entries: Array.from({ length: 250_000 }, (_none, i) => `${page} ${i}`),
      next: `to ${page}`,
    }));
    await assert.rejects(endless.all(), { kind: 'unavailable', message: /does not end: it has more than 1000000/ });
    assert.equal(endless.asked.length, 5);
  });

  it('are an error where fewer entries are announced than there are', async () => {
    const more = { kind: 'unavailable', message: /announces -?\d+ entries and lists more/ };
    const all = Array.from({ length: 25 }, (_none, i) => `${i}`);
    for (const total of [-1, 0, 9, 15]) {
      const lying = list(({ page }) => ({ entries: all.slice(page * 10 - 10, page * 10), total }), 10);
      await assert.rejects(lying.all(), more, `${total}`);
    }
    await assert.rejects(list(() => ({ entries: [], total: -1 })).all(), more);
    // where something else says that the list ends, it is known to be whole
    assert.deepEqual(
      await list(({ page }) => ({ entries: all.slice(page * 10 - 10, page * 10), total: 24 })).all(),
      all,
    );
    assert.deepEqual(await list([{ entries: ['a', 'b'], total: 1, next: null }]).all(), ['a', 'b']);
    // the total was right when the page was read
    const grown = list([
      { entries: ['a'], total: 2 },
      { entries: ['b', 'c'], total: 2 },
      { entries: ['a', 'b', 'c'], total: 3 },
    ]);
    assert.deepEqual(await grown.all(), ['a', 'b', 'c']);
  });

  it('are an error where the same page comes again and again', async () => {
    for (const page of [{ entries: ['a'], total: 2 }, { entries: ['a', 'b'] }]) {
      await assert.rejects(list(() => page, 2).all(), { kind: 'unavailable' });
    }
  });

  it('are an error where a page, or a part of one, is missing', async () => {
    for (const pages of [
      [
        { entries: ['a'], total: 2 },
        { entries: [], total: 2 },
      ],
      [{ entries: ['a'], total: 2, next: null }],
      [
        { entries: ['a'], next: 'x' },
        { entries: ['b'], next: 'x' },
      ],
      [
        { entries: ['a'], next: 'x' },
        { entries: [], next: 'x' },
      ],
      [
        { entries: ['a'], next: 'x' },
        { entries: ['a'], next: 'y' },
      ],
      [{ entries: ['a'], next: '' }],
      [{ entries: undefined, total: 0 }],
      [{ entries: ['a'], total: Number.NaN }],
      [{ entries: ['a'], total: 1, count: 2 }],
    ] as Page<string>[][]) {
      await assert.rejects(list(pages).all(), cut, JSON.stringify(pages));
    }
  });

  it('are followed by links', () => {
    assert.equal(nextLink('<https://x/?p=1>; rel="prev", <https://x/?a=1,2&p=3>; rel="next"'), 'https://x/?a=1,2&p=3');
    assert.equal(nextLink('<https://x/?p=9>; title="next"; rel=next'), 'https://x/?p=9');
    assert.equal(nextLink('<https://x/?p=9>; rel="last"'), null);
    assert.equal(nextLink(undefined), null);
  });
});
