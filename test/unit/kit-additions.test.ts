import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../src/dns/record.js';
import { typedFields } from '../../src/providers/fields.js';
import { allPages, eachOf } from '../../src/providers/pages.js';
import { ProviderError, type RemoteRecord } from '../../src/providers/provider.js';
import { type AllRecordVerbs, inPlace, published } from '../../src/providers/records.js';

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
    assert.deepEqual(three.done, ['delete CNAME']);
  });
});

describe('writes that are published', () => {
  const none = { ok: false, error: refused, tried: true } as const;
  const some = { ok: true, remoteId: 'r1' } as const;

  it('are published once a list, and not when nothing was written', async () => {
    let calls = 0;
    const publish = async () => calls++;
    assert.deepEqual(await published(async () => [some, none], publish)(zone, []), [some, none]);
    assert.equal(calls, 1);
    assert.deepEqual(await published(async () => [none], publish)(zone, []), [none]);
    assert.equal(calls, 1);
    const maybe = { ...none, error: new ProviderError('unavailable', 'no answer', true) };
    await published(async () => [maybe], publish)(zone, []);
    assert.equal(calls, 2);
  });

  it('have failed when they are not published', async () => {
    const outcomes = await published(
      async () => [some, none],
      () => Promise.reject(refused),
    )(zone, []);
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
