import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import { MANAGED_TYPES, type RecordType } from '../../../src/dns/record.js';
import type { Connected } from '../../../src/providers/connect.js';
import type { Change, DnsRecord, RemoteRecord } from '../../../src/providers/provider.js';
import type { Bench } from './bench.js';
import { hostsFor, ODD, TEXTS, VALUES } from './values.js';

/** One record of a type at a host: created, read back, changed in its value, its priority and its TTL, deleted. */
async function life(bench: Bench, host: string, type: RecordType): Promise<void> {
  const [first, second] = bench.values(type);
  const others = (await bench.at(host, type)).map(bench.bare); // apex NS
  // the apex has NS already, and in a set the TTL is one
  const shared = others[0] ? { ttl: others[0].ttl } : {};
  const one = bench.record(host, type, first, shared);
  if (!(await bench.can([`${type} at ${host}`, type], () => one))) return;
  const [id] = await bench.create(one);
  let [now] = await bench.shows(host, type, [one, ...others]);
  assert.equal(now?.remoteId, id, 'the listing has the id that create returned');
  const steps: DnsRecord[] = [{ ...one, value: bench.record(host, type, second).value }];
  if (one.priority !== null) steps.push(bench.record(host, type, second, shared));
  if (!others.length) steps.push({ ...bench.record(host, type, second), ttl: bench.ttls[1] });
  for (const after of steps) {
    const [next] = await bench.done({ op: 'update', before: now as RemoteRecord, after });
    [now] = await bench.shows(host, type, [after, ...others]);
    assert.equal(now?.remoteId, next, 'the listing has the id that update returned');
  }
  await bench.clear([now as RemoteRecord]);
  await bench.shows(host, type, others);
}

