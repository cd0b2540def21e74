import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { inChunks } from '../../../src/providers/kit/records/chunks.js';
import { fromRrsets, type RrsetVerbs } from '../../../src/providers/kit/rrsets/from-rrsets.js';
import { derivedId, type RecordSet, type SetKey } from '../../../src/providers/kit/rrsets/record-set.js';
import { type Change, type Outcome, ProviderError, type RemoteRecord } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const a = (host: string, value: string, more: Partial<LooseRecord> = {}): DnsRecord =>
  dnsRecord({ host, type: 'A', value, ttl: 300, ...more }, zone.name);
const held = (record: DnsRecord): RemoteRecord => ({ ...record, remoteId: derivedId(record), readOnly: false });
const create = (after: DnsRecord): Change => ({ op: 'create', after });
const remove = (record: DnsRecord, guarded = false): Change => ({ op: 'delete', before: held(record), guarded });
const update = (before: DnsRecord, after: DnsRecord, guarded = false): Change => ({
  op: 'update',
  before: held(before),
  after,
  guarded,
});

/** A vendor of sets in memory, which notes its calls; `fault` may throw or answer in place of a write. */
class Vendor {
  readonly sets = new Map<string, { ttl: number; values: string[]; disabled: string[]; tag: number }>();
  readonly calls: string[] = [];
  fault: (sets: RecordSet[]) => boolean | undefined = () => undefined;

  constructor(private readonly together: boolean) {}

  private readonly key = ({ host, type, line = 'default' }: SetKey) =>
    `${host} ${type}${line === 'default' ? '' : ` ${line}`}`;

  put(host: string, ttl: number, values: string[], disabled: string[] = [], type = 'A'): void {
    this.sets.set(this.key({ host, type }), { ttl, values, disabled, tag: 1 });
  }

  private write(set: RecordSet, was: RecordSet): void {
    const key = this.key(set);
    assert.deepEqual(set.raw, was.raw, 'what the vendor gave comes back');
    assert.equal((was.raw as { tag: number } | undefined)?.tag, this.sets.get(key)?.tag);
    const of = (enabled: boolean) => set.members.filter((m) => m.enabled === enabled).map((m) => m.rdata);
    if (!set.members.length) this.sets.delete(key);
    else this.sets.set(key, { ttl: set.ttl, values: of(true), disabled: of(false), tag: Number(was.raw) + 1 });
  }

  private send(sets: RecordSet[], was: RecordSet[]): boolean {
    this.calls.push(`write ${sets.map((s) => this.key(s)).join(', ')}`);
    const answer = this.fault(sets);
    if (answer !== undefined) return answer;
    for (const [i, set] of sets.entries()) this.write(set, was[i] as RecordSet);
    return true;
  }

  readonly verbs = (): RrsetVerbs => ({
    readSets: async (_zone, keys) => {
      this.calls.push(`read ${keys.map(this.key).join(', ')}`);
      return keys.map((key) => {
        const set = this.sets.get(this.key(key));
        const member = (rdata: string, enabled: boolean) => {
          const record = { host: key.host, type: key.type, value: rdata, priority: null, line: key.line };
          return { remoteId: derivedId(record as DnsRecord), rdata, enabled };
        };
        const members = [
          ...(set?.values ?? []).map((v) => member(v, true)),
          ...(set?.disabled ?? []).map((v) => member(v, false)),
        ];
        return { ...key, ttl: set?.ttl ?? 0, members, ...(set && { raw: { tag: set.tag } }) };
      });
    },
    ...(this.together
      ? { replaceSets: async (_zone, sets, was) => this.send(sets, was) }
      : { replaceSet: async (_zone, set, was) => this.send([set], [was]) }),
  });

  apply(changes: Change[], deadline?: number): Promise<Outcome[]> {
    return inChunks(fromRrsets(this.verbs()), 100)(zone, changes, { deadline });
  }

  shown(): Record<string, unknown> {
    return Object.fromEntries([...this.sets].map(([key, { ttl, values }]) => [key, [ttl, ...values]]));
  }
}

const short = (outcomes: Outcome[]): string[] =>
  outcomes.map((o) =>
    o.ok ? 'ok' : `${o.error.kind}${o.error.mayHaveApplied ? '?' : ''}${o.tried ? '' : ' not tried'}`,
  );
const refuse = (kind: ProviderError['kind'], mayHave?: boolean): never => {
  throw new ProviderError(kind, 'no', mayHave);
};

