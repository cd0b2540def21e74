import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { DocumentFormat } from '../../src/documents/document.js';
import { databases } from '../support/databases.js';
import { type Answer, type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, ended, made, refused } from '../support/world.js';

const a = (host: string, last: number) => ({ host, type: 'A', value: `192.0.2.${last}`, ttl: 300 });
const SOA = 'IN SOA ns1.example.net. host.example.net. 7 3600 600 86400 300';

/** Documents without records, as tools and people make them. */
const EMPTY: [what: string, format: DocumentFormat, text: string][] = [
  ['0 bytes', 'zonefile', ''],
  ['blanks', 'zonefile', '\n \t\r\n'],
  ['a byte order mark', 'zonefile', '\uFEFF'],
  ['comments', 'zonefile', '; nothing\n;; in here\n'],
  ['directives', 'zonefile', '$ORIGIN here.example.\n$TTL 300\n'],
  ['a SOA', 'zonefile', `@ 300 ${SOA}\n`],
  ['a SOA and NS', 'zonefile', `@ 300 ${SOA}\n@ 300 NS ns1.example.net.\n`],
  ['an empty list', 'json', ' [ ]\n'],
  ['NS alone', 'json', '[{"host": "@", "type": "NS", "value": "ns1.example.net"}]'],
  ['a header alone', 'csv', 'host,type,value\n'],
  ['0 bytes', 'octodns', ''],
  ['a comment', 'octodns', '---\n# nothing\n'],
  ['an empty mapping', 'octodns', '--- {}\n'],
];

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`the guard empty_document on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let account: number;
    let count = 0;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      account = await addAccount(admin, 'zonefile', {});
    });
    afterAll(() => service?.stop());

    /** A domain with some records in addition to its SOA and NS. */
    async function zone(records: object[]) {
      const id = await addDomain(admin, account, `z${count++}.example`, true);
      const base = `/api/domains/${id}` as const;
      for (const record of records) made(await admin.post(`${base}/records`, record));
      const plan = async (body: object) => made(await admin.post(`${base}/plans`, body));
      const apply = (planned: number | null, body = {}) =>
        admin.post(`/api/plans/${planned as number}/apply`, body as never);
      const list = async () => done(await admin.get(`${base}/records`)).list;
      const hosts = async () => (await list()).flatMap(({ type, host }) => (type === 'A' ? [host] : [])).toSorted();
      const idOf = async (host: string) => (await list()).find((one) => one.host === host)?.id as number;
      return { base, plan, apply, list, hosts, idOf };
    }
    interface Met {
      guards: { key: string; mode: string }[];
    }
    /** Whether a plan, or the refusal of a write, names the guard; always with the mode `force`. */
    const meets = ({ guards }: Met): boolean => {
      const found = guards.find(({ key }) => key === 'empty_document');
      if (found) assert.equal(found.mode, 'force');
      return found !== undefined;
    };
    const refusedBy = (answer: Answer): boolean => meets(refused(answer, 409, 409003).data as unknown as Met);

    it('is met by a sync from every document without records, in a zone of one record', async () => {
      const { plan, apply, hosts } = await zone([a('www', 1)]);
      for (const [what, format, text] of EMPTY) {
        const planned = await plan({ document: { format, text }, mode: 'sync' });
        assert.ok(meets(planned), `${what} of ${format}`);
        assert.ok(refusedBy(await apply(planned.id, { force: ['apex_ns', 'many_deletes'] })), what);
      }
      assert.deepEqual(await hosts(), ['www']);
      const { id } = await plan({ document: { format: 'zonefile', text: '' }, mode: 'sync' });
      ended(await apply(id, { force: ['empty_document'] }));
      assert.deepEqual(await hosts(), []);
    });

    it('is met by an empty document that deletes only a part of a zone', async () => {
      const { plan, apply, hosts } = await zone([a('www', 1), { host: 't', type: 'TXT', value: 'kept', ttl: 300 }]);
      const { id, ...planned } = await plan({ document: { format: 'json', text: '[]' }, mode: 'sync', types: ['A'] });
      assert.ok(meets(planned));
      assert.ok(refusedBy(await apply(id)));
      ended(await apply(id, { force: ['empty_document'] }));
      assert.deepEqual(await hosts(), []);
    });

    it('is not met by a document with a record, a merge, or a zone that has nothing to lose', async () => {
      const { plan } = await zone([a('www', 1), a('api', 2)]);
      const text = 'www 300 A 192.0.2.1\n';
      assert.ok(!meets(await plan({ document: { format: 'zonefile', text }, mode: 'sync' })));
      assert.ok(!meets(await plan({ document: { format: 'zonefile', text: '' } })));
      const bare = await zone([]);
      const nothing = await bare.plan({ document: { format: 'zonefile', text: '' }, mode: 'sync' });
      assert.deepEqual([nothing.id, nothing.changes], [null, []]);
    });

    it('is met by every plan that leaves only SOA and NS, whatever it is made of', async () => {
      const { base, plan, apply, hosts, idOf } = await zone([a('www', 1), a('api', 2)]);
      const ids = [await idOf('www'), await idOf('api')];
      const empty = await zone([]);
      const from = Number(empty.base.split('/').at(-1));
      for (const body of [
        { records: [], mode: 'sync' },
        { records: [{ host: '@', type: 'NS', value: 'ns9.example.net', ttl: 300 }], mode: 'sync' },
        { changes: ids.map((id) => ({ op: 'delete', id })) },
        { from_domain_id: from, mode: 'sync' },
      ]) {
        const { id, ...planned } = await plan(body);
        assert.ok(meets(planned), JSON.stringify(body));
        assert.ok(refusedBy(await apply(id, { force: ['apex_ns'] })));
      }
      const domains = [{ domain_id: Number(base.split('/').at(-1)), changes: ids.map((id) => ({ op: 'delete', id })) }];
      const group = made(await admin.post('/api/plans', { domains } as never)) as unknown as { plans: Met[] };
      assert.ok(group.plans.every(meets));
      assert.ok(!meets(await plan({ changes: [{ op: 'delete', id: ids[0] }] })));
      assert.deepEqual(await hosts(), ['api', 'www']);
    });

    it('is met by a write of several record sets that leaves only SOA and NS, and its dry run', async () => {
      const { base, hosts, idOf } = await zone([a('www', 1), a('www', 2), a('api', 2)]);
      const ids = [await idOf('www'), await idOf('api')];
      const batch = (changes: object[], query = '') =>
        admin.post(`${base}/records/batch${query}`, { changes } as never) as Promise<Answer>;
      const all = [...ids.map((id) => ({ op: 'delete', id })), { op: 'delete', id: (ids[0] as number) + 1 }];
      const dry = await batch(all, '?dry_run=true');
      assert.ok(meets(dry.data as Met));
      assert.ok(refusedBy(await batch(all)));
      assert.ok(refusedBy(await batch(all, '?force=many_deletes')));
      assert.deepEqual(await hosts(), ['api', 'www', 'www']);
      ended((await batch(all, '?force=empty_document')) as never);
      assert.deepEqual(await hosts(), []);
    });

    it('is not met by a write of one record set, which names what it deletes', async () => {
      const { base, hosts, idOf } = await zone([a('www', 1)]);
      done(await admin.delete(`${base}/records/${await idOf('www')}`));
      for (const last of [1, 2]) made(await admin.post(`${base}/records`, a('set', last)));
      done(await admin.delete(`${base}/rrsets/set/A`));
      assert.deepEqual(await hosts(), []);
    });

    it('stays force when a domain configures another mode', async () => {
      const { base, plan } = await zone([a('www', 1)]);
      const one = (mode: string) => admin.put(base, { guards: { empty_document: mode } } as never);
      for (const mode of ['off', 'warn']) refused(await one(mode), 400, 400001);
      done(await one('force'));
      assert.ok(meets(await plan({ document: { format: 'zonefile', text: '' }, mode: 'sync' })));
    });

    it('of a plan that waits for an approval is passed by who approves it', async () => {
      const { base, hosts, idOf } = await zone([a('www', 1)]);
      done(await admin.put(base, { approval: { for: 'all', by: { role: 3 }, own: true } } as never));
      const waiting = (await admin.delete(`${base}/records/${await idOf('www')}`)) as Answer;
      const { id } = waiting.data as { id: number };
      ended(await admin.post(`/api/plans/${id}/approve`, {}));
      assert.deepEqual(await hosts(), []);
    });
  });
