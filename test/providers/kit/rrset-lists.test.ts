import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { type DnsRecord, dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { capabilitiesView } from '../../../src/providers/capabilities-view.js';
import { fromRrsets, type RrsetVerbs } from '../../../src/providers/kit/rrsets/from-rrsets.js';
import { derivedId, keyText, type RecordSet, type SetMember } from '../../../src/providers/kit/rrsets/record-set.js';
import {
  type ApplyOptions,
  type Capabilities,
  type Change,
  type DnsProvider,
  defineProvider,
  type Outcome,
  ProviderError,
  type RemoteRecord,
} from '../../../src/providers/provider.js';
import { connectTo } from '../../support/vendor.js';

const zone = { id: 'z', name: 'example.com' };
const a = (host: string, value: string, more: Partial<LooseRecord> = {}): DnsRecord =>
  dnsRecord({ host, type: 'A', value, ttl: 300, ...more }, zone.name);
const held = (record: DnsRecord): RemoteRecord => ({ ...record, remoteId: derivedId(record), readOnly: false });
const create = (after: DnsRecord): Change => ({ op: 'create', after });
const remove = (record: DnsRecord): Change => ({ op: 'delete', before: held(record) });
const update = (before: DnsRecord, after: DnsRecord, guarded = false): Change => ({
  op: 'update',
  before: held(before),
  after,
  guarded,
});

/** A vendor of sets in memory; `refuses` says which writes it does not take. */
class Vendor {
  private readonly sets = new Map<string, RecordSet>();
  readonly writes: string[] = [];
  refuses: (sets: RecordSet[]) => boolean = () => false;

  constructor(
    private readonly together: boolean,
    ...records: DnsRecord[]
  ) {
    for (const record of records) {
      const { host, type, ttl, value: rdata, enabled } = record;
      const set = this.sets.get(keyText(record)) ?? { host, type, ttl, members: [] };
      set.members.push({ remoteId: derivedId(record), rdata, enabled });
      this.sets.set(keyText(record), set);
    }
  }

  private write(sets: RecordSet[]): boolean {
    this.writes.push(sets.map((set) => `${set.host} ${set.type}`).join(', '));
    if (this.refuses(sets)) throw new ProviderError('rejected', 'no', false);
    for (const set of sets) this.sets.set(keyText(set), structuredClone(set));
    return true;
  }

  readonly verbs = (): RrsetVerbs => ({
    readSets: async (_zone, keys) =>
      structuredClone(keys.map((key) => this.sets.get(keyText(key)) ?? { ...key, ttl: 0, members: [] })),
    ...(this.together
      ? { replaceSets: async (_zone, sets) => this.write(sets) }
      : { replaceSet: async (_zone, set) => this.write([set]) }),
  });

  /** Directly: lists in chunks are put in order before. */
  apply(changes: Change[], options?: ApplyOptions): Promise<Outcome[]> {
    return fromRrsets(this.verbs())(zone, changes, options);
  }

  /** `host TTL values`, disabled ones with an exclamation mark, where there are any */
  shown(): string[] {
    const text = ({ rdata, enabled }: SetMember) => `${enabled ? '' : '!'}${rdata}`;
    return [...this.sets.values()]
      .filter((set) => set.members.length)
      .map(({ host, ttl, members }) => `${host} ${ttl} ${members.map(text).toSorted().join(' ')}`)
      .toSorted();
  }
}

const short = (outcomes: Outcome[]): string[] =>
  outcomes.map((o) => (o.ok ? 'ok' : `${o.error.kind}${o.tried ? '' : ' not tried'}`));
const ids = (outcomes: Outcome[]) => outcomes.map((o) => (o.ok ? o.remoteId : o.error.kind));

for (const together of [true, false]) {
  describe(`a list of changes of sets that are written ${together ? 'together' : 'one by one'}`, () => {
    const [one, two] = [a('www', '192.0.2.1'), a('www', '192.0.2.2')];

    it('loses no record to one that takes its value, in whatever order', async () => {
      const chain = [update(one, two), update(two, a('www', '192.0.2.3'))];
      for (const list of [chain, chain.toReversed()]) {
        const vendor = new Vendor(together, one, two);
        const expected = list.map((change) => change.op === 'update' && derivedId(change.after));
        assert.deepEqual(ids(await vendor.apply(list)), expected);
        assert.deepEqual(vendor.shown(), ['www 300 192.0.2.2 192.0.2.3']);
        // the answer was lost, and the list comes again
        assert.deepEqual(ids(await vendor.apply(list)), expected);
        assert.deepEqual(vendor.shown(), ['www 300 192.0.2.2 192.0.2.3']);
      }
    });

    it('swaps values, each record with its own state', async () => {
      const vendor = new Vendor(together, one, { ...two, enabled: false });
      const list = [update(one, two), update({ ...two, enabled: false }, { ...one, enabled: false })];
      assert.deepEqual(ids(await vendor.apply(list)), [derivedId(two), derivedId(one)]);
      assert.deepEqual(vendor.shown(), ['www 300 !192.0.2.1 192.0.2.2']);
    });

    it('keeps the TTL of a set, and gives a set that a move creates the TTL of the moved record', async () => {
      const [old, now] = [a('old', '192.0.2.1', { ttl: 900 }), a('new', '192.0.2.9', { ttl: 60 })];
      const list = [update(now, { ...now, value: '192.0.2.8' }), update(old, { ...old, host: 'new' })];
      for (const order of [list, list.toReversed()]) {
        const vendor = new Vendor(together, old, now);
        assert.deepEqual(short(await vendor.apply(order)), ['ok', 'ok']);
        assert.deepEqual(vendor.shown(), ['new 60 192.0.2.1 192.0.2.8']);
      }
      const vendor = new Vendor(together, old, now);
      await vendor.apply([update(now, { ...now, host: 'old' }), update(old, { ...old, host: 'new' })]);
      assert.deepEqual(vendor.shown(), ['new 900 192.0.2.1', 'old 60 192.0.2.9']);
    });

    it('does not drop a weight silently', async () => {
      const vendor = new Vendor(together, one);
      const heavy = (record: DnsRecord) => ({ ...record, weight: 5 });
      assert.deepEqual(short(await vendor.apply([update(one, heavy(one)), create(heavy(two))])), [
        'rejected',
        'rejected',
      ]);
      assert.deepEqual(vendor.writes, []);
    });

    it('ends with what its changes say, whatever is in it', async () => {
      const record = fc
        .record({ host: fc.constantFrom('x', 'y'), last: fc.integer({ min: 1, max: 4 }) })
        .map(({ host, last }) => a(host, `192.0.2.${last}`));
      const records = fc.uniqueArray(record, { selector: derivedId, maxLength: 6 });
      const lists = fc.record({
        start: records,
        named: records.chain((olds) =>
          fc
            .tuple(
              ...olds.map((old) =>
                fc.oneof(
                  record.map((to) => update(old, to)),
                  fc.constant(remove(old)),
                ),
              ),
            )
            .chain((list) => fc.shuffledSubarray([...list], { minLength: list.length })),
        ),
        made: fc.option(record, { nil: undefined }),
      });
      await fc.assert(
        fc.asyncProperty(lists, async ({ start, named, made }) => {
          const list = [...named, ...(made ? [create(made)] : [])];
          const before = new Set(start.map(derivedId));
          // one that is gone where its new value is: a repeated change
          const lost = (c: Change) =>
            c.op === 'update' && !before.has(derivedId(c.before)) && !before.has(derivedId(c.after));
          // the old values go, then the new ones come
          const after = new Set(before);
          for (const c of list) if (c.op !== 'create') after.delete(derivedId(c.before));
          for (const c of list) if (c.op !== 'delete' && !lost(c)) after.add(derivedId(c.after));

          const vendor = new Vendor(together, ...start);
          const expected = list.map((c) => (lost(c) ? 'not_found' : c.op === 'delete' ? null : derivedId(c.after)));
          assert.deepEqual(ids(await vendor.apply(list)), expected);
          const keys = ['x', 'y'].map((host) => ({ host, type: 'A' }));
          const sets = await vendor.verbs().readSets(zone, keys);
          assert.deepEqual(sets.flatMap((set) => set.members.map((m) => m.remoteId)).toSorted(), [...after].toSorted());
        }),
        { numRuns: 600, seed: 20261121 },
      );
    });
  });
}

describe('a list that the vendor refuses', () => {
  const cname = dnsRecord({ host: 'www', type: 'CNAME', value: 'a.example', ttl: 300 }, zone.name);
  const www = a('www', '192.0.2.1');
  /** Refuses what has an A at `www`. */
  const vendorOf = (...records: DnsRecord[]) => {
    const vendor = new Vendor(true, ...records);
    vendor.refuses = (sets) => sets.some((set) => set.host === 'www' && set.type === 'A' && set.members.length > 0);
    return vendor;
  };

  it('leaves what it would replace at the same host', async () => {
    const vendor = vendorOf(cname);
    const before = vendor.shown();
    assert.deepEqual(short(await vendor.apply([remove(cname), create(www)])), ['rejected', 'rejected']);
    // others of the list are carried out, wherever they stand in it
    const list = [remove(cname), create(a('x', '192.0.2.1')), create(www), create(a('y', '192.0.2.1'))];
    assert.deepEqual(short(await vendor.apply(list)), ['rejected', 'ok', 'rejected', 'ok']);
    assert.deepEqual(vendor.shown(), [...before, 'x 300 192.0.2.1', 'y 300 192.0.2.1']);
  });

  it('leaves what would make room for a record that moves', async () => {
    const [x, y] = [a('x', '192.0.2.1'), a('y', '192.0.2.2')];
    const vendor = vendorOf(cname, x, y);
    const list = [
      remove(cname),
      create(a('z', '192.0.2.1')),
      update(x, { ...x, host: 'www' }),
      update(y, { ...y, host: 'x' }),
    ];
    const before = vendor.shown();
    assert.deepEqual(short(await vendor.apply(list)), ['rejected', 'ok', 'rejected', 'rejected']);
    assert.deepEqual(vendor.shown(), [...before, 'z 300 192.0.2.1'].toSorted());
  });

  it('is refused whole where it is atomic', async () => {
    const vendor = vendorOf(cname);
    const before = vendor.shown();
    const list = [create(a('x', '192.0.2.1')), remove(cname), create(www)];
    assert.deepEqual(short(await vendor.apply(list, { atomic: true })), ['rejected', 'rejected', 'rejected']);
    assert.deepEqual([vendor.shown(), vendor.writes.length], [before, 1]);
  });

  it('is not written where it is atomic and a record is not what was seen', async () => {
    const vendor = new Vendor(true, www);
    const stale = update({ ...www, ttl: 60 }, { ...www, ttl: 900 }, true);
    const list = [create(a('x', '192.0.2.1')), stale];
    assert.deepEqual(short(await vendor.apply(list, { atomic: true })), ['changed not tried', 'changed']);
    assert.deepEqual(vendor.writes, []);
    assert.deepEqual(short(await vendor.apply(list)), ['ok', 'changed']);
  });
});

describe('a list that is longer than one write of the provider', () => {
  const list = ['a', 'b', 'c', 'd', 'e'].map((host) => create(a(host, '192.0.2.1')));
  const definition = (capabilities: Partial<Capabilities>, vendor = new Vendor(true)) =>
    defineProvider({
      ...{ kind: 'test', label: 'Test', docs: 'https://example.com/', credentials: [[]] },
      capabilities: { types: ['A'], chunk: 4, ...capabilities },
      load: async () => ({ connect: () => ({ apply: fromRrsets(vendor.verbs()) }) as DnsProvider }),
    });
  const connect = (capabilities: Partial<Capabilities>) => {
    const vendor = new Vendor(true);
    vendor.refuses = (sets) => sets.some((set) => set.host === 'b');
    const provider = connectTo(definition(capabilities, vendor), {});
    return { vendor, apply: (changes: Change[], atomic: boolean) => provider.apply(zone, changes, { atomic }) };
  };

  for (const replaces of ['set', 'zone'] as const) {
    it(`is refused where it is atomic and could be carried out whole (${replaces})`, async () => {
      const { vendor, apply } = connect({ atomic: true, replaces });
      const outcomes = await apply(list, true);
      assert.deepEqual(short(outcomes), new Array(5).fill('rejected not tried'));
      assert.ok(outcomes[0] && !outcomes[0].ok && /4 changes at most.* 5/.test(outcomes[0].error.message));
      assert.deepEqual(vendor.writes, []);
      assert.deepEqual(short(await apply(list.slice(0, 4), true)), new Array(4).fill('rejected'));
      assert.equal(vendor.writes.length, 1);
      assert.deepEqual(short(await apply(list, false)), ['ok', 'rejected', 'ok', 'ok', 'ok']);
    });
  }

  it('is known before: the view of the capabilities says what is atomic, and how long', () => {
    const view = capabilitiesView(definition({ atomic: true }).capabilities);
    assert.deepEqual([view.atomic, view.chunk], [true, 4]);
  });

  it('ends with its first failed part where it is atomic and nobody can carry it out whole', async () => {
    const { vendor, apply } = connect({});
    assert.deepEqual(short(await apply(list, true)), [...new Array(4).fill('rejected'), 'rejected not tried']);
    assert.equal(vendor.writes.length, 1);
  });
});
