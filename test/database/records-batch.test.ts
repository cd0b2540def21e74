import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { Events, type ListProgress } from '../../src/platform/events/events.js';
import type { BatchResult } from '../../src/records/batch/batch.dto.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { applicationOf, type Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, ended, made, refused, startWorld, until, type World } from '../support/world.js';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip || noPowerdns)(`lists of changes, on ${kind}`, () => {
    let world: World;
    let admin: Client;
    let records: World['records'];
    let batch: `${World['records']}/batch`;
    let changes: `/api/domains/${number}/changes`;
    beforeAll(async () => {
      world = await startWorld(kind);
      ({ admin, records } = world);
      batch = `${records}/batch`;
      changes = `/api/domains/${world.domain}/changes`;
    });
    afterAll(() => world?.stop());

    const at = async (host: string) =>
      done(await admin.get(`${records}?host=${host}`))
        .list.map((r) => `${r.type} ${r.value} ${r.ttl}`)
        .sort();
    const create = (host: string, value: string, more: object = {}) => ({
      op: 'create',
      host,
      type: 'A',
      value,
      ...more,
    });
    const add = async (host: string, value: string) =>
      made(await admin.post(records, { host, type: 'A', value, ttl: 300 })).id;

    it('an atomic list says in how many pieces it goes, and is refused where it has to be one and is not', async () => {
      const many = Array.from({ length: 1001 }, (_, i) => create(`p${i}`, '192.0.2.1'));
      const wrong = refused(await admin.post(batch, { atomic: 'vendor', changes: many }), 400, 400001);
      assert.match(wrong.data.errors?.[0]?.message ?? '', /1001 changes are more than the 1000/);
      const one = done(await admin.post(batch, { atomic: 'vendor', changes: many.slice(0, 2) }));
      assert.deepEqual([one.pieces, one.counts?.applied], [1, 2]);
      const { status, data } = await admin.post(`${batch}?wait=60`, { atomic: true, changes: many.slice(2) });
      assert.deepEqual([status, data.pieces], [200, 1]);
      const more = many.map(({ host }) => create(host, '192.0.2.2'));
      const two = await admin.post(batch, { atomic: true, changes: more });
      assert.deepEqual([two.status, two.data.pieces], [202, 2]);
      await until('the list has an end', async () => {
        const { state } = done(await admin.get(`${changes}/${two.data.change_set_id as number}`));
        return state === 'done';
      });
      const plain = done(await admin.post(batch, { changes: [create('plain', '192.0.2.1')] }));
      assert.equal(plain.pieces, null);
    });

    it('an edit that changes nothing counts as applied beside those that do', async () => {
      const id = await add('idle', '192.0.2.1');
      const list = [{ op: 'update', id, ttl: 300 }, create('idle', '192.0.2.2', { ttl: 300 })];
      const { change_set_id, outcomes } = ended(await admin.post(batch, { changes: list }));
      assert.deepEqual(
        outcomes?.map((o) => [o.ok, o.changed]),
        [
          [true, false],
          [true, true],
        ],
      );
      const { state, counts } = done(await admin.get(`${changes}/${change_set_id as number}`));
      assert.deepEqual([state, counts.applied, counts.pending], ['done', 2, 0]);
    });

    it('a TTL that one record gave its set stays when that record has left it', async () => {
      const [a, b] = [await add('left', '192.0.2.1'), await add('left', '192.0.2.2'), await add('left', '192.0.2.3')];
      const list = [
        { op: 'update', id: a, ttl: 60 },
        { op: 'update', id: b, remark: 'touched' },
        { op: 'update', id: a, host: 'elsewhere', ttl: 90 },
      ];
      ended(await admin.post(batch, { changes: list }));
      await world.agree();
    });

    it('each edit is judged against what those before it have made', async () => {
      const id = await add('fold', '192.0.2.1');
      const alias = made(await admin.post(records, { host: 'alias', type: 'CNAME', value: 'fold' })).id;
      const list = [
        { op: 'update', id, ttl: 60 },
        { op: 'delete', id },
        create('fold', '192.0.2.2', { ttl: 60 }),
        create('fold', '192.0.2.2'),
        { op: 'delete', id: alias },
        create('alias', '192.0.2.3', { ttl: 60 }),
        { op: 'update', id, ttl: 61 },
      ];
      const { change_set_id, outcomes } = ended(await admin.post(batch, { changes: list, comment: 'a fold' }));
      assert.deepEqual(
        outcomes?.map((o) => (o.ok ? 'ok' : o.error?.code)),
        ['ok', 'ok', 'ok', 409001, 'ok', 'ok', 404001],
      );
      assert.deepEqual([await at('fold'), await at('alias')], [['A 192.0.2.2 60'], ['A 192.0.2.3 60']]);
      await world.agree();

      const set = done(await admin.get(`${changes}/${change_set_id as number}`));
      assert.deepEqual([set.state, set.door, set.comment, set.total], ['done', 'api', 'a fold', 7]);
      assert.deepEqual(set.counts, { pending: 0, applied: 5, failed: 2, unknown: 0, not_tried: 0 });
      assert.deepEqual(
        set.changes.map((c) => [c.op, c.state, c.before?.value ?? null, c.after?.value ?? null]).slice(0, 3),
        [
          ['update', 'applied', '192.0.2.1', '192.0.2.1'],
          ['delete', 'applied', '192.0.2.1', null],
          ['create', 'applied', null, '192.0.2.2'],
        ],
      );
      const [entry] = done(await admin.get('/api/audit/logs?limit=1')).list;
      assert.deepEqual(
        [entry?.action, entry?.result, entry?.after],
        ['record.batch', 'failed', { total: 7, applied: 5, failed: 2, unknown: 0, not_tried: 0, unchanged: 0 }],
      );
    });

    it('an atomic list with an edit that does not fit changes nothing, and says which', async () => {
      const requests = world.proxy.requests.length;
      const list = [create('atom', '192.0.2.1'), create('atom', '192.0.2.1'), create('atom', 'no address')];
      const answer = refused(await admin.post(batch, { changes: list, atomic: true }), 409, 409001);
      assert.deepEqual(
        answer.data.errors.map((e) => e.path),
        ['changes.1.value', 'changes.2.value'],
      );
      assert.deepEqual([await at('atom'), world.proxy.requests.length], [[], requests]);
    });

    it('an upsert creates once, and then changes only what it names', async () => {
      const upsert = (more: object) => ({ op: 'upsert', host: 'up', type: 'A', value: '192.0.2.1', ...more });
      const once = async (more: object) =>
        ended(await admin.post(batch, { changes: [upsert(more)] })).outcomes?.[0] as { id: number; changed: boolean };
      const { id, changed } = await once({ remark: 'mine' });
      assert.equal(changed, true);
      const writes = () => world.proxy.requests.filter(({ method }) => method !== 'GET').length;
      const before = writes();
      assert.deepEqual([await once({}), writes()], [{ ok: true, record_id: id, id, changed: false }, before]);
      assert.equal((await once({ ttl: 77 })).changed, true);
      const record = done(await admin.get(`${records}/${id}`));
      assert.deepEqual([record.ttl, record.remark], [77, 'mine']);
    });

    it('a record is named by record_id, or by id as before', async () => {
      const [first, second] = [await add('named', '192.0.2.1'), await add('named', '192.0.2.2')];
      const list = [
        { op: 'update', record_id: first, ttl: 400 },
        { op: 'update', id: second, record_id: second, remark: 'both' },
        { op: 'upsert', host: 'named', type: 'A', value: '192.0.2.1', record_id: 999_999 },
      ];
      const { outcomes, change_set_id } = ended(await admin.post(batch, { changes: list }));
      assert.deepEqual(
        outcomes?.map(({ record_id, id }) => [record_id, id]),
        [first, second, first].map((id) => [id, id]),
      );
      const set = done(await admin.get(`${changes}/${change_set_id as number}`));
      assert.notEqual(set.ended_at, null);
      assert.equal(set.ended_at, set.finished_at);
      const differ = { changes: [{ op: 'delete', id: first, record_id: second }] };
      const { data } = refused(await admin.post(batch, differ), 400, 400001);
      assert.deepEqual(
        data.errors?.map(({ path, code }) => [path, code]),
        [['changes.0.record_id', 'conflict']],
      );
      ended(await admin.post(batch, { changes: [first, second].map((record_id) => ({ op: 'delete', record_id })) }));
      assert.deepEqual(await at('named'), []);
    });

    it('a body that lacks what an edit needs is refused whole', async () => {
      const list = [
        create('bad', '192.0.2.1'),
        { op: 'update', ttl: 60 },
        { op: 'delete', id: 1, ttl: 60 },
        { op: 'rename' },
      ];
      const wrong = refused(await admin.post(batch, { changes: list.slice(0, 3) }), 400, 400001);
      assert.deepEqual(
        wrong.data.errors.map((e) => `${e.path} ${e.code}`),
        ['changes.1.id required', 'changes.2.ttl unknown'],
      );
      refused(await admin.post(batch, { changes: list.slice(3) }), 400, 400001);
      refused(await admin.post(batch, { changes: [] }), 400, 400001);
      assert.deepEqual(await at('bad'), []);
    });

    it('rights and rules are those of single edits', async () => {
      const id = await add('held', '192.0.2.9');
      const rules = [{ effect: 'allow', hosts: ['mine'], types: ['A'], actions: ['create'] }];
      const token = world.server.as(made(await admin.post('/api/tokens', { name: 'lists', rules })).token);
      const list = [create('mine', '192.0.2.1'), create('yours', '192.0.2.1'), { op: 'delete', id }];
      const { change_set_id, outcomes } = ended(await token.post(batch, { changes: list }));
      assert.deepEqual(
        outcomes?.map((o) => (o.ok ? 'ok' : o.error?.code)),
        ['ok', 403001, 404001],
      );
      assert.equal(done(await admin.get(`${changes}/${change_set_id as number}`)).door, 'token');
      // the history shows to a token with rules what it may read, and no words about the rest
      const narrow = [{ effect: 'allow', hosts: ['mine'], types: ['A'] }];
      const reader = world.server.as(made(await admin.post('/api/tokens', { name: 'reads', rules: narrow })).token);
      const twice = [create('mine', '192.0.2.1'), create('yours', '192.0.2.2')];
      const mixed = ended(await admin.post(batch, { changes: twice })).change_set_id as number;
      const seen = done(await reader.get(`${changes}/${mixed}`)).changes;
      assert.deepEqual(seen, []);
      const first = done(await reader.get(`${changes}/${change_set_id as number}`)).changes;
      assert.deepEqual(
        first.map((c) => [c.position, c.after?.value]),
        [[0, '192.0.2.1']],
      );
    });

    it('the status of the answer tells a list that was not applied whole, and one of which nothing was', async () => {
      const [fits, twice, bad] = [create('some', '192.0.2.1'), create('some', '192.0.2.1'), create('some', 'none')];
      const some = await admin.post(batch, { changes: [fits, twice] });
      assert.deepEqual([some.status, some.code], [207, 0]);
      assert.deepEqual(some.data.counts, { applied: 1, failed: 1, unknown: 0, not_tried: 0 });
      const none = await admin.post(batch, { changes: [twice, bad] });
      assert.deepEqual([none.status, none.code, none.msg], [422, 422002, '2 of 2 changes were not applied']);
      assert.deepEqual(none.data.counts, { applied: 0, failed: 2, unknown: 0, not_tried: 0 });
      assert.deepEqual(
        none.data.outcomes?.map(({ error }) => error?.code),
        [409001, 400001],
      );
      const strict = await admin.post(`${batch}?fail=any`, { changes: [create('strict', '192.0.2.1'), twice] });
      assert.deepEqual([strict.status, strict.code, strict.data.counts?.applied], [422, 422002, 1]);
      assert.deepEqual(await at('strict'), ['A 192.0.2.1 600']);
      ended(await admin.post(`${batch}?fail=any`, { changes: [create('whole', '192.0.2.1')] }));
      refused(await admin.post(`${batch}?fail=some`, { changes: [create('none', '192.0.2.1')] }), 400, 400001);
      // each stands in the audit log once
      const { list } = done(await admin.get('/api/audit/logs?limit=3'));
      assert.deepEqual(
        list.map(({ action, result }) => [action, result]),
        [
          ['record.batch', 'failed'],
          ['record.create', 'ok'],
          ['record.batch', 'failed'],
        ],
      );
    });

    it('a long list goes on in the background, and can be waited for', async () => {
      const list = Array.from({ length: 450 }, (_, i) => create(`long${i}`, '192.0.2.1', { ttl: 300 }));
      const accepted = await admin.post(batch, { changes: list });
      assert.equal(accepted.status, 202);
      assert.equal(accepted.data.outcomes, null);
      const path = `${changes}/${accepted.data.change_set_id as number}` as const;
      await until('the list is done', async () => done(await admin.get(path)).state === 'done', 60_000);
      const set = done(await admin.get(path));
      assert.deepEqual(set.counts, { pending: 0, applied: 450, failed: 0, unknown: 0, not_tried: 0 });
      const ids = set.changes.map((c) => c.record_id);
      assert.equal(new Set(ids).size, 450);
      assert.equal(done(await admin.get(`${records}/${ids[7] as number}`)).host, 'long7');
      const gone = ids.map((id) => ({ op: 'delete', id }));
      const waited = done(await admin.post(`${batch}?wait=100`, { changes: gone }));
      assert.ok(waited.outcomes?.every((o) => o.ok));
      await world.agree();
    });

    it('an event follows the commit, one for each piece', async () => {
      const told: number[][] = [];
      const steps: ListProgress[] = [];
      applicationOf(world.server.dataDir)
        ?.get(Events)
        .on('records.changed', async (domain, changeSet, progress) => {
          // committed: it can be read
          const { counts } = done(await admin.get(`/api/domains/${domain}/changes/${changeSet}`));
          told.push([domain, changeSet, counts.applied]);
          steps.push(progress);
        });
      const { change_set_id } = ended(await admin.post(batch, { changes: [create('told', '192.0.2.1')] }));
      await until('it is told', async () => told.length > 0);
      refused(await admin.post(batch, { changes: [create('told', '192.0.2.1')], atomic: true }), 409, 409001);
      assert.deepEqual(told, [[world.domain, change_set_id, 1]]);
      assert.deepEqual(steps.splice(0), [{ total: 1, done: 1, failed: 0 }]);
      const list = [
        ...Array.from({ length: 320 }, (_, i) => create(`step${i}`, '192.0.2.1')),
        create('told', '192.0.2.1'),
      ];
      const { change_set_id: long } = (await admin.post(`${batch}?wait=50`, { changes: list })).data as BatchResult;
      const path = `${changes}/${long as number}` as const;
      await until('the list is done', async () => done(await admin.get(path)).state === 'done', 60_000);
      await until('its end is told', async () => steps.at(-1)?.done === 321);
      assert.ok(steps.length > 1 && steps.length <= Math.ceil(321 / 50), `${steps.length} events`);
      assert.deepEqual(
        steps,
        steps.toSorted((a, b) => a.done - b.done),
      );
      assert.deepEqual(new Set(steps.map(({ total }) => total)), new Set([321]));
      assert.deepEqual(steps.at(-1), { total: 321, done: 321, failed: 1 });
    });

    it('the history is paged, and of another domain it is not found', async () => {
      const { total, list } = done(await admin.get(`${changes}?limit=2`));
      assert.ok(total > 5);
      assert.ok((list[0]?.id as number) > (list[1]?.id as number));
      refused(await admin.get(`${changes}/999999`), 404, 404001);
      refused(await admin.get(`${changes}?keyword=x`), 400, 400001);
    });

    it('a record set becomes what is said, as often as it is said', async () => {
      const path = `/api/domains/${world.domain}/rrsets/pool/A` as const;
      refused(await admin.get(path), 404, 404001);
      const first = done(await admin.put(path, { values: ['192.0.2.1', '192.0.2.2'], ttl: 120 }));
      assert.equal(first.changed, true);
      assert.equal(first.records.length, 2);
      const writes = () => world.proxy.requests.filter(({ method }) => method !== 'GET').length;
      const before = writes();
      const again = done(await admin.put(path, { values: ['192.0.2.2', { value: '192.0.2.1' }], ttl: 120 }));
      assert.deepEqual([again, writes()], [{ ...first, changed: false }, before]);
      // one value goes and one comes: its record stays the same one
      const moved = done(await admin.put(path, { values: ['192.0.2.1', '192.0.2.3'] }));
      assert.deepEqual(moved, { changed: true, records: first.records });
      assert.deepEqual(await at('pool'), ['A 192.0.2.1 120', 'A 192.0.2.3 120']);
      const off = done(
        await admin.put(path, { values: [{ value: '192.0.2.1', enabled: false }, '192.0.2.3'], ttl: 60 }),
      );
      assert.equal(off.changed, true);
      const view = done(await admin.get(path));
      assert.deepEqual(
        [view.ttl, view.values.map((v) => `${v.value} ${v.enabled}`).sort()],
        [60, ['192.0.2.1 false', '192.0.2.3 true']],
      );
      await world.agree();
      const wrong = refused(await admin.put(path, { values: ['192.0.2.1', 'no address'] }), 400, 400001);
      assert.deepEqual(
        wrong.data.errors.map((e) => e.path),
        ['values.1.value'],
      );
      refused(await admin.put(path, { values: ['192.0.2.1', '192.0.2.1'] }), 400, 400001);
      refused(await admin.put(path, { values: [] }), 400, 400001);
      assert.deepEqual(done(await admin.delete(path)), { changed: true, records: [] });
      assert.deepEqual(done(await admin.delete(path)), { changed: false, records: [] });
      await world.agree();
      const mx = `/api/domains/${world.domain}/rrsets/@/mx` as const;
      assert.equal(done(await admin.put(mx, { values: ['10 mail', { value: 'backup', priority: 20 }] })).changed, true);
      assert.equal(
        done(await admin.put(mx, { values: ['10 mail', { value: 'backup', priority: 20 }] })).changed,
        false,
      );
      assert.equal(done(await admin.put(mx, { values: ['10 mail', { value: 'backup', priority: 30 }] })).changed, true);
      await world.agree();
    });

    it('what is not what the caller has seen is not overwritten', async () => {
      const id = await add('seen', '192.0.2.1');
      const path = `${records}/${id}` as const;
      const tag = (await admin.get(path)).headers.get('etag') as string;
      assert.match(tag, /^"[0-9a-f]+"$/);
      const written = await admin.put(path, { ttl: 61 }, { 'if-match': tag });
      assert.equal(done(written).ttl, 61);
      const stale = refused(await admin.put(path, { ttl: 62 }, { 'if-match': tag }), 412, 412001);
      assert.equal((stale.data as unknown as { record: { ttl: number } }).record.ttl, 61);
      refused(await admin.delete(path, undefined, { 'if-match': tag }), 412, 412001);
      const fresh = written.headers.get('etag') as string;
      assert.equal((await admin.delete(path, undefined, { 'if-match': fresh })).status, 200);
    });
  });
}
