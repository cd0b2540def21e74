import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, openDatabase, withoutRates } from '../support/database.js';
import { databases, type Kind } from '../support/databases.js';
import { startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, made } from '../support/world.js';

/**
 * Who asks. Users: what they have on the one domain. Tokens: of the super administrator, or of the reader, narrowed in
 * one way each.
 */
const ACTORS = [
  'stranger',
  'user without rights',
  'user who reads',
  'user who writes under a host',
  'user who writes',
  'user who owns',
  'administrator',
  'super administrator',
  'token *',
  'token * of the reader',
  'token * of role 2',
  'token domains:read',
  'token records:read',
  'token records:write',
  'token accounts:read',
  'token audit:read',
  'token of the domain',
  'token of another domain',
  'token with a rule',
  'token with a rule that denies',
] as const;
type Actor = (typeof ACTORS)[number];

const USERS = ACTORS.slice(1, 8);
const TOKENS = ACTORS.slice(8);
const SIGNED_IN = ACTORS.slice(1);
/** tokens that are narrowed by nothing but their creator's rights */
const BROAD: Actor[] = ['token *', 'token * of the reader', 'token * of role 2'];
const ADMINS: Actor[] = ['administrator', 'super administrator'];
const WRITERS: Actor[] = ['user who writes', 'user who owns', ...ADMINS];
const READERS: Actor[] = ['user who reads', 'user who writes under a host', ...WRITERS];
const IN_DOMAIN: Actor[] = ['token of the domain', 'token with a rule'];

/** What a route demands, and who has it. Whoever is not named gets 403, strangers 401. */
const CLASSES: Record<string, readonly Actor[]> = {
  everybody: ACTORS,
  nobody: [],
  'signed in': [...USERS, ...BROAD],
  'signed in, any scope': [...USERS, ...BROAD, ...TOKENS.filter((t) => /:/.test(t))],
  'signed in, any scope or domain': [...USERS, ...TOKENS],
  'token itself': TOKENS,
  login: USERS,
  'login, role 2': ADMINS,
  'login, role 3': ['super administrator'],
  'role 2': [...ADMINS, 'token *', 'token * of role 2'],
  'role 2, accounts:read': [...ADMINS, 'token *', 'token * of role 2', 'token accounts:read'],
  'role 2, audit:read': [...ADMINS, 'token *', 'token * of role 2', 'token audit:read'],
  'role 3': ['super administrator', 'token *'],
  'list of domains': [
    ...USERS,
    ...BROAD,
    'token domains:read',
    'token of the domain',
    'token of another domain',
    'token with a rule',
    'token with a rule that denies',
  ],
  'list of records': [
    ...USERS,
    ...BROAD,
    'token records:read',
    'token of the domain',
    'token of another domain',
    'token with a rule',
    'token with a rule that denies',
  ],
  // of a plan that is not there, whatever may be written
  'list of changes': [
    ...USERS,
    ...BROAD,
    'token records:write',
    'token of the domain',
    'token of another domain',
    'token with a rule',
    'token with a rule that denies',
  ],
  'reads the domain': [...READERS, ...BROAD, ...IN_DOMAIN, 'token domains:read'],
  'reads records': [...READERS, ...BROAD, ...IN_DOMAIN, 'token records:read'],
  'reads the record': [...READERS, ...BROAD, ...IN_DOMAIN, 'token records:read'],
  'writes the record': [
    'user who writes under a host',
    ...WRITERS,
    'token *',
    'token * of role 2',
    ...IN_DOMAIN,
    'token records:write',
  ],
  'writes the domain': [...WRITERS, 'token *', 'token * of role 2', 'token of the domain'],
  'owns the domain': ['user who owns', ...ADMINS, 'token *', 'token * of role 2', 'token of the domain'],
  'of a team': [...ADMINS, 'user who owns', 'token *', 'token * of role 2'],
};

/**
 * Every route, and what it demands. A route without a row fails the test. `{team}`: a team that the owner of the domain
 * leads.
 */
