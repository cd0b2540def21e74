import assert from 'node:assert/strict';
import type { Change, DnsRecord, RemoteRecord } from '../../../src/providers/provider.js';
import { type Bench, byValue } from './bench.js';

/** Lists of changes, and writers at the same time. */
export function lists(bench: Bench): void {
  const { capabilities } = bench;

  bench.check('a change that the provider refuses leaves the others of its list alone', async () => {
    const taken = bench.a('taken', '192.0.2.1');
    await bench.create(taken);
    const [left, right] = [bench.a('left', '192.0.2.2'), bench.a('right', '192.0.2.3')];
    const outcomes = await bench.apply(
      { op: 'create', after: left },
      { op: 'create', after: bench.record('taken', 'CNAME', bench.values('CNAME')[0]) },
      { op: 'create', after: right },
    );
    assert.deepEqual(
      outcomes.map((o) => (o.ok ? 'ok' : o.error.kind)),
      ['ok', 'rejected', 'ok'],
    );
    await bench.shows('taken', 'CNAME', []);
    await bench.clear([
      ...(await bench.shows('left', 'A', [left])),
      ...(await bench.shows('right', 'A', [right])),
      ...(await bench.shows('taken', 'A', [taken])),
    ]);
  });

  bench.check('twenty mixed changes of one list are all carried out, and nothing else', async () => {
    const text = (host: string, value: string) => bench.record(host, 'TXT', { value });
    const mail = (host: string, value: string, priority: number) => bench.record(host, 'MX', { value, priority });
    const kept = [
      bench.a('mix1', '192.0.2.1'),
      bench.a('mix1', '192.0.2.2'),
      text('mix1', 'stays'),
      bench.a('mix9', '192.0.2.9'),
    ];
    const old = [
      ...[bench.a('mix1', '192.0.2.3'), bench.a('mix1', '192.0.2.4')],
      ...[bench.a('mix2', '192.0.2.1'), text('mix2', 'old one'), text('mix2', 'old two')],
      ...[mail('mix3', 'mx1.example.net', 10), mail('mix3', 'mx2.example.net', 20)],
      ...[
        bench.record('mix4', 'CNAME', bench.values('CNAME')[0]),
        bench.a('mix5', '192.0.2.1'),
        bench.a('mix6', '192.0.2.1'),
      ],
    ];
    await bench.create(...kept, ...old);
    const listed = (await bench.list()).filter((r) => /^mix\d/.test(r.host));
    const had = (record: DnsRecord): RemoteRecord => {
      const found = listed.find(
        (r) =>
          r.host === record.host &&
          r.type === record.type &&
          r.value === record.value &&
          r.priority === record.priority,
      );
      return found ?? assert.fail(`${record.host} ${record.type} ${record.value} is not listed`);
    };
    const [a3, a4, a21, one, two, mx1, mx2, alias, a5, a6] = old as [
      ...[DnsRecord, DnsRecord, DnsRecord, DnsRecord, DnsRecord],
      ...[DnsRecord, DnsRecord, DnsRecord, DnsRecord, DnsRecord],
    ];
    const updates: [DnsRecord, DnsRecord][] = [
      [a3, bench.a('mix1', '192.0.2.33')],
      [a21, bench.a('mix2', '192.0.2.22')],
      [one, bench.record('mix2', 'TXT', bench.values('TXT')[1])],
      [mx1, mail('mix3', 'mx1.example.net', 30)],
      [alias, bench.record('mix4', 'CNAME', bench.values('CNAME')[1])],
      // another host, and another type
      [a5, bench.a('mix7', '192.0.2.1')],
      [a6, text('mix6', 'was an address')],
    ];
    const gone = [a4, two, mx2];
    const fresh = [
      ...[bench.a('mix1', '192.0.2.5'), text('mix1', 'comes'), text('mix8', 'x'.repeat(300))],
      ...[bench.a('mix8', '192.0.2.1'), bench.a('mix8', '192.0.2.2'), mail('mix8', 'mx.example.net', 5)],
      ...[
        bench.a('mix10', '192.0.2.1'),
        bench.a('mix11', '192.0.2.1'),
        bench.record('mix12', 'CNAME', bench.values('CNAME')[0]),
      ],
      // at the host from which a record moves
      bench.a('mix5', '192.0.2.55'),
    ];
    const changes: Change[] = [
      ...updates.map(([before, after]): Change => ({ op: 'update', before: had(before), after })),
      ...gone.map((before): Change => ({ op: 'delete', before: had(before) })),
      ...fresh.map((after): Change => ({ op: 'create', after })),
    ];
    assert.equal(changes.length, 20);
    // in no order that would help
    const mixed = changes.map((_, i) => changes[(i * 7) % 20] as Change);
    const ids = await bench.done(...mixed);
    const now = (await bench.list()).filter((r) => /^mix\d/.test(r.host));
    const expected = [...kept, ...updates.map(([, after]) => after), ...fresh];
    assert.deepEqual(byValue(now.map(bench.bare)), byValue(expected));
    for (const [i, change] of mixed.entries()) {
      if (change.op === 'delete') assert.equal(ids[i], null);
      else
        assert.ok(
          now.some((r) => r.remoteId === ids[i] && r.value === change.after.value),
          `the id of ${change.op}`,
        );
    }
    await bench.clear(now);
  });

  bench.check('two changes of one list at one name are both carried out', async () => {
    const [x, y] = [bench.a('both', '192.0.2.1'), bench.a('both', '192.0.2.2')];
    await bench.create(x);
    const [before] = await bench.shows('both', 'A', [x]);
    const z = bench.a('both', '192.0.2.3');
    await bench.done({ op: 'create', after: y }, { op: 'update', before: before as RemoteRecord, after: z });
    const list = await bench.shows('both', 'A', [y, z]);
    await bench.clear(list);
  });

  // `replaces` says whom the lock of the service keeps apart; what it does not is the adapter's
  const alone = capabilities.replaces === 'record' || (capabilities.replaces === 'set' && capabilities.atomic);
  bench.check(
    'two writers at one name lose nothing of each other',
    async () => {
      const values = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map((value) => bench.a('shared', value));
      await Promise.all(values.map((after) => bench.create(after)));
      const list = await bench.shows('shared', 'A', values);
      const after = bench.a('shared', '192.0.2.9');
      await Promise.all([
        bench.done({ op: 'update', before: list[0] as RemoteRecord, after }),
        bench.clear(list.slice(1, 2)),
      ]);
      await bench.clear(await bench.shows('shared', 'A', [after, ...values.slice(2)]));
    },
    !alone && `replaces: ${capabilities.replaces}, not atomic: writers at one name are kept apart by the lock`,
  );

  bench.check(
    'writers at different names do not disturb each other',
    async () => {
      const list = Array.from({ length: 10 }, (_, i) => bench.a(`p${i}`, `192.0.2.${i + 1}`));
      await Promise.all(list.map((after) => bench.create(after)));
      const made = (await bench.list()).filter((r) => /^p\d$/.test(r.host));
      assert.deepEqual(byValue(made.map(bench.bare)), byValue(list));
      await Promise.all(made.map((r) => bench.clear([r])));
    },
    capabilities.replaces === 'zone' && 'replaces: zone, whose writers are kept apart by the lock',
  );

  bench.check('a record that is not there any more is not found when it is updated', async () => {
    const [sibling, x, y] = ['99', '1', '2'].map((end) => bench.a('fault', `192.0.2.${end}`)) as [
      DnsRecord,
      DnsRecord,
      DnsRecord,
    ];
    await bench.create(sibling, x);
    const [, before] = await bench.shows('fault', 'A', [sibling, x]);
    await bench.clear([before as RemoteRecord]);
    const [outcome] = await bench.apply({ op: 'update', before: before as RemoteRecord, after: y });
    assert.equal(outcome?.ok === false && outcome.error.kind, 'not_found');
    await bench.clear(await bench.shows('fault', 'A', [sibling]));
  });

  if (capabilities.atomic) {
    bench.check('a list that is to be carried out whole is not, when one of it is refused', async () => {
      const [sibling, x] = [bench.a('fault', '192.0.2.99'), bench.a('fault', '192.0.2.1')];
      await bench.create(sibling);
      const changes: Change[] = [
        { op: 'create', after: x },
        { op: 'create', after: bench.record('fault', 'CNAME', { value: 'target.example.net' }) },
        { op: 'create', after: bench.a('whole', '192.0.2.1') },
      ];
      const outcomes = await bench.target.provider.apply(bench.zone, changes, { atomic: true });
      assert.ok(outcomes.every((outcome) => !outcome.ok));
      assert.deepEqual(await bench.at('whole', 'A'), []);
      await bench.clear(await bench.shows('fault', 'A', [sibling]));
    });
  }
}
