import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Health } from '../../src/http/health.dto.js';
import type { TeamView } from '../../src/teams/team.dto.js';
import {
  ADMIN,
  type Answer,
  type Client,
  LocalServer,
  type Server,
  startProcess,
  startService,
} from '../support/server.js';
import { atEndOfTest } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

const UUID = /^[0-9a-f-]{36}$/;

describe('HTTP', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let server: Server;
  let admin: Client;
  beforeAll(async () => {
    service = await startService('sqlite', { LOG_LEVEL: 'debug' });
    ({ server, admin } = service);
  });
  afterAll(() => service.stop());
  const raw = (method: string, path: string, body?: string, headers: Record<string, string> = {}) =>
    fetch(server.url + path, {
      method,
      body: body ?? null,
      headers: { authorization: `Bearer ${service.token}`, ...headers },
    });

  describe('failures', () => {
    const JSON_TYPE = { 'content-type': 'application/json' };
    const CASES: [string, string, string, string | undefined, Record<string, string>, number, number][] = [
      ['an unknown route', 'GET', '/api/nothing', undefined, {}, 404, 404001],
      ['an unknown route outside of the API', 'GET', '/nothing', undefined, {}, 404, 404001],
      ['a method that the path has not', 'PATCH', '/api/domains', '{}', JSON_TYPE, 405, 405001],
      ['malformed JSON', 'POST', '/api/tokens', '{"name": ', JSON_TYPE, 400, 400001],
      ['JSON that is no object', 'POST', '/api/tokens', '"text"', JSON_TYPE, 400, 400001],
      ['an array', 'POST', '/api/tokens', '[]', JSON_TYPE, 400, 400001],
      ['an array of good bodies', 'POST', '/api/tokens', '[{"name":"x"}]', JSON_TYPE, 400, 400001],
      ['a million brackets', 'POST', '/api/tokens', '['.repeat(500_000) + ']'.repeat(500_000), JSON_TYPE, 400, 400001],
      [
        'JSON in UTF-16',
        'POST',
        '/api/tokens',
        '{}',
        { 'content-type': 'application/json; charset=utf-16' },
        400,
        400001,
      ],
      ['no body', 'POST', '/api/tokens', undefined, JSON_TYPE, 400, 400001],
      [
        'another content type',
        'POST',
        '/api/tokens',
        'name=x',
        { 'content-type': 'application/x-www-form-urlencoded' },
        400,
        400001,
      ],
      [
        'an unknown charset',
        'POST',
        '/api/tokens',
        '{}',
        { 'content-type': 'application/json; charset=x' },
        400,
        400001,
      ],
      ['an unknown encoding', 'POST', '/api/tokens', '{}', { ...JSON_TYPE, 'content-encoding': 'x' }, 400, 400001],
      ['a path that cannot be decoded', 'GET', '/api/domains/%ff', undefined, {}, 400, 400001],
      [
        'a body over 1 MiB',
        'POST',
        '/api/tokens',
        JSON.stringify({ name: 'x'.repeat(1024 * 1024) }),
        JSON_TYPE,
        413,
        413001,
      ],
      ['text that no database holds', 'POST', '/api/tokens', '{"name": "a\\u0000b"}', JSON_TYPE, 400, 400001],
      ['a query that no database holds', 'GET', '/api/domains?keyword=%00', undefined, {}, 400, 400001],
    ];
    for (const path of ['/api/tokens', '/doors/external-dns/records'])
      it(`a body without an end is not read for ever: ${path}`, async () => {
        const sending = request(server.url + path, { method: 'POST', headers: { authorization: 'Bearer svc_0' } });
        const chunk = Buffer.alloc(1024 * 1024, ' ');
        let sent = 0;
        const more = () => {
          while (sent < 64 && !sending.destroyed) {
            sent++;
            if (!sending.write(chunk)) return void sending.once('drain', more);
          }
          sending.end();
        };
        sending.on('response', (response) => response.resume());
        const closed = new Promise<void>((resolve) => sending.on('error', () => resolve()).on('close', resolve));
        more();
        await closed;
        assert.ok(sent < 64, `${sent} MiB were read`);
      });

    for (const [what, method, path, body, headers, status, code] of CASES) {
      it(`${what}: ${code}`, async () => {
        const response = await raw(method, path, body, headers);
        assert.equal(response.status, status);
        assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
        assert.match(response.headers.get('x-request-id') ?? '', UUID);
        const answer = (await response.json()) as { code: number; msg: string; data?: unknown };
        assert.equal(answer.code, code);
        assert.ok(answer.msg);
        assert.deepEqual(
          Object.keys(answer).filter((key) => !['code', 'msg', 'data'].includes(key)),
          [],
        );
      });
    }

    it('a body just under 1 MiB is read', async () => {
      const name = 'x'.repeat(1024 * 1024 - 100);
      refused(await admin.post('/api/tokens', { name }), 400, 400001);
    });

    for (const id of ['0', '-1', '1.5', 'abc', '2147483648', '1%20', '0x1', '1e0', '+1', '٣']) {
      it(`the id ${id}: 400001`, async () => {
        for (const path of [
          `/api/domains/${id}`,
          `/api/accounts/${id}`,
          `/api/audit/logs/${id}`,
          `/api/domains/${id}/records`,
        ]) {
          refused(await admin.get(path), 400, 400001);
        }
        refused(await admin.delete(`/api/tokens/${id}`), 400, 400001);
      });
    }

    it('ids and numbers that no column holds: 400001', async () => {
      const big = 99999999999;
      refused(await admin.post('/api/domains', { name: 'a.example', account_id: big }), 400, 400001);
      refused(
        await admin.post('/api/accounts', { provider: 'zonefile', name: 'x', credentials: {}, team_id: big }),
        400,
        400001,
      );
      refused(await admin.get('/api/domains?page=99999999999'), 400, 400001);
    });

    it('names all wrong fields, unknown ones too', async () => {
      const body = { provider: 5, nonsense: 1, team_id: 'x', credentials: 'none' };
      const answer = refused(await admin.post('/api/accounts', body), 400, 400001);
      const paths = answer.data.errors.map((e) => e.path);
      assert.deepEqual([...new Set(paths)].sort(), ['credentials', 'name', 'nonsense', 'provider', 'team_id']);
      for (const { message } of answer.data.errors) assert.ok(message);
    });

    it('unknown and repeated query fields', async () => {
      for (const query of [
        'nonsense=1',
        'page=1&page=2',
        'page=x',
        'limit=0',
        'limit=501',
        'sort=nonsense',
        'sort=constructor',
        'page[a]=1',
      ]) {
        refused(await admin.get(`/api/domains?${query}`), 400, 400001);
      }
    });

    it('every query field where there is none, after who may', async () => {
      const { data } = refused(await admin.get('/api/auth/me?nonsense=1'), 400, 400001);
      assert.deepEqual(
        data.errors.map((e) => [e.path, e.code]),
        [['nonsense', 'unknown']],
      );
      refused(await server.call('GET', '/api/auth/me?nonsense=1'), 401, 401001);
    });

    it('reveals no internals', async () => {
      const answer = refused(await admin.get('/api/domains/999'), 404, 404001);
      assert.equal(answer.msg, 'Domain does not exist');
    });
  });

  it('a success is {code 0, data, msg}; creating is 201', async () => {
    const me = await (await raw('GET', '/api/auth/me')).json();
    assert.deepEqual(Object.keys(me as object), ['code', 'data', 'msg']);
    assert.equal((await admin.post('/api/tokens', { name: 'x' })).status, 201);
  });

  it('keeps a good request id and replaces a bad one', async () => {
    const id = async (given: string) =>
      (await raw('GET', '/api/auth/me', undefined, { 'x-request-id': given })).headers.get('x-request-id');
    assert.equal(await id('pipeline-42.a_b'), 'pipeline-42.a_b');
    for (const bad of ['short', 'has blanks in it', 'x'.repeat(65), 'quote"quote"'])
      assert.match((await id(bad)) ?? '', UUID);
  });

  it('sends security headers with everything', async () => {
    for (const path of ['/api/auth/me', '/api/nothing', '/health/live', '/api/docs', '/api/openapi.json']) {
      const { headers } = await raw('GET', path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('x-frame-options'), 'DENY', path);
      assert.match(
        headers.get('content-security-policy') ?? '',
        /default-src '(none|self)'.*frame-ancestors 'none'/,
        path,
      );
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
      assert.equal(headers.get('x-powered-by'), null, path);
    }
    assert.equal((await raw('GET', '/api/auth/me')).headers.get('cache-control'), 'no-store');
  });

  it('lists the methods of a path in Allow, for every caller', async () => {
    const PATHS: [string, string[], string][] = [
      ['/api/domains', ['PATCH', 'PUT', 'DELETE'], 'GET, HEAD, OPTIONS, POST'],
      ['/api/domains/', ['PATCH'], 'GET, HEAD, OPTIONS, POST'],
      ['/api/domains/5', ['POST', 'PATCH'], 'DELETE, GET, HEAD, OPTIONS, PUT'],
      ['/api/tokens/5', ['PATCH', 'POST'], 'DELETE, GET, HEAD, OPTIONS, PUT'],
      ['/api/auth/sessions/5', ['GET', 'PUT', 'POST', 'HEAD'], 'DELETE, OPTIONS'],
      ['/api/auth/login', ['GET', 'HEAD', 'PUT'], 'OPTIONS, POST'],
      ['/health/live', ['POST', 'DELETE'], 'GET, HEAD, OPTIONS'],
      ['/api/openapi.json', ['POST'], 'GET, HEAD, OPTIONS'],
      ['/', ['POST'], 'GET, HEAD, OPTIONS'],
    ];
    const refuses = async (response: Response, allow: string, what: string) => {
      assert.deepEqual([response.status, response.headers.get('allow')], [405, allow], what);
      if (!what.startsWith('HEAD ')) assert.equal(((await response.json()) as { code: number }).code, 405001);
    };
    for (const [path, methods, allow] of PATHS) {
      for (const method of methods) {
        await refuses(await raw(method, path), allow, `${method} ${path}`);
        await refuses(await fetch(server.url + path, { method }), allow, `${method} ${path}`);
      }
      const options = await raw('OPTIONS', path);
      assert.deepEqual([options.status, options.headers.get('allow'), await options.text()], [204, allow, '']);
      assert.equal(options.headers.get('x-content-type-options'), 'nosniff');
    }
    for (const path of ['/api/nothing', '/nothing', '/api/domains/5/nothing', '/API/domains2']) {
      for (const method of ['OPTIONS', 'POST']) {
        const response = await raw(method, path);
        assert.deepEqual([response.status, response.headers.get('allow')], [404, null], `${method} ${path}`);
      }
    }
  });

  it('names in Location what was created', async () => {
    const account = await admin.post('/api/accounts', { provider: 'zonefile', name: 'files', credentials: {} });
    const domain = await admin.post('/api/domains', {
      name: 'located.example',
      account_id: account.data.id,
      create: true,
    });
    const user = await admin.post('/api/users', { username: 'ada', password: 'violet-harbour-92' });
    const team = (await admin.post('/api/teams/', { name: 'mail' })) as Answer<TeamView>;
    const at = `/api/teams/${team.data.id}` as const;
    const MADE: [Answer, string][] = [
      [account, `/api/accounts/${account.data.id}`],
      [domain, `/api/domains/${domain.data.id}`],
      [user, `/api/users/${user.data.id}`],
      [team, at],
    ];
    const token = await admin.post('/api/tokens', { name: 'x' });
    MADE.push([token, `/api/tokens/${token.data.tokenData.id}`]);
    const member = await admin.post(`${at}/members`, { user_id: user.data.id });
    MADE.push([member, `${at}/members/${user.data.id}`]);
    const grant = await admin.post(`${at}/permissions`, { domain_id: domain.data.id, permission: 'read' });
    MADE.push([grant, `${at}/permissions/${grant.data.id}`]);
    const records = `/api/domains/${domain.data.id}/records` as const;
    const record = await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' });
    MADE.push([record, `${records}/${record.data.id}`]);
    for (const [answer, location] of MADE) {
      made(answer);
      assert.equal(answer.headers.get('location'), location);
      // each is the address of something: a method that it has not is 405, not 404
      assert.equal((await admin.patch(location, {})).status, 405, location);
      done(await admin.get(location));
    }
    for (const answer of [await admin.get('/api/users'), await admin.post('/api/users', {})])
      assert.equal(answer.headers.get('location'), null);
    const again: [string, object, string][] = [
      ['/api/domains', { name: 'located.example', account_id: account.data.id }, 'name'],
      ['/api/users', { username: 'ADA', password: 'violet-harbour-92' }, 'username'],
      [`${at}/members`, { user_id: user.data.id }, 'user_id'],
      [`${at}/permissions`, { domain_id: domain.data.id, permission: 'read' }, 'domain_id'],
    ];
    for (const [path, body, field] of again) {
      const [error, ...more] = refused(await admin.post(path, body), 409, 409001).data.errors;
      assert.deepEqual([error.path, error.code, more], [field, 'duplicate', []], path);
    }
  });

  it('answers HEAD like GET', async () => {
    const response = await raw('HEAD', '/api/auth/me');
    assert.deepEqual([response.status, await response.text()], [200, '']);
  });

  it('ignores X-Forwarded-For of an untrusted address', async () => {
    const answer = await server.call('POST', '/api/auth/login', ADMIN, undefined, { 'x-forwarded-for': '203.0.113.5' });
    const [entry] = done(await admin.get('/api/audit/logs?limit=1&action=auth.login')).list;
    assert.deepEqual([entry.request_id, entry.ip], [answer.headers.get('x-request-id'), '127.0.0.1']);
  });

  it('logs JSON lines with request ids', async () => {
    const answer = await admin.get('/api/nothing?secret=in-the-query');
    const id = answer.headers.get('x-request-id') as string;
    const whole = () => server.log.slice(0, server.log.lastIndexOf('\n')).split('\n');
    await until('the line is written', async () => whole().some((line) => line.includes(id)));
    const line = whole()
      .map((text) => JSON.parse(text))
      .find((l) => l.requestId === id);
    assert.deepEqual([line.method, line.path, line.status], ['GET', '/api/nothing', 404]);
    assert.equal(server.log.includes('in-the-query'), false);
  });
});