/** Zones, and the life of a record of each type. */
export function records(bench: Bench): void {
  const { capabilities } = bench;

  bench.check('checks the credentials and lists the zone', async () => {
    const { provider } = bench.target;
    await provider.check();
    const found = (await provider.listZones()).filter((z) => z.name === bench.zone.name && !z.private);
    assert.deepEqual(found, [bench.zone]);
    assert.ok((await bench.list()).every((r) => !MANAGED_TYPES.has(r.type)));
  });

  bench.check('finds the zone by its exact name', async () => {
    const { findZone } = bench.target.provider;
    assert.deepEqual(await findZone?.(bench.zone.name), bench.zone);
    for (const name of [`absent.${bench.zone.name}`, `y${bench.zone.name}`, bench.zone.name.slice(1)]) {
      assert.equal((await findZone?.(name)) ?? null, null, name);
    }
  });

  it('every type that is declared has values to try', () => {
    const unknown = capabilities.types.filter((type) => !(type in VALUES));
    assert.deepEqual(unknown, []);
  });

  for (const type of Object.keys(VALUES) as RecordType[]) {
    // what is not declared is no check: it is read-only
    if (!bench.writes(type)) continue;
    bench.check(`${type}: create, read, update value, priority and TTL, delete`, async () => {
      // DS belongs beside a delegation: servers drop it elsewhere
      const delegation = type === 'DS' ? bench.record('name', 'NS', bench.values('NS')[0]) : null;
      if (delegation) await bench.create(delegation);
      for (const host of hostsFor(type, capabilities.apexCname)) {
        await life(bench, host, type).catch((error: Error) => {
          error.message = `${type} at ${host}: ${error.message}`;
          throw error;
        });
      }
      if (delegation) await bench.clear(await bench.at('name', 'NS'));
    });
  }

  for (const [kind, value] of TEXTS) {
    const name = `TXT ${kind}`;
    bench.check(`${name} comes back as it was`, async () => {
      // canonical by hand: dnsRecord would take the quotes off a text that looks quoted
      const text = { ...bench.record('text', 'TXT', { value: 'x' }), value };
      if (!(await bench.can([name], () => text))) return;
      const [id] = await bench.create(text);
      const list = await bench.shows('text', 'TXT', [text]);
      assert.equal(list[0]?.remoteId, id);
      await bench.clear(list);
      // as the new value of a record, and beside another one
      const [plain, sibling] = [
        { ...text, value: 'was' },
        { ...text, value: 'beside' },
      ];
      await bench.create(plain, sibling);
      const [before] = await bench.shows('text', 'TXT', [plain, sibling]);
      await bench.done({ op: 'update', before: before as RemoteRecord, after: text });
      await bench.shows('text', 'TXT', [text, sibling]);
      // a sibling that changes leaves it as it is
      const [, other] = await bench.shows('text', 'TXT', [text, sibling]);
      await bench.clear([other as RemoteRecord]);
      await bench.clear(await bench.shows('text', 'TXT', [text]));
    });
  }

  for (const { name, like = name, host, type, given } of ODD) {
    if (!bench.writes(type)) continue;
    bench.check(`${name} comes back as it was`, async () => {
      const odd = bench.record(host, type, given);
      if (!(await bench.can([name, like, `${type} at ${host}`], () => odd))) return;
      const [id] = await bench.create(odd);
      const [made] = await bench.shows(odd.host, type, [odd]);
      assert.equal(made?.remoteId, id);
      await bench.clear([made as RemoteRecord]);
    });
  }

  bench.check('values at one name are edited and deleted one by one', async () => {
    const [x, y, z] = [bench.a('two', '192.0.2.1'), bench.a('two', '192.0.2.2'), bench.a('two', '192.0.2.3')];
    await bench.create(x, y);
    const [before] = await bench.shows('two', 'A', [x, y]);
    await bench.done({ op: 'update', before: before as RemoteRecord, after: z });
    const list = await bench.shows('two', 'A', [z, y]);
    await bench.clear(list.slice(0, 1));
    await bench.shows('two', 'A', [y]);
    await bench.clear(list.slice(1));
    await bench.shows('two', 'A', []);
  });

  bench.check('the records of one set are told as the list of the zone tells them', async () => {
    const { provider } = bench.target;
    const read = (provider as Partial<Connected>).recordsAt ?? provider.apply.recordsAt;
    const told = async (host: string) => {
      const found = await read?.(bench.zone, [{ host, type: 'A' }]);
      return found?.filter((r) => r.host === host && r.type === 'A').toSorted(byId);
    };
    const byId = (a: RemoteRecord, b: RemoteRecord) => (a.remoteId < b.remoteId ? -1 : 1);
    await bench.create(bench.a('told', '192.0.2.1'), bench.a('told', '192.0.2.2'), bench.a('other', '192.0.2.3'));
    const list = await bench.at('told', 'A');
    // where there is nothing to ask, the zone is listed
    assert.deepEqual((await told('told')) ?? list.toSorted(byId), list.toSorted(byId));
    assert.deepEqual((await told('untold')) ?? [], []);
    await bench.clear([...list, ...(await bench.at('other', 'A'))]);
  });

  for (const type of ['MX', 'SRV']) {
    if (!bench.writes(type)) continue;
    const name = `the same ${type} target with two preferences is two records`;
    bench.check(name, async () => {
      const make = (priority: number) =>
        type === 'MX'
          ? bench.record('mail', 'MX', { value: 'mx.example.net', priority })
          : bench.record('_sip._tcp', 'SRV', { value: '1 5060 sip.example.net', priority });
      const [ten, twenty, thirty] = [make(10), make(20), make(30)];
      const { host } = ten;
      const [a, b] = await bench.create(ten, twenty);
      assert.notEqual(a, b);
      const found = async () =>
        (await bench.at(host, type)).toSorted((x, y) => Number(x.priority) - Number(y.priority));
      assert.deepEqual((await found()).map(bench.bare), [ten, twenty]);
      await bench.done({ op: 'update', before: (await found())[0] as RemoteRecord, after: thirty });
      assert.deepEqual((await found()).map(bench.bare), [twenty, thirty]);
      await bench.clear((await found()).slice(0, 1));
      assert.deepEqual((await found()).map(bench.bare), [thirty]);
      await bench.clear(await found());
    });
  }

  if (bench.writes('AAAA')) {
    bench.check('an IPv4-mapped address beside others comes back as it was', async () => {
      const make = (value: string) => bench.record('mapped', 'AAAA', { value });
      const [mapped, other] = [make('::ffff:192.0.2.1'), make('2001:db8::1')];
      if (!(await bench.can(['an IPv4-mapped address'], () => mapped))) return;
      await bench.create(mapped);
      // written again as a sibling of the other
      await bench.create(other);
      await bench.clear(await bench.shows('mapped', 'AAAA', [mapped, other]));
    });
  }

  for (const type of ['CNAME', 'PTR'] as const) {
    if (!bench.writes(type)) continue;
    bench.check(
      `names that DNS allows come back as they were in ${type}: hyphens at the ends, odd labels`,
      async () => {
        for (const value of ['0/25.2.0.192.in-addr.arpa', '-a-.example.net', "a!#%&'+,:<=>?[]^`{|}~z.example.net"]) {
          // providers may hold names that the API does not accept
          const odd = { ...bench.record('-odd-', type, { value: 'x.example.net' }), value };
          if (!(await bench.can([`${type} to ${value}`, 'odd labels'], () => odd))) continue;
          await bench.create(odd);
          await bench.clear(await bench.shows('-odd-', type, [odd]));
        }
      },
    );
  }

  bench.check('the TTL belongs to whom the capabilities say', async () => {
    const [ttl, longer] = bench.ttls;
    const [x, y] = [bench.a('ttl', '192.0.2.1'), bench.a('ttl', '192.0.2.2')];
    await bench.create(x, y);
    const [before] = await bench.shows('ttl', 'A', [x, y]);
    await bench.done({ op: 'update', before: before as RemoteRecord, after: { ...x, ttl: longer } });
    const list = (await bench.at('ttl', 'A')).toSorted((m, n) => (m.value < n.value ? -1 : 1));
    const shared = capabilities.ttlOf === 'set';
    assert.deepEqual(
      list.map((r) => [r.value, r.ttl]),
      [
        [x.value, longer],
        [y.value, shared ? longer : ttl],
      ],
    );
    await bench.clear(list);
  });

  bench.check(
    'disabling takes a record out of DNS and keeps it; siblings stay',
    async () => {
      const [x, y] = [bench.a('off', '192.0.2.1'), bench.a('off', '192.0.2.2')];
      await bench.create(x, y);
      const [live] = await bench.shows('off', 'A', [x, y]);
      await bench.done({ op: 'update', before: live as RemoteRecord, after: { ...x, enabled: false } });
      let list = await bench.shows('off', 'A', [{ ...x, enabled: false }, y]);
      const z = { ...y, value: '192.0.2.9' };
      await bench.done({ op: 'update', before: list[1] as RemoteRecord, after: z });
      list = await bench.shows('off', 'A', [{ ...x, enabled: false }, z]);
      // a value that is new leaves the disabled one as it is
      const more = { ...y, value: '192.0.2.10' };
      await bench.create(more);
      list = await bench.shows('off', 'A', [{ ...x, enabled: false }, z, more]);
      await bench.clear(list.slice(1));
      list = await bench.shows('off', 'A', [{ ...x, enabled: false }]);
      await bench.done({ op: 'update', before: list[0] as RemoteRecord, after: x });
      await bench.clear(await bench.shows('off', 'A', [x]));
      await bench.create({ ...x, enabled: false });
      await bench.clear(await bench.shows('off', 'A', [{ ...x, enabled: false }]));
    },
    capabilities.toggle !== 'record' && `toggle: ${capabilities.toggle}`,
  );

  bench.check(
    'disabling takes a set out of DNS and keeps it',
    async () => {
      const x = bench.a('off', '192.0.2.1');
      await bench.create(x);
      const [live] = await bench.shows('off', 'A', [x]);
      await bench.done({ op: 'update', before: live as RemoteRecord, after: { ...x, enabled: false } });
      const [dark] = await bench.shows('off', 'A', [{ ...x, enabled: false }]);
      await bench.done({ op: 'update', before: dark as RemoteRecord, after: x });
      await bench.clear(await bench.shows('off', 'A', [x]));
    },
    capabilities.toggle !== 'set' && `toggle: ${capabilities.toggle}`,
  );

  bench.check(
    'a remark is kept, changed, and taken away',
    async () => {
      const x: DnsRecord = { ...bench.a('remark', '192.0.2.1'), remark: 'for "web" & mail; grüße' };
      if (!(await bench.can(['a remark'], () => x))) return;
      await bench.create(x);
      let [now] = await bench.shows('remark', 'A', [x]);
      // a change of something else keeps it, whether it is repeated or not
      for (const after of [
        { ...x, value: '192.0.2.2' },
        { ...x, value: '192.0.2.2', remark: 'another' },
        { ...bench.a('remark', '192.0.2.2'), remark: '' },
      ]) {
        await bench.done({ op: 'update', before: now as RemoteRecord, after });
        const { remark, ...rest } = after;
        [now] = await bench.shows('remark', 'A', [remark ? after : rest]);
      }
      await bench.clear([now as RemoteRecord]);
    },
    !capabilities.remark && 'no remarks',
  );

  bench.check(
    'a weight is kept and changed',
    async () => {
      const weights = async () => (await bench.at('weight', 'A')).map((r) => r.weight);
      const [x, y] = [
        { ...bench.a('weight', '192.0.2.1'), weight: 10 },
        { ...bench.a('weight', '192.0.2.2'), weight: 20 },
      ];
      await bench.create(x, y);
      const sorted = (await bench.at('weight', 'A')).toSorted((m, n) => (m.value < n.value ? -1 : 1));
      assert.deepEqual(
        sorted.map((r) => r.weight),
        [10, 20],
      );
      await bench.done({ op: 'update', before: sorted[0] as RemoteRecord, after: { ...x, weight: 30 } });
      assert.deepEqual((await weights()).sort(), [20, 30]);
      await bench.clear(await bench.at('weight', 'A'));
    },
    !capabilities.weight && 'no weights',
  );

  bench.check(
    'records of two lines at one name are two records',
    async () => {
      const line = capabilities.lines.find((one) => one !== 'default') as string;
      const [x, y] = [bench.a('line', '192.0.2.1'), bench.a('line', '192.0.2.1', { line })];
      const [a, b] = await bench.create(x, y);
      assert.notEqual(a, b);
      const found = async () => (await bench.at('line', 'A')).toSorted((m) => (m.line === 'default' ? -1 : 1));
      assert.deepEqual((await found()).map(bench.bare), [x, y]);
      const z = { ...y, value: '192.0.2.2' };
      await bench.done({ op: 'update', before: (await found())[1] as RemoteRecord, after: z });
      assert.deepEqual((await found()).map(bench.bare), [x, z]);
      await bench.clear((await found()).slice(1));
      assert.deepEqual((await found()).map(bench.bare), [x]);
      await bench.clear(await found());
    },
    !capabilities.lines.some((one) => one !== 'default') && 'no lines',
  );

  bench.check(
    'a record is proxied, and is so no more',
    async () => {
      for (const type of capabilities.proxiedTypes as RecordType[]) {
        const plain = bench.record('proxied', type, bench.values(type)[0]);
        await bench.create({ ...plain, proxied: true });
        const [made] = await bench.at('proxied', type);
        assert.equal(made?.proxied, true);
        await bench.done({ op: 'update', before: made as RemoteRecord, after: plain });
        const [now] = await bench.shows('proxied', type, [plain]);
        await bench.done({ op: 'update', before: now as RemoteRecord, after: { ...plain, proxied: true } });
        const list = await bench.at('proxied', type);
        assert.deepEqual(
          list.map((r) => [r.value, r.proxied]),
          [[plain.value, true]],
        );
        await bench.clear(list);
      }
    },
    !capabilities.proxy && 'no proxy',
  );

  bench.check('a record moves to another host and to another type', async () => {
    const [x, sibling] = [bench.a('from', '192.0.2.1'), bench.a('from', '192.0.2.2')];
    await bench.create(x, sibling);
    const [before] = await bench.shows('from', 'A', [x, sibling]);
    const moved = bench.a('to', '192.0.2.1');
    await bench.done({ op: 'update', before: before as RemoteRecord, after: moved });
    const [there] = await bench.shows('to', 'A', [moved]);
    const retyped = bench.record('to', 'TXT', { value: 'now a text' });
    const [id] = await bench.done({ op: 'update', before: there as RemoteRecord, after: retyped });
    await bench.shows('to', 'A', []);
    const list = await bench.shows('to', 'TXT', [retyped]);
    assert.equal(list[0]?.remoteId, id);
    await bench.clear([...list, ...(await bench.shows('from', 'A', [sibling]))]);
  });

  bench.check('an address becomes a CNAME and an address again', async () => {
    const [address, alias] = [bench.a('turns', '192.0.2.1'), bench.record('turns', 'CNAME', bench.values('CNAME')[0])];
    await bench.create(address);
    let [now] = await bench.shows('turns', 'A', [address]);
    for (const after of [alias, address]) {
      const change: Change = { op: 'update', before: now as RemoteRecord, after };
      const [id] = await bench.done(change);
      assert.deepEqual(await bench.at('turns', change.before.type), []);
      [now] = await bench.shows('turns', after.type, [after]);
      assert.equal(now?.remoteId, id);
    }
    await bench.clear([now as RemoteRecord]);
  });

  bench.check('creating what exists and deleting what is gone succeed; updating what is gone does not', async () => {
    const x = bench.a('twice', '192.0.2.1');
    const [first] = await bench.create(x);
    const [second] = await bench.create(x);
    assert.equal(second, first);
    const list = await bench.shows('twice', 'A', [x]);
    await bench.clear(list);
    await bench.clear(list);
    const change: Change = { op: 'update', before: list[0] as RemoteRecord, after: bench.a('twice', '192.0.2.2') };
    const [outcome] = await bench.apply(change);
    assert.equal(outcome?.ok === false && outcome.error.kind, 'not_found');
    await bench.shows('twice', 'A', []);
  });

  bench.check('lists of every length around a page are whole', async () => {
    const before = (await bench.list()).length;
    const { pageSize } = bench.target;
    // without a size all lengths are tried: the pages of stand-ins are short
    const full = pageSize ? Math.ceil((before + 1) / pageSize) * pageSize - before : 0;
    const lengths = pageSize ? [full - 1, full, full + 1] : [1, 2, 3, 4, 5, 6, 7, 8];
    const made: DnsRecord[] = [];
    for (const length of lengths) {
      const more = Array.from({ length: Math.max(0, length - made.length) }, (_, i) =>
        bench.a(`page${made.length + i}`, '192.0.2.1'),
      );
      await bench.create(...more);
      made.push(...more);
      const all = await bench.list();
      assert.equal(all.length, before + made.length);
      assert.equal(new Set(all.map((r) => r.remoteId)).size, all.length, 'each record has an id of its own');
    }
    await bench.clear((await bench.list()).filter((r) => /^page\d+$/.test(r.host)));
  });
}
