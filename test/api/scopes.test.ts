import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { FRONT_DOORS, type FrontDoor } from '../../src/access/doors.js';
import { SCOPES, type Scope } from '../../src/access/scopes.js';
import { freePort } from '../support/bind.js';
import {
  foreignRoutes,
  type Ground,
  type Holder,
  INTEGRATIONS,
  type Integration,
  type Item,
  type Operation,
} from '../support/integrations.js';
import { type Answer, startService } from '../support/server.js';
import { addAccount, addDomain, done, made } from '../support/world.js';

/** One record of each kind that a scope may reach or not, and another value for it. */
const RECORDS = {
  challenge: { host: '_acme-challenge.www', type: 'TXT', value: 'LHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM' },
  text: { host: 'note', type: 'TXT', value: 'DHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM' },
  address: { host: 'home', type: 'A', value: '192.0.2.1' },
} as const;
type Kind = keyof typeof RECORDS;
const KINDS = Object.keys(RECORDS) as Kind[];
const OTHER = { TXT: 'EHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM', A: '192.0.2.2' };

const ALL: readonly Operation[] = ['read', 'create', 'update', 'delete'];
const EVERYTHING = { challenge: ALL, text: ALL, address: ALL };
/** What each scope reaches; `null`: the scope opens no integration. */
const REACH: Record<Scope, Partial<Record<Kind, readonly Operation[]>> | null> = {
  '*': EVERYTHING,
  'domains:read': null,
  'records:read': null,
  'records:write': null,
  'accounts:read': null,
  'audit:read': null,
  acme: { challenge: ['read', 'create', 'delete'] },
  ddns: { address: ALL },
  'external-dns': EVERYTHING,
  powerdns: EVERYTHING,
  rfc2136: EVERYTHING,
  webhook: EVERYTHING,
};

