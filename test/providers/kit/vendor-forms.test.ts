import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { errorHooks, errorIn, needed, neededList } from '../../../src/providers/kit/http/errors.js';
import { counted } from '../../../src/providers/kit/http/pages.js';
import { fromRecords } from '../../../src/providers/kit/records/from-records.js';
import { inList, orNoZone } from '../../../src/providers/kit/records/in-place.js';
import { plainRecord } from '../../../src/providers/kit/records/plain-record.js';
import { type RecordVerbs } from '../../../src/providers/kit/records/record-verbs.js';
import { fewOrAll } from '../../../src/providers/kit/rrsets/plain-sets.js';
import { EMPTY, refusePriority, refuseText } from '../../../src/providers/kit/values/value-limits.js';
import { dayOf, linesIn, zoneInfo, zoneNamed, zoneOf } from '../../../src/providers/kit/zone/zones.js';
import { type Change, ProviderError, type RemoteRecord } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const held = (type: string, value: string, more: Partial<RemoteRecord> = {}): RemoteRecord => ({
  ...dnsRecord({ host: 'www', type, value }, zone.name),
  ...{ remoteId: 'r1', readOnly: false },
  ...more,
});

describe('a record of a vendor with ids', () => {
  const read = (type: string, value: string, priority?: number | string | null) => {
    const record = plainRecord({ id: 7, host: 'a', type, value, ttl: '300', priority: priority as never }, zone.name);
    return record && [record.value, record.priority, record.ttl, record.readOnly];
  };

  it('has its priority beside the value or in it, and the root with its dot or without', () => {
    assert.deepEqual(read('MX', 'mx.example.net', 5), ['mx.example.net', 5, 300, false]);
    assert.deepEqual(read('MX', '5 mx.example.net.', 9), ['mx.example.net', 5, 300, false]);
    assert.deepEqual(read('MX', '5 mx.example.net'), ['mx.example.net', 5, 300, false]);
    assert.deepEqual(read('MX', '', 0), ['.', 0, 300, false]);
    assert.deepEqual(read('MX', 'mx.example.net', null), ['mx.example.net', 0, 300, false]);
    assert.deepEqual(read('SRV', '1 5060 sip.example.net', '2'), ['1 5060 sip.example.net', 2, 300, false]);
    assert.deepEqual(read('SRV', '2 1 5060 sip.example.net', 0), ['1 5060 sip.example.net', 2, 300, false]);
    assert.deepEqual(read('CNAME', 'b.example.net', 10), ['b.example.net', null, 300, false]);
    assert.deepEqual(read('TXT', '"quoted" here', 10), ['"quoted" here', null, 300, false]);
  });

  it('is at the apex where its host is empty, has its own fields, and is read-only when either side says so', () => {
    const one = { id: 'x', type: 'A', value: '192.0.2.1', ttl: 60 };
    assert.equal(plainRecord({ ...one, host: '' }, zone.name)?.host, '@');
    assert.equal(plainRecord(one, zone.name)?.host, '@');
    assert.equal(plainRecord({ ...one, name: 'b.example.com.' }, zone.name)?.host, 'b');
    assert.equal(plainRecord({ ...one, name: 'b.example.net' }, zone.name), null);
    const own = plainRecord({ ...one, host: '@' }, zone.name, { enabled: false, line: 'x', readOnly: true });
    assert.deepEqual([own?.remoteId, own?.enabled, own?.line, own?.readOnly], ['x', false, 'x', true]);
    assert.equal(plainRecord({ ...one, type: 'NOVEL' }, zone.name, { readOnly: false })?.readOnly, true);
  });
});

describe('what is declared beside the verbs', () => {
  const world = (more: Partial<RecordVerbs>, there: RemoteRecord[] = []) => {
    const done: string[] = [];
    const apply = fromRecords({
      createRecord: async (_zone, { type }) => `new ${done.push(`create ${type}`)}`,
      updateRecord: async (_zone, { remoteId }) => (done.push('update') ? remoteId : ''),
      deleteRecord: async (_zone, { type }) => done.push(`delete ${type}`),
      readRecord: inList(async () => there),
      ...more,
    });
    return { done, run: async (...changes: Change[]) => apply(zone, changes) };
  };
  const judge = ({ value }: { value: string }) => {
    if (value === 'bad') throw new ProviderError('rejected', 'not so', false);
  };
  const [good, bad] = [held('TXT', 'good'), held('TXT', 'bad')];

  it('what the vendor cannot hold is sent nowhere, and what would make room for it stays', async () => {
    for (const fixed of [[], ['value', 'type']] as const) {
      const { done, run } = world({ judge, fixed });
      const alias = held('CNAME', 'a.example.net');
      for (const change of [
        { op: 'create', after: bad },
        { op: 'update', before: good, after: bad },
        { op: 'update', before: alias, after: bad },
      ] as const) {
        const [outcome] = await run(change);
        assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && !outcome.error.mayHaveApplied);
      }
      assert.deepEqual(done, []);
    }
  });

  it('nor is it in a batch, of which the others are', async () => {
    const sent: number[] = [];
    const batch: RecordVerbs['batch'] = async (_zone, changes) => {
      sent.push(changes.length);
      return changes.map(() => 'b');
    };
    const outcomes = await world({ judge, batch }).run(
      { op: 'create', after: bad },
      { op: 'create', after: good },
      { op: 'create', after: held('A', '192.0.2.1') },
    );
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [false, true, true],
    );
    assert.deepEqual(sent, [2]);
  });

  it('what an update cannot change is made anew, and only then', async () => {
    const { done, run } = world({ fixed: ['type'] });
    await run({ op: 'update', before: good, after: held('A', '192.0.2.1') });
    await run({ op: 'update', before: good, after: held('TXT', 'other') });
    assert.deepEqual(done, ['create A', 'delete TXT', 'update']);
  });

  it('a vague refusal is looked into: what is gone is gone, what is there was refused', async () => {
    const refused = async () => Promise.reject(new ProviderError('rejected', 'no', false));
    const verbs = { vague: true, updateRecord: refused, deleteRecord: refused };
    const [before, after] = [good, held('TXT', 'other')];
    const gone = world(verbs);
    const [update] = await gone.run({ op: 'update', before, after });
    assert.ok(update && !update.ok && update.error.kind === 'not_found');
    assert.deepEqual(await gone.run({ op: 'delete', before }), [{ ok: true, remoteId: null }]);
    for (const change of [
      { op: 'update', before, after },
      { op: 'delete', before },
    ] as const) {
      const [outcome] = await world(verbs, [good]).run(change);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    }
    const [plain] = await world({ ...verbs, vague: false }).run({ op: 'delete', before });
    assert.ok(plain && !plain.ok && plain.error.kind === 'rejected');
  });

  it('a zone that cannot be read is gone only where no list has it', async () => {
    const read = () => Promise.reject(new ProviderError('rejected', 'no', false));
    await assert.rejects(
      orNoZone(zone, read, async () => []),
      { kind: 'not_found' },
    );
    await assert.rejects(
      orNoZone(zone, read, async () => [zone]),
      { kind: 'rejected' },
    );
  });
});

