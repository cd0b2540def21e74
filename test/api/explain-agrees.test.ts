import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { now } from '../../src/platform/common/clock.js';
import { sha256 } from '../../src/platform/common/hash.js';
import type { Db } from '../../src/platform/database/db.js';
import type { TokenRule } from '../../src/tokens/rules/token-rules.js';
import { addTeam, addUser, openDatabase } from '../support/database.js';
import { seedOf } from '../support/seed.js';
import { type Client, startService } from '../support/server.js';
import { thorough } from '../support/suites.js';
import { addAccount, addDomain, done, made } from '../support/world.js';

const TOKENS = thorough ? 1500 : 240;
const REQUESTS = 3;
const USER_REQUESTS = 160;
const SEED = seedOf('explanations of rights');

const RECORDS = [
  { host: 'www', type: 'A', value: '10.0.0.1', ttl: 300 },
  { host: 'app.dev', type: 'TXT', value: 'abc', ttl: 60 },
  { host: '_acme-challenge', type: 'TXT', value: 'x'.repeat(43), ttl: 600 },
  { host: 'api', type: 'CNAME', value: 'target.example.com', ttl: 300 },
  { host: '@', type: 'MX', value: 'mail.example.com', ttl: 3600 },
  { host: 'mail.dev', type: 'AAAA', value: '2001:db8::1', ttl: 300 },
  { host: 'nat', type: 'AAAA', value: '64:ff9b::a00:1', ttl: 300 },
  { host: '*.dev', type: 'TXT', value: 'wild', ttl: 300 },
  { host: 'sub.dev', type: 'NS', value: 'ns.example.com', ttl: 300 },
];
const CREATORS = ['super', 'deputy', 'nothing', 'reader', 'host-writer', 'writer', 'owner'] as const;
const HOSTS = [
  '@',
  'www',
  'api',
  '*',
  '**',
  '*.dev',
  '\\*.dev',
  '**.dev',
  'app.*',
  '_acme-challenge',
  'mail.dev',
  'nowhere',
];
const NETWORKS = ['192.0.2.7', '203.0.113.7'];

const some = <T>(values: readonly T[]) =>
  fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined, freq: 1 });
const clean = (value: object) => JSON.parse(JSON.stringify(value));

const rule = (domains: number[]): fc.Arbitrary<TokenRule> =>
  fc
    .record({
      effect: fc.constantFrom('allow', 'allow', 'allow', 'deny') as fc.Arbitrary<'allow' | 'deny'>,
      domains: some(domains),
      hosts: some(HOSTS),
      types: some(['A', 'AAAA', 'TXT', 'CNAME', 'MX', 'NS']),
      actions: some(['read', 'create', 'update', 'delete'] as const),
      values: fc.option(
        fc.record({
          cidrs: some(['10.0.0.0/8', '2001:db8::/32', '192.0.2.0/24']),
          suffixes: some(['example.com', 'other.org']),
          text: fc.option(
            fc.record({ max_length: fc.constantFrom(3, 100), pattern: fc.constantFrom('[a-z]+', 'x+', '(x?){100}.*') }),
            { nil: undefined },
          ),
        }),
        { nil: undefined, freq: 1 },
      ),
      ttl: fc.option(fc.constantFrom({ min: 100 }, { max: 500 }, { min: 60, max: 300 }), { nil: undefined, freq: 1 }),
    })
    .map((value): TokenRule => clean(value));

const limits = (domains: number[]) =>
  fc.record({
    creator: fc.constantFrom(...CREATORS),
    max_role: fc.constantFrom(1, 2, 3, 3),
    active: fc.constantFrom(true, true, true, true, true, true, true, true, true, false),
    window: fc.constantFrom('open', 'open', 'open', 'open', 'open', 'open', 'open', 'open', 'early', 'late'),
    domains: fc.option(fc.subarray(domains, { minLength: 1 }), { nil: [], freq: 2 }),
    services: fc.constantFrom(
      ['*'],
      ['*'],
      ['*'],
      ['records:read'],
      ['records:write'],
      ['records:read', 'records:write'],
      ['domains:read'],
    ),
    cidrs: fc.constantFrom(null, null, null, ['192.0.2.0/24']),
    rules: fc.option(fc.array(rule(domains), { minLength: 1, maxLength: 3 }), { nil: null, freq: 3 }),
  });

const request = fc.record({
  action: fc.constantFrom('read', 'create', 'status', 'rename', 'delete'),
  which: fc.nat(RECORDS.length - 1),
  to: fc.constantFrom('www2', 'new.dev', '_acme-challenge', 'api'),
  network: fc.constantFrom(...NETWORKS),
});
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

