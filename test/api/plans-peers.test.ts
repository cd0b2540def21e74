import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, ended, made, refused } from '../support/world.js';

const a = (host: string, last: number, ttl = 300) => ({ host, type: 'A', value: `192.0.2.${last}`, ttl });
const mx = (host: string, value: string, priority: number) => ({ host, type: 'MX', value, priority, ttl: 300 });
const cname = (host: string, value: string) => ({ host, type: 'CNAME', value, ttl: 300 });

/** What octoDNS and DNSControl do with plans: docs/safe-change-peers.md says of each behaviour which test is its. */
for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`plans, beside those of octoDNS and DNSControl, on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let account: number;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      account = await addAccount(admin, 'zonefile', {});
    });
    afterAll(() => service?.stop());

    /** A domain with some records. */
    async function zone(name: string, records: object[] = []) {
      const id = await addDomain(admin, account, name, true);
      const base = `/api/domains/${id}` as const;
      const ask = (body: object) => admin.post(`${base}/plans`, body);
      const plan = async (body: object) => made(await ask(body));
      const apply = async (body: object, force: string[] = []) => {
        const { id: planned } = await plan(body);
        return ended(await admin.post(`/api/plans/${planned as number}/apply`, { force: force as never }));
      };
      if (records.length) await apply({ records }, ['dangling']);
      const list = async () => done(await admin.get(`${base}/records`)).list;
      const now = async () =>
        (await list())
          .filter(({ type }) => type !== 'SOA' && type !== 'NS')
          .map(({ host, type, value, ttl }) => `${host} ${ttl} ${type} ${value}`)
          .toSorted();
      return { base, ask, plan, apply, list, now };
    }
    const keysOf = ({ guards }: { guards: { key: string }[] }) => guards.map(({ key }) => key);

    it('count neither many updates nor many deletes in a domain of fewer than ten records', async () => {
      // with its name server these are nine, and ten
      const eight = Array.from({ length: 8 }, (_, i) => a(`h${i}`, i));
      const small = await zone('eight.example', eight);
      assert.equal((await small.list()).filter(({ type }) => type !== 'SOA').length, 9);
      const seven = eight.slice(1).map(({ host }) => host);
      assert.deepEqual(keysOf(await small.plan({ records: [], mode: 'sync', hosts: seven })), []);
      const large = await zone('nine.example', [...eight, a('h8', 8), a('h9', 9)]);
      assert.deepEqual(keysOf(await large.plan({ records: [], mode: 'sync', hosts: seven })), ['many_deletes']);
      const updates = eight.map((one) => ({ ...one, ttl: 900 }));
      assert.deepEqual(keysOf(await large.plan({ records: updates })), ['many_updates']);
    });

    it('guard the name servers of the zone', async () => {
      const { plan, list } = await zone('apex.example');
      const own = (await list()).filter(({ type }) => type === 'NS');
      assert.ok(own.length);
      const records = [{ host: '@', type: 'NS', value: 'ns1.example.net', ttl: 300 }];
      assert.deepEqual(keysOf(await plan({ records, mode: 'sync' })), ['apex_ns']);
      // one more is none that goes
      assert.deepEqual(keysOf(await plan({ records })), []);
    });

    it('leave the name servers of the zone where none are named', async () => {
      const { plan } = await zone('kept.example', [a('www', 1)]);
      const { changes } = await plan({ records: [], mode: 'sync' });
      assert.deepEqual(
        changes.map(({ op, host, type }) => [op, host, type]),
        [['delete', 'www', 'A']],
      );
    });

    it('make room before they take it: a CNAME becomes addresses, and the other way round', async () => {
      const { apply, now } = await zone('room.example', [a('one', 1), a('one', 2), cname('two', 'there.example.net')]);
      const records = [cname('one', 'there.example.net'), a('two', 1), a('two', 2)];
      await apply({ records, mode: 'sync' });
      assert.deepEqual(await now(), ['one 300 CNAME there.example.net', 'two 300 A 192.0.2.1', 'two 300 A 192.0.2.2']);
    });

    it('refuse a CNAME beside other data, and one at the apex', async () => {
      const { ask, now } = await zone('company.example', [a('www', 1)]);
      const before = await now();
      refused(await ask({ records: [cname('www', 'there.example.net')] }), 400, 400001);
      refused(await ask({ records: [cname('new', 'there.example.net'), a('new', 1)] }), 400, 400001);
      refused(await ask({ records: [cname('@', 'there.example.net')] }), 400, 400001);
      assert.deepEqual(await now(), before);
    });

    it('say that there is nothing to do by an id of null', async () => {
      const { plan } = await zone('nothing.example', [a('www', 1), mx('@', 'mail.example.net', 10)]);
      const { id, changes, summary } = await plan({ records: [a('www', 1), mx('@', 'mail.example.net', 10)] });
      assert.deepEqual([id, changes, summary.unchanged], [null, [], 2]);
    });

    it('touch nothing outside of the names that they are bounded by', async () => {
      const { plan } = await zone('bounded.example', [a('www', 1), a('other', 1), a('a.www', 1)]);
      const { changes } = await plan({ records: [a('other', 9), a('www', 2)], mode: 'sync', hosts: ['www'] });
      assert.deepEqual(
        changes.map(({ op, host }) => [op, host]),
        [
          ['delete', 'www'],
          ['create', 'www'],
        ],
      );
    });

    it('see no change in the case of a name', async () => {
      const { plan } = await zone('case.example', [a('www', 1), cname('c', 'there.example.net')]);
      const { changes } = await plan({ records: [a('WWW', 1), cname('C', 'There.Example.NET')] });
      assert.deepEqual(changes, []);
    });

    const document = (text: string) => ({ document: { format: 'zonefile', text } });

    it('count a line that is there twice once, and say so', async () => {
      const { plan, now } = await zone('twice.example');
      const { id, changes, warnings } = await plan(document('www 300 A 192.0.2.1\nwww 300 A 192.0.2.1\n'));
      assert.equal(changes.length, 1);
      assert.deepEqual(warnings, ['Line 2 says what line 1 says, and counts once']);
      ended(await admin.post(`/api/plans/${id as number}/apply`, {}));
      assert.deepEqual(await now(), ['www 300 A 192.0.2.1']);
    });

    it('count a line that is there twice with two TTLs once, with the first of them', async () => {
      const { plan, now } = await zone('twice-ttls.example');
      const { id, warnings } = await plan(document('www 300 A 192.0.2.1\nwww 600 A 192.0.2.1\n'));
      assert.deepEqual(warnings, ['Line 2 says what line 1 says but for the TTL, and counts once']);
      ended(await admin.post(`/api/plans/${id as number}/apply`, {}));
      assert.deepEqual(await now(), ['www 300 A 192.0.2.1']);
    });

    it('give a set with two TTLs that of its first line, and say so', async () => {
      const { plan, now } = await zone('ttls.example', [a('www', 3, 900)]);
      const text = 'www 300 A 192.0.2.1\nwww 600 A 192.0.2.2\nwww 600 TXT text\n';
      const { id, warnings } = await plan(document(text));
      assert.deepEqual(warnings, ['Line 2 names another TTL for A www than its first line: that one counts, 300']);
      ended(await admin.post(`/api/plans/${id as number}/apply`, {}));
      assert.deepEqual(await now(), [
        'www 300 A 192.0.2.1',
        'www 300 A 192.0.2.2',
        'www 300 A 192.0.2.3',
        'www 600 TXT text',
      ]);
      assert.deepEqual((await plan(document(text))).changes, []);
    });

    it('are stale where somebody has changed a remark that they change, and keep one that they do not', async () => {
      const { base, plan, list } = await zone('remarks.example', [{ ...a('www', 1), remark: 'old' }]);
      const idOf = async () => (await list()).find(({ host }) => host === 'www')?.id as number;
      const noted = await plan({ records: [{ ...a('www', 1), remark: 'planned' }] });
      const slower = await plan({ records: [a('www', 1, 900)] });
      done(await admin.put(`${base}/records/${await idOf()}`, { remark: 'theirs' }));
      refused(await admin.post(`/api/plans/${noted.id as number}/apply`, {}), 412, 412001);
      ended(await admin.post(`/api/plans/${slower.id as number}/apply`, {}));
      const record = (await list()).find(({ host }) => host === 'www');
      assert.deepEqual([record?.remark, record?.ttl], ['theirs', 900]);
    });
  });
