import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { dnsRecord, type LooseRecord, MANAGED_TYPES, type RecordType, rdataOf } from '../../src/dns/record.js';
import type {
  Change,
  DnsProvider,
  DnsRecord,
  ProviderDefinition,
  RemoteRecord,
  RemoteZone,
} from '../../src/providers/provider.js';
import { describeUnless } from '../support/suites.js';
import type { StandIn } from '../support/vendor.js';

/** A live provider with one zone that holds nothing but its SOA and NS. */
export interface ContractTarget {
  provider: DnsProvider;
  definition: ProviderDefinition;
  zone: RemoteZone;
  /** what the zone's own name server answers for an absolute name: lines of rdata in presentation form */
  dig?: (name: string, type: string) => Promise<string[]>;
  /** of a kind that speaks HTTP: what stands in for its API, so that the suite can make it fail */
  standIn?: StandIn;
  /** the same API with credentials that it refuses */
  stranger?: DnsProvider;
  stop(): Promise<void>;
}

type Given = Pick<LooseRecord, 'value' | 'priority'>;

/** A value and another one to change it to, for every type that the service can write. */
const VALUES: Record<RecordType, [Given, Given]> = {
  A: [{ value: '192.0.2.1' }, { value: '198.51.100.7' }],
  AAAA: [{ value: '2001:DB8:0::1' }, { value: '2001:db8::ffff:2' }],
  CNAME: [{ value: 'Target.example.net' }, { value: 'other.example.net' }],
  MX: [
    { value: 'mail.example.net', priority: 10 },
    { value: 'mail2.example.net', priority: 20 },
  ],
  TXT: [{ value: 'v=spf1 include:example.net -all' }, { value: 'changed; "quoted" and \\ too' }],
  NS: [{ value: 'ns8.example.net' }, { value: 'ns9.example.net' }],
  SRV: [
    { value: '5 5060 sip.example.net', priority: 10 },
    { value: '0 5061 sip2.example.net', priority: 1 },
  ],
  CAA: [{ value: '0 issue "ca.example.net"' }, { value: '128 iodef "mailto:security@example.net"' }],
  SVCB: [{ value: '1 svc.example.net port=8443' }, { value: '2 svc2.example.net port=8444' }],
  HTTPS: [{ value: '1 . alpn=h2' }, { value: '0 other.example.net' }],
  TLSA: [{ value: `3 1 1 ${'ab'.repeat(32)}` }, { value: `3 1 1 ${'cd'.repeat(32)}` }],
  SSHFP: [{ value: `4 2 ${'12'.repeat(32)}` }, { value: `1 1 ${'34'.repeat(20)}` }],
  NAPTR: [
    { value: '100 50 "s" "SIP+D2U" "" _sip._udp.example.net' },
    { value: '100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .' },
  ],
  DS: [{ value: `12345 13 2 ${'ef'.repeat(32)}` }, { value: `12346 8 2 ${'01'.repeat(32)}` }],
  PTR: [{ value: 'host.example.net' }, { value: 'host2.example.net' }],
  ALIAS: [{ value: 'lb.example.net' }, { value: 'lb2.example.net' }],
  LOC: [
    { value: '52 22 23.000 N 4 53 32.000 E -2.00m 1.00m 10000.00m 10.00m' },
    { value: '31 58 52.100 S 115 49 11.700 E 20.00m 10.00m 10.00m 2.00m' },
  ],
  URI: [{ value: '10 1 "https://example.net/"' }, { value: '20 5 "https://example.net/path?x=1"' }],
};

const COMMON: readonly string[] = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'CAA'];

/**
 * Where the eight types are tried. A CNAME cannot stand at the apex; NS at a wildcard has no defined meaning (RFC 4592
 * 4.2).
 */
const hostsFor = (type: string): string[] =>
  ['@', 'name', '*', '_name', 'deep.er'].filter(
    (h) => !(type === 'CNAME' && h === '@') && !(type === 'NS' && h === '*'),
  );

const TEXTS: [string, string][] = [
  ['empty', ''],
  ['of 255 bytes', 'x'.repeat(255)],
  ['of 256 bytes', 'y'.repeat(256)],
  ['of 2000 bytes', 'v=DKIM1; k=rsa; p='.padEnd(2000, 'MIIBIjANBg')],
  ['with a character across the split', `${'z'.repeat(254)}é and more`],
  ['with quotes, backslashes, semicolons', 'say "hi"; a \\ b; \\065 \\" ; @ $ORIGIN (1)'],
  ['that looks quoted', '"one" "two"'],
  ['not ASCII', 'grüße — 你好 ✓'],
  ['with blanks at both ends', '  a  b '],
];

