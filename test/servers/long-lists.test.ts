import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { openDatabase } from '../support/database.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Answer, LocalServer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { type StandIn, startStandIn } from '../support/vendor.js';
import { addAccount, addDomain, done, made, refused, startWorld, until, type World } from '../support/world.js';

const AWAY = { status: 503, body: '{}' };
const many = (count: number, host: string) =>
  Array.from({ length: count }, (_, i) => ({ op: 'create', host: `${host}${i}`, type: 'A', value: '192.0.2.1' }));

describeUnless(noPowerdns)('long lists that were accepted', () => {
  let world: World;
  let path: `/api/domains/${number}/changes/${number}`;
  beforeAll(async () => {
    world = await startWorld('sqlite', { UNCLEAR_AFTER_MS: '500' });
  });
  afterEach(() => {
    world.proxy.fault = null;
  });
  afterAll(() => world?.stop());
  const state = async () => done(await world.admin.get(path));
  const accept = async (changes: object[], more: object = {}) => {
    const answer = await world.admin.post(`${world.records}/batch`, { changes, ...more });
    assert.equal(answer.status, 202, JSON.stringify(answer.data));
    path = `/api/domains/${world.domain}/changes/${answer.data.change_set_id as number}`;
    assert.equal(answer.headers.get('location'), path);
  };
  /** The provider answers so many writes, and is away from then on. */
  const awayAfter = (writes: number) => {
    let left = writes;
    world.proxy.fault = async (request, forward) => (request.method === 'PATCH' && --left < 0 ? AWAY : forward());
  };

  it('outlive an outage: they pause, and go on where they were', async () => {
    awayAfter(1);
    await accept(many(300, 'outage'));
    await until('paused', async () => (await state()).paused_until !== null);
    const paused = await state();
    assert.notEqual(paused.state, 'done');
    assert.equal(paused.counts.not_tried, 0);
    assert.ok(paused.counts.applied > 0 && paused.counts.pending > 0, JSON.stringify(paused.counts));
    world.proxy.fault = null;
    await until('done', async () => (await state()).state === 'done');
    const { counts, paused_until } = await state();
    assert.deepEqual([counts.applied, paused_until], [300, null]);
    await world.agree();
    const [entry] = done(await world.admin.get('/api/audit/logs?action=record.batch&limit=1')).list;
    assert.equal((entry?.after as { applied: number } | undefined)?.applied, 300);
  });

  it('are cancelled: what was not begun is not tried', async () => {
    awayAfter(1);
    await accept(many(300, 'cancel'));
    await until('paused', async () => (await state()).paused_until !== null);
    const rules = [{ effect: 'allow', types: ['A'] }];
    const narrow = world.server.as(made(await world.admin.post('/api/tokens', { name: 'narrow', rules })).token);
    refused(await narrow.post(`${path}/cancel`), 403, 403001);
    for (const answer of await Promise.all([1, 2].map(() => world.admin.post(`${path}/cancel`)))) done(answer);
    world.proxy.fault = null;
    await until('done', async () => (await state()).state === 'done');
    const { counts, cancelled_at } = await state();
    assert.equal(counts.pending, 0);
    assert.ok(counts.applied > 0 && counts.not_tried > 0, JSON.stringify(counts));
    assert.ok(cancelled_at);
    assert.equal((await world.admin.post(`${path}/cancel`)).status, 200);
    await world.agree();
    refused(await world.admin.post(`/api/domains/${world.domain}/changes/999999/cancel`), 404, 404001);
    const [entry] = done(await world.admin.get('/api/audit/logs?action=record.cancel&limit=1')).list;
    assert.equal(entry?.domain, world.zone);
  });

  it('let other writers of the domain in between their pieces', async () => {
    const order: string[] = [];
    let other: Promise<unknown> | undefined;
    world.proxy.fault = async (request, forward) => {
      if (request.method !== 'PATCH') return forward();
      const own = request.body.includes('"between.');
      order.push(own ? 'other' : 'piece');
      other ??= world.admin.post(world.records, { host: 'between', type: 'A', value: '192.0.2.9' });
      return forward();
    };
    await accept(many(400, 'piece'));
    await until('done', async () => (await state()).state === 'done');
    made((await other) as never);
    assert.equal((await state()).counts.applied, 400);
    assert.ok(order.indexOf('other') < order.lastIndexOf('piece'), order.join(' '));
    await world.agree();
  });

  it('of plans leave alone what somebody changes between their pieces', async () => {
    const [old, value] = ['192.0.2.1', '192.0.2.2'];
    const names = Array.from({ length: 300 }, (_, i) => ({ host: `plan${i}`, type: 'A', value: old, ttl: 900 }));
    await accept(many(300, 'plan'));
    await until('done', async () => (await state()).state === 'done');
    const records = names.map((one, i) => (i % 3 ? one : { ...one, value }));
    const base = `/api/domains/${world.domain}` as const;
    const plan = made(await world.admin.post(`${base}/plans`, { records, mode: 'sync', hosts: ['plan*'] }));
    const listed = async () => done(await world.admin.get(`${world.records}?limit=500&keyword=plan`)).list;
    const there = await listed();
    const change = (host: string, patch: object) =>
      world.admin.put(`${world.records}/${there.find((one) => one.host === host)?.id as number}`, patch);
    let others: Promise<Answer>[] | undefined;
    world.proxy.fault = async (request, forward) => {
      if (request.method === 'PATCH')
        others ??= [
          change('plan299', { value: '192.0.2.77' }),
          change('plan298', { ttl: 1200 }),
          change('plan297', { value: '192.0.2.77' }),
          change('plan296', { remark: 'seen' }),
        ];
      return forward();
    };
    const answer = await world.admin.post(`/api/plans/${plan.id}/apply`, { force: plan.guards.map(({ key }) => key) });
    assert.equal(answer.status, 202);
    path = `${base}/changes/${answer.data.change_set_id as number}`;
    await until('done', async () => (await state()).state === 'done');
    for (const other of await Promise.all(others ?? [])) done(other);
    const now = await listed();
    const shown = (host: string) =>
      now.flatMap((one) => (one.host === host ? `${one.value} ${one.ttl} ${one.remark}` : [])).toSorted();
    // what the plan changes of a record is not what the other one has changed
    assert.deepEqual([shown('plan299'), shown('plan296')], [['192.0.2.77 900 '], ['192.0.2.1 900 seen']]);
    assert.deepEqual(shown('plan298'), ['192.0.2.1 1200 ']);
    assert.deepEqual(shown('plan297'), ['192.0.2.2 900 ', '192.0.2.77 900 ']);
    const failed = (await state()).changes.flatMap(({ before, error }) =>
      error ? `${before?.host} ${error.code} ${(error.data as { reason?: string }).reason}` : [],
    );
    const why = '412001 record_not_as_planned';
    assert.deepEqual(failed.toSorted(), [`plan297 ${why}`, `plan298 ${why}`]);
    await world.agree();
  });

  it('are cancelled and settled before their domain is deleted by force', async () => {
    const zone = 'leaving.example';
    await world.pdns.createZone(zone);
    const domain = await addDomain(world.admin, world.account, zone);
    awayAfter(1);
    const answer = await world.admin.post(`/api/domains/${domain}/records/batch`, { changes: many(300, 'gone') });
    const id = answer.data.change_set_id as number;
    path = `/api/domains/${domain}/changes/${id}`;
    await until('paused', async () => (await state()).paused_until !== null);
    refused(await world.admin.delete(`/api/domains/${domain}`), 409, 409001);
    assert.equal((await world.admin.delete(`/api/domains/${domain}?force=true`)).status, 200);
    const [entry] = done(await world.admin.get('/api/audit/logs?action=record.cancel&limit=1')).list;
    const after = entry?.after as { change_set_id: number; pending: number; not_tried: number };
    assert.deepEqual([after.change_set_id, after.pending], [id, 0]);
    assert.ok(after.not_tried > 0);
  });

  it('end when they are cancelled while the provider puts a piece off, and are not begun again', async () => {
    let [writes, reached] = [0, false];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.proxy.fault = async (request, forward) => {
      if (request.method !== 'PATCH' || ++writes === 1) return forward();
      reached = true;
      await gate;
      return { status: 429, body: '{}', headers: { 'retry-after': '3600' } };
    };
    await accept(many(300, 'put-off'));
    await until('a piece is at the provider', async () => reached);
    done(await world.admin.post(`${path}/cancel`));
    release();
    await until('it has ended', async () => (await state()).state === 'done');
    const { counts, paused_until } = await state();
    assert.deepEqual([counts.pending, counts.applied + counts.not_tried, paused_until], [0, 300, null]);
    world.proxy.fault = null;
    await world.admin.post(`/api/accounts/${world.account}/resume`);
    made(await world.admin.post(world.records, { host: 'put-off-end', type: 'A', value: '192.0.2.1' }));
    assert.equal(writes, 2);
    await world.agree();
  });

  /** The provider carries out the first piece, and answers nothing from then on. */
  const outage = () => {
    let writes = 0;
    world.proxy.fault = async (request, forward) => {
      const first = request.method === 'PATCH' && !writes++;
      return first || !writes ? forward() : AWAY;
    };
  };
  const wished = (count: number, host: string) => many(count, host).map((change) => ({ ...change, op: 'upsert' }));

  it('pause while the provider cannot even be read', async () => {
    outage();
    await accept(wished(300, 'unread'));
    await until('paused', async () => (await state()).paused_until !== null);
    await until('paused anew', async () => {
      const before = (await state()).paused_until;
      await until('tried again', async () => (await state()).paused_until !== before);
      return true;
    });
    assert.deepEqual([(await state()).counts.not_tried, (await state()).counts.failed], [0, 0]);
    world.proxy.fault = null;
    await until('done', async () => (await state()).state === 'done');
    assert.equal((await state()).counts.applied, 300);
    await world.agree();
  });

  it('end after a day, though the provider is still away: what was not begun is not tried', async () => {
    awayAfter(1);
    await accept(many(300, 'day'));
    await until('paused', async () => (await state()).paused_until !== null);
    const { db, close } = await openDatabase(world.databaseUrl, world.server.dataDir);
    const yesterday = new Date(Date.now() - 86_400_001).toISOString();
    await db.run('UPDATE change_sets SET created_at = ? WHERE id = ?', [yesterday, Number(path.split('/').at(-1))]);
    await close();
    await until('done', async () => (await state()).state === 'done');
    const { counts, paused_until } = await state();
    // what the provider refused last, and was to be tried again, has failed
    const ended = counts.applied + counts.failed + counts.not_tried;
    assert.deepEqual([counts.pending, ended, paused_until], [0, 300, null], JSON.stringify(counts));
    assert.ok(counts.applied > 0 && counts.not_tried > 0, JSON.stringify(counts));
  });

  it('are cancelled before their account is deleted by force while they are paused', async () => {
    const zone = 'leaving-too.example';
    await world.pdns.createZone(zone);
    const credentials = { url: world.proxy.url, api_key: world.pdns.apiKey };
    const account = await addAccount(world.admin, 'powerdns', credentials);
    const domain = await addDomain(world.admin, account, zone);
    outage();
    const answer = await world.admin.post(`/api/domains/${domain}/records/batch`, { changes: wished(300, 'gone') });
    path = `/api/domains/${domain}/changes/${answer.data.change_set_id as number}`;
    await until('paused', async () => (await state()).paused_until !== null);
    assert.equal((await world.admin.delete(`/api/accounts/${account}?force=true`)).status, 200);
    const [entry] = done(await world.admin.get('/api/audit/logs?action=record.cancel&limit=1')).list;
    const after = entry?.after as { change_set_id: number; pending: number };
    assert.deepEqual([after.change_set_id, after.pending], [answer.data.change_set_id, 0]);
  });

  it('lose no other change to one that the vendor cannot hold', async () => {
    const zone = 'unfit.example';
    const vendor = await startVultr(zone);
    try {
      const account = await addAccount(world.admin, 'vultr', { api_key: 'key', endpoint: vendor.url });
      const domain = await addDomain(world.admin, account, zone);
      const unfit = { op: 'create', host: 'fits0', type: 'TXT', value: 'a "quoted" text' };
      const changes = [unfit, ...many(210, 'fits')];
      const answer = await world.admin.post(`/api/domains/${domain}/records/batch`, { changes });
      path = `/api/domains/${domain}/changes/${answer.data.change_set_id as number}`;
      await until('done', async () => (await state()).state === 'done');
      const { counts } = await state();
      assert.deepEqual([counts.applied, counts.failed, counts.not_tried], [210, 0, 1], JSON.stringify(counts));
    } finally {
      await vendor.stop();
    }
  });

  it('are refused where the vendor shall carry them out whole, and cannot', async () => {
    const zone = 'parts.example';
    const vendor = await startVultr(zone);
    try {
      const account = await addAccount(world.admin, 'vultr', { api_key: 'key', endpoint: vendor.url });
      const domain = await addDomain(world.admin, account, zone);
      const list = { atomic: 'vendor', changes: many(2, 'parts') };
      const { data } = refused(await world.admin.post(`/api/domains/${domain}/records/batch`, list), 400, 400001);
      assert.match(data.errors?.[0]?.message ?? '', /Vultr does not carry out lists whole/);
    } finally {
      await vendor.stop();
    }
  });

  it('have the zone of a vendor of single records read once, not for each piece', async () => {
    const zone = 'single.example';
    const vendor = await startVultr(zone);
    try {
      const account = await addAccount(world.admin, 'vultr', { api_key: 'key', endpoint: vendor.url });
      const domain = await addDomain(world.admin, account, zone);
      /** @returns how often the zone was read for a list */
      const readingsOf = async (changes: object[]) => {
        const before = vendor.requests.length;
        const answer = await world.admin.post(`/api/domains/${domain}/records/batch`, { changes });
        path = `/api/domains/${domain}/changes/${answer.data.change_set_id as number}`;
        await until('done', async () => (await state()).state === 'done');
        assert.equal((await state()).counts.applied, changes.length);
        const readings = vendor.requests.slice(before).filter(({ method }) => method === 'GET');
        return readings.filter(({ path }) => path.endsWith('/records')).length;
      };
      assert.equal(await readingsOf(many(300, 'created')), 0);
      assert.equal(await readingsOf(wished(300, 'wished')), 1);
    } finally {
      await vendor.stop();
    }
  });

  it('go on behind a restart while they are paused', async () => {
    outage();
    await accept(wished(300, 'restart'));
    await until('paused', async () => (await state()).paused_until !== null);
    await world.server.stop();
    const env = { DATABASE_URL: world.databaseUrl, UNCLEAR_AFTER_MS: '500' };
    const again = await LocalServer.start(env, world.server.dataDir);
    try {
      world.admin = again.as(world.token);
      assert.equal((await state()).counts.not_tried, 0);
      world.proxy.fault = null;
      await until('done', async () => (await state()).state === 'done');
      assert.equal((await state()).counts.applied, 300);
      await world.agree(world.admin);
    } finally {
      await again.stop();
    }
  });
});

/** A Vultr that makes records. */
async function startVultr(zone: string): Promise<StandIn> {
  const records: object[] = [];
  const meta = (total: number) => ({ total, links: { next: '', prev: '' } });
  return startStandIn(({ method, path, body }) => {
    if (path.endsWith('/domains')) return { body: { domains: [{ domain: zone }], meta: meta(1) } };
    if (method === 'GET') return { body: { records, meta: meta(records.length) } };
    const record = { id: `id-${records.length}`, ...(body as object) };
    records.push(record);
    return { status: 201, body: { record } };
  });
}