describe('ids of records without ids', () => {
  it('are what they were before there were lines, and differ by line', () => {
    const record = a('www', '192.0.2.1');
    assert.equal(derivedId(record), 'rr-bbd36f655e41e0898c5b7ecacac76203fb54a4ea');
    assert.equal(derivedId({ ...record, line: 'default' }), derivedId(record));
    assert.notEqual(derivedId({ ...record, line: 'telecom' }), derivedId(record));
  });
});

for (const together of [true, false]) {
  describe(`record sets that are written ${together ? 'together' : 'one by one'}`, () => {
    it('are read at once, lines apart', async () => {
      const vendor = new Vendor(together);
      vendor.put('www', 300, ['192.0.2.1']);
      const telecom = a('www', '192.0.2.2', { line: 'telecom' });
      const outcomes = await vendor.apply([
        create(a('www', '192.0.2.3')),
        create(telecom),
        create(a('web', '192.0.2.4')),
      ]);
      assert.deepEqual(
        outcomes.map((o) => o.ok && o.remoteId),
        [a('www', '192.0.2.3'), telecom, a('web', '192.0.2.4')].map(derivedId),
      );
      assert.equal(vendor.calls[0], 'read www A, www A telecom, web A');
      assert.equal(vendor.calls.filter((call) => call.startsWith('read')).length, 1);
      assert.deepEqual(vendor.shown(), {
        'www A': [300, '192.0.2.1', '192.0.2.3'],
        'www A telecom': [300, '192.0.2.2'],
        'web A': [300, '192.0.2.4'],
      });
    });

    it('keep the TTL and the state that the provider has, where an update does not name them', async () => {
      const vendor = new Vendor(together);
      vendor.put('www', 60, ['192.0.2.2'], ['192.0.2.1']);
      const [outcome] = await vendor.apply([update(a('www', '192.0.2.1'), a('www', '192.0.2.9'))]);
      assert.ok(outcome?.ok);
      assert.deepEqual(outcome.held, { ...a('www', '192.0.2.9', { ttl: 60 }), enabled: false });
      assert.deepEqual(vendor.sets.get('www A')?.disabled, ['192.0.2.9']);
      const [moved] = await vendor.apply([update(a('www', '192.0.2.2'), a('new', '192.0.2.2'))]);
      assert.ok(moved?.ok && moved.held?.ttl === 60);
      const [named] = await vendor.apply([update(a('new', '192.0.2.2'), a('new', '192.0.2.2', { ttl: 900 }))]);
      assert.ok(named?.ok && !named.held);
      assert.deepEqual(vendor.shown(), { 'www A': [60], 'new A': [900, '192.0.2.2'] });
    });

    it('take a repeated rename, and a repeated change of a value, for done', async () => {
      const vendor = new Vendor(together);
      vendor.put('www', 300, ['192.0.2.1', '192.0.2.2']);
      const rename = update(a('www', '192.0.2.1'), a('web', '192.0.2.1'));
      const revalue = update(a('www', '192.0.2.2'), a('www', '192.0.2.3'));
      assert.deepEqual(short(await vendor.apply([rename, revalue])), ['ok', 'ok']);
      const state = vendor.shown();
      const writes = vendor.calls.length;
      const again = await vendor.apply([rename, revalue]);
      assert.deepEqual(short(again), ['ok', 'ok']);
      assert.deepEqual(again[0]?.ok && again[0].remoteId, derivedId(a('web', '192.0.2.1')));
      assert.deepEqual(short(await vendor.apply([{ ...rename, guarded: true } as Change])), ['ok']);
      assert.deepEqual(vendor.shown(), state);
      assert.ok(vendor.calls.slice(writes).every((call) => call.startsWith('read')));
      assert.deepEqual(short(await vendor.apply([update(a('gone', '192.0.2.1'), a('web', '192.0.2.7'))])), [
        'not_found',
      ]);
    });

    it('are left alone by a guarded change that has seen something else', async () => {
      const vendor = new Vendor(together);
      vendor.put('www', 60, ['192.0.2.1', '192.0.2.2']);
      const stale = a('www', '192.0.2.1');
      const outcomes = await vendor.apply([
        update(stale, a('www', '192.0.2.9'), true),
        update(a('www', '192.0.2.7'), a('www', '192.0.2.8'), true),
        remove(a('www', '192.0.2.6'), true),
      ]);
      // deletions come first, outcomes in the order of the changes
      assert.deepEqual(short(outcomes), ['changed', 'changed', 'changed']);
      const found = outcomes.map((o) => (o.ok ? undefined : o.error.found));
      assert.deepEqual(found, [held(a('www', '192.0.2.1', { ttl: 60 })), null, null]);
      assert.deepEqual(short(await vendor.apply([remove(stale, true)])), ['changed']);
      assert.ok(vendor.calls.every((call) => call.startsWith('read')));
      const seen = a('www', '192.0.2.1', { ttl: 60 });
      assert.deepEqual(short(await vendor.apply([update(seen, a('www', '192.0.2.9', { ttl: 60 }), true)])), ['ok']);
      assert.deepEqual(vendor.shown(), { 'www A': [60, '192.0.2.9', '192.0.2.2'] });
    });

    it('are read and written again when they changed meanwhile, but not for ever', async () => {
      const vendor = new Vendor(together);
      vendor.put('www', 300, ['192.0.2.1']);
      let left = 2;
      vendor.fault = () => (left-- > 0 ? false : undefined);
      assert.deepEqual(short(await vendor.apply([create(a('www', '192.0.2.2'))])), ['ok']);
      assert.deepEqual(vendor.shown(), { 'www A': [300, '192.0.2.1', '192.0.2.2'] });
      vendor.fault = () => false;
      assert.deepEqual(short(await vendor.apply([create(a('www', '192.0.2.3'))])), ['unavailable']);
    });

    it('put a CNAME in the place of what is deleted, in whatever order they are asked for', async () => {
      const vendor = new Vendor(together);
      vendor.put('www', 300, ['192.0.2.1']);
      vendor.fault = ([set]) => {
        const beside = set?.type === 'CNAME' && !together && vendor.sets.has('www A');
        return beside ? refuse('rejected') : undefined;
      };
      const cname = dnsRecord({ host: 'www', type: 'CNAME', value: 'a.example', ttl: 300 }, zone.name);
      assert.deepEqual(short(await vendor.apply([create(cname), remove(a('www', '192.0.2.1'))])), ['ok', 'ok']);
      assert.deepEqual(vendor.shown(), { 'www CNAME': [300, 'a.example.'] });
      const last = vendor.calls.filter((call) => call.startsWith('write')).join(', ');
      assert.ok(last.indexOf('www A') < last.indexOf('www CNAME'), last);
    });

    it('are not begun after the deadline', async () => {
      const vendor = new Vendor(together);
      const outcomes = await vendor.apply(
        [create(a('www', '192.0.2.1')), create(a('web', '192.0.2.1'))],
        performance.now() - 1,
      );
      assert.deepEqual(short(outcomes), ['unavailable not tried', 'unavailable not tried']);
      assert.deepEqual(vendor.calls, []);
    });
  });
}

