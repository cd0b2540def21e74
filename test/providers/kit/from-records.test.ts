import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { NotBegun } from '../../../src/providers/kit/http/errors.js';
import { fromRecords } from '../../../src/providers/kit/records/from-records.js';
import { inPlace, orGone } from '../../../src/providers/kit/records/in-place.js';
import type { RecordVerbs } from '../../../src/providers/kit/records/record-verbs.js';
import { type Change, type Outcome, ProviderError, type RemoteRecord } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const a = (host: string, value: string, more: Partial<LooseRecord> = {}): DnsRecord =>
  dnsRecord({ host, type: 'A', value, ttl: 300, ...more }, zone.name);
const remote = (remoteId: string, record: DnsRecord): RemoteRecord => ({ ...record, remoteId, readOnly: false });
const create = (after: DnsRecord): Change => ({ op: 'create', after });
const short = (outcomes: Outcome[]): string[] =>
  outcomes.map((o) =>
    o.ok ? `${o.remoteId}` : `${o.error.kind}${o.error.mayHaveApplied ? '?' : ''}${o.tried ? '' : ' not tried'}`,
  );
const refuse = (kind: ProviderError['kind'], mayHave?: boolean): never => {
  throw new ProviderError(kind, 'no', mayHave);
};
/** Verbs that note what they are asked for, and by default do it. */
function verbs(more: Partial<RecordVerbs> = {}): RecordVerbs & { calls: string[] } {
  const calls: string[] = [];
  const all: RecordVerbs = {
    createRecord: async (_zone, record) => `new-${record.host}`,
    updateRecord: async (_zone, before) => before.remoteId,
    deleteRecord: async () => {},
    ...more,
  };
  return {
    ...all,
    calls,
    createRecord(...args) {
      calls.push(`create ${args[1].host}`);
      return all.createRecord(...args);
    },
    updateRecord(...args) {
      calls.push(`update ${args[1].host} ${[...args[3]].join(' ')}`);
      return all.updateRecord(...args);
    },
    deleteRecord(...args) {
      calls.push(`delete ${args[1].host}`);
      return all.deleteRecord(...args);
    },
  };
}

