import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { FIELD_CODES } from '../../src/platform/common/words/codes.js';
import { type Part, readDescription } from '../support/openapi.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { addAccount, addDomain, made, refused } from '../support/world.js';

describe('what is wrong with a request', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let admin: Client;
  let post: (path: string, body: string) => Promise<Answer>;
  beforeAll(async () => {
    service = await startService('sqlite');
    ({ admin } = service);
    post = (path, body) => service.server.call('POST', path, body, service.token);
  });
  afterAll(() => service.stop());

  /** What the answer says of each field: `path: code params`; each path stands there once, with a code of the list. */
  function said(answer: Answer): Record<string, string> {
    const { errors } = refused(answer, 400, 400001).data;
    const out = new Map<string, string>();
    for (const { path, code, message, params } of errors) {
      assert.ok(!out.has(path), `${path} twice`);
      assert.ok(code in FIELD_CODES, code);
      assert.ok(message.length > 5, message);
      out.set(path, params ? `${code} ${JSON.stringify(params)}` : code);
    }
    return Object.fromEntries(out);
  }

  it('a list where an object belongs is refused, whatever is in it', async () => {
    const rule = { effect: 'allow' };
    const tokens: [object, string][] = [
      [{ preset: [] }, 'preset'],
      [{ preset: [{ name: 'read-only' }] }, 'preset'],
      [{ rules: [[{ effect: 'deny' }], rule] }, 'rules'],
      [{ rules: [{ effect: 'deny', values: [{ cidrs: ['10.0.0.0/8'] }] }, rule] }, 'rules.0.values'],
      [{ rules: [{ effect: 'deny', values: { text: [] } }, rule] }, 'rules.0.values.text'],
      [{ rules: [{ ...rule, ttl: [{ min: 300 }] }] }, 'rules.0.ttl'],
    ];
    for (const [more, path] of tokens)
      assert.ok(path in said(await admin.post('/api/tokens', { name: 'x', ...more })), path);
    for (const field of ['session', 'rate_limits', 'login_limit', 'password_policy'])
      assert.ok(field in said(await admin.put('/api/settings/security', { [field]: [] })), field);
    assert.ok('providers' in said(await admin.put('/api/settings/oauth', { providers: [[]] })));
  });

  it('lists of objects in the body of every operation reject other elements', async () => {
    const { operations, resolve } = await readDescription(service.server);
    /** Bodies with one wrong element in one of their lists of objects, at any depth. */
    function wrongLists(given: Part | undefined, wrong: unknown): unknown[] {
      const schema = resolve(given);
      if (schema?.items) {
        const deeper = wrongLists(schema.items, wrong).map((one) => [one]);
        return resolve(schema.items).properties ? [[wrong], ...deeper] : deeper;
      }
      return Object.entries(schema?.properties ?? {}).flatMap(([key, part]) =>
        wrongLists(part, wrong).map((one) => ({ [key]: one })),
      );
    }
    const account = await addAccount(admin, 'zonefile', {});
    const domain = await addDomain(admin, account, 'lists.example', true);
    let sent = 0;
    for (const { name, method, path, operation } of operations)
      for (const wrong of [[], null, 'x', 1, true])
        for (const body of wrongLists(operation.requestBody?.content?.['application/json']?.schema, wrong)) {
          const url = path.replace('{domain_id}', String(domain)).replace(/\{\w+\}/g, '1');
          const { status, msg } = await admin[method as 'post'](url as '/api/tokens', body);
          assert.ok(status >= 400 && status < 500, `${name} ${JSON.stringify(body)}: ${status} ${msg}`);
          sent++;
        }
    assert.ok(sent > 50, `${sent} bodies`);
  });

  it('a body with more than any body needs is refused as a whole, before its parts are looked at', async () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));
    let deep: object = {};
    for (let i = 0; i < 30; i++) deep = { a: deep };
    for (const body of [many(201), { name: 'x', rules: Array(6000).fill({ a: 1 }) }, { name: deep }]) {
      const errors = Object.values(said(await admin.post('/api/tokens', body)));
      assert.deepEqual(
        errors.map((e) => e.split(' ')[0]),
        ['length'],
      );
    }
    const login = await service.server.call('POST', '/api/auth/login', many(50_000));
    assert.equal(refused(login, 400, 400001).data.errors.length, 1);
    assert.equal(refused(await admin.post('/api/users', many(200)), 400, 400001).data.errors.length, 100);
  });

  it('null counts as left out, or is refused', async () => {
    const rules = [{ effect: 'allow', types: ['TXT'], values: { text: { min_length: 1, pattern: null } }, ttl: null }];
    const { id } = made(await admin.post('/api/tokens', { name: 'nulls', rules })).tokenData;
    const question = { domain_id: 1, action: 'read', host: 'www', type: 'TXT', value: null };
    assert.ok((await admin.post(`/api/tokens/${id}/explain`, question)).status < 500);
    for (const path of ['/api/auth/oauth/start', '/api/security/bind-oauth'])
      assert.ok((await admin.post(path, { provider: 'none', redirect: null })).status < 500);
    assert.ok((await admin.post('/api/tokens', { name: 'x', preset: { name: 'acme', host: null } })).status < 500);
  });

  it('is all reported at once: form, and what only the service knows', async () => {
    const user = { username: 'a b', password: 'short', email: 'nobody', nickname: 'two\nlines', role: 9, shoe: 1 };
    assert.deepEqual(said(await admin.post('/api/users', user)), {
      username: 'format',
      password: 'format',
      email: 'format',
      nickname: 'format',
      role: 'choice {"values":[1,2,3]}',
      shoe: 'unknown',
    });
    const ada = made(await admin.post('/api/users', { username: 'ada', password: 'violet-harbour-92' }));
    const patch = { password: 'short', email: 'nobody', status: 7, nickname: '' };
    assert.deepEqual(Object.keys(said(await admin.put(`/api/users/${ada.id}`, patch))).toSorted(), [
      'email',
      'nickname',
      'password',
      'status',
    ]);
    const both = { password: 'short', username: 'eve' };
    assert.deepEqual(said(await admin.put(`/api/users/${ada.id}`, both)), {
      password: 'format',
      username: 'read_only',
    });

    const credentials = { url: 'ftp://example.net', apikey: 'k' };
    const account = { provider: 'powerdns', name: '', credentials, team_id: 'x' };
    assert.deepEqual(said(await admin.post('/api/accounts', account)), {
      name: 'required',
      team_id: 'format',
      'credentials.url': 'format',
      'credentials.apikey': 'unknown {"values":["url","api_key","server_id","nameservers","endpoint"]}',
    });
    assert.deepEqual(
      Object.keys(said(await admin.post('/api/accounts', { ...account, name: 'x', team_id: 999 }))).toSorted(),
      ['credentials.apikey', 'credentials.url', 'team_id'],
    );
    const nosuch = said(await admin.post('/api/accounts', { provider: 'nosuch', credentials: 5 }));
    assert.deepEqual(Object.keys(nosuch).toSorted(), ['credentials', 'name', 'provider']);

    const stranger = await service.server.call('POST', '/api/auth/register', { ...user, role: undefined });
    assert.deepEqual(Object.keys(said(stranger)).toSorted(), ['email', 'nickname', 'password', 'shoe', 'username']);
  });

  it('is reported with its parameters, by the most specific rule of a field', async () => {
    const team = said(await admin.post('/api/teams', { name: 'x'.repeat(129), description: 5 }));
    assert.deepEqual(team, { name: 'length {"max":128}', description: 'format' });
    assert.deepEqual(said(await admin.post('/api/teams', {})), { name: 'required' });
    const token = {
      name: ' ',
      allowed_domains: [0],
      allowed_services: [],
      max_unused_days: 9999,
      rules: [{ effect: 'perhaps' }],
      end_time: 'tomorrow',
    };
    const words = said(await admin.post('/api/tokens', token));
    assert.equal(words.name, 'format');
    assert.equal(words.allowed_domains, 'range {"min":1,"max":2147483647}');
    assert.match(words.allowed_services as string, /^length/);
    assert.equal(words.max_unused_days, 'range {"min":1,"max":3650}');
    assert.equal(words['rules.0.effect'], 'choice {"values":["allow","deny"]}');
    assert.equal(words.end_time, 'format');
    const security = { session: { token_minutes: 1 }, login_limit: { lock_minutes: 'x' } };
    assert.deepEqual(said(await admin.put('/api/settings/smtp', { enabled: true })), {
      host: 'required',
      from: 'required',
    });
    assert.deepEqual(said(await admin.put('/api/settings/security', security)), {
      'session.token_minutes': 'range {"min":5,"max":10080}',
      'login_limit.lock_minutes': 'format',
    });
  });

  it('is reported for bodies that are no object', async () => {
    for (const body of ['[]', '[{"name":"x"}]', '"text"', '5', 'true', 'null', '{"name": ', 'x']) {
      assert.deepEqual(said(await post('/api/teams', body)), { body: 'format' }, body);
    }
  });

  it('names fields that every object has, at any depth', async () => {
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      assert.deepEqual(said(await post('/api/teams', `{"name": "x", "${key}": {"isAdmin": true}}`)), {
        [key]: 'unknown',
      });
      assert.deepEqual(said(await post('/api/teams', `{"name": "", "${key}": 1}`)), {
        [key]: 'unknown',
        name: 'format',
      });
      const deep = `{"provider": "zonefile", "name": "x", "credentials": {"a": {"${key}": 1}}}`;
      assert.equal(said(await post('/api/accounts', deep))[`credentials.a.${key}`], 'unknown');
      assert.deepEqual(said(await admin.get(`/api/teams?${key}=1`)), { [key]: 'unknown' });
      assert.deepEqual(said(await admin.get(`/api/auth/me?${key}=1`)), { [key]: 'unknown' });
    }
    // nothing came of it
    assert.deepEqual((await admin.get('/api/teams')).data, []);
  });

  it('names fields of queries and parts of paths, too', async () => {
    assert.deepEqual(said(await admin.get('/api/users?page=0&limit=501&sort=shoe&shoe=1')), {
      page: 'range {"min":1,"max":10000000}',
      limit: 'range {"min":1,"max":500}',
      shoe: 'unknown',
    });
    const values = ['id', 'username', 'created_at', 'last_login_at'];
    assert.deepEqual(said(await admin.get('/api/users?sort=shoe')), { sort: `choice ${JSON.stringify({ values })}` });
    assert.deepEqual(said(await admin.get('/api/users?role=9&status=x')), {
      role: 'choice {"values":[1,2,3]}',
      status: 'choice {"values":[0,1]}',
    });
    assert.deepEqual(said(await admin.get('/api/users/0')), { id: 'format' });
    assert.deepEqual(said(await admin.put('/api/teams/1/members/x', { role: 'owner' })), { userId: 'format' });
    assert.deepEqual(said(await admin.get('/api/domains/x')), { domain_id: 'format' });
    assert.deepEqual(said(await admin.get('/api/domains?keyword=%00')), { keyword: 'format' });
    assert.deepEqual(said(await admin.get('/api/domains/%ff')), { path: 'format' });
  });
});
