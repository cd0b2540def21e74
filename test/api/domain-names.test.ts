import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, grant, openDatabase, withoutRates } from '../support/database.js';
import { databases, type Kind } from '../support/databases.js';
import { type Operation, readDescription } from '../support/openapi.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const ASCII = 'xn--bcher-named-thb.example';
const UNICODE = 'bücher-named.example';
const PASSWORD = 'correct-horse-battery-9';

/** The database on which every route of the description is asked. */
const FULL = databases('one')[0]?.kind;

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`a domain by its name in the path, on ${kind}`, () => suite(kind));

function suite(kind: Kind): void {
  let service: Awaited<ReturnType<typeof startService>>;
  let admin: Client;
  let db: Db;
  let close: () => Promise<void>;
  let account: number;
  let other: number;
  let domain: number;
  let record: number;
  let inDomain: Operation[];

  beforeAll(async () => {
    service = await startService(kind);
    ({ admin } = service);
    ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
    await withoutRates(db);
    account = await addAccount(admin, 'zonefile', {});
    other = await addAccount(admin, 'zonefile', { directory: 'elsewhere' });
    domain = await addDomain(admin, account, UNICODE, true);
    record = made(
      await admin.post(`/api/domains/${domain}/records`, { host: 'www', type: 'A', value: '192.0.2.1' }),
    ).id;
    const { operations } = await readDescription(service.server);
    inDomain = operations.filter(({ path }) => path.startsWith('/api/domains/{'));
  });
  afterAll(async () => {
    await close?.();
    await service?.stop();
  });

  const placed = (path: string, named: string) =>
    path
      .replace('{domain_id}', named)
      .replace('{record_id}', String(record))
      .replace('{host}/{type}', 'www/A')
      .replaceAll(/\{\w+\}/g, '999999');
  const call = (method: string, path: string, body?: unknown, token?: string) =>
    service.server.call(method.toUpperCase(), path, body, token) as Promise<Answer>;
  /** A user with the rights of a team on these domains. */
  const person = async (username: string, ids: number[], permission: 'read' | 'write' = 'read') => {
    const login = { username, password: PASSWORD };
    const team = await addTeam(db, username, [await addUser(db, login)]);
    for (const id of ids) await grant(db, team, id, permission);
    return service.server.login(login);
  };
  const told = ({ status, code, msg, data }: Answer) => JSON.stringify({ status, code, msg, data });

  let admins: string | undefined;
  const tokenOf = async () => (admins ??= await service.server.login());

  if (kind === FULL) {
    it('names the domain alike in every route of the description', async () => {
      assert.ok(inDomain.length > 25);
      const token = await service.server.login();
      for (const { name, method, path } of inDomain) {
        assert.match(path, /^\/api\/domains\/\{domain_id\}/, name);
        const answers = [];
        // what nobody reads in the query is refused behind the guard that finds the domain
        for (const named of [String(domain), ASCII])
          answers.push(await call(method, `${placed(path, named)}?n=1`, {}, token));
        assert.deepEqual(
          answers.map(({ code }) => code),
          [400001, 400001],
          name,
        );
        assert.equal(told(answers[0] as Answer), told(answers[1] as Answer), name);
      }
    });

    it('answers every GET by the name as by the id, in each spelling of it', async () => {
      const token = await service.server.login();
      const spellings = [
        ASCII,
        `${ASCII}.`,
        ASCII.toUpperCase(),
        encodeURIComponent(UNICODE),
        encodeURIComponent('BÜCHER-named.example.'),
      ];
      const reads = inDomain.filter(({ method, path }) => method === 'get' && !/health|propagation/.test(path));
      for (const { name, path } of reads) {
        const byId = await call('get', placed(path, String(domain)), undefined, token);
        for (const named of spellings)
          assert.equal(
            told(await call('get', placed(path, named), undefined, token)),
            told(byId),
            `${name} by ${named}`,
          );
      }
    });
  }

  it('writes by the name, and names ids in Location', async () => {
    const records = `/api/domains/${ASCII}/records` as const;
    const answer = await admin.post(records as '/api/domains/1/records', {
      host: 'new',
      type: 'A',
      value: '192.0.2.2',
    });
    const { id } = made(answer);
    assert.equal(answer.headers.get('location'), `/api/domains/${domain}/records/${id}`);
    done(await admin.put(`${records}/${id}` as '/api/domains/1/records/1', { value: '192.0.2.3' }));
    assert.equal(done(await admin.get(`/api/domains/${domain}/records/${id}`)).value, '192.0.2.3');
    const set = done(await admin.put(`/api/domains/${ASCII}/rrsets/new/A`, { values: ['192.0.2.4'] }));
    assert.equal((set as { changed: boolean }).changed, true);
    done(
      await admin.delete(`${records}/${done(await admin.get(`/api/domains/${domain}/records?host=new`)).list[0]?.id}`),
    );
    const changes = Array.from({ length: 201 }, (_, i) => ({
      op: 'create',
      host: `h${i}`,
      type: 'A',
      value: '192.0.2.5',
    }));
    const long = await admin.post(`${records}/batch`, { changes });
    assert.equal(long.status, 202, long.msg);
    assert.match(long.headers.get('location') ?? '', new RegExp(`^/api/domains/${domain}/changes/\\d+$`));
  });

  if (kind === FULL) {
    it('is an error for what is neither an id nor a name', async () => {
      for (const text of [
        'x',
        'undefined',
        '-1',
        '1.5',
        '0x1',
        '0',
        '2147483648',
        '9'.repeat(30),
        'a%2Fb.example',
        '..%2f..',
        'a%20b.example',
        'a..example',
        `${'a'.repeat(64)}.example`,
        `${'abcdefg.'.repeat(40)}example`,
        '%EF%BC%8F.example',
        "'.example",
        '*.example',
        '%2e',
        '@',
      ]) {
        const answer = refused(
          await call('get', `/api/domains/${text}/records`, undefined, await tokenOf()),
          400,
          400001,
        );
        assert.deepEqual(
          answer.data.errors?.map(({ path }) => path),
          ['domain_id'],
          text,
        );
      }
    });

    it('cannot tell a name that may not be read from one that nobody has', async () => {
      const stranger = await person('stranger', []);
      const limited = made(
        await admin.post('/api/tokens', {
          name: 'limited',
          allowed_domains: [await addDomain(admin, account, 'own-named.example', true)],
        }),
      ).token;
      for (const token of [stranger, limited])
        for (const { name, method, path } of inDomain) {
          const hidden = await call(method, placed(path, ASCII), {}, token);
          const missing = await call(method, placed(path, 'nobody-named.example'), {}, token);
          assert.deepEqual([hidden.status, hidden.code], [403, 403001], name);
          assert.equal(told(missing).replaceAll('nobody-named.example', ASCII), told(hidden), name);
          const byId = await call(method, placed(path, String(domain)), {}, token);
          assert.equal(told(byId).replaceAll(`domain:${domain}:`, `domain:${ASCII}:`), told(hidden), name);
        }
      refused(await admin.get('/api/domains/nobody-named.example/records' as '/api/domains/1/records'), 404, 404001);
    });
  }

  it('of a name in several accounts means the one that may be read, and names the ids of several', async () => {
    const name = 'twice-named.example';
    const ids = [await addDomain(admin, account, name, true), await addDomain(admin, other, name, true)] as const;
    const path = `/api/domains/${name}` as '/api/domains/1';
    const several = refused(await admin.get(path), 409, 409001);
    assert.deepEqual((several.data as { ids?: number[] }).ids, [...ids]);
    assert.match(several.msg, new RegExp(`${ids[0]}, ${ids[1]}`));
    for (const id of ids) {
      const reader = service.server.as(await person(`reader of ${id}`, [id]));
      assert.equal(done(await reader.get(path)).id, id);
      // the domain is found, and the right that is missing is that of writing
      assert.deepEqual(
        refused(await reader.put(path, { remark: 'x' }), 403, 403001).data.required,
        `domain:${id}:write`,
      );
      const { token } = made(await admin.post('/api/tokens', { name: `of ${id}`, allowed_domains: [id] }));
      assert.equal(done(await service.server.as(token).get(path)).id, id);
    }
    const both = service.server.as(await person('reader of both', [...ids]));
    assert.deepEqual((refused(await both.get(path), 409, 409001).data as { ids?: number[] }).ids, [...ids]);
  });

  it('is named so in bodies, too', async () => {
    const reader = { username: 'explained', password: PASSWORD };
    const user = await addUser(db, reader);
    const team = await addTeam(db, 'explained', [user]);
    const question = { action: 'read', host: 'www', type: 'A' };
    const asks = (domain_id: unknown) => admin.post(`/api/users/${user}/explain`, { ...question, domain_id });
    assert.deepEqual(
      [done(await asks(UNICODE)).allowed, done(await asks('nobody-named.example')).allowed],
      [false, false],
    );
    const given = { domain_id: `${ASCII.toUpperCase()}.`, permission: 'read' };
    const permission = made(await admin.post(`/api/teams/${team}/permissions`, given));
    assert.deepEqual([permission.domain_id, permission.domain_name], [domain, ASCII]);
    for (const named of [UNICODE, domain]) assert.equal(done(await asks(named)).allowed, true);
    for (const wrong of ['x', '', 0, 1.5, null, 'a/b.example', String(domain)]) {
      const { data } = refused(await asks(wrong), 400, 400001);
      assert.deepEqual(
        data.errors?.map(({ path }) => path),
        ['domain_id'],
        String(wrong),
      );
    }
    refused(
      await admin.post(`/api/teams/${team}/permissions`, { ...given, domain_id: 'nobody-named.example' }),
      404,
      404001,
    );
    refused(
      await admin.post(`/api/teams/${team}/permissions`, { ...given, domain_id: 'twice-named.example' }),
      409,
      409001,
    );
  });
}
