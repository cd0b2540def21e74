import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { STREAM_EVENTS } from '../../src/overview/stream.dto.js';
import { type Description, type Document, type Operation, type Part, readDescription } from '../support/openapi.js';
import { type Answer, startService } from '../support/server.js';
import { codeOf, enrol } from '../support/totp.js';
import { addAccount, addDomain, made } from '../support/world.js';

/** Changing nothing, so not audited. */
const UNAUDITED = ['POST /api/init/test-db', 'POST /api/checks', 'POST /api/events/ticket'];
const KEPT = join(import.meta.dirname, '../../docs/openapi.json');
/** Every route of the specification and the decisions that this version has. */
const ROUTES = [
  'GET /health/live',
  'GET /health/ready',
  'GET /api/init/status',
  'POST /api/init/test-db',
  'POST /api/init/database',
  'POST /api/init/admin',
  'POST /api/auth/login',
  'POST /api/auth/register',
  'GET /api/auth/me',
  'POST /api/auth/logout',
  'POST /api/auth/refresh',
  'POST /api/auth/password',
  'POST /api/auth/password-reset',
  'POST /api/auth/password-reset/confirm',
  'POST /api/auth/2fa/setup',
  'POST /api/auth/2fa/verify',
  'POST /api/auth/2fa/disable',
  'GET /api/auth/sessions',
  'DELETE /api/auth/sessions/{id}',
  'DELETE /api/auth/sessions/others',
  'GET /api/auth/webauthn',
  'PATCH /api/auth/webauthn/{id}',
  'DELETE /api/auth/webauthn/{id}',
  'POST /api/auth/webauthn/register/start',
  'POST /api/auth/webauthn/register/finish',
  'POST /api/auth/webauthn/login/start',
  'POST /api/auth/webauthn/login/finish',
  'GET /api/auth/oauth/status',
  'POST /api/auth/oauth/start',
  'POST /api/auth/oauth/callback',
  'GET /api/security/profile',
  'PUT /api/security/profile',
  'POST /api/security/email-code',
  'GET /api/security/bind-oauth',
  'POST /api/security/bind-oauth',
  'DELETE /api/security/bind-oauth/{provider}',
  'GET /api/settings',
  'PUT /api/settings',
  'GET /api/settings/security',
  'PUT /api/settings/security',
  'GET /api/settings/smtp',
  'PUT /api/settings/smtp',
  'POST /api/settings/smtp/test',
  'GET /api/settings/audit-rules',
  'PUT /api/settings/audit-rules',
  'GET /api/settings/oauth',
  'PUT /api/settings/oauth',
  'GET /api/settings/notifications',
  'PUT /api/settings/notifications',
  'POST /api/settings/notifications/{id}/test',
  'GET /api/system/notifications',
  'POST /api/system/notifications/{id}/retry',
  'GET /api/system/status',
  'GET /api/system/database',
  'POST /api/system/clear-cache',
  'POST /api/system/backup',
  'GET /api/system/backups',
  'GET /api/system/backups/{file}',
  'DELETE /api/system/backups/{file}',
  'GET /api/site',
  'GET /api/bootstrap',
  'GET /api/dashboard',
  'GET /api/meta',
  'GET /api/events',
  'POST /api/events/ticket',
  'GET /api/system/login-stats',
  'POST /api/system/unlock-account',
  'GET /api/system/jobs',
  'GET /api/system/jobs/{id}',
  'POST /api/system/jobs/{id}/retry',
  'GET /api/tokens',
  'POST /api/tokens',
  'GET /api/tokens/domains',
  'GET /api/tokens/self',
  'GET /api/tokens/{id}/uses',
  'POST /api/tokens/{id}/rotate',
  'POST /api/tokens/{id}/explain',
  'POST /api/users/{id}/explain',
  'PUT /api/tokens/{id}',
  'DELETE /api/tokens/{id}',
  'PATCH /api/tokens/{id}/status',
  'GET /api/providers',
  'GET /api/accounts',
  'POST /api/accounts',
  'GET /api/accounts/{id}',
  'PUT /api/accounts/{id}',
  'DELETE /api/accounts/{id}',
  'POST /api/accounts/{id}/sync',
  'GET /api/domains',
  'POST /api/domains',
  'GET /api/domains/{domain_id}',
  'PUT /api/domains/{domain_id}',
  'DELETE /api/domains/{domain_id}',
  'GET /api/domains/{domain_id}/records',
  'POST /api/domains/{domain_id}/records',
  'GET /api/domains/{domain_id}/records/{record_id}',
  'PUT /api/domains/{domain_id}/records/{record_id}',
  'DELETE /api/domains/{domain_id}/records/{record_id}',
  'GET /api/domains/{domain_id}/failover',
  'POST /api/domains/{domain_id}/failover',
  'DELETE /api/domains/{domain_id}/failover',
  'GET /api/domains/{domain_id}/failover/history',
  'POST /api/domains/{domain_id}/failover/{ruleId}/switch',
  'POST /api/checks',
  'PATCH /api/domains/{domain_id}/records/{record_id}/status',
  'GET /api/domains/{domain_id}/records/{record_id}/propagation',
  'GET /api/domains/{domain_id}/health',
  'GET /api/tunnels',
  'POST /api/tunnels',
  'GET /api/tunnels/{id}',
  'PUT /api/tunnels/{id}',
  'DELETE /api/tunnels/{id}',
  'POST /api/tunnels/{id}/rotate-token',
  'GET /api/users',
  'POST /api/users',
  'GET /api/users/{id}',
  'PUT /api/users/{id}',
  'DELETE /api/users/{id}',
  'GET /api/teams',
  'POST /api/teams',
  'GET /api/teams/{id}',
  'PUT /api/teams/{id}',
  'DELETE /api/teams/{id}',
  'GET /api/teams/{id}/members',
  'POST /api/teams/{id}/members',
  'PUT /api/teams/{id}/members/{userId}',
  'DELETE /api/teams/{id}/members/{userId}',
  'GET /api/teams/{id}/permissions',
  'POST /api/teams/{id}/permissions',
  'DELETE /api/teams/{id}/permissions/{permissionId}',
  'GET /api/audit/logs',
  'GET /api/audit/logs/{id}',
  'GET /api/audit/verify',
  'GET /api/audit/export',
  'GET /api/domains/{domain_id}/export',
];

