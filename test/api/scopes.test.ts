import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { FRONT_DOORS, type FrontDoor } from '../../src/access/doors.js';
import { SCOPES, type Scope } from '../../src/access/scopes.js';
import { freePort } from '../support/bind.js';
import {
  declaredRoutes,
  type Ground,
  type Holder,
  INTEGRATIONS,
  type Integration,
  type Item,
  type Operation,
} from '../support/integrations.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { addAccount, addDomain, done, made } from '../support/world.js';

/** One record of each kind that scopes distinguish. */
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

  const foreignRoutes = () =>
    declaredRoutes(ground.service)
      .flatMap(({ foreign, name }) => (foreign ? [name] : []))
      .toSorted();
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
  /** Tries an operation on an existing record, or to create one. @returns the answer, or false if it was rejected */
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
    assert.deepEqual(routes.toSorted(), foreignRoutes());
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

  it('scopes for other routes, or only for hooks, allow nothing more at an integration', async () => {
    const by = await holder('ddns', 'acme', 'records:read', 'audit:read', 'webhook');
    for (const [kind, expected] of [
      ['text', false],
      ['challenge', true],
      ['address', true],
    ] as const)
      assert.equal((await happens('certd', by, 'create', RECORDS[kind])) !== false, expected, kind);
    assert.ok(await happens('certd', by, 'read', RECORDS.text));
  });

  it('explain names the scope that decides', async () => {
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

  describe('hide a record that the token may not read as if it did not exist', () => {
    const HIDDEN = { host: 'vault', type: 'A', value: '198.51.100.7' };
    const GUESS = { ...HIDDEN, ttl: 300 };
    /** What differs with each request. */
    const bare = (answer: object, id: number) =>
      JSON.stringify(answer, (key, value) =>
        ['created_at', 'expires_at', 'change_set_id'].includes(key) ? null : value,
      )
        .replaceAll(new RegExp(`\\b${id}\\b`, 'g'), '#')
        .replaceAll(/"(plan_|group_)?id":\d+/g, '"id":#');
    /** Calls of all routes with a scope for writing records: `id` of the record, and of the change set that made it. */
    type Route = (client: Client, id: number, changeSet: number) => Promise<Answer<unknown>>[];
    const at = () => `/api/domains/${ground.domain}` as const;
    const planned: Route = (client, _id, changeSet) => [
      client.post(`${at()}/plans`, { records: [GUESS] }),
      client.post(`${at()}/plans`, { changes: [{ op: 'upsert', ...GUESS }] }),
      client.post(`${at()}/plans`, { records: [], mode: 'sync', hosts: ['vault'] }),
      client.post(`${at()}/plans`, { change_set_id: changeSet }),
    ];
    const applied: Route = (client) => [
      client.post(`${at()}/plans`, { changes: [{ op: 'upsert', ...GUESS }] }).then(async (made) => {
        const { id = 999_999 } = (made.data ?? {}) as { id?: number };
        const path = `/api/plans/${id}/apply` as '/api/plans/{id}/apply';
        return client.post(path, {});
      }),
    ];
    const record = (id: number) => `${at()}/records/${id}` as const;
    const ROUTES: Record<string, Route> = {
      'POST /domains/:domain_id/plans': planned,
      'DELETE /plans/:id': (client) => [client.delete('/api/plans/999999')],
      'POST /plans/:id/apply': applied,
      'POST /domains/:domain_id/records/batch': (client, id) =>
        [
          { op: 'upsert', ...GUESS },
          { op: 'delete', id },
        ].map((change) => client.post(`${at()}/records/batch`, { changes: [change] })),
      // ids of change sets are consecutive, so the existence of one reveals nothing about records
      'POST /domains/:domain_id/changes/:changeSetId/cancel': (client) => [
        client.post(`${at()}/changes/1/cancel` as '/api/domains/{domain_id}/changes/{changeSetId}/cancel'),
      ],
      'POST /domains/:domain_id/changes/:changeSetId/confirm': (client) => [
        client.post(`${at()}/changes/1/confirm` as '/api/domains/{domain_id}/changes/{changeSetId}/confirm'),
      ],
      'PUT /domains/:domain_id/rrsets/:host/:type': (client) => [
        client.put(`${at()}/rrsets/vault/A`, { values: [HIDDEN.value], ttl: 300 }),
        client.put(`${at()}/rrsets/vault/A?dry_run=true`, { values: [HIDDEN.value], ttl: 300 }),
      ],
      'DELETE /domains/:domain_id/rrsets/:host/:type': (client) => [client.delete(`${at()}/rrsets/vault/A`)],
      'POST /domains/:domain_id/records': (client) => [
        client.post(`${at()}/records`, GUESS),
        client.post(`${at()}/records?dry_run=true`, GUESS),
      ],
      'PUT /domains/:domain_id/records/:record_id': (client, id) => [
        client.put(record(id), { ttl: 600 }),
        client.put(`${record(id)}?dry_run=true` as '/api/domains/{domain_id}/records/{record_id}', { ttl: 600 }),
      ],
      'DELETE /domains/:domain_id/records/:record_id': (client, id) => [client.delete(record(id))],
      'PATCH /domains/:domain_id/records/:record_id/status': (client, id) => [
        client.patch(`${record(id)}/status`, { enabled: false }),
      ],
      'DELETE /domains/:domain_id/drift': (client) => [
        client.delete(`${at()}/drift` as '/api/domains/{domain_id}/drift', { hosts: ['vault'] }),
      ],
      'POST /plans': (client) => [
        client.post('/api/plans', { where: { host: 'vault' }, set: { ttl: 600 } }),
        client.post('/api/plans', { domains: [{ domain_id: ground.domain, changes: [{ op: 'upsert', ...GUESS }] }] }),
      ],
    };
    const rules = [{ effect: 'allow' }, { effect: 'deny', hosts: ['vault'] }];
    const ruled = async (scopes: Scope[], given: object[] | null) => {
      const body = { name: 'hidden', allowed_services: scopes, ...(given && { rules: given }) };
      const { token, tokenData } = made(await ground.service.admin.post('/api/tokens', body));
      return { id: tokenData.id, token };
    };
    /** Runs a call without the record, then with it, and compares the answers. */
    const alike = async (name: string, call: (id: number, changeSet: number) => Promise<object>) => {
      const { admin } = ground.service;
      const absent = bare(await call(999_999, 999_999), 999_999);
      const { id } = made(await admin.post(records(), GUESS));
      const [set] = done(await admin.get(`${at()}/changes`)).list;
      const hidden = bare(await call(id, set?.id as number), id).replaceAll(new RegExp(`\\b${set?.id}\\b`, 'g'), '#');
      assert.equal(hidden, absent, name);
      assert.deepEqual(
        (await valuesOf(HIDDEN)).map(({ value, ttl, enabled }) => [value, ttl, enabled]),
        [[HIDDEN.value, 300, true]],
        name,
      );
      done(await admin.delete(`${records()}/${id}` as '/api/domains/{domain_id}/records/{record_id}'));
    };

    it('on every route that writes records', async () => {
      const writing = declaredRoutes(ground.service).filter(({ access }) => access?.scope === 'records:write');
      assert.deepEqual(writing.map(({ name }) => name).toSorted(), Object.keys(ROUTES).toSorted());
      const client = ground.service.server.as((await ruled(['*'], rules)).token);
      for (const [name, calls] of Object.entries(ROUTES))
        await alike(name, async (id, changeSet) => {
          const answers: object[] = [];
          for (const answer of calls(client, id, changeSet)) {
            const { status, code, msg, data } = await answer;
            answers.push({ status, code, msg, data });
          }
          return answers;
        });
    });

    it('in plans of a token that may not read records at all', async () => {
      const client = ground.service.server.as((await ruled(['records:write'], null)).token);
      const other = { ...GUESS, value: '192.0.2.99' };
      const bodies = [
        { records: [other] },
        { changes: [{ op: 'upsert', ...other }] },
        { records: [], mode: 'sync', hosts: ['vault'] },
      ];
      for (const body of bodies)
        await alike(JSON.stringify(body), async () => {
          const { status, code, msg, data } = await client.post(`${at()}/plans`, body);
          return { status, code, msg, data };
        });
      await alike('undo', async (_id, set) => {
        const { status, code, msg, data } = await client.post(`${at()}/plans`, { change_set_id: set });
        return { status, code, msg, data };
      });
      await alike('where', async () => {
        const where = { host: 'vault' };
        const { status, code, msg, data } = await client.post('/api/plans', { where, set: { ttl: 600 } });
        return { status, code, msg, data };
      });
    });

    for (const door of Object.keys(INTEGRATIONS) as FrontDoor[])
      it(`at the integration ${door}`, async () => {
        const { calls, guesses = [], speaksOf = () => true } = INTEGRATIONS[door];
        const item = speaksOf(HIDDEN) ? HIDDEN : { ...RECORDS.challenge, host: '_acme-challenge.vault' };
        const hidden = [{ effect: 'allow' }, { effect: 'deny', hosts: [item.host] }];
        // the token may delete the record: only the missing right to read protects it
        const unread = [{ effect: 'allow' }, { effect: 'deny', hosts: [item.host], actions: ['read'] }];
        const typed = [{ effect: 'allow' }, { effect: 'deny', hosts: [item.host], types: [item.type] }];
        for (const given of [hidden, unread, typed]) {
          const by = await ruled([FRONT_DOORS[door].scope], given);
          const { admin } = ground.service;
          for (const [operation, call] of [...Object.entries(calls), ...guesses.entries()]) {
            // a token that may create but not read learns that the same record exists; replacing is creating
            if (given === unread && (operation === 'create' || operation === 'update')) continue;
            const answer = () => call(ground, by, item, OTHER[item.type as keyof typeof OTHER]);
            const absent = await answer().catch((error: Error) => error.message);
            for (const { id } of await valuesOf(item))
              done(await admin.delete(`${records()}/${id}` as '/api/domains/{domain_id}/records/{record_id}'));
            const { id } = made(await admin.post(records(), { ...item, ttl: 300 }));
            const present = await answer().catch((error: Error) => error.message);
            // the serial of a zone is public
            const plain = (text: string) =>
              text
                .replaceAll(/(serial":|scopes\.example\. )\d+/g, '#')
                .replaceAll(new RegExp(`\\b(${id}|999999)\\b`, 'g'), '#');
            assert.equal(plain(present), plain(absent), `${operation} by ${JSON.stringify(given)}`);
            for (const one of await valuesOf(item))
              done(await admin.delete(`${records()}/${one.id}` as '/api/domains/{domain_id}/records/{record_id}'));
          }
        }
      });
  });
});