const ROUTES: Record<string, keyof typeof CLASSES> = {
  'GET /health/live': 'everybody',
  'GET /health/ready': 'everybody',
  'GET /api/init/status': 'everybody',
  'POST /api/init/test-db': 'nobody',
  'POST /api/init/database': 'nobody',
  'POST /api/init/admin': 'nobody',
  'POST /api/auth/login': 'everybody',
  'POST /api/auth/second-factor': 'everybody',
  'POST /api/auth/register': 'nobody',
  'POST /api/auth/password-reset': 'everybody',
  'POST /api/auth/password-reset/confirm': 'everybody',
  'POST /api/auth/webauthn/login/start': 'everybody',
  'POST /api/auth/webauthn/login/finish': 'everybody',
  'GET /api/auth/oauth/status': 'everybody',
  'POST /api/auth/oauth/start': 'everybody',
  'POST /api/auth/oauth/callback': 'everybody',
  'GET /api/auth/me': 'signed in, any scope',
  'POST /api/auth/logout': 'login',
  'POST /api/auth/refresh': 'login',
  'POST /api/auth/password': 'login',
  'POST /api/auth/2fa/setup': 'login',
  'POST /api/auth/2fa/verify': 'login',
  'POST /api/auth/2fa/disable': 'login',
  'GET /api/auth/sessions': 'login',
  'DELETE /api/auth/sessions/others': 'login',
  'DELETE /api/auth/sessions/{id}': 'login',
  'GET /api/auth/webauthn': 'login',
  'POST /api/auth/webauthn/register/start': 'login',
  'POST /api/auth/webauthn/register/finish': 'login',
  'PATCH /api/auth/webauthn/{id}': 'login',
  'DELETE /api/auth/webauthn/{id}': 'login',
  'GET /api/security/profile': 'login',
  'PUT /api/security/profile': 'login',
  'POST /api/security/email-code': 'login',
  'GET /api/security/bind-oauth': 'login',
  'POST /api/security/bind-oauth': 'login',
  'DELETE /api/security/bind-oauth/{provider}': 'login',
  'GET /api/tokens': 'login',
  'POST /api/tokens': 'login',
  'GET /api/tokens/domains': 'login',
  'GET /api/tokens/self': 'token itself',
  'GET /api/tokens/{id}': 'login',
  'PUT /api/tokens/{id}': 'login',
  'GET /api/tokens/{id}/uses': 'login',
  'POST /api/tokens/{id}/rotate': 'login',
  'POST /api/tokens/{id}/explain': 'login',
  'GET /api/tokens/{id}/hooks': 'login',
  'POST /api/tokens/{id}/hooks': 'login',
  'DELETE /api/tokens/{id}/hooks/{hook_id}': 'login',
  'GET /api/tokens/{id}/tsig-key': 'login',
  'POST /api/tokens/{id}/tsig-key': 'login',
  'PUT /api/tokens/{id}/tsig-key': 'login',
  'DELETE /api/tokens/{id}/tsig-key': 'login',
  'DELETE /api/tokens/{id}': 'login',
  'PATCH /api/tokens/{id}/status': 'login',
  'GET /api/users': 'role 2',
  'POST /api/users': 'login, role 3',
  'GET /api/users/{id}': 'role 2',
  'PUT /api/users/{id}': 'login, role 3',
  'DELETE /api/users/{id}': 'login, role 3',
  'POST /api/users/{id}/revoke-all': 'login, role 3',
  'POST /api/users/{id}/explain': 'role 2',
  'GET /api/teams': 'signed in',
  'POST /api/teams': 'signed in',
  'GET /api/teams/{id}': 'of a team',
  'PUT /api/teams/{id}': 'of a team',
  'DELETE /api/teams/{id}': 'of a team',
  'GET /api/teams/{id}/members': 'of a team',
  'POST /api/teams/{id}/members': 'of a team',
  'GET /api/teams/{id}/members/{userId}': 'of a team',
  'PUT /api/teams/{id}/members/{userId}': 'of a team',
  'DELETE /api/teams/{id}/members/{userId}': 'of a team',
  'GET /api/teams/{id}/permissions': 'of a team',
  'POST /api/teams/{id}/permissions': 'of a team',
  'GET /api/teams/{id}/permissions/{permissionId}': 'of a team',
  'DELETE /api/teams/{id}/permissions/{permissionId}': 'of a team',
  'GET /api/providers': 'signed in, any scope or domain',
  'GET /api/accounts': 'role 2, accounts:read',
  'POST /api/accounts': 'role 2',
  'GET /api/accounts/{id}': 'role 2, accounts:read',
  'PUT /api/accounts/{id}': 'role 2',
  'DELETE /api/accounts/{id}': 'role 2',
  'POST /api/accounts/{id}/sync': 'role 2',
  'POST /api/accounts/{id}/resume': 'role 2',
  'GET /api/tunnels': 'role 2',
  'POST /api/tunnels': 'role 2',
  'GET /api/tunnels/{id}': 'role 2',
  'PUT /api/tunnels/{id}': 'role 2',
  'DELETE /api/tunnels/{id}': 'role 2',
  'POST /api/tunnels/{id}/rotate-token': 'role 2',
  'GET /api/domains': 'list of domains',
  'POST /api/domains': 'signed in',
  'GET /api/domains/{domain_id}': 'reads the domain',
  'PUT /api/domains/{domain_id}': 'writes the domain',
  'DELETE /api/domains/{domain_id}': 'owns the domain',
  'GET /api/trash/domains': 'signed in',
  'POST /api/trash/domains/{id}/restore': 'signed in',
  'DELETE /api/trash/domains/{id}': 'login, role 3',
  'GET /api/domains/{domain_id}/export': 'reads records',
  'GET /api/domains/{domain_id}/records': 'reads records',
  'POST /api/domains/{domain_id}/records': 'writes the record',
  'GET /api/domains/{domain_id}/records/{record_id}': 'reads the record',
  'PUT /api/domains/{domain_id}/records/{record_id}': 'writes the record',
  'DELETE /api/domains/{domain_id}/records/{record_id}': 'writes the record',
  'PATCH /api/domains/{domain_id}/records/{record_id}/status': 'writes the record',
  'POST /api/domains/{domain_id}/records/batch': 'writes the record',
  'GET /api/domains/{domain_id}/rrsets/{host}/{type}': 'reads the record',
  'PUT /api/domains/{domain_id}/rrsets/{host}/{type}': 'writes the record',
  'DELETE /api/domains/{domain_id}/rrsets/{host}/{type}': 'writes the record',
  'GET /api/domains/{domain_id}/lines': 'reads the domain',
  'POST /api/domains/{domain_id}/migration': 'owns the domain',
  'GET /api/domains/{domain_id}/migration': 'owns the domain',
  'POST /api/domains/{domain_id}/migration/copy': 'owns the domain',
  'POST /api/domains/{domain_id}/migration/follow': 'owns the domain',
  'POST /api/domains/{domain_id}/migration/switch': 'owns the domain',
  'POST /api/domains/{domain_id}/migration/finish': 'owns the domain',
  'POST /api/domains/{domain_id}/migration/cancel': 'owns the domain',
  'GET /api/domains/{domain_id}/health': 'reads the domain',
  'GET /api/domains/{domain_id}/records/{record_id}/propagation': 'reads the record',
  'GET /api/domains/{domain_id}/certificates': 'reads the domain',
  'POST /api/domains/{domain_id}/expiry': 'writes the domain',
  'GET /api/domains/{domain_id}/failover': 'reads records',
  'POST /api/domains/{domain_id}/failover': 'writes the domain',
  'DELETE /api/domains/{domain_id}/failover': 'writes the domain',
  'GET /api/domains/{domain_id}/failover/history': 'reads records',
  'POST /api/domains/{domain_id}/failover/{ruleId}/switch': 'writes the domain',
  'POST /api/checks': 'everybody',
  'GET /api/domains/{domain_id}/permissions': 'owns the domain',
  'GET /api/domains/{domain_id}/permissions/{permissionId}': 'owns the domain',
  'DELETE /api/domains/{domain_id}/permissions/{permissionId}': 'owns the domain',
  'GET /api/domains/{domain_id}/changes': 'reads records',
  'GET /api/domains/{domain_id}/changes/{changeSetId}': 'reads records',
  'POST /api/domains/{domain_id}/changes/{changeSetId}/confirm': 'writes the record',
  'POST /api/domains/{domain_id}/changes/{changeSetId}/cancel': 'writes the record',
  'GET /api/domains/{domain_id}/versions': 'reads records',
  'GET /api/domains/{domain_id}/versions/{version}': 'reads records',
  'GET /api/domains/{domain_id}/versions/{version}/diff/{other}': 'reads records',
  'POST /api/domains/{domain_id}/plans': 'writes the record',
  'GET /api/domains/{domain_id}/plans': 'reads records',
  'GET /api/domains/{domain_id}/drift': 'reads records',
  'DELETE /api/domains/{domain_id}/drift': 'writes the record',
  'POST /api/plans': 'list of changes',
  'GET /api/plans/{id}': 'list of records',
  'DELETE /api/plans/{id}': 'list of changes',
  'POST /api/plans/{id}/apply': 'list of changes',
  'POST /api/plans/{id}/approve': 'login',
  'POST /api/plans/{id}/reject': 'login',
  'GET /api/changes': 'list of records',
  'GET /api/records': 'list of records',
  'GET /api/audit/logs': 'role 2, audit:read',
  'GET /api/audit/logs/{id}': 'role 2, audit:read',
  'GET /api/audit/verify': 'role 2, audit:read',
  'GET /api/audit/export': 'role 2, audit:read',
  'GET /api/settings': 'role 2',
  'PUT /api/settings': 'login, role 2',
  'GET /api/settings/security': 'role 2',
  'PUT /api/settings/security': 'login, role 2',
  'GET /api/settings/smtp': 'role 2',
  'PUT /api/settings/smtp': 'login, role 2',
  'POST /api/settings/smtp/test': 'login, role 2',
  'GET /api/settings/audit-rules': 'role 2',
  'PUT /api/settings/audit-rules': 'login, role 2',
  'GET /api/settings/oauth': 'role 2',
  'GET /api/settings/doors': 'role 2',
  'PUT /api/settings/doors': 'login, role 2',
  'GET /api/doors': 'signed in',
  'GET /api/settings/notifications': 'role 2',
  'PUT /api/settings/notifications': 'login, role 2',
  'POST /api/settings/notifications/{id}/test': 'login, role 2',
  'POST /api/settings/{section}/confirm': 'login, role 3',
  'PUT /api/settings/oauth': 'login, role 2',
  'GET /api/system/notifications': 'role 3',
  'POST /api/system/notifications/{id}/retry': 'login, role 3',
  'GET /api/system/status': 'role 3',
  'GET /api/system/database': 'role 3',
  'POST /api/system/clear-cache': 'login, role 3',
  'POST /api/system/backup': 'login, role 3',
  'GET /api/system/backups': 'login, role 3',
  'GET /api/system/backups/{file}': 'login, role 3',
  'DELETE /api/system/backups/{file}': 'login, role 3',
  'GET /api/site': 'everybody',
  'GET /api/bootstrap': 'login',
  'GET /api/dashboard': 'list of domains',
  'GET /api/meta': 'signed in, any scope or domain',
  'GET /api/events': 'signed in, any scope or domain',
  'POST /api/events/ticket': 'signed in, any scope or domain',
  'GET /api/system/login-stats': 'role 3',
  'POST /api/system/unlock-account': 'login, role 3',
  'POST /api/system/resume': 'login, role 3',
  'GET /api/system/jobs': 'role 3',
  'GET /api/system/jobs/{id}': 'role 2',
  'POST /api/system/jobs/{id}/retry': 'login, role 3',
};