describe('record sets that are written together', () => {
  const hosts = (count: number) => Array.from({ length: count }, (_, i) => a(`h${i}`, '192.0.2.1'));

  it('are halved when the provider refuses a list', async () => {
    const vendor = new Vendor(true);
    vendor.fault = (sets) => (sets.some((set) => set.host === 'h37') ? refuse('rejected') : undefined);
    const outcomes = await vendor.apply(hosts(64).map(create));
    assert.deepEqual(
      short(outcomes).flatMap((o, i) => (o === 'ok' ? [] : [`${i} ${o}`])),
      ['37 rejected'],
    );
    assert.equal(vendor.sets.size, 63);
    // one more than twice the halvings, and not one for each change
    assert.equal(vendor.calls.filter((call) => call.startsWith('write')).length, 13);
  });

  it('are restored where their successor was not written', async () => {
    for (const [kind, may, back] of [
      ['rejected', false, true],
      ['rate_limit', false, true],
      ['unavailable', true, true],
    ] as const) {
      const vendor = new Vendor(false);
      vendor.put('www', 300, ['192.0.2.1', '192.0.2.2']);
      vendor.fault = ([set]) => (set?.type === 'CNAME' ? refuse(kind, may) : undefined);
      const alias = dnsRecord({ host: 'www', type: 'CNAME', value: 'a.example.net', ttl: 300 }, zone.name);
      const outcomes = await vendor.apply([remove(a('www', '192.0.2.1')), update(a('www', '192.0.2.2'), alias)]);
      assert.ok(
        outcomes.every((outcome) => !outcome.ok || back),
        kind,
      );
      assert.deepEqual(vendor.shown(), { 'www A': [300, '192.0.2.1', '192.0.2.2'] }, kind);
    }
    const vendor = new Vendor(false);
    vendor.put('www', 300, ['192.0.2.1']);
    vendor.fault = ([set]) => (set?.type === 'CNAME' || set?.members.length ? refuse('rejected', false) : undefined);
    const alias = dnsRecord({ host: 'www', type: 'CNAME', value: 'a.example.net', ttl: 300 }, zone.name);
    const [outcome] = await vendor.apply([update(a('www', '192.0.2.1'), alias)]);
    assert.ok(outcome && !outcome.ok && outcome.error.mayHaveApplied);
    assert.match(outcome.error.message, /is gone and was not put back/);
  });

  it('stay in doubt when the refused list may have been carried out before', async () => {
    const vendor = new Vendor(true);
    vendor.fault = (sets) =>
      sets.length > 1 || sets[0]?.host === 'h0' ? refuse('rejected', sets.length > 1) : undefined;
    assert.deepEqual(short(await vendor.apply(hosts(2).map(create))), ['rejected?', 'ok']);
  });

  it('say of all changes what is unclear, and of none that could not be read', async () => {
    const vendor = new Vendor(true);
    vendor.fault = () => refuse('unavailable');
    assert.deepEqual(short(await vendor.apply(hosts(2).map(create))), ['unavailable?', 'unavailable?']);
    const verbs = { ...vendor.verbs(), readSets: async () => refuse('unavailable') };
    assert.deepEqual(short(await fromRrsets(verbs)(zone, hosts(1).map(create))), ['unavailable']);
  });

  it('go out in chunks, of which the rest is not begun when the provider is gone', async () => {
    const vendor = new Vendor(true);
    vendor.fault = (sets) => (sets.some((set) => set.host === 'h5') ? refuse('auth') : undefined);
    const apply = inChunks(fromRrsets(vendor.verbs()), 4);
    const outcomes = short(await apply(zone, hosts(10).map(create)));
    assert.deepEqual(outcomes, [
      ...['ok', 'ok', 'ok', 'ok'],
      ...['auth', 'auth', 'auth', 'auth'],
      ...['auth not tried', 'auth not tried'],
    ]);
  });
});

