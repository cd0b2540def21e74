import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Query } from '../support/answers.js';
import { databases, type Kind } from '../support/databases.js';
import { startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

for (const { kind, skip } of databases('all')) describeUnless(skip)(`lists of records on ${kind}`, () => suite(kind));

function suite(kind: Kind): void {
  let service: Awaited<ReturnType<typeof startService>>;
  let domain: number;
  let records: `/api/domains/${number}/records`;
  const zone = 'list.example';
  const SEED: [host: string, type: string, value: string][] = [
    ['@', 'A', '192.0.2.1'],
    ['www', 'A', '192.0.2.1'],
    ['www', 'A', '192.0.2.2'],
    ['www', 'TXT', 'Hello World'],
    ['api', 'CNAME', 'www.list.example'],
    ['100', 'TXT', '50% off_now!'],
    ['mail', 'MX', 'mx.example.net'],
    ['x', 'TXT', 'hello world'],
  ];

  beforeAll(async () => {
    service = await startService(kind);
    const account = await addAccount(service.admin, 'zonefile', {});
    domain = await addDomain(service.admin, account, zone, true);
    records = `/api/domains/${domain}/records`;
    for (const [host, type, value] of SEED) made(await service.admin.post(records, { host, type, value }));
    const [off] = (await list('?value=192.0.2.2')).list;
    done(await service.admin.patch(`${records}/${off.id}/status`, { enabled: false }));
  });
  afterAll(() => service?.stop());

  const list = async (query: Query = '') => done(await service.admin.get(`${records}${query}`));
  const keys = async (query: Query) => (await list(query)).list.map((r) => `${r.host} ${r.type} ${r.value}`);

  it('filters by type, host, value, line, state and keyword, together', async () => {
    const counts: Record<Query, number> = {
      '': SEED.length + 1,
      '?type=A': 3,
      '?type=a': 3,
      '?type=NS': 1,
      '?type=SRV': 0,
      '?host=www': 3,
      '?host=WWW': 3,
      '?host=%40': 2,
      '?subdomain=www': 3,
      '?value=192.0.2.1': 2,
      '?value=192.0.2': 0,
      '?value=hello%20world': 1,
      '?line=default': SEED.length + 1,
      '?line=0': SEED.length + 1,
      '?line=telecom': 0,
      '?enabled=false': 1,
      '?enabled=true': SEED.length,
      '?keyword=hello': 2,
      '?keyword=HELLO': 2,
      '?keyword=%25': 1,
      '?keyword=f_n': 1,
      '?keyword=_': 1,
      '?keyword=!': 1,
      '?host=www&type=A&enabled=true': 1,
      '?host=www&keyword=world': 1,
      '?host=nowhere': 0,
    };
    for (const [query, count] of Object.entries(counts) as [Query, number][]) {
      const { total, list: rows } = await list(query);
      assert.deepEqual([total, rows.length], [count, count], query);
    }
  });

  it('sorts by what it says, and refuses the rest', async () => {
    const hosts = async (sort: string) => (await list(`?sort=${sort}`)).list.map((r) => r.host);
    const up = await hosts('host');
    assert.deepEqual(up, up.toSorted());
    assert.deepEqual(await hosts('name'), up);
    assert.deepEqual((await hosts('-host')).toSorted(), up);
    assert.deepEqual((await hosts('-host'))[0], 'x');
    const ids = (await list()).list.map((r) => r.id);
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    );
    assert.deepEqual(
      (await list('?sort=-id')).list.map((r) => r.id),
      ids.toReversed(),
    );
    refused(await service.admin.get(`${records}?sort=value;drop`), 400, 400001);
    refused(await service.admin.get(`${records}?sort=-`), 400, 400001);
  });

  it('sorts by value in one order on every database, whole, paged and for a token with rules', async () => {
    const texts = ['b', 'B', 'a', 'ä', 'a b', 'ab', 'a-b', '\u{1f600}', '\uffee', 'Z', '_', `${'l'.repeat(250)}b`];
    texts.push(`${'l'.repeat(250)}a`);
    for (const value of texts) made(await service.admin.post(records, { host: 'sorted', type: 'TXT', value }));
    const beginning = (value: string) => Buffer.from([...value].slice(0, 250).join(''));
    const all = (await list('?host=sorted')).list;
    const wanted = all
      .toSorted((a, b) => Buffer.compare(beginning(a.value), beginning(b.value)) || a.id - b.id)
      .map(({ value }) => value);
    const values = async (query: string, client = service.admin) =>
      done(await client.get(`${records}?host=sorted&${query}`)).list.map(({ value }) => value);
    assert.deepEqual(await values('sort=value'), wanted);
    assert.deepEqual((await values('sort=-value&limit=5')).slice(2), wanted.toReversed().slice(2, 5));
    const { token } = made(
      await service.admin.post('/api/tokens', { name: 'ruled', rules: [{ effect: 'allow', hosts: ['sort*'] }] }),
    );
    const ruled = service.server.as(token);
    assert.deepEqual(
      [...(await values('sort=value&limit=7', ruled)), ...(await values('sort=value&limit=7&page=2', ruled))],
      wanted,
    );
    for (const { id } of all) done(await service.admin.delete(`${records}/${id}`));
  });

  it('pages, with the total and links in the headers', async () => {
    const total = SEED.length + 1;
    const seen: number[] = [];
    for (let page = 1; page <= 3; page++) {
      const answer = await service.admin.get(`${records}?limit=4&page=${page}&sort=name`);
      assert.equal(answer.data.total, total);
      assert.equal(answer.headers.get('x-total-count'), String(total));
      const link = answer.headers.get('link') ?? '';
      const rels = [...link.matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, url, rel]) => [
        rel,
        new URL(url as string, 'http://x').searchParams,
      ]);
      const pages = Object.fromEntries(rels.map(([rel, query]) => [rel, (query as URLSearchParams).get('page')]));
      const near = { ...(page > 1 && { prev: String(page - 1) }), ...(page < 3 && { next: String(page + 1) }) };
      assert.deepEqual(pages, { first: '1', last: '3', ...near });
      for (const [, query] of rels)
        assert.deepEqual(
          [(query as URLSearchParams).get('sort'), (query as URLSearchParams).get('limit')],
          ['name', '4'],
        );
      seen.push(...answer.data.list.map((r) => r.id));
    }
    assert.equal(new Set(seen).size, total);
    assert.equal((await list('?pageSize=2')).list.length, 2);
    assert.equal((await list('?page=99')).list.length, 0);
    assert.equal((await list('?limit=500')).list.length, total);
    for (const query of [
      'limit=501',
      'limit=0',
      'limit=x',
      'page=0',
      'page=-1',
      'pageSize=501',
      'enabled=maybe',
      'nosuch=1',
      'limit=',
    ]) {
      refused(await service.admin.get(`${records}?${query}`), 400, 400001);
    }
  });

  it('is read through to the provider on request, with ids that stay', async () => {
    const before = await list();
    appendFileSync(join(service.server.dataDir, 'zones', `${zone}.zone`), `outside 60 IN A 192.0.2.99\n`);
    assert.deepEqual(await keys('?host=outside'), []);
    assert.deepEqual(await keys('?host=outside&refresh=true'), ['outside A 192.0.2.99']);
    const after = await list();
    assert.equal(after.total, before.total + 1);
    const ids = new Set(after.list.map((r) => r.id));
    for (const r of before.list) assert.ok(ids.has(r.id));
    assert.equal(done(await service.admin.get(`/api/domains/${domain}`)).records_count, after.total);
  });

  it('holds the longest of texts, and what surrounds it in the audit log', async () => {
    const value = '"'.repeat(60_000);
    const { id } = made(await service.admin.post(records, { host: 'long', type: 'TXT', value }));
    assert.equal(done(await service.admin.get(`${records}/${id}`)).value, value);
    done(await service.admin.put(`${records}/${id}`, { ttl: 61 }));
    done(await service.admin.delete(`${records}/${id}`));
  });
}