/** Have no envelope. */
const FILES = ['GET /api/system/backups/{file}', 'GET /api/domains/{domain_id}/export'];
/** Has no end, and no envelope. */
const STREAM = 'GET /api/events';

describe('OpenAPI document', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let document: Document;
  let operations: Description['operations'];
  let resolve: Description['resolve'];
  let success: Description['success'];
  let mismatches: Description['mismatches'];
  beforeAll(async () => {
    service = await startService('sqlite');
    ({ document, operations, resolve, success, mismatches } = await readDescription(service.server));
  });
  afterAll(() => service.stop());

  /** All objects of a part of the document. */
  const walk = (node: unknown, visit: (node: Part) => void): void => {
    if (node === null || typeof node !== 'object') return;
    visit(node as Part);
    for (const child of Object.values(node)) walk(child, visit);
  };

  it('is OpenAPI 3.1, with the version of the package', () => {
    assert.equal(document.openapi, '3.1.0');
    assert.equal(document.info.version, JSON.parse(readFileSync('package.json', 'utf8')).version);
    assert.equal(document.info.title, 'Zoneward');
  });

  it('has page and limit on every list, but for an export that is a stream, and the doors, which are few', () => {
    const whole = ['GET /api/audit/export', 'GET /api/doors'];
    const lists = operations.filter(({ method, operation }) => {
      const { properties } = resolve(success(operation)[1]) ?? {};
      const data = resolve(properties?.data as Part) as Part | undefined;
      return method === 'get' && (data?.type === 'array' || (data?.properties?.list && data.properties.total));
    });
    assert.ok(lists.length > 20, `${lists.length} lists`);
    const lacking = lists.filter(({ operation }) => {
      const names = (operation.parameters ?? []).map((one) => resolve(one).name);
      return !names.includes('page') || !names.includes('limit');
    });
    assert.deepEqual(
      lacking.map(({ name }) => name),
      whole,
    );
  });

  it('is what docs/openapi.json says; UPDATE_DOCS=1 writes it anew', () => {
    if (process.env.UPDATE_DOCS) writeFileSync(KEPT, `${JSON.stringify(document, null, 1)}\n`);
    assert.ok(isDeepStrictEqual(JSON.parse(readFileSync(KEPT, 'utf8')), document), 'it is another one');
  });

  it('has all routes', () => {
    const names = operations.map((o) => o.name);
    assert.deepEqual(
      ROUTES.filter((route) => !names.includes(route)),
      [],
    );
  });

  it('resolves every reference, and says null as 3.1 does', () => {
    walk(document, (node) => {
      if (typeof node.$ref === 'string') assert.ok(resolve(node), node.$ref);
      assert.equal('nullable' in node, false, JSON.stringify(node).slice(0, 200));
    });
  });

  it('names each operation once', () => {
    const ids = operations.map((o) => o.operation.operationId);
    for (const id of ids) assert.match(id, /^\w+$/);
    assert.equal(new Set(ids).size, ids.length);
  });

  const failuresOf = (path: string, secured: boolean): string[] => [
    '400',
    '500',
    ...(path === '/health/live' ? [] : ['503']),
    ...(secured ? ['401', '403'] : []),
    ...(path.includes('{') ? ['404'] : []),
  ];

  it('describes answers as envelopes, and failures', () => {
    for (const { name, path, operation } of operations.filter((one) => one.name !== STREAM)) {
      const [status, schema] = success(operation);
      assert.ok(status, name);
      const isFile = FILES.includes(name);
      for (const envelope of isFile ? [] : (schema.oneOf ?? [schema])) {
        assert.match(envelope.$ref, /^#\/components\/schemas\/\w+Envelope$/, name);
        assert.deepEqual(Object.keys(resolve(envelope).properties), ['code', 'data', 'msg'], name);
      }
      const codes = failuresOf(path, operation.security.length > 0);
      const failed = codes.map((code) => resolve(operation.responses[code])?.content['application/json'].schema.$ref);
      assert.deepEqual(
        failed,
        codes.map(() => '#/components/schemas/Error'),
        `${name} ${codes}`,
      );
    }
  });

  it('declares each failure that its words speak of', () => {
    for (const { name, operation } of operations) {
      const declared = Object.values(operation.responses).map((r) => resolve(r).description);
      const spoken = `${operation.summary} ${operation.description}`.match(/\b[45]\d{5}\b/g) ?? [];
      for (const code of spoken) assert.ok(declared.join(' ').includes(code), `${name} lacks @Fails for ${code}`);
    }
  });

  it('says who may call each route, as the guard does', async () => {
    for (const { name, method, path, operation } of operations) {
      assert.match(
        operation.description,
        /Needs: (no credential|any user|(super )?administrator|(read|write) permission on the (whole )?domain(, or on the host of the record)?)\./,
        name,
      );
      const isPublic = /Needs: no credential/.test(operation.description);
      assert.deepEqual(operation.security, isPublic ? [] : [{ bearer: [] }], name);
      const { status } = await service.server.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '1'));
      assert.equal(status === 401, !isPublic && true, `${name}: ${status}`);
    }
    assert.equal(document.components.securitySchemes.bearer.scheme, 'bearer');
  });

  it('audits every change', () => {
    const silent = operations
      .filter(({ method, operation }) => method !== 'get' && !/Audited as `\w+\.\w+`/.test(operation.description))
      .map((o) => o.name);
    assert.deepEqual(silent, UNAUDITED);
  });

  it('describes every part of a path, as a positive integer or a pattern', () => {
    for (const { name, path, operation } of operations) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key);
      const parameters = (operation.parameters ?? []).map(resolve).filter((p) => p.in === 'path');
      assert.deepEqual(parameters.map((p) => p.name).sort(), wanted.sort(), name);
      for (const { schema, required } of parameters) {
        for (const { type, pattern } of resolve(schema).anyOf ?? [resolve(schema)])
          assert.ok(['integer', 'number'].includes(String(type)) || (type === 'string' && pattern), name);
        assert.equal(required, true);
      }
    }
  });

  it('describes bodies: which fields there are, and which are needed', async () => {
    const REQUIRED: Record<string, string[]> = {
      'POST /api/auth/login': ['password', 'username'],
      'POST /api/auth/register': ['email', 'password', 'username'],
      'POST /api/auth/password': ['new_password', 'old_password'],
      'POST /api/auth/password-reset': [],
      'POST /api/auth/password-reset/confirm': ['password', 'token'],
      'POST /api/auth/2fa/verify': ['code'],
      'POST /api/auth/2fa/disable': ['code', 'password'],
      'POST /api/auth/webauthn/register/finish': ['challenge_id', 'response'],
      'POST /api/auth/webauthn/login/start': [],
      'POST /api/auth/webauthn/login/finish': ['challenge_id', 'response'],
      'POST /api/auth/oauth/start': [],
      'POST /api/auth/oauth/callback': ['state'],
      'POST /api/security/bind-oauth': ['provider'],
      'POST /api/security/email-code': ['email'],
      'PUT /api/security/profile': [],
      'PUT /api/settings': [],
      'PUT /api/settings/security': [],
      'PUT /api/settings/smtp': [],
      'PUT /api/settings/audit-rules': [],
      'PUT /api/settings/oauth': [],
      'POST /api/settings/smtp/test': ['to'],
      'POST /api/system/unlock-account': ['username'],
      'POST /api/init/admin': ['password', 'username'],
      'POST /api/init/database': ['type'],
      'POST /api/tokens': ['name'],
      'PATCH /api/tokens/{id}/status': ['is_active'],
      'POST /api/accounts': ['credentials', 'name', 'provider'],
      'PUT /api/accounts/{id}': [],
      'POST /api/users': ['password', 'username'],
      'PUT /api/users/{id}': [],
      'POST /api/teams': ['name'],
      'PUT /api/teams/{id}': [],
      'POST /api/teams/{id}/members': [],
      'PUT /api/teams/{id}/members/{userId}': ['role'],
      'POST /api/teams/{id}/permissions': ['domain_id', 'permission'],
      'POST /api/tunnels': ['account_id', 'name'],
      'PUT /api/tunnels/{id}': [],
      'POST /api/domains': ['account_id', 'name'],
      'PUT /api/domains/{domain_id}': [],
      'POST /api/domains/{domain_id}/records': ['host', 'type', 'value'],
      'PUT /api/domains/{domain_id}/records/{record_id}': [],
      'PATCH /api/domains/{domain_id}/records/{record_id}/status': ['enabled'],
    };
    for (const [name, required] of Object.entries(REQUIRED)) {
      const operation = operations.find((o) => o.name === name)?.operation;
      const schema = resolve(operation?.requestBody?.content['application/json'].schema);
      assert.ok(Object.keys(schema.properties).length > 0, name);
      assert.deepEqual([...(schema.required ?? [])].sort(), required, name);
      for (const [field, property] of Object.entries(schema.properties)) {
        const { type, anyOf, allOf, oneOf, $ref, enum: values } = property;
        assert.ok(type || anyOf || allOf || oneOf || $ref || values, `${name} ${field} has no type`);
      }
    }
    const record = resolve({ $ref: '#/components/schemas/RecordInput' } as Part).properties;
    assert.deepEqual(record.ttl.minimum, 0);
    assert.ok(record.type.enum.includes('CAA'));
  });

  it('describes the login that asks for the second factor', async () => {
    const { admin, server } = service;
    const person = { username: 'tess', password: 'nine-purple-kites-17' };
    made(await admin.post('/api/users', person));
    const { secret } = await enrol(server.as(await server.login(person)));
    const [status, schema] = success(document.paths['/api/auth/login'].post);
    for (const [body, code] of [
      [person, -2],
      [{ ...person, totpCode: await codeOf(secret) }, 0],
    ] as const) {
      const answer = await server.call('POST', '/api/auth/login', body);
      const { data, msg } = answer;
      assert.deepEqual([String(answer.status), answer.code], [status, code]);
      assert.deepEqual(mismatches({ code, data, msg }, schema, 'login'), []);
    }
    const names = schema.oneOf.map((o) => o.$ref.split('/').at(-1));
    assert.deepEqual(names, ['LoginResultEnvelope', 'SecondFactorEnvelope']);
  });

  it('describes what failures say beside their words', async () => {
    const { admin, server } = service;
    const schema = document.components.schemas.Error;
    await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'example.com', true);
    made(await admin.post('/api/teams', { name: 'dns' }));
    const person = { username: 'ursa', password: 'nine-purple-kites-17' };
    made(await admin.post('/api/users', person));
    const user = server.as(await server.login(person));
    const TELLING: [string, Answer, number, string[]][] = [
      ['wrong fields', await admin.post('/api/domains/1/records', { host: 'www' }), 400001, ['errors']],
      ['a role', await user.get('/api/users'), 403001, ['required']],
      ['a domain', await user.get('/api/domains/1'), 403001, ['required']],
      ['a team', await user.get('/api/teams/1'), 403001, ['required']],
      ['a name that is taken', await admin.post('/api/users', person), 409001, ['errors']],
    ];
    for (const [what, { code, msg, data }, wanted, fields] of TELLING) {
      assert.equal(code, wanted, what);
      assert.deepEqual(mismatches({ code, msg, data }, schema, what), []);
      for (const field of fields)
        assert.ok(field in (data as object) && field in schema.properties.data.properties, what);
    }
    for (const [field, values] of Object.entries({ applied: ['no', 'unknown'], retryable: undefined })) {
      assert.deepEqual(schema.properties.data.properties[field].enum, values);
    }
  });

  it('calls times and days so, in answers, bodies and queries', () => {
    const seen = new Map<string, string[]>();
    const note = (name: string, schema: Part) => {
      if ([schema?.type].flat().includes('string')) seen.set(name, [...(seen.get(name) ?? []), schema.format]);
    };
    walk(document, (node) => {
      if (node.properties) for (const [name, schema] of Object.entries(node.properties)) note(name, schema);
      if (node.in) note(node.name, node.schema);
    });
    const all = (name: string) => [...new Set(seen.get(name))];
    for (const name of ['created_at', 'last_used_at', 'expires_at', 'start_time', 'previous_until', 'locked_until'])
      assert.deepEqual(all(name), ['date-time'], name);
    for (const name of ['day', 'start_date', 'end_date']) assert.deepEqual(all(name), ['date'], name);
  });

  it('names the values that answers can have', () => {
    const { schemas } = document.components;
    const WANTED: [string, string, unknown[]][] = [
      ['UserView', 'role', [1, 2, 3]],
      ['UserView', 'status', [0, 1]],
      ['DomainView', 'status', ['active', 'missing']],
      ['DomainView', 'permission', ['read', 'write']],
      ['PermissionView', 'permission', ['read', 'write']],
      ['TeamView', 'my_role', ['owner', 'manager', 'member', null]],
      ['MemberView', 'role', ['owner', 'manager', 'member']],
      ['SessionView', 'method', ['password', 'passkey', 'oauth']],
      ['TokenView', 'max_role', [1, 2, 3]],
      ['CapabilitiesView', 'granularity', ['record', 'rrset']],
      ['CredentialFieldView', 'kind', ['text', 'number', 'url', 'list']],
      ['AuditView', 'result', ['ok', 'failed']],
      ['AuditActor', 'type', ['user', 'token', 'system']],
      ['Explanation', 'source', ['token', 'creator', 'scope', 'window', 'network']],
      ['Health', 'status', ['ok', 'setup']],
    ];
    for (const [schema, field, values] of WANTED) {
      const { enum: named } = schemas[schema].properties[field];
      assert.deepEqual(named && [...named].sort(), values.toSorted(), `${schema}.${field}`);
    }
  });

  it('describes the data of every event of the stream', () => {
    const { description, responses } = (operations.find(({ name }) => name === STREAM) as Operation).operation;
    const { oneOf } = resolve(responses[200]).content['text/event-stream'].schema;
    assert.deepEqual(
      oneOf.map((one) => one.title),
      [...STREAM_EVENTS],
    );
    for (const { title, allOf } of oneOf) {
      assert.ok(description.includes(`\`${title}\``), title);
      assert.ok(Object.keys(resolve(allOf[0]).properties).length, title);
    }
  });

  it('marks aliases as deprecated', () => {
    const { RecordInput, RecordPatch } = document.components.schemas;
    for (const { properties } of [RecordInput, RecordPatch]) {
      assert.deepEqual(
        Object.keys(properties).filter((field) => properties[field].deprecated),
        ['name', 'mx'],
      );
    }
    const { parameters } = document.paths['/api/domains/{domain_id}/records'].get;
    const old = parameters.filter((p) => p.deprecated).map((p) => p.name);
    assert.deepEqual(old, ['subdomain', 'pageSize']);
  });

  it('gives each group of routes a sentence', () => {
    const used = new Set(operations.flatMap((o) => o.operation.tags));
    const told = document.tags.filter((tag) => /\w.*\.$/.test(tag.description)).map((tag) => tag.name);
    assert.deepEqual(told.toSorted(), [...used].toSorted());
  });

  it('describes every header that a client can go by', async () => {
    const { admin, server, token } = service;
    const PLAIN = /^(x-(total-count|request-id|ratelimit-.*)|ratelimit.*|link|location|retry-after)$/;
    const team = await admin.post('/api/teams', { name: 'headers' });
    const tooSoon = await startService('sqlite', {});
    try {
      assert.equal((await tooSoon.admin.put('/api/settings/security', { rate_limits: { user: 1 } })).status, 200);
      await tooSoon.admin.get('/api/teams');
      const limited = await tooSoon.admin.get('/api/teams');
      const list = await fetch(`${server.url}/api/teams`, { headers: { authorization: `Bearer ${token}` } });
      for (const [path, method, answer] of [
        ['/api/teams', 'get', list],
        ['/api/teams', 'post', team],
        ['/api/teams', 'get', limited],
        ['/api/teams/{id}', 'get', await admin.get('/api/teams/999999')],
      ] as [string, string, Answer][]) {
        const response = resolve(document.paths[path][method].responses[answer.status]);
        const described = Object.keys(response.headers).map((name) => name.toLowerCase());
        const sent = [...answer.headers.keys()].filter((name) => PLAIN.test(name));
        assert.deepEqual(
          sent.filter((name) => !described.includes(name)),
          [],
          `${method} ${path} ${answer.status}`,
        );
        assert.ok(sent.includes('x-request-id'));
        for (const header of Object.values(response.headers)) assert.ok(resolve(header).description);
      }
      assert.equal(limited.status, 429);
      assert.ok('Retry-After' in resolve(document.paths['/api/teams'].get.responses[429]).headers);
    } finally {
      await tooSoon.stop();
    }
  });
});