describe('record sets that are written one by one', () => {
  const [x, y, z] = [a('x', '192.0.2.1'), a('y', '192.0.2.1'), a('z', '192.0.2.1')];

  it('have an outcome each', async () => {
    const vendor = new Vendor(false);
    vendor.fault = ([set]) => (set?.host === 'y' ? refuse('rejected') : undefined);
    assert.deepEqual(short(await vendor.apply([x, y, z].map(create))), ['ok', 'rejected', 'ok']);
    vendor.sets.clear();
    // the second is refused after waiting: the first is written, and the third is not begun
    vendor.fault = ([set]) => (set?.host === 'y' ? refuse('rate_limit') : undefined);
    assert.deepEqual(short(await vendor.apply([x, y, z].map(create))), ['ok', 'rate_limit', 'rate_limit not tried']);
    assert.deepEqual(vendor.shown(), { 'x A': [300, '192.0.2.1'] });
  });

  it('are not begun any more after the first failure of an atomic list', async () => {
    const vendor = new Vendor(false);
    vendor.fault = ([set]) => (set?.host === 'y' ? refuse('rejected') : undefined);
    const outcomes = await fromRrsets(vendor.verbs())(zone, [x, y, z].map(create), { atomic: true });
    assert.deepEqual(short(outcomes), ['ok', 'rejected', 'rejected not tried']);
  });

  it('lose no record that could not be written at its new name', async () => {
    const vendor = new Vendor(false);
    vendor.put('x', 300, ['192.0.2.1']);
    vendor.fault = ([set]) => (set?.host === 'y' ? refuse('rejected') : undefined);
    assert.deepEqual(short(await vendor.apply([update(x, y)])), ['rejected']);
    assert.deepEqual(vendor.shown(), { 'x A': [300, '192.0.2.1'] });
    // written at the new name, and not taken from the old one: that is neither done nor nothing
    vendor.fault = ([set]) => (set?.host === 'x' ? refuse('rejected') : undefined);
    assert.deepEqual(short(await vendor.apply([update(x, y)])), ['rejected?']);
  });

  it('keep what is written when a later round cannot read', async () => {
    const vendor = new Vendor(false);
    let reads = 0;
    const verbs = vendor.verbs();
    const once: RrsetVerbs = {
      ...verbs,
      readSets: async (at, keys) => (++reads > 1 ? refuse('unavailable') : verbs.readSets(at, keys)),
    };
    vendor.fault = ([set]) => (set?.host === 'y' ? false : undefined);
    assert.deepEqual(short(await fromRrsets(once)(zone, [x, y].map(create))), ['ok', 'unavailable']);
  });
});
