import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { timeIsOver, withinDeadline } from '../../../src/providers/kit/http/deadline-context.js';
import { allPages, eachOf } from '../../../src/providers/kit/http/pages.js';
import { fromRecords } from '../../../src/providers/kit/records/from-records.js';
import { groupedBatch } from '../../../src/providers/kit/records/grouped-batch.js';
import { inPlace } from '../../../src/providers/kit/records/in-place.js';
import { published } from '../../../src/providers/kit/records/published.js';
import { type AllRecordVerbs } from '../../../src/providers/kit/records/record-verbs.js';
import { typedFields } from '../../../src/providers/kit/values/rdata-fields.js';
import { type Change, type Outcome, ProviderError, type RemoteRecord } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const record = (type: string, value: string) => dnsRecord({ host: 'www', type, value }, zone.name);
const held = (type: string, value: string): RemoteRecord => ({
  ...record(type, value),
  remoteId: 'r1',
  readOnly: false,
});
const gone = new ProviderError('not_found', 'gone', false);
const refused = new ProviderError('rejected', 'no', false);

describe('a record that is made anew', () => {
  const verbs = (more: Partial<AllRecordVerbs> = {}) => {
    const done: string[] = [];
    const all: AllRecordVerbs = {
      createRecord: async (_zone, { type }) => `made ${type}${done.push(`create ${type}`) && ''}`,
      updateRecord: async () => assert.fail('nothing is updated'),
      deleteRecord: async (_zone, { type }) => done.push(`delete ${type}`),
      readRecord: async (_zone, before) => before,
      findRecords: async () => [],
      ...more,
    };
    return { all, done };
  };

  it('comes before the old one goes, and after it where one of them is a CNAME', async () => {
    const one = verbs();
    assert.equal(await inPlace(one.all, zone, held('A', '192.0.2.1'), record('TXT', 'x')), 'made TXT');
    assert.deepEqual(one.done, ['create TXT', 'delete A']);
    const two = verbs();
    await inPlace(two.all, zone, held('CNAME', 'a.example.net'), record('A', '192.0.2.1'));
    assert.deepEqual(two.done, ['delete CNAME', 'create A']);
  });

  it('leaves the old one, or puts it back, when it is refused; one that may be there is not written over', async () => {
    const failing = (error: ProviderError) => {
      const { all, done } = verbs();
      const { createRecord } = all;
      all.createRecord = (z, r) => (r.type === 'A' ? Promise.reject(error) : createRecord(z, r));
      return { all, done };
    };
    const one = failing(refused);
    await assert.rejects(inPlace(one.all, zone, held('TXT', 'x'), record('A', '192.0.2.1')), { kind: 'rejected' });
    assert.deepEqual(one.done, []);
    const two = failing(new ProviderError('rejected', 'no', false));
    const alias = held('CNAME', 'a.example.net');
    await assert.rejects(inPlace(two.all, zone, alias, record('A', '192.0.2.1')), { mayHaveApplied: true });
    assert.deepEqual(two.done, ['delete CNAME', 'create CNAME']);
    const three = failing(new ProviderError('unavailable', 'no answer', true));
    await assert.rejects(inPlace(three.all, zone, alias, record('A', '192.0.2.1')), { mayHaveApplied: true });
    assert.deepEqual(three.done, ['delete CNAME', 'create CNAME']);
    three.done.length = 0;
    three.all.findRecords = async () => [held('A', '192.0.2.1')];
    await assert.rejects(inPlace(three.all, zone, alias, record('A', '192.0.2.1')), { mayHaveApplied: true });
    assert.deepEqual(three.done, ['delete CNAME']);
    const late = failing(new ProviderError('unavailable', 'no answer', true).lateBy('once'));
    await assert.rejects(inPlace(late.all, zone, alias, record('A', '192.0.2.1')), /is gone and was not put back/);
    assert.deepEqual(late.done, ['delete CNAME']);
  });

  it('is put back though the time for the list is over, and said to be gone where that fails, too', async () => {
    const { all, done } = verbs();
    const { createRecord } = all;
    all.createRecord = async (z, r) => {
      if (r.type !== 'A') return timeIsOver() ? assert.fail('it has a time of its own') : createRecord(z, r);
      throw new ProviderError('rejected', 'no', false);
    };
    const replaced = () => inPlace(all, zone, held('CNAME', 'a.example.net'), record('A', '192.0.2.1'));
    await assert.rejects(withinDeadline(performance.now() - 1, replaced), { kind: 'rejected', message: 'no' });
    assert.deepEqual(done, ['delete CNAME', 'create CNAME']);
    all.createRecord = async () => Promise.reject(new ProviderError('rejected', 'no', false));
    await assert.rejects(replaced(), { kind: 'rejected', message: /is gone and was not put back: no/ });
  });
});

