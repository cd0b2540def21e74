import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { creation, type Edit, Places, update } from '../../src/changes/edits/edit.js';
import { ChangeEngine } from '../../src/changes/engine.service.js';
import { Planner } from '../../src/changes/planner.js';
import type { OpenDomain } from '../../src/domains/domain-policy.js';
import { DomainsService } from '../../src/domains/domains.service.js';
import { Db } from '../../src/platform/database/db.js';
import { noPowerdns } from '../support/powerdns.js';
import { applicationOf } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, startWorld, until, type World } from '../support/world.js';

const TABLES = [
  'dns_records',
  'record_counts',
  'change_sets',
  'record_changes',
  'audit_pending',
  'audit_logs',
  'leases',
];

describeUnless(noPowerdns)('previews of changes', () => {
  let world: World;
  let domain: OpenDomain;
  let app: NonNullable<ReturnType<typeof applicationOf>>;
  beforeAll(async () => {
    world = await startWorld();
    app = applicationOf(world.server.dataDir) as typeof app;
    const row = await app.get(DomainsService).reload(world.domain);
    domain = { ...row, access: { level: 2, hosts: [], rules: null } } as OpenDomain;
  });
  afterAll(() => world?.stop());

  const add = async (host: string, value: string) =>
    made(await world.admin.post(world.records, { host, type: 'A', value, ttl: 300 })).id;

  /** All that a preview must leave alone. */
  const everything = async () => {
    const db = app.get(Db);
    const rows = [];
    for (const table of TABLES) rows.push(await db.rows(`SELECT * FROM ${table} ORDER BY 1`));
    return { rows, requests: world.proxy.requests.length };
  };

  it('say what a list would do, and do nothing of it', async () => {
    const [a, b] = [await add('here', '192.0.2.1'), await add('here', '192.0.2.2')];
    const place = await app.get(Places).of(domain);
    const edits: Edit[] = [
      update(place, a, { ttl: 60 }),
      { op: 'create', ...creation(place, { host: 'new', type: 'A', value: '192.0.2.3' }) },
      { op: 'create', ...creation(place, { host: 'new', type: 'A', value: '192.0.2.3' }) },
      update(place, b, { host: 'moved' }),
      update(place, b, { remark: 'behind the move' }),
      { op: 'delete', id: a },
      { op: 'delete', id: 999_999 },
    ];
    // the entries of the log are linked behind the answers
    await until('none waits', async () => !(await app.get(Db).rows('SELECT * FROM audit_pending')).length);
    const before = await everything();
    const { planned, nets } = await app.get(Planner).preview('system', domain, edits);
    assert.deepEqual(await everything(), before);
    assert.deepEqual(
      planned.map(({ error }) => error?.code ?? 0),
      [0, 0, 409001, 0, 0, 0, 404001],
    );
    assert.deepEqual(
      nets.map(({ change }) => change?.op),
      ['delete', 'create', 'update'],
    );

    const options = { door: 'job' as const, comment: '', atomic: false };
    const { changeSet } = await app.get(ChangeEngine).whole('system', domain, edits, options);
    const path = `/api/domains/${world.domain}/changes/${changeSet as number}` as const;
    const { changes } = done(await world.admin.get(path));
    const short = (row: { host: string; value: string; ttl: number; remark: string } | null) =>
      row && [row.host, row.value, row.ttl, row.remark];
    // history begins a record's first step with what was there before the list: an edit before it may have moved it
    const began = new Map(nets.map(({ entry, before: there }) => [entry.positions[0], there]));
    assert.deepEqual(
      changes.map((one) => [one.op, short(one.before), short(one.after), one.error?.code ?? 0]),
      planned.map((one) => {
        const there = began.has(one.position) ? (began.get(one.position) ?? null) : one.before;
        return [one.edit.op, short(there), short(one.after), one.error?.code ?? 0];
      }),
    );
    await world.agree();
  });
});
