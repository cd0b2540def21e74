import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { DnsRecordsRepository } from '../../src/cache/dns-records.repository.js';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import { ChangeRetention } from '../../src/changes/retention.service.js';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { applicationOf, type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

type Plain = Pick<RecordView, 'host' | 'type' | 'value' | 'ttl' | 'enabled' | 'remark'>;
const plain = ({ host, type, value, ttl, enabled, remark }: Plain) => ({ host, type, value, ttl, enabled, remark });

for (const { kind, skip } of databases('all'))
  describeUnless(skip)(`versions of the records of a domain, on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let db: Db;
    let close: () => Promise<void>;
    let account: number;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      account = await addAccount(admin, 'zonefile', {});
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });

    /** A domain, with what is asked for in its tests. */
    async function zone(name: string) {
      const id = await addDomain(admin, account, name, true);
      const base = `/api/domains/${id}` as const;
      const path = join(service.server.dataDir, 'zones', `${name}.zone`);
      const of = async (version: number) => done(await admin.get(`${base}/versions/${version}`)).list;
      return {
        ...{ id, base, of },
        add: async (record: object) => made(await admin.post(`${base}/records`, record)).id,
        versions: async () => done(await admin.get(`${base}/versions?limit=100`)).list,
        records: async () => done(await admin.get(`${base}/records`)).list,
        /** somebody edits the zone at the provider */
        edit: async (change: (text: string) => string) => {
          writeFileSync(path, change(readFileSync(path, 'utf8')));
          return done(await admin.get(`${base}/records?refresh=true`)).list;
        },
        diff: async (from: number, to: number) => done(await admin.get(`${base}/versions/${from}/diff/${to}`)),
        set: async (id: number) => done(await admin.get(`${base}/changes/${id}`)),
      };
    }
    const withoutSoa = <T extends { type: string }>(list: T[]) => list.filter(({ type }) => type !== 'SOA');
    const state = (list: readonly Plain[]) =>
      withoutSoa([...list])
        .map((one) => JSON.stringify(plain(one)))
        .toSorted();

    it('are read though somebody changes their records all the time', async () => {
      const { id, base, add, of, versions } = await zone('busy.example');
      const ids = await Promise.all(['a', 'b', 'c'].map((host) => add({ host, type: 'A', value: '192.0.2.1' })));
      const version = (await versions())[0]?.version as number;
      const before = state(await of(version));
      const rows = applicationOf(service.server.dataDir)?.get(DnsRecordsRepository) as DnsRecordsRepository;
      const read = rows.those.bind(rows);
      let changes = 0;
      rows.those = async (...args: Parameters<typeof read>) => {
        if (args[0] !== id || args[1] !== 'id' || args[2].length < 3) return read(...args);
        assert.ok(++changes < 10, 'it is read again and again');
        rows.those = read;
        done(await admin.put(`${base}/records/${ids[0]}`, { value: `192.0.2.${10 + changes}` }));
        if (changes === 1) done(await admin.delete(`${base}/records/${ids[1]}`));
        rows.those = hooked;
        return read(...args);
      };
      const hooked = rows.those;
      try {
        assert.deepEqual(state(await of(version)), before);
        const plan = made(await admin.post(`${base}/plans`, { version }));
        assert.deepEqual(plan.changes.map(({ op, host }) => `${op} ${host}`).toSorted(), ['create b', 'update a']);
      } finally {
        rows.those = read;
      }
    });

    it('begin with the first reading, and each change makes one that can be read as it was', async () => {
      const { add, base, versions, records, of } = await zone('each.example');
      const seen = [state(await records())];
      const id = await add({ host: 'www', type: 'A', value: '192.0.2.1', remark: 'first' });
      seen.push(state(await records()));
      done(await admin.put(`${base}/records/${id}`, { value: '192.0.2.2', remark: 'second' }));
      seen.push(state(await records()));
      done(await admin.patch(`${base}/records/${id}/status`, { enabled: false }));
      seen.push(state(await records()));
      done(await admin.delete(`${base}/records/${id}`));
      seen.push(state(await records()));
      const list = await versions();
      assert.deepEqual(
        list.map(({ version, door, inherited, counts }) => [version, door, inherited, counts]),
        [
          [5, 'api', false, { create: 0, update: 0, delete: 1 }],
          [4, 'api', false, { create: 0, update: 1, delete: 0 }],
          [3, 'api', false, { create: 0, update: 1, delete: 0 }],
          [2, 'api', false, { create: 1, update: 0, delete: 0 }],
          [1, 'provider', false, { create: (await of(1)).length, update: 0, delete: 0 }],
        ],
      );
      for (const [i, expected] of seen.entries()) assert.deepEqual(state(await of(i + 1)), expected);
      assert.ok(list.every(({ change_set_id }, i) => (change_set_id === null) === (i === 4)));
    });

    it('are text, too: a zone file as exports have it, and a unified diff', async () => {
      const { add, base, edit } = await zone('text.example');
      const id = await add({ host: 'www', type: 'A', value: '192.0.2.1', ttl: 300 });
      await add({ host: 'off', type: 'TXT', value: 'a "text"', ttl: 300, enabled: false });
      done(await admin.put(`${base}/records/${id}`, { value: '192.0.2.2', remark: 'why' }));
      const fetched = async (path: string, accept: string) => {
        const headers = { authorization: `Bearer ${service.token}`, accept };
        const answer = await fetch(`${service.server.url}${base}${path}`, { headers });
        assert.equal(answer.status, 200);
        return {
          type: answer.headers.get('content-type'),
          name: answer.headers.get('content-disposition'),
          text: await answer.text(),
        };
      };
      const now = await fetched('/versions/4', 'text/dns');
      assert.equal(now.type, 'text/dns; charset=utf-8');
      assert.equal(now.name, 'attachment; filename="text.example-4.zone"');
      const lines = (text: string) => text.split('\n').toSorted();
      assert.deepEqual(lines(now.text), lines((await fetched('/export?format=zonefile', '*/*')).text));
      const old = (await fetched('/versions/2', 'text/dns')).text;
      assert.match(old, /^www 300 IN A 192\.0\.2\.1$/m);
      assert.doesNotMatch(old, /off/);
      // what it says is a version, and can be read as one
      const soa = '@ 600 IN SOA localhost. hostmaster.localhost. 1 3600 600 86400 600';
      await edit(() => `$ORIGIN text.example.\n${soa}\n${now.text}`);
      assert.deepEqual(done(await admin.get(`${base}/versions?limit=1`)).list[0]?.version, 4);
      refused(await admin.get(`${base}/versions/9`), 404, 404001);
      const none = await fetch(`${service.server.url}${base}/versions/4?limit=1`, {
        headers: { authorization: `Bearer ${service.token}`, accept: 'text/dns' },
      });
      assert.equal(none.status, 400);
      const diff = await fetched('/versions/2/diff/4', 'text/plain');
      assert.equal(diff.type, 'text/plain; charset=utf-8');
      assert.deepEqual(diff.text.split('\n'), [
        '--- text.example version 2',
        '+++ text.example version 4',
        '@@ 1 created, 1 changed, 0 deleted @@',
        '-www 300 IN A 192.0.2.1',
        '+www 300 IN A 192.0.2.2 ; "why"',
        '+; off 300 IN TXT "a \\"text\\""',
        '',
      ]);
    });

    it('are not made by what changes nothing', async () => {
      const { add, base, versions, records } = await zone('same.example');
      const id = await add({ host: 'www', type: 'A', value: '192.0.2.1' });
      const before = (await versions()).length;
      done(await admin.put(`${base}/records/${id}`, { value: '192.0.2.1' }));
      refused(await admin.post(`${base}/records`, { host: 'www', type: 'A', value: '192.0.2.1' }), 409, 409001);
      done(await admin.get(`${base}/records?refresh=true`));
      assert.equal((await versions()).length, before);
      const [record] = (await records()).filter(({ id: one }) => one === id);
      assert.equal(record?.value, '192.0.2.1');
    });

    it('tell what came to be: the TTL of a set moves its other members, which are in the set of changes', async () => {
      const { add, base, versions, set, of } = await zone('ttl.example');
      for (const last of [1, 2, 3]) await add({ host: 'www', type: 'A', value: `192.0.2.${last}`, ttl: 300 });
      const [{ id }] = (await done(await admin.get(`${base}/records?type=A`)).list) as [RecordView];
      done(await admin.put(`${base}/records/${id}`, { ttl: 900 }));
      const [newest] = await versions();
      assert.deepEqual(newest?.counts, { create: 0, update: 3, delete: 0 });
      const { changes, moved, counts, total } = await set(newest?.change_set_id as number);
      assert.deepEqual([changes.length, counts.applied, total], [1, 1, 1]);
      assert.deepEqual(
        moved.map(({ before, after }) => [before.value, before.ttl, after.ttl]),
        [
          ['192.0.2.2', 300, 900],
          ['192.0.2.3', 300, 900],
        ],
      );
      const ttls = (await of((newest?.version as number) - 1)).filter(({ type }) => type === 'A').map(({ ttl }) => ttl);
      assert.deepEqual(ttls, [300, 300, 300]);
    });

    it('begin with what was there before a list, of which an earlier edit moved the TTL of a record', async () => {
      const { add, base, versions, records, of } = await zone('first.example');
      const id = await add({ host: 'www', type: 'A', value: '192.0.2.1', ttl: 300 });
      const before = { number: (await versions())[0]?.version as number, state: state(await records()) };
      const changes = [
        { op: 'create', host: 'www', type: 'A', value: '192.0.2.2', ttl: 900 },
        { op: 'update', id, remark: 'theirs', value: '192.0.2.3' },
      ];
      done(await admin.post(`${base}/records/batch`, { changes }));
      assert.deepEqual(state(await of(before.number)), before.state);
    });

    it('store the id that the provider gave a record', async () => {
      const { add, versions } = await zone('remote.example');
      const id = await add({ host: 'www', type: 'A', value: '192.0.2.1' });
      const [newest] = await versions();
      const [row] = await db.rows<{ record_id: number; state_after: string; remote_id: string }>(
        `SELECT c.record_id, c.state_after, r.remote_id FROM record_changes c JOIN dns_records r ON r.id = c.record_id
          WHERE c.change_set_id = ?`,
        [newest?.change_set_id as number],
      );
      assert.equal(row?.record_id, id);
      assert.equal(JSON.parse(row?.state_after ?? '{}').remote_id, row?.remote_id);
    });

    it('contain what somebody changed at the provider, by the door "provider", and records keep their ids and remarks', async () => {
      const { add, edit, versions, set, of, records } = await zone('foreign.example');
      const [kept, gone] = [
        await add({ host: 'kept', type: 'A', value: '192.0.2.1', ttl: 300, remark: 'ours' }),
        await add({ host: 'gone', type: 'A', value: '192.0.2.2', ttl: 300 }),
      ];
      const before = state(await records());
      const number = (await versions())[0]?.version as number;
      const now = await edit(
        (text) => `${text.replace(/^gone\b.*\n/m, '').replace(/^(kept\b.*?)300/m, '$1600')}\nnew 300 IN TXT "theirs"\n`,
      );
      const [newest] = await versions();
      assert.deepEqual(
        [newest?.version, newest?.door, newest?.actor.type, newest?.counts],
        [number + 1, 'provider', 'system', { create: 1, update: 1, delete: 1 }],
      );
      const { door, state: end, changes } = await set(newest?.change_set_id as number);
      assert.deepEqual([door, end], ['provider', 'done']);
      assert.deepEqual(
        changes
          .map(({ op, record_id, before: b, after: a }) => [op, record_id, b?.ttl ?? null, a?.ttl ?? null])
          .toSorted(),
        [
          ['create', now.find(({ host }) => host === 'new')?.id, null, 300],
          ['delete', gone, 300, null],
          ['update', kept, 300, 600],
        ].toSorted(),
      );
      const record = now.find(({ id }) => id === kept);
      assert.deepEqual([record?.remark, record?.ttl], ['ours', 600]);
      assert.deepEqual(state(await of(number)), before);
      assert.deepEqual(state(await of(number + 1)), state(now));
    });

    it('of a list with more than one piece are one, unless others come between', async () => {
      const { id, base, versions, of, records } = await zone('pieces.example');
      const changes = Array.from({ length: 180 }, (_, i) => ({
        ...{ op: 'create', host: `h${i}`, type: 'A', value: '192.0.2.1' },
      }));
      const before = (await versions()).length;
      const { change_set_id } = done(await admin.post(`${base}/records/batch`, { changes }));
      const made = (await versions()).slice(0, -before);
      assert.deepEqual(
        made.map((one) => [one.change_set_id, one.counts]),
        [[change_set_id, { create: 180, update: 0, delete: 0 }]],
      );
      assert.equal((await of(before + 1)).length, (await records()).length);
      assert.equal((await of(before)).length, (await records()).length - 180);
      const rows = await db.rows<{ n: number }>(
        'SELECT COUNT(DISTINCT version) AS n FROM record_changes WHERE domain_id = ?',
        [id],
      );
      assert.equal(Number(rows[0]?.n), 1);
    });

    it('are compared: what became of each record, all changes in between together, in both directions', async () => {
      const { add, base, versions, diff } = await zone('diff.example');
      const from = (await versions())[0]?.version as number;
      const [a, b] = [
        await add({ host: 'a', type: 'A', value: '192.0.2.1' }),
        await add({ host: 'b', type: 'A', value: '192.0.2.2' }),
      ];
      done(await admin.put(`${base}/records/${a}`, { value: '192.0.2.9' }));
      done(await admin.delete(`${base}/records/${b}`));
      const to = (await versions())[0]?.version as number;
      const ends = async (x: number, y: number) =>
        (await diff(x, y)).changes.map(({ op, record_id, before, after }) => [
          ...[op, record_id, before?.value ?? null, after?.value ?? null],
        ]);
      assert.deepEqual(await ends(from, to), [['create', a, null, '192.0.2.9']]);
      assert.deepEqual(await ends(to, from), [['delete', a, '192.0.2.9', null]]);
      assert.deepEqual(await ends(to - 1, to), [['delete', b, '192.0.2.2', null]]);
      assert.deepEqual(await ends(from + 1, to), [['update', a, '192.0.2.1', '192.0.2.9']]);
      refused(await admin.get(`${base}/versions/${from}/diff/999`), 404, 404001);
      refused(await admin.get(`${base}/versions/999`), 404, 404001);
    });

    it('show a token with rules what it may read, and count the rest', async () => {
      const { id, add, versions } = await zone('rules.example');
      const from = (await versions())[0]?.version as number;
      await add({ host: 'open', type: 'A', value: '192.0.2.1' });
      await add({ host: 'secret', type: 'A', value: '192.0.2.2' });
      const to = (await versions())[0]?.version as number;
      const rules = [{ effect: 'allow', hosts: ['open'], actions: ['read'] }];
      const services = ['records:read'];
      const { token } = made(
        await admin.post('/api/tokens', { name: 'rules', allowed_services: services, allowed_domains: [id], rules }),
      );
      const client = service.server.as(token);
      const { changes, hidden } = done(await client.get(`/api/domains/${id}/versions/${from}/diff/${to}`));
      assert.deepEqual([changes.map(({ host }) => host), hidden], [['open'], 1]);
      const { total, list } = done(await client.get(`/api/domains/${id}/versions/${to}`));
      assert.deepEqual([total, list.map(({ host }) => host)], [1, ['open']]);
      const { list: told } = done(await client.get(`/api/domains/${id}/versions`));
      assert.ok(told.every(({ counts }) => counts === null));
    });

    it('keep the state at the cut where the settings let older changes go', async () => {
      const { id, base, add, versions, records, of } = await zone('cut.example');
      await add({ host: 'a', type: 'A', value: '192.0.2.1' });
      await add({ host: 'b', type: 'A', value: '192.0.2.2' });
      const cut = (await versions())[0]?.version as number;
      const then = state(await records());
      await add({ host: 'c', type: 'A', value: '192.0.2.3' });
      const old = await db.rows<{ change_set_id: number }>(
        'SELECT change_set_id FROM versions WHERE domain_id = ? AND version <= ? AND change_set_id IS NOT NULL',
        [id, cut],
      );
      for (const { change_set_id } of old)
        await db.run(`UPDATE change_sets SET finished_at = '2001-01-01T00:00:00.000Z' WHERE id = ?`, [change_set_id]);
      done(await admin.put('/api/settings/audit-rules', { retention_days: 30 }));
      await applicationOf(service.server.dataDir)?.get(ChangeRetention).prune();
      const list = await versions();
      assert.deepEqual(
        list.map(({ version, inherited, change_set_id }) => [version, inherited, change_set_id === null]),
        [
          [cut + 1, false, false],
          [cut, true, true],
        ],
      );
      assert.deepEqual(state(await of(cut)), then);
      refused(await admin.get(`${base}/versions/${cut - 1}`), 404, 404001);
    });
  });
