// The main job with a client that was generated from the OpenAPI description. `test/servers/openapi-client.test.ts`
// generates `schema.ts`, checks the types and runs this file, which the project's own type check excludes.
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

const api = createClient<paths>({ baseUrl: process.argv[2] ?? '' });

type DataOf<T> = T extends { data: infer D } ? D : null; // openapi-fetch takes a `data` that is always null away

/** The `data` of a success. */
function ok<T extends { code: 0 }>(answer: { data?: T; error?: unknown; response: Response }): DataOf<T> {
  assert.ok(answer.data, `${answer.response.status} ${JSON.stringify(answer.error)}`);
  return (answer.data as unknown as { data: DataOf<T> }).data;
}

const admin = { username: 'admin', password: 'correct-horse-battery-9' };

assert.equal(ok(await api.GET('/api/init/status')).initialized, false);
ok(await api.POST('/api/init/database', { body: { type: 'sqlite', sqlite: { path: 'zoneward.db' } } }));
ok(await api.POST('/api/init/admin', { body: admin }));

const login = (await api.POST('/api/auth/login', { body: admin })).data;
assert.ok(login);
// @ts-expect-error a login may ask for the second factor: there is no token before that is ruled out
login.data.token;
if (login.code === -2) throw new Error(`a second factor is needed: ${login.data.types.join()}`);
const { token, user } = login.data;
const role: 1 | 2 | 3 = user.role;
assert.equal(role, 3);
api.use({
  onRequest({ request }) {
    request.headers.set('authorization', `Bearer ${token}`);
  },
});

const credentials = { url: process.argv[3] ?? '', api_key: process.argv[4] ?? '' };
const account = ok(
  await api.POST('/api/accounts', { body: { provider: 'powerdns', name: 'Name server', credentials } }),
);
const made = await api.POST('/api/domains', { body: { name: 'example.org', account_id: account.id, create: true } });
const domain: components['schemas']['DomainView'] = ok(made);
const status: 'active' | 'missing' = domain.status;
assert.equal(status, 'active');

const records = { params: { path: { domain_id: domain.id } } };
const created = ok(
  await api.POST('/api/domains/{domain_id}/records', {
    ...records,
    body: { host: 'www', type: 'A', value: '192.0.2.10', ttl: 300 },
  }),
);
const one = { params: { path: { domain_id: domain.id, record_id: created.id } } };
const listed = await api.GET('/api/domains/{domain_id}/records', {
  params: { ...records.params, query: { host: 'www' } },
});
const envelope: components['schemas']['RecordListEnvelope'] | undefined = listed.data;
assert.deepEqual(
  envelope?.data.list.map((record) => [record.id, record.value, record.ttl]),
  [[created.id, '192.0.2.10', 300]],
);
const changed = await api.PUT('/api/domains/{domain_id}/records/{record_id}', {
  ...one,
  body: { value: '192.0.2.20' },
});
assert.equal(ok(changed).value, '192.0.2.20');

const pipeline = ok(
  await api.POST('/api/tokens', {
    body: { name: 'pipeline', allowed_domains: [domain.id], allowed_services: ['records:read', 'records:write'] },
  }),
);
const limited = createClient<paths>({
  baseUrl: process.argv[2] ?? '',
  headers: { authorization: `Bearer ${pipeline.token}` },
});
const seen = ok(await limited.GET('/api/domains/{domain_id}/records', records)).list;
assert.ok(seen.some(({ id, type }) => id === created.id && type === 'A'));
ok(await limited.DELETE('/api/domains/{domain_id}/records/{record_id}', one));

const { error } = await limited.GET('/api/users');
assert.equal(error?.code, 403001);
const missing: string | undefined = error?.data?.required;
assert.equal(typeof missing, 'string');
const wrong = await api.POST('/api/domains/{domain_id}/records', {
  ...records,
  // @ts-expect-error the host of a record is needed, its type is one of those that there are
  body: { type: 'NONSENSE', value: '192.0.2.10' },
});
assert.deepEqual(
  wrong.error?.data?.errors?.map(({ path, code }) => [path, code]),
  [
    ['type', 'choice'],
    ['host', 'required'],
  ],
);
// @ts-expect-error there is no such route
await api.GET('/api/nonsense');
