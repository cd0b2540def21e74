import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { hasScope, Role } from '../../src/access/access.js';
import { judgeRecord } from '../../src/domains/access-rights.js';
import { DomainPolicy, type OpenDomain } from '../../src/domains/domain-policy.js';
import type { ReadableDomainsRepository } from '../../src/domains/readable-domains.repository.js';
import { now } from '../../src/platform/common/clock.js';
import type { TokenRow } from '../../src/tokens/api-tokens.repository.js';
import type { Action, RecordState, TokenRule } from '../../src/tokens/rules/token-rules.js';
import { judgeToken, tokenPrincipal } from '../../src/tokens/token-access.js';
import { seedOf } from '../support/seed.js';

const SEED = seedOf('restrictions of tokens');
const RUNS = 10_000;
const policy = new DomainPolicy({} as ReadableDomainsRepository);
const DOMAINS = [1, 2];
const IPS = ['192.0.2.7', '203.0.113.7'];

/** All limits of a token and its creator's right on each domain, in plain form. */
interface Rights {
  active: boolean;
  creatorActive: boolean;
  role: Role;
  maxRole: Role;
  level: number;
  hosts: string[];
  start: number | null;
  end: number | null;
  unusedDays: number | null;
  cidrs: string[] | null;
  services: string[];
  domains: number[] | null;
  rules: TokenRule[] | null;
}
interface Request {
  domain: number;
  action: Action;
  state: RecordState;
  ip: string;
}

/** The whole decision, put together of the functions that decide a request. */
function allowed(rights: Rights, { domain, action, state, ip }: Request): boolean {
  const hour = (offset: number | null) => (offset === null ? null : now(offset * 3_600_000));
  const row: TokenRow = {
    id: 1,
    user_id: 1,
    name: 'x',
    narrowed: rights.domains !== null,
    allowed_domains: JSON.stringify(rights.domains ?? []),
    allowed_services: JSON.stringify(rights.services),
    allowed_cidrs: rights.cidrs && JSON.stringify(rights.cidrs),
    rules: rights.rules && JSON.stringify(rights.rules),
    max_unused_days: rights.unusedDays,
    start_time: hour(rights.start),
    end_time: hour(rights.end),
    max_role: rights.maxRole,
    is_active: rights.active,
    created_at: now(-3 * 86_400_000),
    last_used_at: null,
    username: 'x',
    language: 'en',
    role: rights.role,
    status: rights.creatorActive ? 1 : 0,
    has_factor: 0,
    security: null,
  };
  if (!judgeToken(row, ip).allowed) return false;
  const me = tokenPrincipal(row);
  if (!hasScope(me.token?.allowedServices ?? [], action === 'read' ? 'records:read' : 'records:write')) return false;
  const admin = me.role >= Role.Admin;
  const access = {
    level: admin ? 2 : rights.level,
    hosts: admin ? [] : rights.hosts,
    rules: me.token?.rules ?? null,
  };
  const opened = { id: domain, access } as unknown as OpenDomain;
  if (!policy.judgeDomain(me, domain, opened, action === 'read' ? 'read' : 'records').allowed) return false;
  return judgeRecord(access, domain, action, state).allowed;
}

const list = <T>(values: T[]) => fc.subarray(values, { minLength: 1 });
/** mostly not: else nearly every case would be a denial */
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const rule: fc.Arbitrary<TokenRule> = fc.record(
  {
    effect: fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const),
    domains: list(DOMAINS),
    hosts: list(['@', 'www', '*', '**', '*.dev']),
    types: list(['A', 'TXT', 'CNAME']),
    actions: list<Action>(['read', 'create', 'update', 'delete']),
    values: fc.record(
      {
        cidrs: list(['10.0.0.0/8', '192.0.2.0/24']),
        suffixes: list(['example.com']),
        text: fc.constant({ max_length: 3 }),
      },
      { requiredKeys: [] },
    ),
    ttl: fc.constantFrom({ min: 100 }, { max: 500 }),
  },
  { requiredKeys: ['effect'] },
);
const rights: fc.Arbitrary<Rights> = fc.record({
  active: fc.constantFrom(...Array(12).fill(true), false),
  creatorActive: fc.constantFrom(...Array(12).fill(true), false),
  role: fc.constantFrom(1, 2, 3),
  maxRole: fc.constantFrom(1, 2, 3),
  level: fc.constantFrom(0, 1, 2, 2, 2),
  hosts: fc.subarray(['*.dev', 'www']),
  start: maybe(fc.constantFrom(-2, 2)),
  end: maybe(fc.constantFrom(-2, 2)),
  unusedDays: maybe(fc.constantFrom(1, 30)),
  cidrs: maybe(list(['192.0.2.0/24', '203.0.113.0/24'])),
  services: fc.oneof(
    { weight: 3, arbitrary: fc.constant<string[]>(['*']) },
    { weight: 1, arbitrary: list(['records:read', 'records:write', 'domains:read']) },
  ),
  domains: maybe(list(DOMAINS)),
  rules: maybe(fc.array(rule, { minLength: 1, maxLength: 4 })),
});
const request: fc.Arbitrary<Request> = fc.record({
  domain: fc.constantFrom(...DOMAINS),
  action: fc.constantFrom<Action>('read', 'create', 'update', 'delete'),
  state: fc.oneof(
    ...(
      [
        ['A', '10.1.2.3'],
        ['A', '192.0.2.1'],
        ['TXT', 'abc'],
        ['TXT', 'abcdef'],
        ['CNAME', 'a.example.com'],
        ['CNAME', 'evil.org'],
      ] as const
    ).map(([type, value]) =>
      fc.record({
        host: fc.constantFrom('@', 'www', 'a.dev', 'a.b'),
        type: fc.constant(type as string),
        value: fc.constant(value as string),
        ttl: fc.constantFrom(60, 300, 3600),
      }),
    ),
  ),
  ip: fc.constantFrom(...IPS),
});