/**
 * What `provider.ts` promises, checked against a live provider. Every check leaves the zone as it found it. Types,
 * toggling and the owner of the TTL follow `definition.capabilities`. Call it at the top level of a test file.
 * @param open starts the provider; called once
 * @param skip a reason not to run
 */
export function providerContract(label: string, open: () => Promise<ContractTarget>, skip?: string | false): void {
  describeUnless(skip)(`contract: ${label}`, () => {
    let t: ContractTarget;
    let ttl = 600;
    beforeAll(async () => {
      t = await open();
      ttl = Math.max(600, t.definition.capabilities.minTtl);
    });
    afterAll(() => t?.stop());

    const writes = (type: string) => t.definition.capabilities.types.includes(type);
    const record = (host: string, type: string, given: Given, more: Partial<LooseRecord> = {}): DnsRecord =>
      dnsRecord({ host, type, ttl, ...given, ...more }, t.zone.name);
    const a = (host: string, value: string, more: Partial<LooseRecord> = {}) => record(host, 'A', { value }, more);
    const at = async (host: string, type: string): Promise<RemoteRecord[]> =>
      (await t.provider.listRecords(t.zone)).filter((r) => r.host === host && r.type === type);
    const bare = ({ remoteId: _id, readOnly: _ro, ...canonical }: RemoteRecord): DnsRecord => canonical;
    const sorted = (list: DnsRecord[]) => list.toSorted((x, y) => (x.value < y.value ? -1 : 1));

    /** Applies changes that all must succeed; returns the ids. */
    async function done(...changes: Change[]): Promise<(string | null)[]> {
      const outcomes = await t.provider.apply(t.zone, changes);
      assert.equal(outcomes.length, changes.length, 'one outcome per change');
      return outcomes.map((outcome, i) => {
        if (!outcome.ok) assert.fail(`${changes[i]?.op} failed: ${outcome.error.kind}: ${outcome.error.message}`);
        return outcome.remoteId;
      });
    }

    /** The set as listed; checks that it is exactly `expected`, editable, and what the name server answers. */
    async function shows(host: string, type: string, expected: DnsRecord[]): Promise<RemoteRecord[]> {
      const listed = await at(host, type);
      assert.deepEqual(sorted(listed.map(bare)), sorted(expected));
      assert.ok(
        listed.every((r) => !r.readOnly),
        'what can be written is not read-only',
      );
      // a delegation is a referral, not an answer
      if (t.dig && COMMON.includes(type) && (type !== 'NS' || host === '@')) {
        const live = expected.filter((r) => r.enabled).map(rdataOf);
        const name = host === '@' ? t.zone.name : `${host}.${t.zone.name}`;
        assert.deepEqual((await t.dig(name, type)).sort(), live.sort(), `dig ${name} ${type}`);
      }
      return expected.map((e) => listed.find((r) => r.value === e.value) as RemoteRecord);
    }

    async function clear(list: RemoteRecord[]): Promise<void> {
      const ids = await done(...list.map((r): Change => ({ op: 'delete', before: r })));
      assert.ok(ids.every((id) => id === null));
    }

    /** A check that leaves the zone as it was, ids included. */
    const check = (name: string, body: () => Promise<void>) =>
      it(name, async () => {
        const state = async () => (await t.provider.listRecords(t.zone)).map((r) => JSON.stringify(r)).sort();
        const found = await state();
        await body();
        assert.deepEqual(await state(), found, 'the zone is as it was before');
      });

    async function life(host: string, type: RecordType): Promise<void> {
      const [first, second] = VALUES[type];
      const others = (await at(host, type)).map(bare); // apex NS
      // the apex has NS already, and in a set the TTL is one
      const shared = others[0] ? { ttl: others[0].ttl } : {};
      const one = record(host, type, first, shared);
      const [id] = await done({ op: 'create', after: one });
      let [now] = await shows(host, type, [one, ...others]);
      assert.equal(now?.remoteId, id, 'the listing has the id that create returned');
      for (const after of [
        { ...one, value: record(host, type, second).value },
        ...(one.priority === null ? [] : [record(host, type, second, shared)]),
        ...(others.length ? [] : [{ ...record(host, type, second), ttl: ttl * 2 }]),
      ]) {
        const [next] = await done({ op: 'update', before: now as RemoteRecord, after });
        [now] = await shows(host, type, [after, ...others]);
        assert.equal(now?.remoteId, next, 'the listing has the id that update returned');
      }
      await clear([now as RemoteRecord]);
      await shows(host, type, others);
    }

    check('checks the credentials and lists the zone', async () => {
      await t.provider.check();
      const found = (await t.provider.listZones()).filter((z) => z.name === t.zone.name);
      assert.deepEqual(found, [t.zone]);
      assert.ok((await t.provider.listRecords(t.zone)).every((r) => !MANAGED_TYPES.has(r.type)));
    });

    for (const type of Object.keys(VALUES) as RecordType[]) {
      check(`${type}: create, read, update value, priority and TTL, delete`, async () => {
        if (!writes(type)) return;
        // DS belongs beside a delegation: servers drop it elsewhere
        const delegation = type === 'DS' ? record('name', 'NS', VALUES.NS[0]) : null;
        if (delegation) await done({ op: 'create', after: delegation });
        for (const host of COMMON.includes(type) ? hostsFor(type) : ['name']) await life(host, type);
        if (delegation) await clear(await at('name', 'NS'));
      });
    }

    for (const [kind, value] of TEXTS) {
      check(`TXT ${kind} comes back as it was`, async () => {
        // canonical by hand: dnsRecord would take the quotes off a text that looks quoted
        const text = { ...record('text', 'TXT', { value: 'x' }), value };
        const [id] = await done({ op: 'create', after: text });
        const list = await shows('text', 'TXT', [text]);
        assert.equal(list[0]?.remoteId, id);
        await clear(list);
      });
    }

    check('values at one name are edited and deleted one by one', async () => {
      const [x, y, z] = [a('two', '192.0.2.1'), a('two', '192.0.2.2'), a('two', '192.0.2.3')];
      await done({ op: 'create', after: x }, { op: 'create', after: y });
      const [before] = await shows('two', 'A', [x, y]);
      await done({ op: 'update', before: before as RemoteRecord, after: z });
      const list = await shows('two', 'A', [z, y]);
      await clear(list.slice(0, 1));
      await shows('two', 'A', [y]);
      await clear(list.slice(1));
      await shows('two', 'A', []);
    });

    check('the same mail host with two preferences is two records', async () => {
      const mx = (priority: number) => record('mail', 'MX', { value: 'mx.example.net', priority });
      const srv = (priority: number) => record('_sip._tcp', 'SRV', { value: '1 5060 sip.example.net', priority });
      for (const make of [mx, srv]) {
        if (!writes(make(1).type)) continue;
        const [ten, twenty, thirty] = [make(10), make(20), make(30)];
        const { host, type } = ten;
        const [a, b] = await done({ op: 'create', after: ten }, { op: 'create', after: twenty });
        assert.notEqual(a, b);
        const found = async () => (await at(host, type)).toSorted((x, y) => Number(x.priority) - Number(y.priority));
        assert.deepEqual((await found()).map(bare), [ten, twenty]);
        await done({ op: 'update', before: (await found())[0] as RemoteRecord, after: thirty });
        assert.deepEqual((await found()).map(bare), [twenty, thirty]);
        await clear((await found()).slice(0, 1));
        assert.deepEqual((await found()).map(bare), [thirty]);
        await clear(await found());
      }
    });

    check('an IPv4-mapped address, alone and beside others, comes back as it was', async () => {
      const [mapped, other] = ['::ffff:192.0.2.1', '2001:db8::1'].map((value) => record('mapped', 'AAAA', { value }));
      await done({ op: 'create', after: mapped as DnsRecord });
      // written again as a sibling of the other
      await done({ op: 'create', after: other as DnsRecord });
      const list = await at('mapped', 'AAAA');
      assert.deepEqual(sorted(list.map(bare)), sorted([mapped as DnsRecord, other as DnsRecord]));
      await clear(list);
    });

    check('names that DNS allows come back as they were: hyphens at the ends, labels of aliases', async () => {
      for (const value of ['0/25.2.0.192.in-addr.arpa', '-a-.example.net', "a!#%&'+,:<=>?[]^`{|}~z.example.net"]) {
        for (const type of ['CNAME', 'PTR'] as const) {
          if (!writes(type)) continue;
          const odd = record('-odd-', type, { value });
          await done({ op: 'create', after: odd });
          await clear(await shows('-odd-', type, [odd]));
        }
      }
    });

    check('the TTL belongs to whom the capabilities say', async () => {
      const [x, y] = [a('ttl', '192.0.2.1'), a('ttl', '192.0.2.2')];
      await done({ op: 'create', after: x }, { op: 'create', after: y });
      const [before] = await shows('ttl', 'A', [x, y]);
      await done({ op: 'update', before: before as RemoteRecord, after: { ...x, ttl: ttl * 2 } });
      const shared = t.definition.capabilities.ttlOf === 'set';
      const list = (await at('ttl', 'A')).toSorted((m, n) => (m.value < n.value ? -1 : 1));
      assert.deepEqual(
        list.map((r) => r.ttl),
        [ttl * 2, shared ? ttl * 2 : ttl],
      );
      await clear(list);
    });

    check('disabling takes a record out of DNS and keeps it; siblings stay', async () => {
      if (!t.definition.capabilities.toggle) return;
      const [x, y] = [a('off', '192.0.2.1'), a('off', '192.0.2.2')];
      await done({ op: 'create', after: x }, { op: 'create', after: y });
      const [live] = await shows('off', 'A', [x, y]);
      await done({ op: 'update', before: live as RemoteRecord, after: { ...x, enabled: false } });
      let list = await shows('off', 'A', [{ ...x, enabled: false }, y]);
      const z = { ...y, value: '192.0.2.9' };
      await done({ op: 'update', before: list[1] as RemoteRecord, after: z });
      list = await shows('off', 'A', [{ ...x, enabled: false }, z]);
      await clear(list.slice(1));
      list = await shows('off', 'A', [{ ...x, enabled: false }]);
      await done({ op: 'update', before: list[0] as RemoteRecord, after: x });
      await clear(await shows('off', 'A', [x]));
      await done({ op: 'create', after: { ...x, enabled: false } });
      await clear(await shows('off', 'A', [{ ...x, enabled: false }]));
    });

    check('a record moves to another host and to another type', async () => {
      const [x, sibling] = [a('from', '192.0.2.1'), a('from', '192.0.2.2')];
      await done({ op: 'create', after: x }, { op: 'create', after: sibling });
      const [before] = await shows('from', 'A', [x, sibling]);
      const moved = a('to', '192.0.2.1');
      await done({ op: 'update', before: before as RemoteRecord, after: moved });
      const [there] = await shows('to', 'A', [moved]);
      const retyped = record('to', 'TXT', { value: 'now a text' });
      const [id] = await done({ op: 'update', before: there as RemoteRecord, after: retyped });
      await shows('to', 'A', []);
      const list = await shows('to', 'TXT', [retyped]);
      assert.equal(list[0]?.remoteId, id);
      await clear([...list, ...(await shows('from', 'A', [sibling]))]);
    });

    check('creating what exists and deleting what is gone succeed; updating what is gone does not', async () => {
      const x = a('twice', '192.0.2.1');
      const [first] = await done({ op: 'create', after: x });
      const [second] = await done({ op: 'create', after: x });
      assert.equal(second, first);
      const list = await shows('twice', 'A', [x]);
      await clear(list);
      await clear(list);
      const change: Change = { op: 'update', before: list[0] as RemoteRecord, after: a('twice', '192.0.2.2') };
      const [outcome] = await t.provider.apply(t.zone, [change]);
      assert.equal(outcome?.ok === false && outcome.error.kind, 'not_found');
      await shows('twice', 'A', []);
    });

    check('a change that the provider refuses leaves the others of its list alone', async () => {
      const taken = a('taken', '192.0.2.1');
      await done({ op: 'create', after: taken });
      const [left, right] = [a('left', '192.0.2.2'), a('right', '192.0.2.3')];
      const outcomes = await t.provider.apply(t.zone, [
        { op: 'create', after: left },
        { op: 'create', after: record('taken', 'CNAME', VALUES.CNAME[0]) },
        { op: 'create', after: right },
      ]);
      assert.deepEqual(
        outcomes.map((o) => (o.ok ? 'ok' : o.error.kind)),
        ['ok', 'rejected', 'ok'],
      );
      await shows('taken', 'CNAME', []);
      await clear([
        ...(await shows('left', 'A', [left])),
        ...(await shows('right', 'A', [right])),
        ...(await shows('taken', 'A', [taken])),
      ]);
    });

    check('writers at different names do not disturb each other', async () => {
      if (t.definition.capabilities.replaces === 'zone') return;
      const list = Array.from({ length: 10 }, (_, i) => a(`p${i}`, `192.0.2.${i + 1}`));
      await Promise.all(list.map((after) => done({ op: 'create', after })));
      const made = (await t.provider.listRecords(t.zone)).filter((r) => /^p\d$/.test(r.host));
      assert.deepEqual(sorted(made.map(bare)), sorted(list));
      await Promise.all(made.map((r) => clear([r])));
    });
  });
}
