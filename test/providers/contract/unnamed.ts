import assert from 'node:assert/strict';
import type { DnsRecord, RemoteRecord } from '../../../src/providers/provider.js';
import type { Bench } from './bench.js';

type Edit = Partial<DnsRecord>;

/** Somebody else changes a record at the provider; then a change of another field of it is asked for here. */
export function unnamedFields(bench: Bench): void {
  const { capabilities } = bench;
  const [first, second, third] = ['192.0.2.81', '192.0.2.82', '192.0.2.83'];
  const byEach = capabilities.ids === 'own';

  /** Whether both changes were carried out on one record, which is then gone. */
  async function bothStay(theirs: Edit, ours: Edit): Promise<void> {
    await bench.create(bench.a('unnamed', first));
    const [made] = (await bench.at('unnamed', 'A')) as [RemoteRecord];
    const seen: RemoteRecord = { ...(capabilities.remark && { remark: '' }), ...made };
    const [id] = await bench.done({ op: 'update', before: seen, after: { ...bench.bare(seen), ...theirs } });
    // where each change makes another record, that of whoever saw the old one finds none
    if (id === seen.remoteId) {
      const [outcome] = await bench.apply({ op: 'update', before: seen, after: { ...bench.bare(seen), ...ours } });
      // what is looked for by its name is not found by the old one, and nothing is written
      const isAway = theirs.host !== undefined && outcome?.ok === false && outcome.error.kind === 'not_found';
      assert.ok(isAway || outcome?.ok, outcome && !outcome.ok ? outcome.error.message : '');
      const last = outcome?.ok ? outcome.remoteId : id;
      const now = (await bench.list()).find(({ remoteId }) => remoteId === last) as RemoteRecord;
      const wanted = isAway ? theirs : { ...theirs, ...ours };
      const found = Object.fromEntries(Object.keys(wanted).map((field) => [field, now[field as keyof DnsRecord]]));
      assert.deepEqual(found, wanted, `${Object.keys(ours)} was asked for, ${Object.keys(theirs)} was not`);
    }
    await bench.clear((await bench.list()).filter(({ host }) => /^unnamed/.test(host)));
  }

  bench.check('a field that nobody named keeps what the provider holds', async () => {
    const ttl = bench.ttls[1];
    const edits: [theirs: Edit, ours: Edit][] = [[{ ttl }, { value: third }]];
    if (byEach)
      edits.push(
        [{ value: second }, { ttl }],
        [{ host: 'unnamed-now' }, { ttl }],
        [{ host: 'unnamed-now' }, { value: third }],
      );
    if (capabilities.toggle) edits.push([{ ttl }, { enabled: false }]);
    if (capabilities.toggle && byEach) {
      edits.push([{ value: second }, { enabled: false }], [{ enabled: false }, { value: second }]);
    }
    if (capabilities.remark) edits.push([{ remark: 'of theirs' }, { value: second }], [{ ttl }, { remark: 'of ours' }]);
    for (const [theirs, ours] of edits) await bothStay(theirs, ours);
  });
  bench.check('a field that nobody named keeps what the provider holds in a list, too', async () => {
    const ttl = bench.ttls[1];
    const hosts = ['list1', 'list2', 'list3', 'list4', 'list5'];
    const at = async () => (await bench.list()).filter(({ host }) => hosts.includes(host));
    await bench.create(...hosts.map((host) => bench.a(host, first)));
    const seen = (await at()).toSorted((a, b) => (a.host < b.host ? -1 : 1));
    const ids = await bench.done(
      ...seen.map((before) => ({ op: 'update' as const, before, after: { ...bench.bare(before), ttl } })),
    );
    if (ids.every((id, i) => id === seen[i]?.remoteId)) {
      await bench.done(
        ...seen.map((before) => ({ op: 'update' as const, before, after: { ...bench.bare(before), value: third } })),
      );
      for (const now of await at()) assert.deepEqual([now.host, now.ttl, now.value], [now.host, ttl, third]);
    }
    await bench.clear(await at());
  });
}