/** Every way to take something away. */
const restriction: fc.Arbitrary<(rights: Rights) => Rights> = fc.oneof(
  fc.constant((r: Rights) => ({ ...r, active: false })),
  fc.constant((r: Rights) => ({ ...r, creatorActive: false })),
  fc.constantFrom<Role>(1, 2).map((role) => (r: Rights) => ({ ...r, role: Math.min(r.role, role) })),
  fc.constantFrom<Role>(1, 2).map((role) => (r: Rights) => ({ ...r, maxRole: Math.min(r.maxRole, role) })),
  fc
    .constantFrom(0, 1)
    .map((level) => (r: Rights) => ({ ...r, level: Math.min(r.level, level), hosts: level ? r.hosts : [] })),
  fc.constant((r: Rights) => ({ ...r, hosts: r.hosts.slice(1) })),
  fc.constantFrom(-2, 2).map((start) => (r: Rights) => ({ ...r, start: Math.max(start, r.start ?? start) })),
  fc.constantFrom(-2, 2).map((end) => (r: Rights) => ({ ...r, end: Math.min(end, r.end ?? end) })),
  fc.constantFrom(1, 30).map((days) => (r: Rights) => ({ ...r, unusedDays: Math.min(days, r.unusedDays ?? days) })),
  fc.constantFrom('192.0.2.0/24', '203.0.113.0/24').map((cidr) => (r: Rights) => ({
    ...r,
    cidrs: r.cidrs ? (r.cidrs.filter((c) => c === cidr).length ? [cidr] : r.cidrs) : [cidr],
  })),
  fc.constantFrom('records:read', 'records:write', 'domains:read').map((scope) => (r: Rights) => ({
    ...r,
    services: r.services.includes(scope) || r.services.includes('*') ? [scope] : r.services,
  })),
  fc
    .constantFrom(...DOMAINS)
    .map((domain) => (r: Rights) => ({ ...r, domains: r.domains ? r.domains.filter((d) => d === domain) : [domain] })),
  rule.map((added) => (r: Rights) => ({
    ...r,
    rules: [...(r.rules ?? [{ effect: 'allow' as const }]), { ...added, effect: 'deny' as const }],
  })),
  rule.map((only) => (r: Rights) => (r.rules ? r : { ...r, rules: [only] })),
  fc.nat(3).map((i) => (r: Rights) => ({
    ...r,
    rules: r.rules ? r.rules.filter((one, at) => at !== i || one.effect === 'deny') : r.rules,
  })),
  rule.map((more) => (r: Rights) => ({
    ...r,
    // an allowing rule that asks for more matches less
    rules: r.rules?.map((one) => (one.effect === 'allow' ? { ...more, ...one } : one)) ?? null,
  })),
);

describe('restrictions', () => {
  it(`never turn a denial into a permission, in ${RUNS} cases`, () => {
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(rights, request, restriction, (before, asked, restrict) => {
        const was = allowed(before, asked);
        seen[`${was}`] += 1;
        const is = allowed(restrict(before), asked);
        assert.ok(was || !is, 'a restriction gave a permission');
      }),
      { seed: SEED, numRuns: RUNS },
    );
    assert.ok(seen.true > 300 && seen.false > 300, JSON.stringify(seen));
  });

  it('only narrow permissions', () => {
    const everything: Rights = {
      active: true,
      creatorActive: true,
      role: 3,
      maxRole: 3,
      level: 2,
      hosts: [],
      start: null,
      end: null,
      unusedDays: null,
      cidrs: null,
      services: ['*'],
      domains: null,
      rules: null,
    };
    const asked: Request = {
      domain: 1,
      action: 'create',
      state: { host: 'www', type: 'A', value: '10.1.2.3', ttl: 300 },
      ip: '192.0.2.7',
    };
    assert.equal(allowed(everything, asked), true);
    const less: Partial<Rights>[] = [
      { active: false },
      { creatorActive: false },
      { role: 1, level: 1 },
      { maxRole: 1, level: 0 },
      { start: 2 },
      { end: -2 },
      { unusedDays: 1 },
      { cidrs: ['203.0.113.0/24'] },
      { services: ['records:read'] },
      { domains: [2] },
      { domains: [] },
      { rules: [{ effect: 'deny' }] },
      { rules: [{ effect: 'allow', types: ['TXT'] }] },
    ];
    for (const change of less)
      assert.equal(allowed({ ...everything, ...change }, asked), false, JSON.stringify(change));
  });
});