describe('errors of vendors', () => {
  it('are one or several, with a code or words alone', () => {
    const hooks = errorHooks((body) => body as never, { auth: [/key/], not_found: [7] });
    assert.equal(hooks.failed(undefined), false);
    assert.equal(hooks.failed(false), false);
    assert.equal(hooks.failed([]), false);
    assert.equal(hooks.errorMessage({ message: 'no key' }), 'no key');
    assert.equal(hooks.errorKind(200, { message: 'no key' }), 'auth');
    assert.equal(hooks.errorMessage([{ code: 7, message: 'gone' }, { message: 'x' }]), 'gone (code 7); x');
    assert.equal(hooks.errorKind(200, [{ code: 7, message: 'gone' }]), 'not_found');
    assert.equal(hooks.errorKind(200, { code: '7', message: '' }), undefined);
  });

  it('stand in two fields, where the code is none of success', () => {
    const of = errorIn('code', 'msg', [0, 200]);
    for (const fine of [null, undefined, {}, { code: 200 }, { code: 0 }, { code: null }, { code: '' }, 'text', []]) {
      assert.equal(of(fine), false);
    }
    assert.deepEqual(of({ code: 500, msg: 'x' }), { code: 500, message: 'x' });
    assert.deepEqual(of({ code: 'No' }), { code: 'No', message: '' });
  });

  it('are parts that are missing', () => {
    assert.equal(needed('x', 'id'), 'x');
    for (const none of [undefined, null, '', 0, false] as const) {
      assert.throws(() => needed(none, 'id'), { kind: 'unavailable', message: /has no id/ });
    }
    assert.deepEqual(neededList([], 'list'), []);
    for (const none of [undefined, null, {}, 'x']) {
      assert.throws(() => neededList(none as never, 'list'), { kind: 'unavailable' });
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

describe('zones of vendors', () => {
  it('are known by their names in every form, and found by the exact one', async () => {
    assert.deepEqual(zoneOf('BÜCHER.example.', 7), { id: '7', name: 'xn--bcher-kva.example' });
    assert.deepEqual(zoneOf('Example.com'), { id: 'Example.com', name: 'example.com' });
    assert.equal(
      (await zoneNamed('b.example', Promise.resolve([zoneOf('ab.example'), zoneOf('b.example')])))?.id,
      'b.example',
    );
    assert.equal(await zoneNamed('b.example', Promise.resolve([zoneOf('ab.example')])), null);
  });

  it('end on a day, in whatever way it is written', () => {
    assert.equal(dayOf('2026-03-01'), '2026-03-01T00:00:00.000Z');
    assert.equal(dayOf('2026/3/1 12:00:00', '00:00:00+08:00'), '2026-03-01T00:00:00+08:00');
    for (const none of [undefined, '', '0000-00-00', '2026-03', 'soon', '2026-03-01x']) assert.equal(dayOf(none), null);
    assert.deepEqual(zoneInfo({ plan: 'x' }), { lines: [], minTtl: null, expiresAt: null, plan: 'x' });
  });

  it('have lines in a tree, of which some only hold others', () => {
    type Node = { id: string | null; name: string; below?: Node[]; parent?: string };
    const tree: Node[] = [
      { id: 'a', name: 'A', below: [{ id: null, name: 'group', below: [{ id: 'b', name: 'B' }] }] },
      { id: 'c', name: 'C', parent: 'a' },
    ];
    assert.deepEqual(
      linesIn(tree, (one) => one),
      [
        { id: 'a', name: 'A' },
        { id: 'b', name: 'B', parent: 'a' },
        { id: 'c', name: 'C', parent: 'a' },
      ],
    );
    assert.deepEqual(
      linesIn(null, (one: Node) => one),
      [],
    );
  });

  it('take priorities and texts within bounds', () => {
    const mx = (priority: number) => ({ type: 'MX', priority });
    for (const fine of [mx(0), mx(50), { type: 'SRV', priority: 99 }]) refusePriority(fine, 'X');
    assert.throws(() => refusePriority(mx(51), 'X'), {
      message: 'X takes MX priorities of 0 to 50',
      mayHaveApplied: false,
    });
    assert.throws(() => refusePriority(mx(0), 'X', 1), { kind: 'rejected' });
    assert.throws(() => refuseText({ type: 'TXT', value: '' }, 'X', { never: [EMPTY] }), /nothing in it/);
  });
});
