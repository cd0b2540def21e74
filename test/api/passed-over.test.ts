import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { type Service, startService } from '../support/server.js';
import { addAccount, addDomain } from '../support/world.js';

interface Operation {
  parameters?: { in: string; name: string }[];
  requestBody?: object;
}
interface Description {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
}
interface Sent {
  body?: string;
  headers?: Record<string, string>;
}

const DESCRIPTION = join(import.meta.dirname, '../../docs/openapi.json');
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const CHUNKED = { 'transfer-encoding': 'chunked' };

describe('what a request says and its route does not read', () => {
  let service: Service;
  let token: string;
  let domain: number;
  const document = JSON.parse(readFileSync(DESCRIPTION, 'utf8')) as Description;
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      path.startsWith('/api/') && /^(get|put|post|patch|delete)$/.test(method)
        ? [{ path, method: method.toUpperCase(), ...operation }]
        : [],
    ),
  );

  beforeAll(async () => {
    service = await startService('sqlite');
    await service.admin.put('/api/settings/security', { rate_limits: { user: 0, login: 100 } });
    ({ token } = service);
    domain = await addDomain(service.admin, await addAccount(service.admin, 'zonefile', {}), 'walk.example', true);
  });
  afterAll(() => service?.stop());

  /** Queries are judged after the body, so that one has to be right where it cannot be left out. */
  const bodyOf = ({ path, method }: { path: string; method: string }): Sent =>
    method === 'PUT' && path.includes('/rrsets/') ? { body: '{"values": ["192.0.2.1"]}', headers: JSON_TYPE } : {};
  const pathOf = (path: string) =>
    path
      .replace(/^(\/api\/domains\/)\{[^}]+\}/, `$1${domain}`)
      .replace('{host}', 'nowhere')
      .replace('{type}', 'A')
      .replace(/\{[^}]+\}/g, '999999');

  /** A request as it is given, whatever its method; `named` are the fields of a 400001. */
  const send = (method: string, path: string, { body = '', headers = {} }: Sent) =>
    new Promise<{ status: number; named: string[] }>((resolve, reject) => {
      const length = 'transfer-encoding' in headers ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const call = request(
        service.server.url + path,
        { method, headers: { authorization: `Bearer ${token}`, ...length, ...headers } },
        async (response) => {
          const status = response.statusCode ?? 0;
          // a stream of events does not end
          if (status < 400) {
            response.destroy();
            return resolve({ status, named: [] });
          }
          let text = '';
          for await (const chunk of response) text += chunk;
          const { data } = JSON.parse(text) as { data?: { errors?: { path: string }[] } };
          resolve({ status, named: (data?.errors ?? []).map((error) => error.path) });
        },
      );
      call.on('error', reject);
      call.end(body);
    });
  /** The routes that do not answer 400001 naming this field. */
  const passing = async (list: typeof routes, field: string, sent: Sent, query = '') => {
    const passed: string[] = [];
    for (const { path, method } of list) {
      const { status, named } = await send(method, pathOf(path) + query, query ? bodyOf({ path, method }) : sent);
      if (status !== 400 || !named.includes(field)) passed.push(`${method} ${path}: ${status}`);
    }
    return passed;
  };

  it('a condition is refused by every route that does not declare it', async () => {
    assert.ok(routes.length > 140, `${routes.length} routes`);
    const declares = ({ parameters = [] }: Operation) =>
      parameters.some(({ in: place, name }) => place === 'header' && name === 'If-Match');
    const others = routes.filter((route) => !declares(route));
    assert.deepEqual(await passing(others, 'If-Match', { headers: { 'if-match': '"stale"' } }), []);
  });

  it('an unknown query is refused by every route', async () => {
    assert.deepEqual(await passing(routes, 'unheard_of', {}, '?unheard_of=1'), []);
  });

  const bodiless = routes.filter(({ requestBody }) => !requestBody);
  const BODIES: [string, Sent][] = [
    ['a JSON body', { body: '{"unheard_of": 1}', headers: JSON_TYPE }],
    ['a chunked JSON body', { body: '{"unheard_of": 1}', headers: { ...JSON_TYPE, ...CHUNKED } }],
    ['a JSON list', { body: '[]', headers: JSON_TYPE }],
    ['a form', { body: 'unheard_of=1', headers: FORM }],
    ['a chunked body without a type', { body: 'x', headers: CHUNKED }],
  ];
  for (const [what, sent] of BODIES)
    it(`${what} is refused by every route that reads none`, async () => {
      assert.ok(bodiless.length > 80, `${bodiless.length} routes`);
      assert.deepEqual(await passing(bodiless, 'body', sent), []);
    });

  it('a body of another type than JSON is refused by every route that reads one', async () => {
    const reading = routes.filter(({ requestBody }) => requestBody);
    const sent = { body: '{"name": "x"}', headers: { 'content-type': 'text/plain' } };
    assert.deepEqual(await passing(reading, 'body', sent), []);
  });

  it('an empty body is none', async () => {
    const EMPTY: Sent[] = [
      {},
      { headers: JSON_TYPE },
      { headers: CHUNKED },
      { headers: { ...JSON_TYPE, ...CHUNKED } },
      { body: '{}', headers: JSON_TYPE },
      { body: ' {} ', headers: CHUNKED },
    ];
    for (const sent of EMPTY) {
      assert.equal((await send('GET', '/api/auth/me', sent)).status, 200, JSON.stringify(sent));
      assert.equal((await send('POST', '/api/system/clear-cache', sent)).status < 300, true, JSON.stringify(sent));
      assert.equal((await send('DELETE', '/api/tokens/999999', sent)).status, 404, JSON.stringify(sent));
    }
  });

  it('an Idempotency-Key is read by every change of who is signed in, and passed over by all other routes', async () => {
    const reads = ({ parameters = [] }: Operation) => parameters.some(({ name }) => name === 'Idempotency-Key');
    const sent = { headers: { 'idempotency-key': 'not one' } };
    const [reading, others] = [routes.filter(reads), routes.filter((route) => !reads(route))];
    assert.ok(reading.length > 70, `${reading.length} routes`);
    assert.ok(reading.every(({ method }) => method !== 'GET'));
    assert.deepEqual(await passing(reading, 'Idempotency-Key', sent), []);
    for (const { path, method } of others) {
      const { named } = await send(method, pathOf(path), sent);
      assert.ok(!named.includes('Idempotency-Key'), `${method} ${path}`);
    }
  });
});
