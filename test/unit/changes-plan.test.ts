import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import type { StoredRecord } from '../../src/cache/record-cache.js';
import { creation, type Edit, type Place, update, upsert } from '../../src/changes/edits/edit.js';
import type { RecordInput, RecordPatch } from '../../src/changes/edits/record.dto.js';
import { isIdle, WorkingCopy } from '../../src/changes/edits/working-copy.js';
import { chunksOf } from '../../src/changes/planner.js';
import { type DomainAccess, READ, WRITE } from '../../src/domains/access-rights.js';
import type { OpenDomain } from '../../src/domains/domain-policy.js';
import { defineProvider, type ProviderDefinition } from '../../src/providers/provider.js';
import { row } from '../support/rows.js';

const provider = (capabilities: Partial<ProviderDefinition['capabilities']>): ProviderDefinition =>
  defineProvider({
    kind: 'test',
    label: 'Test',
    docs: '',
    credentials: [[]],
    capabilities: { types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT'], ...capabilities },
    load: () => {
      throw new Error('a plan asks no provider');
    },
  });
/** records with ids; disabled ones are held there */
const RECORDS = provider({ toggle: 'record' });
/** records with ids; disabled ones are kept here */
const PARKING = provider({});
/** whole sets, one TTL for each */
const SETS = provider({ ids: 'derived', ttlOf: 'set', replaces: 'set' });

const domain = (access: Partial<DomainAccess> = {}): OpenDomain => ({
  id: 7,
  name: 'example.com',
  apart: '',
  remote_id: 'z7',
  account_id: 1,
  account_name: 'one',
  provider: 'test',
  owner_id: 1,
  status: 'active',
  remark: '',
  records_count: 2,
  stale_revision: null,
  revision: 1,
  expires_at: null,
  expires_source: null,
  expires_checked_at: null,
  expiry_error: null,
  watch_certificates: false,
  certificate_port: 443,
  change_rules: null,
  created_at: '2026-01-01T00:00:00.000Z',
  synced_at: null,
  access: { level: WRITE, hosts: [], rules: null, ...access },
});

const place = (definition: ProviderDefinition): Place => ({ definition, zone: 'example.com', defaultTtl: 600 });

/** An edit as a client says it; `create` and `upsert` are read when it is known for which provider. */
type Wish = Edit | ((at: Place) => Edit);
const create =
  (input: Partial<RecordInput> & { value: string }): Wish =>
  (at) => ({ op: 'create', ...creation(at, { host: 'www', type: 'A', ...input }) });
const ensure =
  (input: Partial<RecordInput> & { value: string }): Wish =>
  (at) =>
    upsert(at, { host: 'www', type: 'A', ...input });
const change =
  (id: number, patch: RecordPatch): Wish =>
  (at) =>
    update(at, id, patch);
const remove = (id: number): Wish => ({ op: 'delete', id });

/** Folds a list; errors stand at their places as `code`. */
function fold(list: Wish[], rows: StoredRecord[], definition = RECORDS, on = domain()) {
  const copy = new WorkingCopy(definition, on, rows, () => true);
  const edits = list.map((wish) => (typeof wish === 'function' ? wish(place(definition)) : wish));
  const planned = edits.map((edit, i) => copy.plan(edit, i));
  const nets = [...copy.nets()].filter((net) => !isIdle(net));
  const chunk = chunksOf(nets, 1000).flat();
  return {
    planned,
    nets,
    codes: planned.map(({ error }) => error?.code ?? 'ok'),
    changes: chunk.flatMap(({ change }) =>
      change
        ? [`${change.op} ${'after' in change ? `${change.after.type} ${change.after.value}` : change.before.value}`]
        : [],
    ),
  };
}

/** A list of one, which must fit. */
function plan(wish: Wish, rows: StoredRecord[], definition = RECORDS, on = domain()) {
  const { planned, nets } = fold([wish], rows, definition, on);
  const [{ error, before, after }] = planned as [(typeof planned)[0]];
  if (error) throw error;
  const [net] = nets;
  return {
    before,
    after,
    change: net?.change ?? null,
    expected: net?.expected ?? null,
    remark: after?.remark,
    idle: net ? undefined : true,
  };
}
const refusal = (status: number, code: number) => (error: unknown) => {
  const { status: s, code: c } = error as { status: number; code: number };
  assert.deepEqual([s, c], [status, code], String(error));
  return true;
};

describe('a plan', () => {
  it('creates what is new and leaves its neighbours alone', () => {
    const made = plan(create({ value: '192.0.2.9', ttl: 60 }), [row(1)]);
    assert.equal(made.before, null);
    assert.deepEqual([made.change?.op, made.after?.value, made.after?.ttl], ['create', '192.0.2.9', 60]);
  });

  it('takes the TTL of the set that a record joins, unless another was asked for', () => {
    const joining = plan(create({ value: '192.0.2.9' }), [row(1, { ttl: 900 })], SETS);
    assert.equal(joining.after?.ttl, 900);
    assert.equal(plan(create({ value: '192.0.2.9', ttl: 60 }), [row(1, { ttl: 900 })], SETS).after?.ttl, 60);
    // where each record has its own, and where the neighbour is kept here only, there is no set to join
    assert.notEqual(plan(create({ value: '192.0.2.9' }), [row(1, { ttl: 900 })]).after?.ttl, 900);
    const parked = row(1, { ttl: 900, remote_id: null, enabled: false });
    assert.notEqual(plan(create({ value: '192.0.2.9' }), [parked], SETS).after?.ttl, 900);
  });

  it('needs the right to change the neighbours whose TTL it moves', () => {
    const own = domain({
      level: WRITE,
      rules: [{ effect: 'allow', actions: ['create'], hosts: ['www'], types: ['A'] }],
    });
    const moving = create({ value: '192.0.2.9', ttl: 60 });
    assert.throws(() => plan(moving, [row(1)], SETS, own), refusal(403, 403001));
    assert.equal(plan(moving, [row(1)], RECORDS, own).change?.op, 'create');
    assert.equal(plan(create({ value: '192.0.2.9', ttl: 300 }), [row(1)], SETS, own).change?.op, 'create');
  });

  it('needs the right to give the neighbours the new TTL, too', () => {
    const [first, neighbour] = ['192.0.2.1', '192.0.2.2'];
    const rule = (value: string, min: number) => ({
      effect: 'allow',
      ttl: { min },
      values: { cidrs: [`${value}/32`] },
    });
    const own = domain({ rules: [rule(first, 60), rule(neighbour, 300)] as DomainAccess['rules'] });
    const rows = [row(1, { value: neighbour, ttl: 300 })];
    assert.throws(() => plan(create({ value: first, ttl: 60 }), rows, SETS, own), refusal(403, 403001));
    assert.equal(plan(create({ value: first, ttl: 300 }), rows, SETS, own).after?.ttl, 300);
  });

  it('refuses the same record twice and a CNAME beside others', () => {
    assert.throws(() => plan(create({ value: '192.0.2.1' }), [row(1)]), refusal(409, 409001));
    assert.throws(() => plan(create({ type: 'CNAME', value: 'a.example.net' }), [row(1)]), refusal(400, 400001));
    const cname = row(1, { type: 'CNAME', value: 'a.example.net' });
    assert.throws(() => plan(create({ value: '192.0.2.9' }), [cname]), refusal(400, 400001));
    // a disabled one is in nobody's way
    assert.equal(plan(create({ value: '192.0.2.9' }), [{ ...cname, enabled: false }]).change?.op, 'create');
  });

  it('refuses a second DNAME of a name', () => {
    const types = provider({ types: ['A', 'DNAME'] });
    const dname = row(1, { type: 'DNAME', value: 'a.example.net' });
    const second = create({ type: 'DNAME', value: 'b.example.net' });
    assert.throws(() => plan(second, [dname], types), refusal(400, 400001));
    assert.equal(plan(second, [row(1)], types).change?.op, 'create');
    assert.equal(plan(create({ value: '192.0.2.9' }), [dname], types).change?.op, 'create');
  });

  it('updates by the provider’s id and keeps what the patch does not name', () => {
    const before = row(1, { remark: 'mine' });
    const { change: sent, after, remark } = plan(change(1, { value: '192.0.2.9' }), [before, row(2)]);
    assert.equal(sent?.op, 'update');
    assert.equal(sent?.op === 'update' && sent.before.remoteId, 'r1');
    assert.deepEqual([after?.value, after?.ttl, after?.host, remark], ['192.0.2.9', 300, 'www', 'mine']);
  });

  it('asks the provider nothing for a remark, and writes nothing for what is so already', () => {
    const noted = plan(change(1, { remark: 'new' }), [row(1)]);
    assert.deepEqual([noted.change, noted.remark, noted.idle], [null, 'new', undefined]);
    const idle = plan(change(1, { value: '192.0.2.1', ttl: 300 }), [row(1)]);
    assert.deepEqual([idle.change, idle.idle], [null, true]);
    assert.equal(plan({ op: 'status', id: 1, enabled: true }, [row(1)]).idle, true);
  });

  it('disables at the provider where it can, else takes the record away there and keeps it here', () => {
    const off: Wish = { op: 'status', id: 1, enabled: false };
    assert.equal(plan(off, [row(1)], RECORDS).change?.op, 'update');
    const parking = plan(off, [row(1)], PARKING);
    assert.deepEqual([parking.change?.op, parking.after?.enabled], ['delete', false]);
  });

  it('brings back what was kept here, and edits it there not at all while it is off', () => {
    const parked = row(1, { remote_id: null, enabled: false });
    assert.equal(plan({ op: 'status', id: 1, enabled: true }, [parked], PARKING).change?.op, 'create');
    const edited = plan(change(1, { value: '192.0.2.9' }), [parked], PARKING);
    assert.deepEqual([edited.change, edited.after?.value, edited.idle], [null, '192.0.2.9', undefined]);
    assert.equal(plan({ op: 'delete', id: 1 }, [parked], PARKING).change, null);
  });

  it('will not enable a record beside what it cannot stand beside', () => {
    const parked = row(1, { type: 'CNAME', value: 'a.example.net', remote_id: null, enabled: false });
    assert.throws(() => plan({ op: 'status', id: 1, enabled: true }, [parked, row(2)], PARKING), refusal(400, 400001));
  });

  it('must be allowed for the old and for the new state', () => {
    const under = domain({ level: READ, hosts: ['www'] });
    const move: Wish = change(1, { host: 'mail' });
    assert.throws(() => plan(move, [row(1)], RECORDS, under), refusal(403, 403001));
    const back: Wish = change(1, { host: 'www' });
    assert.throws(() => plan(back, [row(1, { host: 'mail' })], RECORDS, under), refusal(403, 403001));
    assert.equal(plan(change(1, { ttl: 60 }), [row(1)], RECORDS, under).change?.op, 'update');
    assert.throws(
      () => plan({ op: 'delete', id: 1 }, [row(1, { host: 'mail' })], RECORDS, under),
      refusal(403, 403001),
    );
  });

  it('leaves alone what is only shown', () => {
    const shown = row(1, { read_only: true });
    assert.throws(() => plan({ op: 'delete', id: 1 }, [shown]), refusal(400, 400001));
    assert.throws(() => plan(change(1, { ttl: 60 }), [shown]), refusal(400, 400001));
    assert.equal(plan(change(1, { ttl: 300 }), [shown]).idle, true);
  });

  it('knows when its row is gone', () => {
    assert.throws(() => plan(remove(9), [row(1)]), refusal(404, 404001));
  });

  it('knows what the provider will call its row, as far as ids follow from the content', () => {
    const moved = plan(change(1, { host: 'mail' }), [row(1)], SETS);
    assert.match(String(moved.expected), /^rr-/);
    assert.equal(plan(change(1, { host: 'mail' }), [row(1)], RECORDS).expected, null);
    // it stays here when the provider's goes
    assert.equal(plan({ op: 'status', id: 1, enabled: false }, [row(1)], PARKING).expected, '');
  });

  it('does not let a record that comes back move the TTL of the set it joins', () => {
    const parked = row(1, { remote_id: null, enabled: false, ttl: 60 });
    const on = plan({ op: 'status', id: 1, enabled: true }, [parked, row(2, { ttl: 900 })], SETS);
    assert.equal(on.after?.ttl, 900);
    const own = domain({ rules: [{ effect: 'allow', hosts: ['www'], values: { cidrs: ['192.0.2.1/32'] } }] });
    const named: Wish = change(1, { enabled: true, ttl: 60 });
    assert.equal(plan(named, [parked, row(2, { ttl: 900 })], SETS).after?.ttl, 60);
    // who names one needs the right to change the neighbours
    const moving: Wish = change(1, { enabled: true, ttl: 120 });
    assert.throws(() => plan(moving, [parked, row(2, { ttl: 900 })], SETS, own), refusal(403, 403001));
  });

  it('allows a CNAME at the apex where the provider flattens it, beside what it does not replace', () => {
    const flattening = provider({ apexCname: true });
    const apex = create({ host: '@', type: 'CNAME', value: 'a.example.net' });
    const mail = row(1, { host: '@', type: 'MX', value: 'mail.example.com', priority: 10 });
    assert.throws(() => plan(apex, []), refusal(400, 400001));
    assert.equal(plan(apex, [mail], flattening).change?.op, 'create');
    assert.throws(() => plan(apex, [row(1, { host: '@' })], flattening), refusal(400, 400001));
    const cname = row(1, { host: '@', type: 'CNAME', value: 'a.example.net' });
    assert.equal(plan(create({ host: '@', type: 'TXT', value: 'x' }), [cname], flattening).change?.op, 'create');
    // elsewhere nothing stands beside a CNAME
    const www = row(1, { type: 'CNAME', value: 'a.example.net' });
    assert.throws(() => plan(create({ type: 'TXT', value: 'x' }), [www], flattening), refusal(400, 400001));
  });

  it('refuses what is not what the caller has seen', () => {
    const stale: Wish = { op: 'delete', id: 1, ifMatch: '"of another state"' };
    assert.throws(() => plan(stale, [row(1)]), refusal(412, 412001));
    const any = plan({ op: 'delete', id: 1, ifMatch: '*' }, [row(1)]);
    assert.equal(any.change?.op === 'delete' && any.change.guarded, true);
  });
});

/**
 * Every pair of edits at `www`, where an A record (id 1) and its sibling (id 2) are: what becomes of each, and what the
 * provider is asked for, deletions first.
 */
describe('two edits at one name', () => {
  const A: Record<string, Wish> = {
    'create A .9': create({ value: '192.0.2.9' }),
    'create CNAME': create({ type: 'CNAME', value: 'a.example.net' }),
    'update 1 to .9': change(1, { value: '192.0.2.9' }),
    'disable 1': { op: 'status', id: 1, enabled: false },
    'delete 1': remove(1),
    'delete 2': remove(2),
    'upsert A .9': ensure({ value: '192.0.2.9', ttl: 60 }),
    'upsert A .1': ensure({ value: '192.0.2.1', ttl: 60 }),
  };
  const ok = 'ok';
  const [dup, clash, gone] = [409001, 400001, 404001];
  type Row = [second: string, codes: (number | 'ok')[], changes: string[], ofSets?: string[]];
  const PAIRS: Record<string, Row[]> = {
    'create A .9': [
      ['create A .9', [ok, dup], ['create A 192.0.2.9']],
      ['create CNAME', [ok, clash], ['create A 192.0.2.9']],
      ['update 1 to .9', [ok, dup], ['create A 192.0.2.9']],
      ['disable 1', [ok, ok], ['update A 192.0.2.1', 'create A 192.0.2.9']],
      ['delete 1', [ok, ok], ['delete 192.0.2.1', 'create A 192.0.2.9']],
      ['delete 2', [ok, ok], ['delete 192.0.2.2', 'create A 192.0.2.9']],
      ['upsert A .9', [ok, ok], ['create A 192.0.2.9']],
      ['upsert A .1', [ok, ok], ['update A 192.0.2.1', 'create A 192.0.2.9']],
    ],
    'create CNAME': [
      ['create A .9', [clash, ok], ['create A 192.0.2.9']],
      ['create CNAME', [clash, clash], []],
      ['update 1 to .9', [clash, ok], ['update A 192.0.2.9']],
      ['disable 1', [clash, ok], ['update A 192.0.2.1']],
      ['delete 1', [clash, ok], ['delete 192.0.2.1']],
      ['delete 2', [clash, ok], ['delete 192.0.2.2']],
      ['upsert A .9', [clash, ok], ['create A 192.0.2.9']],
      ['upsert A .1', [clash, ok], ['update A 192.0.2.1']],
    ],
    'update 1 to .9': [
      ['create A .9', [ok, dup], ['update A 192.0.2.9']],
      ['create CNAME', [ok, clash], ['update A 192.0.2.9']],
      ['update 1 to .9', [ok, ok], ['update A 192.0.2.9']],
      ['disable 1', [ok, ok], ['update A 192.0.2.9']],
      ['delete 1', [ok, ok], ['delete 192.0.2.1']],
      ['delete 2', [ok, ok], ['delete 192.0.2.2', 'update A 192.0.2.9']],
      ['upsert A .9', [ok, ok], ['update A 192.0.2.9']],
      ['upsert A .1', [ok, ok], ['update A 192.0.2.9', 'create A 192.0.2.1']],
    ],
    'disable 1': [
      ['create A .9', [ok, ok], ['update A 192.0.2.1', 'create A 192.0.2.9']],
      ['create CNAME', [ok, clash], ['update A 192.0.2.1']],
      ['update 1 to .9', [ok, ok], ['update A 192.0.2.9']],
      ['disable 1', [ok, ok], ['update A 192.0.2.1']],
      ['delete 1', [ok, ok], ['delete 192.0.2.1']],
      ['delete 2', [ok, ok], ['delete 192.0.2.2', 'update A 192.0.2.1']],
      ['upsert A .9', [ok, ok], ['update A 192.0.2.1', 'create A 192.0.2.9']],
      ['upsert A .1', [ok, ok], ['update A 192.0.2.1']],
    ],
    'delete 1': [
      ['create A .9', [ok, ok], ['delete 192.0.2.1', 'create A 192.0.2.9']],
      ['create CNAME', [ok, clash], ['delete 192.0.2.1']],
      ['update 1 to .9', [ok, gone], ['delete 192.0.2.1']],
      ['disable 1', [ok, gone], ['delete 192.0.2.1']],
      ['delete 1', [ok, gone], ['delete 192.0.2.1']],
      ['delete 2', [ok, ok], ['delete 192.0.2.1', 'delete 192.0.2.2']],
      ['upsert A .9', [ok, ok], ['delete 192.0.2.1', 'create A 192.0.2.9']],
      ['upsert A .1', [ok, ok], ['delete 192.0.2.1', 'create A 192.0.2.1']],
    ],
    'upsert A .1': [
      ['create A .9', [ok, ok], ['update A 192.0.2.1', 'create A 192.0.2.9']],
      ['create CNAME', [ok, clash], ['update A 192.0.2.1']],
      ['update 1 to .9', [ok, ok], ['update A 192.0.2.9']],
      ['disable 1', [ok, ok], ['update A 192.0.2.1']],
      // the TTL that it gave its set stays
      ['delete 1', [ok, ok], ['delete 192.0.2.1'], ['delete 192.0.2.1', 'update A 192.0.2.2']],
      ['delete 2', [ok, ok], ['delete 192.0.2.2', 'update A 192.0.2.1']],
      ['upsert A .9', [ok, ok], ['update A 192.0.2.1', 'create A 192.0.2.9']],
      ['upsert A .1', [ok, ok], ['update A 192.0.2.1']],
    ],
  };
  const sets = provider({ ids: 'derived', ttlOf: 'set', replaces: 'set', toggle: 'record' });
  for (const [first, rows] of Object.entries(PAIRS)) {
    it.each(['records', 'sets'])(`${first}, then each other one, at a provider of %s`, (of) => {
      for (const [second, codes, changes, ofSets = changes] of rows) {
        const folded = fold([A[first] as Wish, A[second] as Wish], [row(1), row(2)], of === 'sets' ? sets : RECORDS);
        const wanted = of === 'sets' ? ofSets : changes;
        assert.deepEqual([second, folded.codes, folded.changes], [second, codes, wanted]);
      }
    });
  }

  it('a CNAME comes when all others have gone, and the other way round', () => {
    const swap = fold([remove(1), remove(2), A['create CNAME'] as Wish], [row(1), row(2)]);
    assert.deepEqual(swap.changes, ['delete 192.0.2.1', 'delete 192.0.2.2', 'create CNAME a.example.net']);
    const cname = row(1, { type: 'CNAME', value: 'a.example.net' });
    const back = fold([remove(1), create({ value: '192.0.2.9' })], [cname]);
    assert.deepEqual(back.changes, ['delete a.example.net', 'create A 192.0.2.9']);
    // moved away first, its place is free
    const away = fold([change(1, { host: 'old' }), create({ value: '192.0.2.9' })], [cname]);
    assert.deepEqual([away.codes, away.changes.length], [['ok', 'ok'], 2]);
  });

  it('one TTL for the set goes through the list', () => {
    const { planned, nets } = fold([change(1, { ttl: 60 }), create({ value: '192.0.2.9' })], [row(1), row(2)], SETS);
    assert.deepEqual(
      planned.map(({ after }) => after?.ttl),
      [60, 60],
    );
    assert.deepEqual(
      nets.map(({ entry }) => entry.movesTtl),
      [true, false],
    );
  });

  it('a record that comes out as it went in is not sent', () => {
    const { codes, nets } = fold([change(1, { ttl: 60 }), change(1, { ttl: 300 })], [row(1)]);
    assert.deepEqual([codes, nets], [['ok', 'ok'], []]);
  });

  it('what belongs together stays in one piece', () => {
    const rows = Array.from({ length: 6 }, (_, i) => row(i + 1, { host: `h${i}` }));
    const { nets } = fold(
      [...rows.map(({ id }) => change(id, { ttl: 60 })), change(6, { host: 'h0', value: '192.0.2.77' })],
      rows,
    );
    const pieces = chunksOf(nets, 2).map((piece) => piece.map(({ before }) => before?.host).sort());
    assert.deepEqual(pieces[0], ['h0', 'h5']);
    assert.deepEqual(
      pieces.map((piece) => piece.length),
      [2, 2, 2],
    );
  });
});
