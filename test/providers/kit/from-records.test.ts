import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { NotBegun } from '../../../src/providers/kit/http/errors.js';
import { allPages, nextLink, type Page, type PageRequest } from '../../../src/providers/kit/http/pages.js';
import { fromRecords } from '../../../src/providers/kit/records/from-records.js';
import { inPlace, orGone } from '../../../src/providers/kit/records/in-place.js';
import type { RecordVerbs } from '../../../src/providers/kit/records/record-verbs.js';
import { typedFields } from '../../../src/providers/kit/values/rdata-fields.js';
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
        await new Promise((done) => setTimeout(done, 5));
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

describe('lists that come in pages', () => {
  const list = (pages: Page<string>[] | ((at: PageRequest) => Page<string>), perPage?: number) => {
    const asked: PageRequest[] = [];
    const read = async (at: PageRequest) => {
      asked.push(at);
      return (Array.isArray(pages) ? pages[asked.length - 1] : pages(at)) ?? { entries: [] };
    };
    return { asked, all: () => allPages((entry: string) => entry, read, perPage) };
  };
  const cut = { kind: 'unavailable', message: /cut short|kept changing/ };

  it('are read by number, offset, cursor, link, or until a page is not full', async () => {
    const numbered = list([
      { entries: ['a', 'b'], total: 3 },
      { entries: ['c'], total: 3 },
    ]);
    assert.deepEqual(await numbered.all(), ['a', 'b', 'c']);
    assert.deepEqual(numbered.asked, [
      { page: 1, offset: 0, next: null },
      { page: 2, offset: 2, next: null },
      // whether anything moved there meanwhile
      { page: 1, offset: 0, next: null },
    ]);
    const linked = list(
      [
        { entries: ['a'], next: 'x' },
        { entries: [], next: 'y' },
      ]
        .slice(0, 1)
        .concat({ entries: ['b'], next: null as never }),
    );
    assert.deepEqual(await linked.all(), ['a', 'b']);
    assert.deepEqual(linked.asked.at(-1), { page: 2, offset: 1, next: 'x' });
    assert.deepEqual(await list([{ entries: ['a', 'b'] }, { entries: ['c'] }], 2).all(), ['a', 'b', 'c']);
    assert.deepEqual(await list([{ entries: [], total: 0 }]).all(), []);
  });

  it('hold each entry once, also when pages shift', async () => {
    const shifted = [
      { entries: ['a', 'b'], total: 3 },
      { entries: ['b', 'c'], total: 3 },
    ];
    assert.deepEqual(await list(shifted).all(), ['a', 'b', 'c']);
  });

  it('are read again when they became shorter or longer, since one may be missed', async () => {
    // "a" was taken away after the first page: "c" moved to it
    let reads = 0;
    const moving = list(({ page }) => {
      reads++;
      if (reads === 1) return { entries: ['a', 'b'], total: 4 };
      const now = ['b', 'c', 'd'];
      return { entries: now.slice((page - 1) * 2, page * 2), total: 3 };
    });
    assert.deepEqual(await moving.all(), ['b', 'c', 'd']);
    let total = 100;
    await assert.rejects(list(() => ({ entries: [`${total}`], total: total++ })).all(), cut);
  });

  /** Pages of two, of a list that is another one once so many of them were read. */
  const shifting = (before: string[], after: string[], reads: number) => {
    let done = 0;
    return list(({ page, offset }) => {
      const now = done++ < reads ? before : after;
      assert.equal(offset, (page - 1) * 2);
      return { entries: now.slice(offset, offset + 2), total: now.length };
    });
  };

  it('are read again when one was taken away and another added, since one may be missed', async () => {
    const six = ['a', 'b', 'c', 'd', 'e', 'f'];
    // of which page it was taken away, once the pages up to it were read: the next one moved to there
    for (const [gone, reads] of [
      ['a', 1],
      ['a', 2],
      ['c', 2],
    ] as const) {
      const now = [...six.filter((entry) => entry !== gone), 'z'];
      const { all, asked } = shifting(six, now, reads);
      assert.deepEqual((await all()).sort(), now.sort());
      assert.ok(asked.length > 5);
    }
    // in another order, or with one less on its last page: nothing was missed
    assert.deepEqual((await shifting(six, ['b', 'a', 'd', 'c', 'e', 'f'], 3).all()).sort(), six);
    const much = Array.from({ length: 20 }, (_, i) => `e${i}`);
    const long = shifting(much, much, 0);
    assert.deepEqual(await long.all(), much);
    assert.equal(long.asked.length, 15);
    const single = shifting(['a', 'b'], ['a', 'b'], 0);
    await single.all();
    assert.equal(single.asked.length, 1);
    let other = 0;
    const never = list(({ page }) => ({
      entries: [`${other++}`, `${other++}`].slice(0, page === 1 ? 2 : 1),
      total: 3,
    }));
    await assert.rejects(never.all(), { kind: 'unavailable', message: /kept changing/ });
  });

  it('are not looked at again where a cursor holds the place', async () => {
    const pages = list([
      { entries: ['a'], next: 'x' },
      { entries: ['b'], next: null },
    ]);
    assert.deepEqual(await pages.all(), ['a', 'b']);
    assert.equal(pages.asked.length, 2);
  });

  it('have an end: nobody knows it who is told nothing, and one that never comes is an error', async () => {
    await assert.rejects(list([{ entries: ['a'] }]).all(), cut);
    await assert.rejects(list([{ entries: [] }]).all(), cut);
    assert.deepEqual(await list([{ entries: ['a'] }], 2).all(), ['a']);
    const endless = list(({ page }) => ({ entries: [`${page}`], next: `to ${page}` }));
    await assert.rejects(endless.all(), { kind: 'unavailable', message: /does not end/ });
    assert.equal(endless.asked.length, 5000);
  });

  it('are not read for ever where the same page comes again and again', async () => {
    for (const page of [{ entries: ['a'], total: 2 }, { entries: ['a', 'b'] }]) {
      await assert.rejects(list(() => page, 2).all(), { kind: 'unavailable' });
    }
  });

  it('that lack a page, or a part of one, are none', async () => {
    for (const pages of [
      [
        { entries: ['a'], total: 2 },
        { entries: [], total: 2 },
      ],
      [{ entries: ['a'], total: 2, next: null }],
      [
        { entries: ['a'], next: 'x' },
        { entries: ['b'], next: 'x' },
      ],
      [
        { entries: ['a'], next: 'x' },
        { entries: [], next: 'y' },
      ],
      [{ entries: ['a'], next: '' }],
      [{ entries: undefined, total: 0 }],
      [{ entries: ['a'], total: Number.NaN }],
      [{ entries: ['a'], total: 1, count: 2 }],
    ] as Page<string>[][]) {
      await assert.rejects(list(pages).all(), cut, JSON.stringify(pages));
    }
  });

  it('are followed by links', () => {
    assert.equal(nextLink('<https://x/?p=1>; rel="prev", <https://x/?a=1,2&p=3>; rel="next"'), 'https://x/?a=1,2&p=3');
    assert.equal(nextLink('<https://x/?p=9>; title="next"; rel=next'), 'https://x/?p=9');
    assert.equal(nextLink('<https://x/?p=9>; rel="last"'), null);
    assert.equal(nextLink(undefined), null);
  });
});

