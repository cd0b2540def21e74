import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { fromRrsets } from '../../../src/providers/kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt } from '../../../src/providers/kit/rrsets/plain-sets.js';
import { readEach } from '../../../src/providers/kit/values/unreadable.js';

const zone = { id: 'z', name: 'example.com' };

/** A vendor of sets that holds these, and counts the writes. */
function vendorOf(sets: PlainSet[]) {
  const vendor = {
    writes: 0,
    apply: fromRrsets({ readSets: async (_, keys) => setsAt(keys, sets, zone.name), replaceSet }),
  };
  async function replaceSet() {
    vendor.writes++;
    return true;
  }
  return vendor;
}
const www = (value: string, type = 'A') => dnsRecord({ host: 'www', type, value, ttl: 60 }, zone.name);

describe('record sets of a server', () => {
  it('are shown as their texts where they cannot be edited, whatever these would mean', async () => {
    const texts = ['"a" of set "eu"', '192.0.2.1'];
    const sets: PlainSet[] = ['TXT', 'A'].map((type, i) => ({
      ...{ name: 'www.example.com.', type, ttl: 60, readOnly: 'It is routed' },
      values: [{ rdata: texts[i] as string }],
    }));
    const shown = await recordsIn(sets, 'example.com');
    assert.deepEqual(
      shown.map((r) => [r.value, r.readOnly, r.readOnlyReason, r.host]),
      texts.map((text) => [text, true, 'It is routed', 'www']),
    );
    const [set] = await setsAt([{ host: 'www', type: 'TXT' }], sets, 'example.com');
    assert.equal(set?.members[0]?.remoteId, shown[0]?.remoteId);
    const vendor = vendorOf(sets);
    const [outcome] = await vendor.apply(zone, [{ op: 'create', after: www('192.0.2.9') }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && !outcome.error.mayHaveApplied);
    assert.deepEqual([outcome.error.message, vendor.writes], ['A www is routed', 0]);
  });

  it('keep two values apart that mean the same and have other settings, and are not written', async () => {
    const value = (own?: object) => ({ rdata: '192.0.2.1', own });
    for (const values of [
      [value({ meta: 1 }), value({ meta: 2 })],
      [value(), value({ meta: 1 })],
      // each of them is answered
      [value(), value()],
    ]) {
      const sets: PlainSet[] = [
        { name: 'www.example.com', type: 'A', ttl: 60, values: [...values, { rdata: '192.0.2.2' }] },
      ];
      const shown = await recordsIn(sets, zone.name);
      assert.deepEqual(shown.map((r) => [r.value, r.readOnly]).sort(), [
        ['192.0.2.1', true],
        ['192.0.2.1', true],
        ['192.0.2.2', true],
      ]);
      assert.ok(shown.every((r) => r.readOnlyReason?.startsWith('It holds a value several times')));
      assert.equal(new Set(shown.map((r) => r.remoteId)).size, 3);
      const vendor = vendorOf(sets);
      const there = await vendor.apply.recordsAt?.(zone, [{ host: 'www', type: 'A' }]);
      assert.deepEqual(there, shown);
      const before = shown.find((r) => r.value === '192.0.2.2');
      assert.ok(before);
      for (const change of [{ op: 'delete', before } as const, { op: 'create', after: www('192.0.2.3') } as const]) {
        const [outcome] = await vendor.apply(zone, [change]);
        assert.ok(
          outcome && !outcome.ok && outcome.error.kind === 'rejected' && /several times/.test(outcome.error.message),
        );
      }
      // the others of the list are written
      const [one, other] = await vendor.apply(zone, [
        { op: 'create', after: www('192.0.2.3') },
        { op: 'create', after: www('text', 'TXT') },
      ]);
      assert.deepEqual([one?.ok, other?.ok, vendor.writes], [false, true, 1]);
    }
  });

  it('take texts for one record that are written differently, and otherwise equal', async () => {
    const values = ['"ab"', '"a" "b"'].map((rdata) => ({ rdata, raw: rdata, own: { comment: '' } }));
    const names = ['Mail.example.net.', 'mail.example.net.'].map((rdata) => ({ rdata }));
    const sets: PlainSet[] = [
      { name: 'www.example.com', type: 'TXT', ttl: 60, values },
      { name: 'www.example.com', type: 'NS', ttl: 60, values: names },
    ];
    assert.deepEqual(
      (await recordsIn(sets, zone.name)).map((r) => [r.value, r.readOnly]),
      [
        ['ab', false],
        ['mail.example.net', false],
      ],
    );
  });

  it('keep equal values of two entries of one name apart, unless nothing at all differs in these', async () => {
    const entry = (more: Partial<PlainSet>, value: object = {}): PlainSet => ({
      ...{ name: 'www.example.com', type: 'A', ttl: 60, values: [{ rdata: '192.0.2.1', ...value }] },
      ...more,
    });
    const beside = entry({ values: [{ rdata: '192.0.2.2' }] });
    for (const [one, other] of [
      [entry({}), entry({ ttl: 300 })],
      [entry({}, { raw: { note: 'one' } }), entry({}, { raw: { note: 'two' } })],
      [entry({}), entry({}, { enabled: false })],
      [entry({ extra: {} }), entry({})],
    ] as const) {
      const sets = [one, other, beside];
      const shown = await recordsIn(sets, zone.name);
      assert.equal(new Set(shown.map((r) => r.remoteId)).size, 3);
      assert.ok(shown.every((r) => r.readOnly && /^It holds a value several times/.test(r.readOnlyReason ?? '')));
      const vendor = vendorOf(sets);
      const before = shown.find((r) => r.value === '192.0.2.2');
      assert.ok(before);
      const [outcome] = await vendor.apply(zone, [{ op: 'update', before, after: www('192.0.2.3') }]);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
      assert.equal(vendor.writes, 0);
    }
    // in one set, too, whatever the state
    const states = [true, false].map((enabled) => ({ rdata: '192.0.2.1', enabled }));
    assert.deepEqual(
      (await recordsIn([entry({ values: states })], zone.name)).map((r) => [r.enabled, r.readOnly]),
      [
        [true, true],
        [false, true],
      ],
    );
    const same = [entry({}, { raw: { id: 1 } }), entry({}, { raw: { id: 1 } }), beside];
    assert.deepEqual(
      (await recordsIn(same, zone.name)).map((r) => [r.value, r.readOnly]),
      [
        ['192.0.2.1', false],
        ['192.0.2.2', false],
      ],
    );
  });

  it('are not understood where they have no values, and are not written over', async () => {
    const list = [
      ...[
        { name: 'www.example.com', type: 'A', future: [1] },
        { name: 'www.example.com', type: 'TXT', fixed: true },
      ],
      ...[
        { name: 'www.example.com', type: 'SOA' },
        { name: '\\052.example.com', type: 'A', future: [2] },
      ],
    ];
    const sets = await plainSets(list, ({ name, type, fixed }: { name: string; type: string; fixed?: boolean }) => ({
      ...{ name: name.replace('\\052', '*'), type, ttl: 60, values: [] },
      ...(fixed && { readOnly: 'It is fixed' }),
    }));
    const shown = await recordsIn(sets, zone.name);
    assert.deepEqual(
      shown.map((r) => [r.host, r.type, r.value, r.readOnly]),
      [
        ['www', 'A', JSON.stringify(list[0]), true],
        ['*', 'A', JSON.stringify(list[3]), true],
      ],
    );
    const vendor = vendorOf(sets);
    const star = dnsRecord({ host: '*', type: 'A', value: '192.0.2.1', ttl: 60 }, zone.name);
    const outcomes = await vendor.apply(
      zone,
      [www('192.0.2.1'), star, www('::1', 'AAAA')].map((after) => ({ op: 'create', after }) as const),
    );
    assert.deepEqual([...outcomes.map((o) => o.ok), vendor.writes], [false, false, true, 1]);
  });

  type Api = { name: string; type: string; ttl: number; values: string[] };
  const plain = ({ name, type, ttl, values }: Api): PlainSet => ({
    ...{ name, type, ttl },
    values: values.map((rdata) => ({ rdata: type === 'MX' ? `10 ${rdata}` : rdata })),
  });
  const good: Api = { name: 'good.example.com', type: 'A', ttl: 60, values: ['192.0.2.1'] };
  const odd = (name: string, more: object) => ({ ...good, name: `${name}.example.com`, ...more }) as Api;

  it('show what they do not understand at its place, and take nothing else with it', async () => {
    const list = [
      good,
      odd('none', { values: undefined }),
      odd('shape', { values: [{ address: '192.0.2.1' }] }),
      odd('ttl', { ttl: 'long' }),
      odd('made', { type: 'MX', values: [undefined] }),
      odd('text', { values: ['not an address'] }),
      odd('nowhere', { name: undefined }),
    ];
    const sets = await plainSets(list, plain);
    const shown = await recordsIn(sets, zone.name);
    assert.deepEqual(shown.map((r) => [r.host, r.type, r.readOnly, r.readOnlyReason === undefined]).sort(), [
      ['@', 'A', true, false],
      ['good', 'A', false, true],
      ['made', 'MX', true, false],
      ['none', 'A', true, false],
      ['shape', 'A', true, false],
      ['text', 'A', true, false],
      ['ttl', 'A', true, false],
    ]);
    assert.ok(shown.find((r) => r.host === 'shape')?.value.includes('"address":"192.0.2.1"'));
    const vendor = vendorOf(sets);
    for (const host of ['none', 'shape', 'ttl', 'text']) {
      const after = dnsRecord({ host, type: 'A', value: '192.0.2.9', ttl: 60 }, zone.name);
      const [outcome] = await vendor.apply(zone, [{ op: 'create', after }]);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected', host);
      assert.match(outcome.error.message, /not understood/);
    }
    assert.equal(vendor.writes, 0);
  });

  it('are cut where there is no list', async () => {
    for (const list of [undefined, null, {}, 'x'])
      await assert.rejects(plainSets(list as Api[], plain), { kind: 'unavailable' });
  });

  const STRANGE = [null, {}, 'text', 7, ['list'], { a_field: 'of next year' }];

  it('are shown beside what is no set at all, and are written', async () => {
    const sets = await plainSets([...STRANGE, good] as Api[], plain);
    const shown = await recordsIn(sets, zone.name);
    assert.deepEqual(
      shown.filter((r) => r.readOnly).map((r) => [r.host, r.type, r.value]),
      STRANGE.map((entry) => ['@', 'UNKNOWN', JSON.stringify(entry)]),
    );
    assert.equal(new Set(shown.map((r) => r.remoteId)).size, STRANGE.length + 1);
    const vendor = vendorOf(sets);
    const [outcome] = await vendor.apply(zone, [{ op: 'create', after: www('192.0.2.9') }]);
    assert.deepEqual([outcome?.ok, vendor.writes], [true, 1]);
  });

  it('are not written over where an answer about them alone is not understood', async () => {
    const single = { ...good, name: 'www.example.com', type: 'TXT', values: ['"x"'] };
    for (const list of [[{ a_field: 'of next year' }], [null, single]]) {
      const vendor = vendorOf(await plainSets(list as Api[], plain));
      const [outcome] = await vendor.apply(zone, [{ op: 'create', after: www('192.0.2.9') }]);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
      assert.equal(vendor.writes, 0);
    }
  });

  it('are told apart by what is cut from their texts', async () => {
    const long = (end: string) => odd('long', { ttl: 'x', values: ['y'.repeat(20_000) + end] });
    const shown = await recordsIn(await plainSets([long('1'), long('2')], plain), zone.name);
    assert.equal(new Set(shown.map((r) => r.remoteId)).size, 2);
  });

  it('cut what is not understood to what a column takes', async () => {
    const [shown] = await recordsIn(
      await plainSets([odd('long', { ttl: 'x', values: ['y'.repeat(99_999)] })], plain),
      zone.name,
    );
    assert.ok(shown && shown.value.length <= 16_000 && shown.readOnly);
  });
});

describe('records of a list', () => {
  it('are shown where one of them is not understood, which is shown as it is', async () => {
    const list = [
      { id: 1, name: 'a', type: 'A', content: '192.0.2.1' },
      { id: 2, name: 'b', type: 'A', content: { v4: '192.0.2.2' } },
      { id: 3, name: 'c', type: 'A' },
    ];
    const read = (r: (typeof list)[number]) => {
      if (typeof r.content === 'object') throw new TypeError('no text');
      const { name: host, type, id } = r;
      return { ...www('192.0.2.1'), host, type, value: `${r.content}`, remoteId: `${id}`, readOnly: false };
    };
    assert.deepEqual(
      (await readEach(list, zone.name, read)).map((r) => [r.remoteId, r.host, r.type, r.value, r.readOnly]),
      [
        ['1', 'a', 'A', '192.0.2.1', false],
        ['2', 'b', 'A', JSON.stringify(list[1]), true],
        ['3', 'c', 'A', JSON.stringify(list[2]), true],
      ],
    );
    for (const cut of [undefined, null, {}, 'x'])
      await assert.rejects(readEach(cut as unknown as typeof list, zone.name, read), { kind: 'unavailable' });
    const strange = [null, {}, 'text', 7, ['list'], { name: 'd', type: 'A', content: '192.0.2.4' }];
    const typeOf = ({ type }: (typeof list)[number]) => type.toUpperCase();
    const shown = await readEach([...strange, ...list] as typeof list, zone.name, read, typeOf);
    assert.deepEqual(
      shown.slice(0, strange.length).map((r) => [r.type, r.value, r.readOnly]),
      strange.map((entry, i) => [i < 5 ? 'UNKNOWN' : 'A', JSON.stringify(entry), true]),
    );
    assert.deepEqual(shown.slice(strange.length), await readEach(list, zone.name, read));
    assert.equal(new Set(shown.map((r) => r.remoteId)).size, shown.length);
  });

  it('with one id are both shown, and not written, in whatever order they are listed', async () => {
    type Api = { id: string; content?: string };
    const read = ({ id, content }: Api) => ({
      ...{ ...www(content as string), remoteId: id, readOnly: false },
    });
    const list: Api[] = [
      { id: '7', content: '192.0.2.1' },
      { id: '8', content: '192.0.2.8' },
      { id: '7', content: '192.0.2.2' },
      { id: '7' },
    ];
    const shown = await readEach(list, zone.name, read);
    assert.deepEqual(shown.map((r) => [r.value, r.readOnly]).sort(), [
      ['192.0.2.1', true],
      ['192.0.2.2', true],
      ['192.0.2.8', false],
      ['{"id":"7"}', true],
    ]);
    assert.equal(new Set(shown.map((r) => r.remoteId)).size, 4);
    // what is written by the id would be written to any of them
    assert.ok(shown.every((r) => r.remoteId !== '7'));
    assert.match(shown.find((r) => r.value === '192.0.2.1')?.readOnlyReason ?? '', /^Its id is that of another/);
    const ids = (all: typeof shown) => all.map((r) => `${r.value} ${r.remoteId}`).sort();
    assert.deepEqual(ids(await readEach(list.toReversed(), zone.name, read)), ids(shown));
    assert.equal((await readEach([list[1], list[1]] as Api[], zone.name, read)).length, 1);
  });

  it('are understood where a word stands across two strings of a text', async () => {
    const entries = [
      { id: 1, content: '"v=DKIM1; p=Na" "Nmore"' },
      { id: 2, content: ['nu', 'll'] },
    ];
    const texts = ['v=DKIM1; p=NaNmore', 'null'];
    const read = ({ id }: { id: number }) => ({
      ...{ ...www(texts[id - 1] as string, 'TXT'), remoteId: `${id}`, readOnly: false },
    });
    assert.deepEqual(
      (await readEach(entries, zone.name, read)).map((r) => [r.value, r.readOnly]),
      texts.map((text) => [text, false]),
    );
  });

  it('leave others their turns while a long one is read, as record sets do', async () => {
    const list = Array.from({ length: 50_000 }, (_, i) => ({ id: i, name: `h${i}` }));
    const read = ({ id, name }: (typeof list)[number]) => ({
      ...{ ...www('192.0.2.1'), host: name, remoteId: `${id}`, readOnly: false },
    });
    const plain = ({ name }: (typeof list)[number]) => ({
      ...{ name: `${name}.example.com`, type: 'A', ttl: 60, values: [{ rdata: '192.0.2.1' }] },
    });
    const others = async (reading: Promise<unknown[]>) => {
      let [turns, running] = [0, true];
      const count = () => {
        turns++;
        if (running) setImmediate(count);
      };
      count();
      assert.equal((await reading).length, list.length);
      running = false;
      return turns;
    };
    assert.ok((await others(readEach(list, zone.name, read))) > 5);
    assert.ok((await others(plainSets(list, plain))) > 5);
  });
});