describe('records that have ids', () => {
  const before = remote('r1', a('www', '192.0.2.1'));

  it('are deleted first where several changes are of one name', async () => {
    const all = verbs();
    const cname = dnsRecord({ host: 'www', type: 'CNAME', value: 'a.example' }, zone.name);
    const outcomes = await fromRecords(all)(zone, [
      create(cname),
      create(a('web', '192.0.2.1')),
      { op: 'delete', before },
    ]);
    assert.deepEqual(all.calls, ['delete www', 'create www', 'create web']);
    assert.deepEqual(short(outcomes), ['new-www', 'new-web', 'null']);
  });

  it('make room before what takes their place, where one moves or is changed', async () => {
    const cname = dnsRecord({ host: 'www', type: 'CNAME', value: 'a.example' }, zone.name);
    const move = (old: RemoteRecord, after: DnsRecord): Change => ({ op: 'update', before: old, after });
    const [www, web] = [before, remote('r2', a('web', '192.0.2.1'))];
    for (const [list, calls] of [
      // at the host that it leaves
      [[create(cname), move(www, a('old', '192.0.2.1'))], 'update www host, create www'],
      // at the host to which it goes, as the same record
      [[move(www, a('web', '192.0.2.1')), move(web, a('old', '192.0.2.1'))], 'update web host, update www host'],
      [
        [create(a('www', '192.0.2.1')), move(remote('r3', cname), a('www', '192.0.2.5'))],
        'update www type value ttl, create www',
      ],
      // what is in nobody's way stays in its order, and a swap is tried as it stands
      [[create(a('web', '192.0.2.9')), move(www, a('web', '192.0.2.1'))], 'create web, update www host'],
      [[move(www, a('web', '192.0.2.1')), move(web, a('www', '192.0.2.1'))], 'update web host, update www host'],
    ] as [Change[], string][]) {
      const all = verbs();
      await fromRecords(all)(zone, list);
      assert.equal(all.calls.join(', '), calls);
    }
  });

  it('that are gone need not be deleted; those that exist need not be created', async () => {
    const twin = remote('twin', a('www', '192.0.2.1'));
    const all = verbs({
      createRecord: async () => refuse('rejected'),
      deleteRecord: async () => refuse('not_found'),
      findRecords: async () => [remote('other', a('www', '192.0.2.9')), twin],
    });
    const outcomes = await fromRecords(all)(zone, [
      { op: 'delete', before: remote('x', a('gone', '192.0.2.1')) },
      create(a('www', '192.0.2.1')),
      create(a('www', '192.0.2.1', { ttl: 60 })),
      create(a('www', '192.0.2.5')),
    ]);
    assert.deepEqual(short(outcomes), ['null', 'twin', 'twin', 'rejected']);
    assert.deepEqual(all.calls.slice(2), ['create www', 'update www ttl', 'create www']);
    const picky = verbs({ ...all, isDuplicate: () => false });
    assert.deepEqual(short(await fromRecords(picky)(zone, [create(a('www', '192.0.2.1'))])), ['rejected']);
  });

  it('that a change gives another id are found when its answer was lost', async () => {
    const after = a('www', '192.0.2.2');
    const all = verbs({
      updateRecord: async () => refuse('not_found'),
      findRecords: async () => [remote('r2', after)],
    });
    assert.deepEqual(short(await fromRecords(all)(zone, [{ op: 'update', before, after }])), ['r2']);
    const other = a('www', '192.0.2.3');
    assert.deepEqual(short(await fromRecords(all)(zone, [{ op: 'update', before, after: other }])), ['not_found']);
  });

  it('say what the provider has made of a change', async () => {
    const after = a('www', '192.0.2.1', { ttl: 65 });
    const rounded = a('www', '192.0.2.1', { ttl: 120 });
    const all = verbs({ updateRecord: async () => remote('r1', rounded) });
    const outcomes = await fromRecords(all)(zone, [
      { op: 'update', before, after },
      { op: 'update', before, after: rounded },
    ]);
    assert.deepEqual(outcomes, [
      { ok: true, remoteId: 'r1', held: rounded },
      { ok: true, remoteId: 'r1' },
    ]);
  });

  it('are sent for a remark alone where both states have one', async () => {
    const all = verbs({ updateRecord: async (_zone, old) => ({ ...old, remark: 'kept' }) });
    const said = { ...before, remark: 'old' };
    const { remoteId: _id, readOnly: _readOnly, ...record } = before;
    const outcomes = await fromRecords(all)(zone, [
      { op: 'update', before: said, after: { ...record, remark: 'kept' } },
      { op: 'update', before: said, after: { ...record, remark: 'new' } },
      { op: 'update', before: said, after: record },
      { op: 'update', before, after: { ...record, remark: 'new' } },
    ]);
    assert.deepEqual(all.calls, ['update www remark', 'update www remark']);
    const held = { ...record, remark: 'kept' };
    assert.deepEqual(outcomes[0], { ok: true, remoteId: 'r1' });
    assert.deepEqual(outcomes[1], { ok: true, remoteId: 'r1', held });
  });

  it('are not asked for when the provider would refuse all of them', async () => {
    for (const kind of ['auth', 'unavailable', 'rate_limit'] as const) {
      const all = verbs({ createRecord: async (_zone, { host }) => (host === 'b' ? refuse(kind) : host) });
      const outcomes = await fromRecords(all)(
        zone,
        ['a', 'b', 'c', 'd'].map((host) => create(a(host, '192.0.2.1'))),
      );
      const unclear = kind === 'unavailable' ? '?' : '';
      assert.deepEqual(short(outcomes), ['a', `${kind}${unclear}`, `${kind} not tried`, `${kind} not tried`]);
      assert.equal(all.calls.length, 2);
    }
    const all = verbs({ createRecord: async (_zone, { host }) => (host === 'b' ? refuse('rejected') : host) });
    const list = ['a', 'b', 'c'].map((host) => create(a(host, '192.0.2.1')));
    assert.deepEqual(short(await fromRecords(all)(zone, list)), ['a', 'rejected', 'c']);
    // an atomic list ends with the first failure, and is carried out in order
    const atomic = await fromRecords(all, { parallel: 3 })(zone, list, { atomic: true });
    assert.deepEqual(short(atomic), ['a', 'rejected', 'rejected not tried']);
    const late = await fromRecords(all)(zone, list, { deadline: performance.now() - 1 });
    assert.deepEqual(new Set(short(late)), new Set(['unavailable not tried']));
  });

  it('are written at once where the vendor allows it, those of one name one after the other', async () => {
    let now = 0;
    let most = 0;
    const busy = new Set<string>();
    const all = verbs({
      createRecord: async (_zone, { host, value }) => {
        assert.ok(!busy.has(host), 'one at a name');
        busy.add(host);
        most = Math.max(most, ++now);
        for (let turn = 0; turn < 5; turn++) await nextTurn();
        now--;
        busy.delete(host);
        return `${host} ${value}`;
      },
    });
    const list = Array.from({ length: 24 }, (_, i) => a(`h${i % 8}`, `192.0.2.${i}`));
    const outcomes = await fromRecords(all, { parallel: 3 })(zone, list.map(create));
    assert.equal(most, 3);
    assert.deepEqual(
      short(outcomes),
      list.map((r) => `${r.host} ${r.value}`),
    );
  });
});

