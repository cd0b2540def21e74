import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { type Cloudflare, type Kept, startCloudflare } from '../support/cloudflare.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const NAME = 'odd.example';

/** Entries with a part that not every database can hold, by that part as the reason names it. */
const ODD: readonly [part: string, entry: Partial<Record<keyof Kept, unknown>>][] = [
  ['a type', { type: 'T'.repeat(17) }],
  ['a name', { name: `${'a.'.repeat(400)}${NAME}` }],
  ['a name', { name: `nul\0x.${NAME}` }],
  ['an id', { id: 'i'.repeat(256) }],
  ['an id', { id: 'i\0' }],
  ['a TTL', { ttl: 1e20 }],
  ['a TTL', { ttl: 2 ** 31 }],
  ['a TTL', { ttl: -5 }],
  ['a value', { type: 'WEIRD', content: 'a\0b' }],
  ['a value', { type: 'CNAME', content: 'xn--\0.example' }],
  ['a value', { type: 'WEIRD', content: 'half \ud800 a pair' }],
  ['a value', { type: 'TXT', content: 'x'.repeat(70_000) }],
  ['a value', { type: 'WEIRD', content: 'ü'.repeat(40_000) }],
];

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`records of a provider that no column holds, on ${kind}`, () => {
    let vendor: Cloudflare;
    let service: Service;
    let admin: Client;
    let records: `/api/domains/${number}/records`;

    beforeAll(async () => {
      vendor = await startCloudflare(NAME);
      service = await startService(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = service);
      const account = await addAccount(admin, 'cloudflare', { api_token: 'a-token', endpoint: vendor.url });
      records = `/api/domains/${await addDomain(admin, account, NAME)}/records`;
    });
    afterAll(async () => {
      await service?.stop();
      await vendor?.stop();
    });

    const fresh = async () => done(await admin.get(`${records}?refresh=true&limit=100`)).list;

    it('are shown as they came, with the reason, and take no other record with them', async () => {
      const plain = { type: 'A', content: '192.0.2.1', ttl: 300, proxied: false };
      const entries = ODD.map(([, entry], i) => ({ id: `odd${i}`, name: `odd${i}.${NAME}`, ...plain, ...entry }));
      vendor.zones.set(NAME, [{ id: 'good', name: `www.${NAME}`, ...plain }, ...(entries as Kept[])]);
      const list = await fresh();
      assert.equal(list.length, ODD.length + 1);
      assert.ok(list.some(({ host, value, read_only }) => host === 'www' && value === '192.0.2.1' && !read_only));
      const odd = list.filter(({ read_only }) => read_only);
      const wanted = ODD.map(([part]) => `It has ${part} of a form that cannot be kept here`);
      assert.deepEqual(odd.map((one) => one.read_only_reason).sort(), wanted.sort());
      for (const { value } of odd) assert.match(value, /^\{"/);
      assert.ok(odd.some(({ host, value }) => host === 'odd8' && value.includes('"value":"a\\u0000b"')));
      assert.ok(odd.some(({ host, type, value }) => host === 'odd0' && type === 'UNKNOWN' && value.includes('TTTTT')));
      assert.ok(odd.some(({ host, value }) => host === 'odd12' && value.length === 16_000));
      // the same again: nothing of it differs from what is kept
      const told = (all: typeof list) => all.map(({ id, updated_at }) => [id, updated_at]);
      assert.deepEqual(told(await fresh()), told(list));
    });

    it('are found by a type that only their vendor knows, by those who may read them', async () => {
      const hosts = (list: { host: string }[]) => list.map(({ host }) => host).toSorted();
      const weird = ['odd10', 'odd12', 'odd8'];
      assert.deepEqual(hosts(done(await admin.get(`${records}?type=weird`)).list), weird);
      assert.deepEqual(hosts(done(await admin.get(`${records}?type=A,weird&host=odd8`)).list), ['odd8']);
      const reader = async (globs: string[]) => {
        const rules = [{ effect: 'allow', hosts: globs }];
        return service.server.as(made(await admin.post('/api/tokens', { name: 'narrow', rules })).token);
      };
      const some = await reader(['odd8', 'www']);
      assert.deepEqual(hosts(done(await some.get(`${records}?type=weird`)).list), ['odd8']);
      // of what is hidden from it, it learns nothing: also not that there is such a type
      const none = await reader(['www']);
      const [hidden, nowhere] = await Promise.all(
        ['weird', 'wierd'].map(async (type) => refused(await none.get(`${records}?type=${type}`), 400, 400001)),
      );
      assert.deepEqual(hidden?.data.errors[0].params, nowhere?.data.errors[0].params);
    });

    it('are not written, and others beside them are', async () => {
      const [odd] = (await fresh()).filter(({ host }) => host === 'odd5');
      refused(await admin.put(`${records}/${odd?.id}`, { value: '192.0.2.9' }), 400, 400001);
      const { id } = made(await admin.post(records, { host: 'new', type: 'A', value: '192.0.2.2' }));
      done(await admin.put(`${records}/${id}`, { value: '192.0.2.3' }));
      assert.ok(vendor.zones.get(NAME)?.some((one) => one.content === '192.0.2.3'));
      assert.equal((await fresh()).length, ODD.length + 2);
    });
  });
}