describe('the scopes of a token at every integration', () => {
  let ground: Ground;
  const holders = new Map<string, Holder>();

  beforeAll(async () => {
    const dnsPort = await freePort();
    const service = await startService('sqlite', { DNS_PORT: String(dnsPort), DNS_HOST: '127.0.0.1' });
    const { admin } = service;
    done(await admin.put('/api/settings/doors', { powerdns: { enabled: true }, rfc2136: { enabled: true } }));
    done(await admin.put('/api/settings/security', { rate_limits: { public: 0, token: 0, user: 0 } }));
    const domain = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'scopes.example', true);
    ground = { service, domain, zone: 'scopes.example', dnsPort };
  });
  afterAll(() => ground?.service.stop());

  const records = () => `/api/domains/${ground.domain}/records` as const;
  const holder = async (...scopes: Scope[]): Promise<Holder> => {
    const known = holders.get(scopes.join());
    if (known) return known;
    const body = { name: scopes.join(), allowed_services: scopes };
    const { token, tokenData } = made(await ground.service.admin.post('/api/tokens', body));
    holders.set(scopes.join(), { id: tokenData.id, token });
    return { id: tokenData.id, token };
  };
  /** The values of a record's set. */
  const valuesOf = async ({ host, type }: Item) => {
    const path = `${records()}?host=${host}&type=${type}` as '/api/domains/{domain_id}/records';
    return done(await ground.service.admin.get(path)).list;
  };
  /** Tries an operation on a record that is there, or is not where it is to be created. */
  const happens = async (door: FrontDoor, by: Holder, operation: Operation, item: Item): Promise<string | false> => {
    const other = OTHER[item.type as keyof typeof OTHER];
    const { admin } = ground.service;
    if (operation !== 'create') made(await admin.post(records(), { ...item, ttl: 300 }));
    const call = INTEGRATIONS[door].calls[operation] as NonNullable<Integration['calls']['read']>;
    const answer = await call(ground, by, item, other);
    const list = await valuesOf(item);
    for (const { id } of list)
      done(await admin.delete(`${records()}/${id}` as '/api/domains/{domain_id}/records/{record_id}'));
    const values = list.map(({ value }) => value).join();
    if (operation === 'read') return answer.includes(item.value) ? answer : false;
    const after = { create: item.value, update: other, delete: '' }[operation];
    // a refusal leaves everything as it was
    if (values !== after) assert.equal(values, operation === 'create' ? '' : item.value, answer);
    return values === after ? answer || 'done' : false;
  };

  it('has every integration and every route of one in its table', () => {
    assert.deepEqual(Object.keys(INTEGRATIONS).toSorted(), Object.keys(FRONT_DOORS).toSorted());
    assert.deepEqual(Object.keys(REACH), SCOPES);
    const routes = Object.values(INTEGRATIONS).flatMap((one) => one.routes);
    assert.deepEqual(routes.toSorted(), foreignRoutes(ground.service));
  });

  for (const door of Object.keys(INTEGRATIONS) as FrontDoor[]) {
    const { calls, speaksOf = () => true } = INTEGRATIONS[door];
    const { scope } = FRONT_DOORS[door];
    const operations = Object.keys(calls) as Operation[];
    // of a scope that reaches everything, one kind stands for all
    const kinds = REACH[scope] === EVERYTHING ? (['text'] as const) : KINDS;
    const spoken = kinds.filter((kind) => speaksOf(RECORDS[kind]));

    it(`${door}: a token of the scope ${scope} reaches what the scope implies, and nothing else`, async () => {
      for (const operation of operations)
        for (const kind of spoken) {
          const expected = REACH[scope]?.[kind]?.includes(operation) ?? false;
          const happened = await happens(door, await holder(scope), operation, RECORDS[kind]);
          assert.equal(happened !== false, expected, `${operation} of ${kind}: ${happened}`);
        }
    });

    it(`${door}: a token without the scope ${scope} is rejected`, async () => {
      const [operation] = operations as [Operation];
      const item = RECORDS[spoken[0] as Kind];
      for (const other of SCOPES.filter((one) => one !== scope && one !== '*')) {
        const call = INTEGRATIONS[door].calls[operation] as NonNullable<Integration['calls']['read']>;
        const answer = await call(ground, await holder(other), item, '').catch((error: Error) => error.message);
        // 5: REFUSED of DNS; dyndns2 has a word of its own
        assert.match(answer, /^(401 badauth|403 |5 )|answered 403/, other);
      }
      assert.deepEqual(await valuesOf(item), []);
    });
  }

  it('scopes that reach records elsewhere, or only by a hook, widen nothing at an integration', async () => {
    const by = await holder('ddns', 'acme', 'records:read', 'audit:read', 'webhook');
    for (const [kind, expected] of [
      ['text', false],
      ['challenge', true],
      ['address', true],
    ] as const)
      assert.equal((await happens('certd', by, 'create', RECORDS[kind])) !== false, expected, kind);
    assert.ok(await happens('certd', by, 'read', RECORDS.text));
  });

  it('is told by explain, with the scope that decides', async () => {
    const explained = async (scopes: Scope[], action: Operation, { host, type, value }: Item) => {
      const { id } = await holder(...scopes);
      const question = { domain_id: ground.domain, action, host, type, value };
      const path = `/api/tokens/${id}/explain` as '/api/tokens/{id}/explain';
      return done(
        (await ground.service.admin.post(path, question)) as Answer<{
          allowed: boolean;
          reason: string;
          source: string;
        }>,
      );
    };
    for (const scope of ['acme', 'ddns'] as const)
      for (const kind of KINDS)
        for (const action of ALL) {
          const { allowed, reason, source } = await explained([scope], action, RECORDS[kind]);
          assert.equal(allowed, REACH[scope]?.[kind]?.includes(action) ?? false, `${scope} ${action} ${kind}`);
          assert.deepEqual([source, /scope/.test(reason)], ['scope', true], reason);
        }
    const both = await explained(['records:read', 'ddns'], 'read', RECORDS.text);
    assert.deepEqual([both.allowed, both.source], [true, 'scope'], both.reason);
    const write = await explained(['records:write', 'ddns'], 'read', RECORDS.text);
    assert.deepEqual([write.allowed, write.source], [false, 'scope'], write.reason);
  });
});