const DATABASE = { type: 'sqlite', sqlite: { path: 'x.db' } };
const PERSON = { username: 'new', password: 'violet-harbour-92' };

/** Bodies where `{}` would be refused before the right is looked at. */
const BODIES: Record<string, object> = {
  'POST /api/init/test-db': DATABASE,
  'POST /api/init/database': DATABASE,
  'POST /api/init/admin': PERSON,
  'POST /api/auth/register': { ...PERSON, email: 'new@example.com' },
  'POST /api/teams/{id}/members': { user_id: 999_999 },
  'PUT /api/teams/{id}/members/{userId}': { role: 'member' },
  'POST /api/teams/{id}/permissions': { domain_id: 1, permission: 'read' },
  'POST /api/domains/{domain_id}/records': { host: 'app.dev', type: 'TXT', value: 'exists' },
  'PUT /api/domains/{domain_id}/records/{record_id}': { value: 'exists' },
  'PATCH /api/domains/{domain_id}/records/{record_id}/status': { enabled: true },
  'POST /api/domains/{domain_id}/records/batch': {
    // whole or not at all, so that what is not allowed is the answer
    atomic: true,
    changes: [{ op: 'upsert', host: 'app.dev', type: 'TXT', value: 'exists', ttl: 300 }],
  },
  'PUT /api/domains/{domain_id}/rrsets/{host}/{type}': { values: ['exists'] },
};

