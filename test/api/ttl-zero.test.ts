import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { DocumentFormat } from '../../src/documents/document.js';
import { parseDocument } from '../../src/documents/parse-document.js';
import { providerOf } from '../../src/providers/registry.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, ended, made, refused } from '../support/world.js';

const ZONE = 'zero.example';
/** Documents of `h A 192.0.2.1` with a TTL of 0. */
const DOCUMENTS: [DocumentFormat, string][] = [
  ['zonefile', 'h 0 A 192.0.2.1\n'],
  ['zonefile', '$TTL 0\nh A 192.0.2.1\n'],
  ['csv', 'host,type,value,ttl\nh,A,192.0.2.1,0\n'],
  ['json', '[{"host": "h", "type": "A", "value": "192.0.2.1", "ttl": 0}]'],
  ['octodns', 'h: {type: A, ttl: 0, value: 192.0.2.1}\n'],
];

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`a TTL of 0 (RFC 2181) on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let base: `/api/domains/${number}`;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      const account = await addAccount(admin, 'zonefile', {});
      base = `/api/domains/${await addDomain(admin, account, ZONE, true)}`;
    });
    afterAll(() => service?.stop());

    const a = (host: string, more: object = {}) => ({ host, type: 'A', value: '192.0.2.1', ...more });
    const ttlOf = async (host: string) =>
      done(await admin.get(`${base}/records`)).list.find((record) => record.host === host)?.ttl;

    it('is created, updated and kept by every write of records', async () => {
      const { id } = made(await admin.post(`${base}/records`, a('one', { ttl: 0 })));
      assert.equal(await ttlOf('one'), 0);
      done(await admin.put(`${base}/records/${id}`, { ttl: 60 }));
      done(await admin.put(`${base}/records/${id}`, { ttl: 0 }));
      done(await admin.put(`${base}/records/${id}`, { value: '192.0.2.2' }));
      done(await admin.patch(`${base}/records/${id}/status`, { enabled: false }));
      done(await admin.patch(`${base}/records/${id}/status`, { enabled: true }));
      assert.equal(await ttlOf('one'), 0);
      const put = await admin.put(`${base}/rrsets/set/A`, { values: ['192.0.2.1'], ttl: 0 });
      assert.ok(put.status < 300, put.msg);
      assert.equal(await ttlOf('set'), 0);
      ended(await admin.post(`${base}/records/batch`, { changes: [{ op: 'create', ...a('batch', { ttl: 0 }) }] }));
      assert.equal(await ttlOf('batch'), 0);
      // a record without a TTL joins a set, whose TTL of 0 is one
      made(await admin.post(`${base}/records`, { ...a('one'), value: '192.0.2.3' }));
      assert.equal(await ttlOf('one'), 0);
    });

    it.each(DOCUMENTS)('is read from a document and applied: %s', async (format, text) => {
      const plan = made(await admin.post(`${base}/plans`, { document: { format, text } }));
      assert.deepEqual(
        plan.changes.map(({ op, after }) => [op, after?.ttl]),
        [['create', 0]],
      );
      ended(await admin.post(`/api/plans/${plan.id as number}/apply`, { force: ['ttl_floor'] }));
      assert.equal(await ttlOf('h'), 0);
      assert.deepEqual(made(await admin.post(`${base}/plans`, { document: { format, text } })).changes, []);
      const { id } = done(await admin.get(`${base}/records`)).list.find(({ host }) => host === 'h') as { id: number };
      done(await admin.delete(`${base}/records/${id}`));
    });

    it('is the default where the settings say so', async () => {
      const { default_ttl: before } = done(await admin.get('/api/settings'));
      done(await admin.put('/api/settings', { default_ttl: 0 }));
      made(await admin.post(`${base}/records`, a('default')));
      assert.equal(await ttlOf('default'), 0);
      const document = { format: 'csv', text: 'host,type,value\nplanned,A,192.0.2.1\n' };
      const { changes } = made(await admin.post(`${base}/plans`, { document } as never));
      assert.equal(changes[0]?.after?.ttl, 0);
      done(await admin.put('/api/settings', { default_ttl: before }));
    });

    it('meets the guard ttl_floor, unless the floor of the domain is 0 itself', async () => {
      const guards = async () =>
        made(await admin.post(`${base}/plans`, { records: [a('low', { ttl: 0 })] } as never)).guards.map(
          ({ key }) => key,
        );
      assert.deepEqual(await guards(), ['ttl_floor']);
      assert.equal(done(await admin.put(base, { ttl_floor: 0 })).ttl_floor, 0);
      assert.equal(done(await admin.get(base)).ttl_floor, 0);
      assert.deepEqual(await guards(), []);
      assert.equal(done(await admin.put(base, { ttl_floor: null })).ttl_floor, null);
      assert.deepEqual(await guards(), ['ttl_floor']);
    });

    it('is a bound of rules of tokens, not a missing one', async () => {
      const token = async (ttl: object) => {
        const rules = [{ effect: 'allow', ttl }];
        const { token: secret } = made(await admin.post('/api/tokens', { name: JSON.stringify(ttl), rules } as never));
        return service.server.as(secret);
      };
      const none = await token({ max: 0 });
      made(await none.post(`${base}/records`, a('bound', { ttl: 0 })));
      refused(await none.post(`${base}/records`, a('bound2', { ttl: 1 })), 403, 403001);
      const some = await token({ min: 0, max: 1 });
      made(await some.post(`${base}/records`, a('bound3', { ttl: 1 })));
    });

    it('is refused below 0, and where the provider has a minimum', async () => {
      refused(await admin.post(`${base}/records`, a('less', { ttl: -1 })), 400, 400001);
      for (const [format, text] of DOCUMENTS) {
        const { errors } = await parseDocument(format, text, ZONE, { provider: providerOf('hetzner') });
        assert.deepEqual(
          errors.map(({ message, params }) => [/supports 60 to/.test(message), params]),
          [[true, { min: 60, max: 2_147_483_647 }]],
          format,
        );
      }
    });
  });