describe('a record that was refused before anything was sent', () => {
  it('is not looked for', async () => {
    const all = verbs({
      createRecord: async () => {
        throw new NotBegun('rejected', 'no');
      },
      findRecords: async () => assert.fail('it is not there'),
    });
    assert.deepEqual(short(await fromRecords(all)(zone, [create(a('www', '192.0.2.1'))])), ['rejected not tried']);
  });

  it('is not looked for either where a part of it was carried out', async () => {
    const all = verbs({
      createRecord: async () => refuse('rejected', true),
      findRecords: async () => assert.fail('what is there is that part'),
    });
    assert.deepEqual(short(await fromRecords(all)(zone, [create(a('www', '192.0.2.1'))])), ['rejected?']);
  });
});

describe('inPlace and orGone', () => {
  const before = remote('r1', a('www', '192.0.2.1'));
  const text = dnsRecord({ host: 'www', type: 'TXT', value: 'x' }, zone.name);
  const cname = dnsRecord({ host: 'www', type: 'CNAME', value: 'a.example' }, zone.name);

  it('create the new record before the old one is deleted, unless one is a CNAME', async () => {
    const all = verbs();
    assert.equal(await inPlace(all, zone, before, text), 'new-www');
    assert.deepEqual(all.calls.splice(0), ['create www', 'delete www']);
    assert.equal(await inPlace(all, zone, before, cname), 'new-www');
    assert.deepEqual(all.calls.splice(0), ['delete www', 'create www']);
    assert.equal(await inPlace(all, zone, before, text, true), 'new-www');
    assert.deepEqual(all.calls, ['delete www', 'create www']);
  });

  it('leave things as they were when a part is refused, and say so when they could not', async () => {
    const same = a('new', '192.0.2.1');
    const stays = verbs({
      deleteRecord: async (_zone, { remoteId }) => (remoteId === 'r1' ? refuse('not_found') : undefined),
    });
    await assert.rejects(inPlace(stays, zone, before, same), { kind: 'not_found', mayHaveApplied: false });
    assert.deepEqual(stays.calls, ['create new', 'delete www', 'delete new']);
    const never = verbs({ deleteRecord: async () => refuse('rejected') });
    await assert.rejects(inPlace(never, zone, before, same), { kind: 'rejected', mayHaveApplied: true });
    const unclear = verbs({ deleteRecord: async () => refuse('unavailable') });
    await assert.rejects(inPlace(unclear, zone, before, same), { kind: 'unavailable', mayHaveApplied: true });
    assert.deepEqual(unclear.calls, ['create new', 'delete www'], 'the new one stays where the old one may be gone');
    const refused = verbs({
      createRecord: async (_zone, { type }) => (type === 'CNAME' ? refuse('rejected') : 'again'),
    });
    await assert.rejects(inPlace(refused, zone, before, cname), { kind: 'rejected', mayHaveApplied: true });
    assert.deepEqual(refused.calls, ['delete www', 'create www', 'create www']);
  });

  it('take a refused record for gone where it is not found', async () => {
    const look = (found: unknown) =>
      orGone(
        async () => refuse('rejected'),
        async () => found,
      );
    await assert.rejects(look(null), { kind: 'not_found' });
    await assert.rejects(look(before), { kind: 'rejected' });
    await assert.rejects(
      orGone(
        async () => refuse('rejected'),
        async () => refuse('unavailable'),
      ),
      { kind: 'rejected' },
    );
    await assert.rejects(
      orGone(
        async () => refuse('auth'),
        async () => null,
      ),
      { kind: 'auth' },
    );
    assert.equal(
      await orGone(
        async () => 'done',
        async () => null,
      ),
      'done',
    );
  });
});