describe('documentation page', () => {
  const afterTest = atEndOfTest();
  for (const base of ['', '/tools/dns']) {
    it(`is where / leads, and loads its assets${base && ', below a sub-path'}`, async () => {
      const env: Record<string, string> = base ? { BASE_URL: `https://example.com${base}/` } : {};
      const server = await LocalServer.start(env);
      afterTest(() => server.kill());
      const front = await fetch(`${server.url}${base}/`, { redirect: 'manual' });
      assert.equal(front.status, 302);
      const page = new URL(front.headers.get('location') ?? '', server.url);
      assert.equal(page.pathname, `${base}/api/docs`);
      const response = await fetch(page);
      const html = await response.text();
      assert.match(response.headers.get('content-type') ?? '', /text\/html/);
      const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);
      assert.ok(assets.length >= 4, html);
      for (const asset of assets) {
        const loaded = await fetch(new URL(asset, page));
        assert.equal(loaded.status, 200, asset);
        assert.ok((await loaded.text()).length > 0, asset);
      }
      assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)[^>]*>\s*\S/, 'the policy allows no script in the page');
      for (const prefix of new Set(['', base])) {
        assert.equal((done(await server.call('GET', `${prefix}/health/live`)) as Health).status, 'ok');
        done(await server.call('GET', `${prefix}/api/init/status`));
        assert.equal((await fetch(`${server.url}${prefix}/api/openapi.json`)).status, 200);
      }
      const { servers } = (await (await fetch(`${server.url}/api/openapi.json`)).json()) as {
        servers: { url: string }[];
      };
      assert.equal(servers[0]?.url, base ? `https://example.com${base}` : '/');
    });
  }
});

