import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { decode } from '../../../src/providers/kit/http/body.js';
import { fromZone } from '../../../src/providers/kit/zone/whole-zone.js';
import { type Change, ProviderError, type RemoteRecord } from '../../../src/providers/provider.js';
import { gate } from '../../support/gate.js';

interface Entry {
  name: string;
  type: string;
  ttl: number;
  value: string;
  /** what only the vendor knows */
  own?: string | undefined;
}

const zone = { id: 'z', name: 'example.com' };
const a = (name: string, value: string, own?: string): Entry => ({ name, type: 'A', ttl: 300, value, own });
const create = (host: string, value: string): Change => ({
  op: 'create',
  after: dnsRecord({ host, type: 'A', value, ttl: 300 }, zone.name),
});

/** A vendor with one list for each zone. */
function vendor(...entries: Entry[]) {
  const zones = new Map([[zone.id, entries]]);
  const world = {
    zones,
    writes: [] as Entry[][],
    stamp: '',
    read: async (id: string) => zones.get(id) ?? [],
    keep: (list: readonly Entry[]) => [...list],
  };
  const provider = fromZone({
    readZone: async ({ id }) => ({ entries: await world.read(id), stamp: `of ${id}` }),
    plain: ({ value: rdata, name, ...rest }: Entry, { name: of }) => ({ ...rest, name: `${name}.${of}`, rdata }),
    entry: ({ host, type, ttl }, { rdata, raw }): Entry => ({
      ...(raw as Entry | undefined),
      ...{ name: host, type, ttl, value: rdata },
    }),
    async writeZone({ id }, { entries: list, stamp }) {
      world.writes.push([...list]);
      world.stamp = stamp;
      zones.set(id, world.keep(list));
    },
  });
  const find = async (host: string, value: string) =>
    (await provider.listRecords(zone)).find((r) => r.host === host && r.value === value) as RemoteRecord;
  return { ...world, world, provider, find };
}

