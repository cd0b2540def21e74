import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type DomainAccess, READ, WRITE } from '../../src/domains/access-rights.js';
import type { OpenDomain } from '../../src/domains/domain-policy.js';
import { defineProvider, type ProviderDefinition } from '../../src/providers/provider.js';
import type { RecordInput } from '../../src/records/record.dto.js';
import type { StoredRecord } from '../../src/records/record-cache.js';
import { type Edit, expectation, hostsOf, NoSuchRecord, planEdit } from '../../src/records/record-plan.js';
import { row } from '../support/rows.js';

const provider = (capabilities: Partial<ProviderDefinition['capabilities']>): ProviderDefinition =>
  defineProvider({
    kind: 'test',
    label: 'Test',
    docs: '',
    credentials: [[]],
    capabilities: { types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT'], ...capabilities },
    connect: () => {
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
  remote_id: 'z7',
  account_id: 1,
  account_name: 'one',
  provider: 'test',
  owner_id: 1,
  status: 'active',
  remark: '',
  records_count: 2,
  revision: 1,
  expires_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
  synced_at: null,
  access: { level: WRITE, hosts: [], rules: null, ...access },
});

const plan = (edit: Edit, rows: StoredRecord[], definition = RECORDS, on = domain()) =>
  planEdit(edit, definition, on, rows, () => true);
const refusal = (status: number, code: number) => (error: unknown) => {
  const { status: s, code: c } = error as { status: number; code: number };
  assert.deepEqual([s, c], [status, code], String(error));
  return true;
};
const create = (input: Partial<RecordInput> & { value: string }): Edit => ({
  op: 'create',
  input: { host: 'www', type: 'A', ...input },
});

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

  it('refuses the same record twice and a CNAME beside others', () => {
    assert.throws(() => plan(create({ value: '192.0.2.1' }), [row(1)]), refusal(409, 409001));
    assert.throws(() => plan(create({ type: 'CNAME', value: 'a.example.net' }), [row(1)]), refusal(400, 400001));
    const cname = row(1, { type: 'CNAME', value: 'a.example.net' });
    assert.throws(() => plan(create({ value: '192.0.2.9' }), [cname]), refusal(400, 400001));
    // a disabled one is in nobody's way
    assert.equal(plan(create({ value: '192.0.2.9' }), [{ ...cname, enabled: false }]).change?.op, 'create');
  });

  it('updates by the provider’s id and keeps what the patch does not name', () => {
    const before = row(1, { remark: 'mine' });
    const { change, after, remark } = plan({ op: 'update', id: 1, patch: { value: '192.0.2.9' } }, [before, row(2)]);
    assert.equal(change?.op, 'update');
    assert.equal(change?.op === 'update' && change.before.remoteId, 'r1');
    assert.deepEqual([after?.value, after?.ttl, after?.host, remark], ['192.0.2.9', 300, 'www', 'mine']);
  });

  it('asks the provider nothing for a remark, and writes nothing for what is so already', () => {
    const noted = plan({ op: 'update', id: 1, patch: { remark: 'new' } }, [row(1)]);
    assert.deepEqual([noted.change, noted.remark, noted.idle], [null, 'new', undefined]);
    const idle = plan({ op: 'update', id: 1, patch: { value: '192.0.2.1', ttl: 300 } }, [row(1)]);
    assert.deepEqual([idle.change, idle.idle], [null, true]);
    assert.equal(plan({ op: 'status', id: 1, enabled: true }, [row(1)]).idle, true);
  });

  it('disables at the provider where it can, else takes the record away there and keeps it here', () => {
    const off: Edit = { op: 'status', id: 1, enabled: false };
    assert.equal(plan(off, [row(1)], RECORDS).change?.op, 'update');
    const parking = plan(off, [row(1)], PARKING);
    assert.deepEqual([parking.change?.op, parking.after?.enabled], ['delete', false]);
  });

  it('brings back what was kept here, and edits it there not at all while it is off', () => {
    const parked = row(1, { remote_id: null, enabled: false });
    assert.equal(plan({ op: 'status', id: 1, enabled: true }, [parked], PARKING).change?.op, 'create');
    const edited = plan({ op: 'update', id: 1, patch: { value: '192.0.2.9' } }, [parked], PARKING);
    assert.deepEqual([edited.change, edited.after?.value, edited.idle], [null, '192.0.2.9', undefined]);
    assert.equal(plan({ op: 'delete', id: 1 }, [parked], PARKING).change, null);
  });

  it('will not enable a record beside what it cannot stand beside', () => {
    const parked = row(1, { type: 'CNAME', value: 'a.example.net', remote_id: null, enabled: false });
    assert.throws(() => plan({ op: 'status', id: 1, enabled: true }, [parked, row(2)], PARKING), refusal(400, 400001));
  });

  it('must be allowed for the old and for the new state', () => {
    const under = domain({ level: READ, hosts: ['www'] });
    const move: Edit = { op: 'update', id: 1, patch: { host: 'mail' } };
    assert.throws(() => plan(move, [row(1)], RECORDS, under), refusal(403, 403001));
    const back: Edit = { op: 'update', id: 1, patch: { host: 'www' } };
    assert.throws(() => plan(back, [row(1, { host: 'mail' })], RECORDS, under), refusal(403, 403001));
    assert.equal(plan({ op: 'update', id: 1, patch: { ttl: 60 } }, [row(1)], RECORDS, under).change?.op, 'update');
    assert.throws(
      () => plan({ op: 'delete', id: 1 }, [row(1, { host: 'mail' })], RECORDS, under),
      refusal(403, 403001),
    );
  });

  it('leaves alone what is only shown', () => {
    const shown = row(1, { read_only: true });
    assert.throws(() => plan({ op: 'delete', id: 1 }, [shown]), refusal(400, 400001));
    assert.throws(() => plan({ op: 'update', id: 1, patch: { ttl: 60 } }, [shown]), refusal(400, 400001));
    assert.equal(plan({ op: 'update', id: 1, patch: { ttl: 300 } }, [shown]).idle, true);
  });

  it('knows when its row is gone', () => {
    assert.throws(() => plan({ op: 'delete', id: 9 }, [row(1)]), NoSuchRecord);
    assert.throws(() => hostsOf({ op: 'delete', id: 9 }, null, RECORDS, 'example.com'), NoSuchRecord);
  });

  it('names every host that it touches, and what its row will be called', () => {
    const move: Edit = { op: 'update', id: 1, patch: { host: 'mail' } };
    assert.deepEqual(hostsOf(move, row(1), RECORDS, 'example.com'), ['www', 'mail']);
    assert.deepEqual(hostsOf(create({ value: '192.0.2.9' }), null, RECORDS, 'example.com'), ['www']);
    const moved = plan(move, [row(1)], SETS);
    const [[id, remoteId] = []] = expectation(moved, SETS);
    assert.equal(id, 1);
    assert.match(String(remoteId), /./);
    assert.notEqual(remoteId, 'r1');
    assert.deepEqual(expectation(moved, RECORDS), []);
    const parking = plan({ op: 'status', id: 1, enabled: false }, [row(1)], PARKING);
    assert.deepEqual(expectation(parking, PARKING), [[1, null]]);
  });
});