describe('fields of rdata', () => {
  const own = typedFields();
  const others = typedFields({ names: { target: 'data', value: 'data', tag: 'tag' }, dots: true });

  for (const [type, value, priority, fields] of [
    ['MX', 'mx.example.net', 10, { priority: 10, target: 'mx.example.net' }],
    ['SRV', '5 5060 sip.example.net', 1, { priority: 1, weight: 5, port: 5060, target: 'sip.example.net' }],
    ['CAA', '0 issue "ca.example; a=\\"b\\""', null, { flags: 0, tag: 'issue', value: 'ca.example; a="b"' }],
    ['URI', '10 1 "https://example.net/"', null, { priority: 10, weight: 1, target: 'https://example.net/' }],
    ['HTTPS', '1 . alpn=h3,h2 port=443', null, { priority: 1, target: '.', value: 'alpn=h3,h2 port=443' }],
    ['SVCB', '0 svc.example.net', null, { priority: 0, target: 'svc.example.net', value: '' }],
    ['TLSA', '3 1 1 abcd', null, { usage: 3, selector: 1, matching_type: 1, certificate: 'abcd' }],
    ['SSHFP', '4 2 abcd', null, { algorithm: 4, type: 2, fingerprint: 'abcd' }],
    ['DS', '1 13 2 abcd', null, { key_tag: 1, algorithm: 13, digest_type: 2, digest: 'abcd' }],
    [
      'NAPTR',
      '100 50 "s" "SIP+D2U" "" _sip._udp.example.net',
      null,
      { order: 100, preference: 50, flags: 's', service: 'SIP+D2U', regexp: '', replacement: '_sip._udp.example.net' },
    ],
  ] as const) {
    it(`of ${type} are taken apart and put together`, () => {
      assert.deepEqual(own.of({ type, value, priority }), fields);
      const rdata = own.rdata(type, { ...fields, id: 7 });
      assert.equal(rdata, priority === null ? value : `${priority} ${value}`);
      assert.equal(own.rdata(type, { ...fields, [Object.keys(fields)[0] as string]: null }), null);
    });
  }

  it('take the names that the vendor has, and its final dots', () => {
    const srv = { type: 'SRV', value: '5 5060 sip.example.net', priority: 1 };
    assert.deepEqual(others.of(srv), { priority: 1, weight: 5, port: 5060, data: 'sip.example.net.' });
    assert.deepEqual(others.of({ ...srv, value: '0 0 .' }), { priority: 1, weight: 0, port: 0, data: '.' });
    assert.equal(others.rdata('SRV', { priority: 1, weight: 5, port: 5060, data: 'a.example' }), '1 5 5060 a.example');
    assert.deepEqual(others.of({ type: 'CAA', value: '0 issue "ca.example"', priority: null }), {
      flags: 0,
      tag: 'issue',
      data: 'ca.example',
    });
  });

  it('are none of types that are one value', () => {
    assert.equal(own.of({ type: 'A', value: '192.0.2.1', priority: null }), null);
    assert.equal(own.rdata('A', { value: '192.0.2.1' }), null);
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

describe('a record in the place of another', () => {
  const before = remote('r1', a('www', '192.0.2.1'));
  const text = dnsRecord({ host: 'www', type: 'TXT', value: 'x' }, zone.name);
  const cname = dnsRecord({ host: 'www', type: 'CNAME', value: 'a.example' }, zone.name);

  it('is made before that one goes, unless one is a CNAME', async () => {
    const all = verbs();
    assert.equal(await inPlace(all, zone, before, text), 'new-www');
    assert.deepEqual(all.calls.splice(0), ['create www', 'delete www']);
    assert.equal(await inPlace(all, zone, before, cname), 'new-www');
    assert.deepEqual(all.calls.splice(0), ['delete www', 'create www']);
    assert.equal(await inPlace(all, zone, before, text, true), 'new-www');
    assert.deepEqual(all.calls, ['delete www', 'create www']);
  });

  it('leaves things as they were when a part of it is refused, and says so when it could not', async () => {
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

  it('is gone where it was refused and is not found', async () => {
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