describe('a zone that is written as a whole', () => {
  it('keeps the TTL of an entry whose value alone changes', async () => {
    const slow = { ...a('www', '192.0.2.2'), ttl: 900 };
    const { world, provider, find } = vendor(a('www', '192.0.2.1'), slow);
    const before = await find('www', '192.0.2.2');
    const after = { ...before, value: '192.0.2.7' };
    const [outcome] = await provider.apply(zone, [{ op: 'update', before, after, guarded: true }]);
    assert.ok(outcome?.ok && outcome.held === undefined, 'it is as it was asked for');
    assert.deepEqual(
      world.writes[0]?.map(({ value, ttl }) => [value, ttl]),
      [
        ['192.0.2.1', 300],
        ['192.0.2.7', 900],
      ],
    );
  });

  it('says of each record which TTL it has there, and writes one that is that of the others', async () => {
    const slow = { ...a('www', '192.0.2.2'), ttl: 900 };
    const { world, provider, find } = vendor(a('www', '192.0.2.1'), slow);
    const listed = async () => (await provider.listRecords(zone)).map(({ host, value, ttl }) => [host, value, ttl]);
    const before = await find('www', '192.0.2.2');
    const edit = async (op: Change) => {
      const [outcome] = await provider.apply(zone, [op]);
      assert.ok(outcome?.ok);
      return outcome.held?.ttl;
    };
    // a record that exists keeps its own
    assert.equal(await edit(create('www', '192.0.2.2')), 900);
    assert.equal(await edit({ op: 'update', before, after: { ...before, host: 'moved' } }), undefined);
    const moved = await find('moved', '192.0.2.2');
    assert.equal(await edit({ op: 'update', before: moved, after: { ...moved, host: 'www' } }), 300);
    assert.deepEqual(await listed(), [
      ['www', '192.0.2.1', 300],
      ['www', '192.0.2.2', 300],
    ]);
    world.zones.set(zone.id, [a('www', '192.0.2.1'), slow]);
    assert.equal(await edit({ op: 'update', before, after: { ...before, ttl: 300 } }), undefined);
    assert.deepEqual(await listed(), [
      ['www', '192.0.2.1', 300],
      ['www', '192.0.2.2', 300],
    ]);
  });

  it('keeps what does not change as it was read, in its place, whatever it is', async () => {
    const [first, second, odd] = [a('www', '192.0.2.1', 'one'), a('www', '192.0.2.2', 'two'), a('x', '192.0.2.9')];
    odd.type = 'REDIRECT';
    const slow = { ...a('www', '192.0.2.3'), ttl: 900 };
    const { world, provider, find } = vendor(first, odd, second, slow);
    const before = await find('www', '192.0.2.1');
    const outcomes = await provider.apply(zone, [
      { op: 'update', before, after: { ...before, value: '192.0.2.7' } },
      create('new', '192.0.2.8'),
    ]);
    assert.ok(outcomes.every((outcome) => outcome.ok));
    const [list] = world.writes;
    assert.deepEqual(list?.[0], a('www', '192.0.2.7', 'one'));
    assert.ok(list?.[1] === odd && list[2] === second && list[3] === slow);
    assert.deepEqual(list.slice(4), [{ name: 'new', type: 'A', ttl: 300, value: '192.0.2.8' }]);
    assert.equal(world.stamp, 'of z');
    await provider.apply(zone, [{ op: 'delete', before: await find('www', '192.0.2.2') }]);
    assert.deepEqual(
      world.writes.at(-1)?.map(({ value }) => value),
      ['192.0.2.7', '192.0.2.9', '192.0.2.3', '192.0.2.8'],
    );
  });

  it('is not written while it holds an entry of which nothing is understood', async () => {
    for (const strange of [null, 'text', { a_field: 'of next year' }]) {
      const { world, provider } = vendor(a('www', '192.0.2.1'), strange as unknown as Entry);
      const shown = await provider.listRecords(zone);
      assert.deepEqual(
        shown.map((r) => [r.value, r.readOnly]),
        [
          ['192.0.2.1', false],
          [JSON.stringify(strange), true],
        ],
      );
      const [outcome] = await provider.apply(zone, [create('other', '192.0.2.2')]);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
      assert.match(outcome.error.message, /not understood/);
      assert.deepEqual(world.writes, []);
    }
  });

  it('fails the changes of a set that is not there as it was written, and no other', async () => {
    const { world, provider } = vendor(a('www', '192.0.2.1'));
    world.keep = (list) => list.filter(({ name }) => name !== 'left-out');
    const outcomes = await provider.apply(zone, [create('left-out', '192.0.2.2'), create('kept', '192.0.2.3')]);
    const [no, yes] = outcomes;
    assert.ok(yes?.ok && no && !no.ok);
    assert.deepEqual([no.error.kind, no.error.mayHaveApplied, no.tried], ['rejected', true, true]);
    assert.equal(world.writes.length, 1);
  });

  it('writes nothing when it cannot read, and is in doubt when it cannot read what it wrote', async () => {
    const { world, provider } = vendor(a('www', '192.0.2.1'));
    const { read } = world;
    const fail = () => Promise.reject(new ProviderError('rate_limit', 'too often'));
    world.read = fail;
    const [certain] = await provider.apply(zone, [create('b', '192.0.2.2')]);
    assert.ok(certain && !certain.ok && !certain.error.mayHaveApplied && !world.writes.length);
    world.read = (id) => (world.writes.length ? fail() : read(id));
    const [unclear] = await provider.apply(zone, [create('b', '192.0.2.2')]);
    assert.ok(unclear && !unclear.ok && unclear.error.mayHaveApplied && unclear.error.kind === 'rate_limit');
  });

  it('writes each zone from its own reading when two are changed at once', async () => {
    const { world, provider, zones } = vendor(a('one', '192.0.2.1'));
    zones.set('y', [a('other', '192.0.2.5')]);
    const { read } = world;
    const { opened, open } = gate();
    world.read = async (id) => {
      // The read of the other zone waits until zone `z` is read, so that the two writes overlap.
      if (id === 'z') open();
      else await opened;
      return read(id);
    };
    await Promise.all([zone, { ...zone, id: 'y' }].map((of) => provider.apply(of, [create('new', '192.0.2.9')])));
    const names = (id: string) => zones.get(id)?.map(({ name }) => name);
    assert.deepEqual(
      [names('z'), names('y')],
      [
        ['one', 'new'],
        ['other', 'new'],
      ],
    );
  });
});

describe('a document of XML', () => {
  it('keeps blanks in attributes, which are content, and none around the text of elements, which are layout', () => {
    const text = '<list>\n <one text="  a  b&#32;" />\n <two>\n  x y\n </two> <none>\n</none>\n</list>';
    assert.deepEqual(decode(text, 'xml'), { list: { one: { '@text': '  a  b ' }, two: 'x y', none: '' } });
  });
});
