import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Query } from '../support/answers.js';
import { databases, type Kind } from '../support/databases.js';
import { startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

for (const { kind, skip } of databases('all'))
  describeUnless(skip)(`what lists of records find, on ${kind}`, () => suite(kind));

function suite(kind: Kind): void {
  let service: Awaited<ReturnType<typeof startService>>;
  let records: `/api/domains/${number}/records`;
  const zone = 'example.com';
  const SEED: object[] = [
    { host: 'api', type: 'A', value: '192.0.2.1' },
    { host: 'münchen', type: 'CNAME', value: 'www.münchen.example' },
    { host: 'post', type: 'CNAME', value: 'mail.example.com' },
    { host: 'text', type: 'TXT', value: 'mail.example.com.' },
    { host: 'text', type: 'TXT', value: 'Grüße aus München' },
    { host: '@', type: 'MX', value: 'mail.example.com', priority: 10 },
    { host: 'sub', type: 'MX', value: 'mail.example.com', priority: 20 },
    { host: 'six', type: 'AAAA', value: '2001:db8::1' },
    { host: 'ca', type: 'CAA', value: '0 issue ca.example.net' },
  ];

  beforeAll(async () => {
    service = await startService(kind);
    const account = await addAccount(service.admin, 'zonefile', {});
    records = `/api/domains/${await addDomain(service.admin, account, zone, true)}/records`;
    for (const record of SEED) made(await service.admin.post(records, record));
  });
  afterAll(() => service?.stop());

  it('find a long value, though links that repeat it are too long for a header', async () => {
    const value = 'k'.repeat(7000);
    const { id } = made(await service.admin.post(records, { host: 'long', type: 'TXT', value }));
    for (const path of [records, '/api/records'] as const) {
      const answer = await service.admin.get(`${path}?value=${value}&page=1&limit=1`);
      assert.deepEqual(
        done(answer).list.map((r) => r.id),
        [id],
      );
      assert.equal(answer.headers.get('link'), null);
      assert.match((await service.admin.get(`${path}?page=1&limit=1`)).headers.get('link') ?? '', /rel="next"/);
    }
    done(await service.admin.delete(`${records}/${id}`));
  });

  const list = async (query: Query) => done(await service.admin.get(`${records}${query}`)).list;
  const hosts = async (query: Record<string, string>) =>
    (await list(`?${new URLSearchParams(query)}`)).map((r) => `${r.host} ${r.type}`).toSorted();

  it('filters are read like input', async () => {
    const found: [Record<string, string>, string[]][] = [
      [{ host: 'api.example.com.' }, ['api A']],
      [{ host: 'API' }, ['api A']],
      [{ subdomain: 'Api.Example.Com.' }, ['api A']],
      [{ host: 'example.com.', type: 'MX' }, ['@ MX']],
      [{ host: 'MÜNCHEN' }, ['xn--mnchen-3ya CNAME']],
      [{ value: 'mail.example.com' }, ['@ MX', 'post CNAME', 'sub MX']],
      // a name with its final dot is the same name; of a text the dot is a part
      [{ value: 'mail.example.com.' }, ['@ MX', 'post CNAME', 'sub MX', 'text TXT']],
      [{ value: '20 Mail.Example.com.' }, ['sub MX']],
      [{ value: '2001:DB8:0::1' }, ['six AAAA']],
      [{ value: '0 ISSUE "ca.example.net"' }, ['ca CAA']],
      [{ value: '"Grüße aus München"' }, ['text TXT']],
      [{ value: 'WWW.münchen.example.' }, ['xn--mnchen-3ya CNAME']],
      [{ value: 'mail.example' }, []],
      [{ keyword: 'münchen' }, ['text TXT', 'xn--mnchen-3ya CNAME']],
      [{ keyword: 'www.MÜNCHEN' }, ['xn--mnchen-3ya CNAME']],
      [{ keyword: 'mnchen' }, ['xn--mnchen-3ya CNAME']],
      [{ host: 'nowhere' }, []],
      [{ type: 'tlsa' }, []],
      [{ type: 'a,AAAA' }, ['api A', 'six AAAA']],
      [{ type: 'Aaaa, a,A' }, ['api A', 'six AAAA']],
      [{ type: 'TLSA,MX,TYPE65280', host: 'sub' }, ['sub MX']],
    ];
    for (const [query, wanted] of found) assert.deepEqual(await hosts(query), wanted, JSON.stringify(query));
    for (const path of ['host', 'subdomain'])
      for (const name of ['api.example.net.', 'com.']) {
        const { data } = refused(await service.admin.get(`${records}?${path}=${name}`), 400, 400001);
        assert.equal(data.errors[0].path, path);
      }
  });

  it('what is no record type is refused, also among others', async () => {
    for (const type of ['nonsense', 'A,nonsense', 'A,', ',', 'TYPE', 'constructor', 'X'.repeat(900)]) {
      const { data } = refused(await service.admin.get(`${records}?type=${type}`), 400, 400001);
      assert.deepEqual(
        data.errors.map((e) => [e.path, e.code]),
        [['type', 'choice']],
        type,
      );
    }
    assert.equal(refused(await service.admin.get(`${records}?type=`), 400, 400001).data.errors[0].path, 'type');
  });

  it('what a record shows of itself finds it', async () => {
    for (const { id, host, type, value } of await list('')) {
      const answer = await list(`?${new URLSearchParams({ host, type, value })}`);
      assert.ok(
        answer.some((r) => r.id === id),
        `${host} ${type} ${value}`,
      );
    }
  });

  it('every link can be followed', async () => {
    const { admin } = service;
    // more than a page may hold, and less than an answer
    const lines = Array.from({ length: 510 }, (_, i) => `h${i} 600 IN A 10.0.${i >> 8}.${i & 255}\n`);
    appendFileSync(join(service.server.dataDir, 'zones', `${zone}.zone`), lines.join(''));
    done(await admin.get(`${records}?refresh=true`));
    const lists = [
      records,
      `${records}?type=A&refresh=true`,
      `${records}?limit=7&page=2`,
      `${records}?keyword=nothing`,
    ];
    for (const path of [...lists, '/api/domains', '/api/users', '/api/accounts', '/api/teams', '/api/tokens']) {
      const answer = await admin.get(path);
      done(answer);
      const links = [...(answer.headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)];
      assert.ok(links.length >= 2, path);
      for (const [, url] of links) {
        done(await admin.get(url as string));
        assert.doesNotMatch(url as string, /refresh/);
      }
    }
    const whole = await admin.get(`${records}?type=A`);
    assert.equal(whole.headers.get('link'), `<${records}?type=A>; rel="first", <${records}?type=A>; rel="last"`);
  });

  it('a record keeps the time of its creation, and lists sort by it', async () => {
    const { id } = made(await service.admin.post(records, { host: 'born', type: 'A', value: '192.0.2.9' }));
    const born = done(await service.admin.get(`${records}/${id}`));
    assert.match(born.created_at, /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
    assert.equal(born.created_at, born.updated_at);
    const changed = done(await service.admin.put(`${records}/${id}`, { value: '192.0.2.10' }));
    assert.equal(changed.created_at, born.created_at);
    done(await service.admin.get(`${records}?refresh=true`));
    assert.equal(done(await service.admin.get(`${records}/${id}`)).created_at, born.created_at);
    const [last] = await list('?sort=-created_at&limit=1');
    assert.equal(last.id, id);
    const times = (await list('?sort=created_at')).map((r) => r.created_at);
    assert.deepEqual(times, times.toSorted());
  });
}