describe('below a sub-path', () => {
  const afterTest = atEndOfTest();
  it('links of lists lead to where the client is, whether the proxy takes the prefix off or not', async () => {
    const service = await startService('sqlite', { BASE_URL: 'https://example.com/tools/dns/' });
    afterTest(() => service.stop());
    for (const prefix of ['', '/tools/dns']) {
      const { headers } = await service.server.call(
        'GET',
        `${prefix}/api/users?page=1&limit=1`,
        undefined,
        service.token,
      );
      assert.match(headers.get('link') ?? '', /^<\/tools\/dns\/api\/users\?page=1&limit=1>; rel="first"/);
    }
  });
});

describe('trusted proxies', () => {
  const afterTest = atEndOfTest();
  it('identify the client: the last address that none of them added', async () => {
    const service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1/32,10.0.0.0/8' });
    afterTest(() => service.stop());
    const CASES: [string, string][] = [
      ['203.0.113.5', '203.0.113.5'],
      ['198.51.100.1, 203.0.113.5', '203.0.113.5'],
      ['203.0.113.5, 10.1.2.3', '203.0.113.5'],
      ['203.0.113.5, 10.1.2.3, 10.4.5.6', '203.0.113.5'],
      ['::ffff:203.0.113.5', '203.0.113.5'],
      ['10.1.2.3', '10.1.2.3'],
      ['', '127.0.0.1'],
    ];
    for (const [forwarded, ip] of CASES) {
      const answer = await service.server.call('POST', '/api/auth/login', ADMIN, undefined, {
        'x-forwarded-for': forwarded,
      });
      const [entry] = done(await service.admin.get('/api/audit/logs?limit=1&action=auth.login')).list;
      assert.deepEqual([entry.request_id, entry.ip], [answer.headers.get('x-request-id'), ip], forwarded);
    }
  });
});