describe('records of vendors that replace them whole', () => {
  it('keep what was changed past us, but for what is changed', async () => {
    const sent: object[] = [];
    const theirs = { ...held('A', '192.0.2.99'), ttl: 77, remark: 'theirs' };
    const apply = fromRecords({
      whole: true,
      createRecord: async () => assert.fail('nothing is made'),
      deleteRecord: async () => assert.fail('nothing is deleted'),
      readRecord: async () => theirs,
      updateRecord: async (_zone, before, after) => {
        sent.push([before.value, after.value, after.ttl]);
        return before.remoteId;
      },
    });
    const before = held('A', '192.0.2.1');
    const after = { ...record('A', '192.0.2.1'), ttl: 60 };
    const [outcome] = await apply(zone, [{ op: 'update', before, after }]);
    assert.deepEqual(sent, [['192.0.2.99', '192.0.2.99', 60]]);
    assert.ok(outcome?.ok && outcome.held?.value === '192.0.2.99' && outcome.remoteId === 'r1');
  });

  it('are never known by an answer without an id, and whatever fails after a write has changed something', async () => {
    const none = { deleteRecord: async () => undefined, updateRecord: async () => 'undefined' };
    for (const id of ['', 'undefined', 'null']) {
      const apply = fromRecords({ ...none, createRecord: async () => id });
      const [outcome] = await apply(zone, [{ op: 'create', after: record('A', '192.0.2.1') }]);
      assert.ok(outcome && !outcome.ok && outcome.error.mayHaveApplied, id);
    }
  });
});

describe('answers to a list', () => {
  const changes = ['192.0.2.1', '192.0.2.2'].map((value): Change => ({ op: 'create', after: record('A', value) }));
  const update: Change = { op: 'update', before: held('TXT', 'x'), after: record('TXT', 'y') };
  const list = (answers: (RemoteRecord | null)[]) =>
    groupedBatch(
      [...changes, update],
      (c) => [c.op, {}],
      async () => ({ create: answers, update: [held('TXT', 'y')] }),
      (made) => made,
    );

  it('are known by what they say, in whatever order they come', async () => {
    const [one, two] = ['192.0.2.1', '192.0.2.2'].map((value, i) => ({ ...held('A', value), remoteId: `n${i}` }));
    const found = await list([two as RemoteRecord, one as RemoteRecord]);
    assert.deepEqual(
      found.map((r) => r?.remoteId),
      ['n0', 'n1', 'r1'],
    );
  });

  it('leave it open what was done where one is missing', async () => {
    for (const answers of [
      [held('A', '192.0.2.1')],
      [held('A', '192.0.2.1'), null],
      [held('TXT', 'a'), held('A', '192.0.2.1')],
    ])
      await assert.rejects(list(answers), { mayHaveApplied: true });
  });
});

