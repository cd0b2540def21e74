import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { noPowerdns, type RawZone } from '../support/powerdns.js';
import type { Fault, Reply } from '../support/proxy.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { done, made, providerFailed, refused, startWorld, type World } from '../support/world.js';

const RECORDS = 10_000;

describeUnless(noPowerdns)(`a zone of ${RECORDS} records`, () => {
  let world: World;
  const zone = 'large.example';
  let domain: number;

  beforeAll(async () => {
    world = await startWorld();
    const rrsets = Array.from({ length: RECORDS - 1 }, (_none, i) => ({
      name: `host-${i}.${zone}.`,
      type: i % 4 ? 'A' : 'TXT',
      ttl: 300,
      records: [{ content: i % 4 ? `10.1.${i >> 8}.${i & 255}` : `"text of ${i}"`, disabled: false }],
    }));
    const body = { name: `${zone}.`, kind: 'Native', nameservers: ['ns1.example.net.'], rrsets };
    const answer = await world.pdns.api('POST', '/zones', body);
    assert.equal(answer.status, 201, await answer.text());
  });
  afterAll(() => world?.stop());

  const sync = () => world.admin.post(`/api/accounts/${world.account}/sync`);
  const table = () => rowsOf(world, 'SELECT * FROM dns_records ORDER BY id');

  it('is read', async () => {
    const result = done(await sync());
    assert.deepEqual([result.added, result.failed], [1, 0]);
    const found = done(await world.admin.get('/api/domains?keyword=large'));
    domain = found[0].id;
    assert.equal(found[0].records_count, RECORDS);
    const { total, list } = done(await world.admin.get(`/api/domains/${domain}/records`));
    assert.deepEqual([total, list.length], [RECORDS, RECORDS]);
  });

  it('a second sync writes no record, and neither does a third', async () => {
    const before = await table();
    assert.equal(before.length, RECORDS + 1);
    for (const which of ['second', 'third']) {
      done(await sync());
      assert.deepEqual(await table(), before, which);
    }
  });

  it('a list of its records that is cut short fails and changes nothing', async () => {
    const before = await table();
    const edit =
      (change: (zone: RawZone) => unknown): Fault =>
      async (_request, forward) => ({ status: 200, body: JSON.stringify(change(JSON.parse((await forward()).body))) });
    const cut =
      (change: (reply: Reply) => Partial<Reply>): Fault =>
      async (_request, forward) => {
        const reply = await forward();
        return { ...reply, ...change(reply) };
      };
    const faults: Record<string, Fault> = {
      'no record sets': edit(({ rrsets: _rrsets, ...rest }) => rest),
      'an empty list': edit((whole) => ({ ...whole, rrsets: [] })),
      'half of the sets': edit((whole) => ({
        ...whole,
        rrsets: whole.rrsets.filter((s) => s.type !== 'SOA').slice(0, 5000),
      })),
      'a set without records': edit((whole) => ({ ...whole, rrsets: whole.rrsets.map(({ records: _r, ...s }) => s) })),
      'half of the text': cut(({ body }) => ({ body: body.slice(0, body.length / 2) })),
      'an empty body': cut(() => ({ body: '' })),
      'a broken connection': cut(({ body }) => ({ cut: Math.floor(body.length / 2) })),
      'not JSON': cut(() => ({ body: '<html>oops</html>' })),
    };
    for (const [what, fault] of Object.entries(faults)) {
      world.proxy.fault = (request, forward) =>
        request.path.includes(`/zones/${zone}`) ? fault(request, forward) : forward();
      providerFailed(await world.admin.get(`/api/domains/${domain}/records?refresh=true&limit=1`), /./);
      assert.equal(done(await sync()).failed, 1, what);
      assert.deepEqual(await table(), before, what);
    }
    world.proxy.fault = null;
    assert.equal(done(await sync()).failed, 0);
    assert.deepEqual(await table(), before);
  });

  it(`beyond ${RECORDS} records a list needs a page`, async () => {
    const records = `/api/domains/${domain}/records` as const;
    const { id } = made(await world.admin.post(records, { host: 'one-more', type: 'A', value: '192.0.2.1' }));
    const answer = refused(await world.admin.get(records), 400, 400001);
    assert.equal(answer.data.errors[0].path, 'page');
    assert.match(answer.msg + answer.data.errors[0].message, /10001/);
    assert.equal(done(await world.admin.get(`${records}?page=1&limit=500`)).list.length, 500);
    const last = done(await world.admin.get(`${records}?page=21&limit=500`));
    assert.deepEqual([last.total, last.list.length, last.list[0].id], [RECORDS + 1, 1, id]);
    // a filter that matches fewer needs no page
    assert.equal(done(await world.admin.get(`${records}?type=A`)).list.length, 7501 - 1);
    done(await world.admin.delete(`${records}/${id}`));
    assert.equal(done(await world.admin.get(records)).list.length, RECORDS);
  });
});