describe('shutdown', () => {
  const afterTest = atEndOfTest();
  it('lets the request in flight end, and exits with 0', async () => {
    // a process of its own: its end is what is tested
    const service = await startProcess('sqlite');
    afterTest(() => service.stop());
    mkdirSync(join(service.server.dataDir, 'zones'), { recursive: true });
    const account = await addAccount(service.admin, 'zonefile', {});
    await addDomain(service.admin, account, 'example.com', true);
    // a request whose body ends only after the signal
    const body = JSON.stringify({ name: 'late' });
    const { port } = new URL(service.server.url);
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
      authorization: `Bearer ${service.token}`,
    };
    const late = request({ port, method: 'POST', path: '/api/tokens', headers });
    const status = new Promise<number | undefined>((resolve, reject) => {
      late.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
    late.flushHeaders();
    // the service has the request
    await once(late, 'continue');
    late.write(body.slice(0, 5));
    const exit = service.server.stop();
    await until('the port is closed', () =>
      fetch(`${service.server.url}/health/live`).then(
        () => false,
        () => true,
      ),
    );
    late.end(body.slice(5));
    assert.equal(await status, 201);
    assert.equal(await exit, 0);
    const again = await LocalServer.start({ DATABASE_URL: service.databaseUrl }, service.server.dataDir);
    const names = done(await again.call('GET', '/api/tokens', undefined, service.token)).map((x) => x.name);
    await again.kill();
    rmSync(again.dataDir, { recursive: true, force: true });
    assert.deepEqual(names, ['late']);
  });
});