/** The callers on the databases after the first one, where it is the SQL of the routes that differs. */
const FEW: readonly Actor[] = ['user who writes', 'super administrator', 'token *'];

/** Whether a route answers itself: done, or what is wrong; public ones refuse wrong secrets with 401. */
const isOfRoute = (status: number, demand: string): boolean =>
  status < 500 && (demand === 'everybody' || ![401, 403].includes(status));

for (const [i, { kind, skip }] of databases('one').entries())
  describeUnless(skip)(`every route, for every kind of caller, on ${kind}`, () => suite(kind, i === 0 ? ACTORS : FEW));

function suite(kind: Kind, actors: readonly Actor[]): void {
  let service: Awaited<ReturnType<typeof startService>>;
  let db: Db;
  let close: () => Promise<void>;
  let domain: number;
  let team: number;
  let account: number;
  let record: number;
  let routes: string[];
  const people = new Map<Actor, { id: number; login: { username: string; password: string } }>();
  const tokens = new Map<Actor, string>();

  const idOf = (actor: Actor) => people.get(actor)?.id as number;
  /** Gives a team of one person a right on a domain. */
  const grant = async (actor: Actor, permission: string, host: string | null, on: number, name: string) => {
    const of = await addTeam(db, `${actor} ${on}`, [idOf(actor)]);
    const sql =
      'INSERT INTO domain_permissions (team_id, domain_id, domain_name, permission, host) VALUES (?, ?, ?, ?, ?)';
    await db.run(sql, [of, on, name, permission, host]);
  };
  const share = async (on: number, name: string) => {
    await grant('user who reads', 'read', null, on, name);
    await grant('user who writes under a host', 'write', 'app.dev', on, name);
    await grant('user who writes', 'write', null, on, name);
    await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [idOf('user who owns'), on]);
  };
  /** A signed-in session of its own for each call: some calls end sessions. */
  const credential = (actor: Actor): Promise<string | undefined> | string | undefined =>
    actor === 'stranger' ? undefined : (tokens.get(actor) ?? service.server.login(people.get(actor)?.login));

  beforeAll(async () => {
    service = await startService(kind);
    const { admin, server } = service;
    ({ db, close } = await openDatabase(service.databaseUrl, server.dataDir));
    await withoutRates(db);
    account = await addAccount(admin, 'zonefile', {});
    domain = await addDomain(admin, account, 'matrix.example', true);
    const other = await addDomain(admin, account, 'other.example', true);
    record = made(
      await admin.post(`/api/domains/${domain}/records`, BODIES['POST /api/domains/{domain_id}/records']),
    ).id;
    for (const [i, actor] of USERS.entries()) {
      const login = { username: `actor${i}`, password: 'correct-horse-battery-9' };
      const role = actor === 'administrator' ? 2 : actor === 'super administrator' ? 3 : 1;
      people.set(actor, { id: await addUser(db, login, role), login });
    }
    await share(domain, 'matrix.example');
    team = await addTeam(db, 'led', []);
    await db.run("INSERT INTO team_members (team_id, user_id, role, joined_at) VALUES (?, ?, 'owner', ?)", [
      team,
      idOf('user who owns'),
      now(),
    ]);
    const make = async (actor: Actor, of: Actor, more: object = {}) => {
      const creator = server.as(await server.login(people.get(of)?.login));
      tokens.set(actor, made(await creator.post('/api/tokens', { name: actor, ...more })).token);
    };
    await make('token *', 'super administrator');
    await make('token * of the reader', 'user who reads');
    await make('token * of role 2', 'administrator');
    for (const actor of TOKENS.filter((t) => /:/.test(t)))
      await make(actor, 'super administrator', { allowed_services: [actor.slice(6)] });
    await make('token of the domain', 'super administrator', { allowed_domains: [domain] });
    await make('token of another domain', 'super administrator', { allowed_domains: [other] });
    await make('token with a rule', 'super administrator', {
      rules: [{ effect: 'allow', domains: [domain], hosts: ['app.dev'], types: ['TXT'] }],
    });
    await make('token with a rule that denies', 'super administrator', {
      rules: [{ effect: 'allow', domains: [other] }, { effect: 'deny' }],
    });
    const response = await fetch(`${server.url}/api/openapi.json`);
    const document = (await response.json()) as { paths: Record<string, object> };
    routes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
  });
  afterAll(async () => {
    await close?.();
    await service?.stop();
  });

  it('has a row for every route, and no other', () => {
    assert.deepEqual(routes.toSorted(), Object.keys(ROUTES).toSorted());
  });

  /** A fresh thing to delete, so that the next one to ask finds it as it was. */
  const target = async (route: string, path: string): Promise<string> => {
    const deletes = route.startsWith('DELETE ');
    if (deletes && path === '/api/domains/{domain_id}') {
      const name = `gone${Math.random()}.example`;
      const sql = `INSERT INTO domains (name, account_id, remote_id, status, remark, records_count, revision,
        created_at) VALUES (?, ?, ?, 'active', '', 0, 0, ?)`;
      await db.run(sql, [name, account, name, now()]);
      const id = Number((await db.row<{ id: number }>('SELECT id FROM domains WHERE name = ?', [name]))?.id);
      await share(id, name);
      await db.run('UPDATE api_tokens SET allowed_domains = ? WHERE name = ?', [
        JSON.stringify([domain, id]),
        'token of the domain',
      ]);
      return path.replace('{domain_id}', String(id));
    }
    if (path.startsWith('/api/domains/')) {
      // a record that is there is what decides; deleted, it is made again
      const [row] = await db.rows<{ id: number }>('SELECT id FROM dns_records WHERE domain_id = ? AND host = ?', [
        domain,
        'app.dev',
      ]);
      if (!row && route !== 'POST /api/domains/{domain_id}/records') {
        const body = BODIES['POST /api/domains/{domain_id}/records'];
        record = made(await service.admin.post(`/api/domains/${domain}/records`, body)).id;
      } else record = row?.id ?? record;
      return path
        .replace('{domain_id}', String(domain))
        .replace('{record_id}', String(record))
        .replace('{host}/{type}', 'app.dev/TXT')
        .replace('{changeSetId}', '999999')
        .replace('{permissionId}', '999999')
        .replace('{ruleId}', '999999');
    }
    if (path.startsWith('/api/teams/')) {
      const led = deletes && path === '/api/teams/{id}' ? await addTeam(db, `led${Math.random()}`, []) : team;
      if (led !== team)
        await db.run("INSERT INTO team_members (team_id, user_id, role, joined_at) VALUES (?, ?, 'owner', ?)", [
          led,
          idOf('user who owns'),
          now(),
        ]);
      return path.replace('{id}', String(led)).replaceAll(/\{\w+\}/g, '999999');
    }
    if (route === 'GET /api/audit/logs/{id}') return path.replace('{id}', '1');
    return path
      .replace('{provider}', 'none')
      .replace('{section}', 'general')
      .replaceAll(/\{\w+\}/g, '999999');
  };

  for (const [route, demand] of Object.entries(ROUTES)) {
    it(`${route}: ${demand}`, async () => {
      const [method, path] = route.split(' ') as [string, string];
      const body = method === 'GET' ? undefined : (BODIES[route] ?? {});
      for (const actor of actors) {
        const url = await target(route, path);
        // a stream has no end: its headers are its answer
        const sent = route === 'GET /api/events' ? 'HEAD' : method;
        const { status, msg } = await service.server.call(sent, url, body, await credential(actor));
        const may = (CLASSES[demand] as readonly Actor[]).includes(actor);
        const cell = `${actor}: ${status} ${msg}`;
        if (demand === 'nobody') assert.equal(status, 403, cell);
        else if (may) assert.ok(isOfRoute(status, demand), cell);
        else assert.equal(status, actor === 'stranger' ? 401 : 403, cell);
      }
    });
  }

  it('covers every role, right, scope and rule', () => {
    assert.equal(SIGNED_IN.length, people.size + tokens.size);
  });
}