describe('writes that are published', () => {
  const none = { ok: false, error: refused, tried: true } as const;
  const some = { ok: true, remoteId: 'r1' } as const;

  it('are published once a list, and not when nothing was written', async () => {
    let calls = 0;
    const publish = async () => calls++;
    const of = (...outcomes: Outcome[]) =>
      published({ apply: async () => outcomes, listRecords: async () => [] }, publish);
    assert.deepEqual(await of(some, none).apply(zone, []), [some, none]);
    assert.equal(calls, 1);
    assert.deepEqual(await of(none).apply(zone, []), [none]);
    assert.equal(calls, 1);
    const maybe = { ...none, error: new ProviderError('unavailable', 'no answer', true) };
    const last = of(maybe);
    await last.apply(zone, []);
    assert.equal(calls, 2);
    // all is there: a list needs no other one
    await last.listRecords(zone);
    assert.equal(calls, 2);
  });

  it('that come while another list is being published wait for the next time', async () => {
    const ends: (() => void)[] = [];
    const provider = published(
      { apply: async () => [some], listRecords: async () => [] },
      () => new Promise<void>((resolve) => ends.push(resolve)),
    );
    const first = provider.apply(zone, []);
    await nextTurn();
    const second = provider.apply(zone, []);
    await nextTurn();
    ends[0]?.();
    await first;
    // the second is not in the refresh of the first
    const listing = provider.listRecords(zone);
    await nextTurn();
    assert.equal(ends.length, 3);
    for (const end of ends) end();
    await Promise.all([second, listing]);
  });

  it('have failed when they are not published, and no list says otherwise before they are', async () => {
    let works = false;
    const provider = published({ apply: async () => [some, none], listRecords: async () => [] }, () =>
      works ? Promise.resolve() : Promise.reject(refused),
    );
    const outcomes = await provider.apply(zone, []);
    await assert.rejects(provider.listRecords(zone), refused);
    // another process knows nothing of it: who decides by a list says so
    await assert.rejects(provider.listRecords({ id: 'other', name: 'other.example' }, { settles: true }), refused);
    assert.deepEqual(await provider.listRecords({ id: 'other', name: 'other.example' }), []);
    works = true;
    assert.deepEqual(await provider.listRecords(zone), []);
    assert.equal(outcomes[1], none);
    const [first] = outcomes;
    assert.ok(first && !first.ok && first.tried && first.error.mayHaveApplied);
    assert.match(first.error.message, /did not put it into DNS: no/);
  });
});

describe('entries of a list of ids', () => {
  it('come in the order of the list, some at once', async () => {
    let [now, most] = [0, 0];
    const ids = Array.from({ length: 20 }, (_, i) => i);
    const found = await eachOf(ids, async (id) => {
      most = Math.max(most, ++now);
      await new Promise((done) => setImmediate(done));
      now--;
      return `entry ${id}`;
    });
    assert.deepEqual(
      found,
      ids.map((id) => `entry ${id}`),
    );
    assert.ok(most > 1 && most < 20);
  });

  it('are an error when the list is none, or an entry is missing', async () => {
    const read = async () => 'x';
    for (const list of [undefined, {}, [1.5], [null], [2 ** 60]])
      await assert.rejects(eachOf(list as number[], read), { kind: 'unavailable' });
    await assert.rejects(
      eachOf([1], () => Promise.reject(gone)),
      { kind: 'unavailable' },
    );
    await assert.rejects(
      eachOf([1], () => Promise.reject(refused)),
      { kind: 'rejected' },
    );
    assert.deepEqual(await eachOf([], read), []);
  });
});

describe('rdata of parts without quotes', () => {
  it('has them where a part is a text, also where some were there', () => {
    const read = (type: string, text: string) => typedFields().spaced(type, text);
    assert.equal(read('CAA', '0 issue ca.example.net; a=b'), '0 issue "ca.example.net; a=b"');
    assert.equal(read('CAA', '0 issue "ca.example.net"'), '0 issue "ca.example.net"');
    assert.equal(read('CAA', '0 issue'), '0 issue');
    assert.equal(read('NAPTR', '100 50 s SIP+D2U  _sip._udp.x'), '100 50 "s" "SIP+D2U" "" _sip._udp.x');
    for (const [type, text] of [
      ['MX', '10 mx.example.net'],
      ['A', '192.0.2.1'],
      ['X', 'a b'],
    ] as const)
      assert.equal(read(type, text), text);
  });
});

describe('pages of a vendor that does not know how it is asked for them', () => {
  it('have an end, which is an error', async () => {
    const entries = ['a', 'b'];
    for (const page of [{ entries }, { entries, total: 5 }])
      await assert.rejects(
        allPages(
          (one) => one,
          async () => page,
          2,
        ),
        { kind: 'unavailable' },
      );
  });
});