describe(`explain and the real answer (TEST_SEED=${SEED})`, () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let db: Db;
  let close: () => Promise<void>;
  let domains: number[];
  const ids: number[] = [];
  const people = new Map<string, { id: number; client: Client; jwt: string }>();
  const records = () => `/api/domains/${domains[0] as number}/records` as const;

  beforeAll(async () => {
    service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1/32', LOG_LEVEL: 'error' });
    const { admin, server } = service;
    ({ db, close } = await openDatabase(service.databaseUrl, server.dataDir));
    // what a power failure would leave is not asked here
    await db.run('PRAGMA synchronous = OFF');
    done(await admin.put('/api/settings/security', { rate_limits: { login: 100 } }));
    const account = await addAccount(admin, 'zonefile', {});
    domains = [
      await addDomain(admin, account, 'one.example', true),
      await addDomain(admin, account, 'two.example', true),
    ];
    for (const record of RECORDS) ids.push(made(await admin.post(records(), record)).id);
    // beside a CNAME nothing can be: here, as at `api`, being allowed to rename ends in a conflict, and nothing has to
    // be put back
    for (const host of ['www2', 'new.dev'])
      made(await admin.post(records(), { host, type: 'CNAME', value: 'target.example.com' }));
    for (const name of CREATORS) {
      const login = { username: name, password: `${name}-secret` };
      const id = await addUser(db, login, name === 'super' ? 3 : name === 'deputy' ? 2 : 1);
      const jwt = await server.login(login);
      people.set(name, { id, jwt, client: server.as(jwt) });
    }
    const grant = async (name: string, permission: string, host: string | null) => {
      const team = await addTeam(db, name, [people.get(name)?.id as number]);
      await db.run(
        'INSERT INTO domain_permissions (team_id, domain_id, domain_name, permission, host) VALUES (?, ?, ?, ?, ?)',
        [team, domains[0] as number, 'one.example', permission, host],
      );
    };
    await grant('reader', 'read', null);
    await grant('host-writer', 'write', '*.dev');
    await grant('writer', 'write', null);
    await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [
      people.get('owner')?.id as number,
      domains[0] as number,
    ]);
  });
  afterAll(async () => {
    await close?.();
    await service?.stop();
  });

  /** Does it, for real; what it changed is put back. @returns whether it was allowed */
  async function really({ action, which, to, network }: Request, credential: string): Promise<boolean> {
    const { admin, server } = service;
    const record = RECORDS[which] as (typeof RECORDS)[0];
    const path = `${records()}/${ids[which]}`;
    const calls: Record<string, [string, string, object?]> = {
      read: ['GET', path],
      // a record like it exists, so that being allowed ends in a conflict
      create: ['POST', records(), record],
      status: ['PATCH', `${path}/status`, { enabled: true }],
      rename: ['PUT', path, { host: to }],
      delete: ['DELETE', path],
    };
    const [method, url, body] = calls[action] as [string, string, object?];
    const answer = await server.call(method, url, body, credential, { 'x-forwarded-for': network });
    assert.ok(answer.status < 500, `${answer.status} ${answer.msg}`);
    if (action === 'delete' && answer.status === 200) ids[which] = made(await admin.post(records(), record)).id;
    if (action === 'rename' && answer.status === 200)
      done(await admin.put(path, { host: record.host, ttl: record.ttl }));
    return ![401, 403, 404].includes(answer.status);
  }

  /** What explain says of it: a rename must be allowed for the old and the new state. */
  async function explained(
    { action, which, to, network }: Request,
    asker: Client,
    path: `/api/${'tokens' | 'users'}/${number}/explain`,
  ): Promise<boolean> {
    const record = RECORDS[which] as (typeof RECORDS)[0];
    const named = action === 'status' || action === 'rename' ? 'update' : action;
    const states = action === 'rename' ? [record, { ...record, host: to }] : [record];
    let allowed = true;
    for (const state of states) {
      const question = { domain_id: domains[0], action: named, ...state, ip: network };
      allowed &&= done(await asker.post(path, question)).allowed;
    }
    return allowed;
  }

  it(`agree for ${TOKENS * REQUESTS} pairs of a token and a request`, async () => {
    const seen = { true: 0, false: 0 };
    for (const [i, limit] of fc.sample(limits(domains), { numRuns: TOKENS, seed: SEED }).entries()) {
      const secret = `svc_${sha256(`${SEED} ${i}`)}`;
      const creator = people.get(limit.creator) as { id: number; client: Client };
      const { window } = limit;
      await db.run(
        `INSERT INTO api_tokens (user_id, name, token_hash, narrowed, allowed_domains, allowed_services,
          allowed_cidrs, rules, start_time, end_time,
           max_role, is_active, created_at) VALUES (?, 'x', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          creator.id,
          sha256(secret),
          limit.domains.length > 0,
          JSON.stringify(limit.domains),
          JSON.stringify(limit.services),
          limit.cidrs && JSON.stringify(limit.cidrs),
          limit.rules && JSON.stringify(limit.rules),
          window === 'early' ? now(3_600_000) : null,
          window === 'late' ? now(-3_600_000) : null,
          limit.max_role,
          limit.active,
          now(),
        ],
      );
      const id = Number(
        (await db.row<{ id: number }>('SELECT id FROM api_tokens WHERE token_hash = ?', [sha256(secret)]))?.id,
      );
      for (const question of fc.sample(request, { numRuns: REQUESTS, seed: SEED + i })) {
        const said = await explained(question, creator.client, `/api/tokens/${id}/explain`);
        const was = await really(question, secret);
        assert.equal(was, said, `TEST_SEED=${SEED}: ${JSON.stringify({ limit, question })}`);
        seen[`${was}`] += 1;
      }
      await db.run('DELETE FROM api_tokens WHERE id = ?', [id]);
    }
    // neither answer may be all there is
    assert.ok(seen.true > 100 && seen.false > 100, JSON.stringify(seen));
  });

  it(`agree for ${USER_REQUESTS} pairs of a user and a request`, async () => {
    const asker = people.get('super')?.client as Client;
    const pairs = fc.tuple(fc.constantFrom(...CREATORS), request);
    for (const [name, question] of fc.sample(pairs, { numRuns: USER_REQUESTS, seed: SEED })) {
      const person = people.get(name) as { id: number; jwt: string };
      const said = await explained(question, asker, `/api/users/${person.id}/explain`);
      assert.equal(
        await really(question, person.jwt),
        said,
        `TEST_SEED=${SEED}: ${JSON.stringify({ name, question })}`,
      );
    }
  });
});
