import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, ended, made, refused } from '../support/world.js';

type Value = { value: string } | null;
const words = ({ host, type, value, ttl, enabled }: Pick<RecordView, 'host' | 'type' | 'value' | 'ttl' | 'enabled'>) =>
  `${host} ${ttl} ${type} ${value}${enabled ? '' : ' off'}`;

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`plans, on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let account: number;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      account = await addAccount(admin, 'zonefile', {});
    });
    afterAll(() => service?.stop());

    /** A domain with some records at hosts `h0`, `h1`, …, and what is asked for in its tests. */
    async function zone(name: string, records = 0) {
      const id = await addDomain(admin, account, name, true);
      const base = `/api/domains/${id}` as const;
      const path = join(service.server.dataDir, 'zones', `${name}.zone`);
      const changes = Array.from({ length: records }, (_, i) => ({
        ...{ op: 'create', host: `h${i}`, type: 'A', value: `192.0.2.${i + 1}`, ttl: 300 },
      }));
      if (records) ended(await admin.post(`${base}/records/batch`, { changes }));
      const list = async () => done(await admin.get(`${base}/records`)).list.filter(({ type }) => !/SOA|NS/.test(type));
      return {
        ...{ id, base, list },
        plan: async (body: object, client = admin) => made(await client.post(`${base}/plans`, body)),
        now: async () => (await list()).map(words).toSorted(),
        version: async () => done(await admin.get(`${base}/versions?limit=1`)).list[0]?.version as number,
        edit: (change: (text: string) => string) => writeFileSync(path, change(readFileSync(path, 'utf8'))),
      };
    }
    const apply = (id: number | null, body: object = {}, client = admin) =>
      client.post(`/api/plans/${id as number}/apply`, body);

    it('show what would be changed, change nothing, and are then applied as they were shown', async () => {
      const { plan, now, list, base } = await zone('shown.example', 2);
      const before = await now();
      const wanted = [
        { host: 'h0', type: 'A', value: '192.0.2.1', ttl: 600 },
        { host: 'h1', type: 'A', value: '192.0.2.2', ttl: 300 },
        { host: 'new', type: 'TXT', value: 'text', ttl: 300 },
      ];
      const { id, summary, changes, guards, state } = await plan({ records: wanted, comment: 'why' });
      assert.deepEqual(summary, { create: 1, update: 1, delete: 0, unchanged: 1 });
      assert.deepEqual(
        changes.map(({ id: n, op, host, allowed, before: b, after: a }) => [n, op, host, allowed, b?.ttl, a?.ttl]),
        [
          [1, 'update', 'h0', true, 300, 600],
          [2, 'create', 'new', true, undefined, 300],
        ],
      );
      assert.deepEqual([guards, state, await now()], [[], 'open', before]);
      const result = ended(await apply(id));
      assert.deepEqual(await now(), ['h0 600 A 192.0.2.1', 'h1 300 A 192.0.2.2', 'new 300 TXT text']);
      const set = done(await admin.get(`${base}/changes/${result.change_set_id as number}`));
      assert.deepEqual([set.door, set.comment], ['plan', 'why']);
      const after = done(await admin.get(`/api/plans/${id as number}`));
      assert.deepEqual([after.state, after.change_set_id], ['applied', result.change_set_id]);
      refused(await apply(id), 409, 409001);
      assert.equal((await list()).length, 3);
      const again = await plan({ records: wanted });
      assert.deepEqual([again.id, again.changes, again.summary.unchanged], [null, [], 3]);
    });

    it('delete what is not named only with "sync", and nothing outside of their types and hosts', async () => {
      const { plan, now } = await zone('sync.example', 4);
      const records = [{ host: 'h0', type: 'A', value: '192.0.2.1', ttl: 300 }];
      assert.deepEqual((await plan({ records })).changes, []);
      const some = await plan({ records, mode: 'sync', hosts: ['h0', 'h1'] });
      assert.deepEqual(
        some.changes.map(({ op, host }) => [op, host]),
        [['delete', 'h1']],
      );
      const typed = await plan({ records, mode: 'sync', types: ['TXT'] });
      assert.deepEqual(typed.changes, []);
      const all = await plan({ records, mode: 'sync' });
      assert.deepEqual(
        all.changes.map(({ op, host }) => [op, host]),
        ['h1', 'h2', 'h3'].map((host) => ['delete', host]),
      );
      ended(await apply(all.id));
      assert.deepEqual(await now(), ['h0 300 A 192.0.2.1']);
    });

    it('are refused whole where something else stands at a name concerned, with what is there', async () => {
      const { plan, now, edit } = await zone('stale.example', 3);
      const changes = [
        { op: 'upsert', host: 'h0', type: 'A', value: '192.0.2.1', ttl: 900 },
        { op: 'create', host: 'h1', type: 'A', value: '192.0.2.99', ttl: 300 },
      ];
      const first = await plan({ changes });
      edit((text) => text.replace(/^(h1\b.*)192\.0\.2\.2$/m, '$1192.0.2.77'));
      const { data } = refused(await apply(first.id), 412, 412001);
      const { differences } = data as unknown as { differences: { planned_on: Value; found: Value }[] };
      assert.deepEqual(
        differences.map(({ planned_on, found }) => [planned_on?.value, found?.value]),
        [
          ['192.0.2.2', undefined],
          [undefined, '192.0.2.77'],
        ],
      );
      assert.deepEqual(await now(), ['h0 300 A 192.0.2.1', 'h1 300 A 192.0.2.77', 'h2 300 A 192.0.2.3']);
      assert.equal(done(await admin.get(`/api/plans/${first.id as number}`)).state, 'stale');
      // what stands elsewhere does not matter
      const second = await plan({ changes });
      edit((text) => text.replace(/^(h2\b.*)192\.0\.2\.3$/m, '$1192.0.2.78'));
      ended(await apply(second.id));
      assert.ok((await now()).includes('h2 300 A 192.0.2.78'));
    });

    it('apply some of their changes, by ids that they have', async () => {
      const { plan, now } = await zone('only.example');
      const changes = ['a', 'b'].map((host) => ({ op: 'create', host, type: 'A', value: '192.0.2.1', ttl: 300 }));
      const { id } = await plan({ changes });
      refused(await apply(id, { only: [1, 3] }), 400, 400001);
      ended(await apply(id, { only: [2] }));
      assert.deepEqual(await now(), ['b 300 A 192.0.2.1']);
    });

    it('name guards, without which they are not applied', async () => {
      const { plan, list } = await zone('guards.example', 10);
      const records = [{ host: 'm', type: 'MX', value: 'mail.example.net.', priority: 10, ttl: 300 }];
      ended(await apply((await plan({ records })).id));
      const mx = (await list()).find(({ type }) => type === 'MX');
      const { id, guards } = await plan({ changes: [{ op: 'delete', id: mx?.id }] });
      assert.deepEqual(
        guards.map(({ key, change_ids }) => [key, change_ids]),
        [['last_mx', [1]]],
      );
      const { data } = refused(await apply(id), 409, 409003);
      assert.deepEqual(
        (data as unknown as { guards: { key: string }[] }).guards.map(({ key }) => key),
        ['last_mx'],
      );
      refused(await apply(id, { force: ['many_deletes'] }), 409, 409003);
      ended(await apply(id, { force: ['last_mx'] }));
      const much = await plan({ records: [], mode: 'sync', hosts: ['h1', 'h2', 'h3', 'h4'] });
      assert.deepEqual(
        much.guards.map(({ key }) => key),
        ['many_deletes'],
      );
      const low = await plan({ records: [{ host: 'low', type: 'A', value: '192.0.2.1', ttl: 30 }] });
      const lost = await plan({ records: [{ host: 'c', type: 'CNAME', value: 'nowhere.guards.example.', ttl: 300 }] });
      assert.deepEqual(
        [low, lost].map((one) => one.guards.map(({ key }) => key)),
        [['ttl_floor'], ['dangling']],
      );
      // as much as a target in another zone of ours
      await zone('pointed.example', 1);
      const pointing = ['h0', 'nowhere', 'h0.below'].map((host) => ({
        ...{ host: `to-${host}`, type: 'CNAME', value: `${host}.pointed.example.`, ttl: 300 },
      }));
      const apex = { host: 'to-apex', type: 'CNAME', value: 'pointed.example.', ttl: 300 };
      const [met] = (await plan({ records: [...pointing, apex] })).guards;
      assert.deepEqual([met?.key, met?.change_ids], ['dangling', [2, 3]]);
      // a zone of ours within this one has its names, and this one has them not
      const inner = await zone('inner.guards.example');
      made(await admin.post(`${inner.base}/records`, { host: 'app', type: 'A', value: '192.0.2.1', ttl: 300 }));
      const within = ['app', 'nowhere'].map((host) => ({
        ...{ host: `in-${host}`, type: 'CNAME', value: `${host}.inner.guards.example.`, ttl: 300 },
      }));
      const [lostThere] = (await plan({ records: within })).guards;
      assert.deepEqual([lostThere?.key, lostThere?.change_ids], ['dangling', [2]]);
    });

    it('of names that failover keeps, or this service has itself, say so', async () => {
      const { plan, base } = await zone('held.example', 1);
      const rule = {
        ...{ host: 'h0', type: 'A', primary: ['1.1.1.1'], backup: ['1.1.1.2'] },
        check: { kind: 'tcp', port: 443 },
      };
      done(await admin.post(`${base}/failover`, { enabled: false, rules: [rule] }));
      done(await admin.put('/api/settings', { base_url: 'https://dns.held.example' }));
      const records = ['h0', 'dns'].map((host) => ({ host, type: 'A', value: '192.0.2.9', ttl: 300 }));
      const { guards } = await plan({ records });
      assert.deepEqual(
        guards.map(({ key, change_ids }) => [key, change_ids]),
        [
          ['own_host', [2]],
          ['failover', [1]],
        ],
      );
    });

    it('are judged for who applies them, for every change, before anything is done', async () => {
      const { id: domain, plan, now } = await zone('rights.example', 1);
      const { token } = made(
        await admin.post('/api/tokens', {
          ...{ name: 'rules', allowed_services: ['records:read', 'records:write'], allowed_domains: [domain] },
          rules: [{ effect: 'allow', hosts: ['a'] }],
        }),
      );
      const client = service.server.as(token);
      const records = ['a', 'b'].map((host) => ({ host, type: 'A', value: '192.0.2.9', ttl: 300 }));
      const { id } = await plan({ records });
      const seen = done(await client.get(`/api/plans/${id as number}`));
      assert.deepEqual([seen.changes.map(({ host }) => host), seen.hidden, seen.summary.create], [['a'], 1, 2]);
      refused(await apply(id, {}, client), 403, 403001);
      assert.deepEqual(await now(), ['h0 300 A 192.0.2.1']);
      ended(await apply(id, { only: [1] }, client));
      assert.deepEqual(await now(), ['a 300 A 192.0.2.9', 'h0 300 A 192.0.2.1']);
    });

    it('of a token with rules tell nothing of records that it may not read', async () => {
      const { id: domain, base } = await zone('hidden.example', 2);
      const { token } = made(
        await admin.post('/api/tokens', {
          ...{ name: 'narrow', allowed_services: ['records:read', 'records:write'], allowed_domains: [domain] },
          rules: [{ effect: 'allow', hosts: ['h0'] }],
        }),
      );
      const client = service.server.as(token);
      const hidden = done(await admin.get(`${base}/records?host=h1`)).list[0]?.id;
      const all = made(await client.post(`${base}/plans`, { records: [], mode: 'sync' }));
      assert.deepEqual(
        [all.changes.map(({ host }) => host), all.hidden, all.summary.delete, all.base],
        [['h0'], 0, 1, ''],
      );
      const guess = [{ host: 'h1', type: 'A', value: '192.0.2.2', ttl: 300 }];
      refused(await client.post(`${base}/plans`, { records: guess }), 403, 403001);
      refused(await client.post(`${base}/plans`, { changes: [{ op: 'delete', id: hidden }] }), 404, 404001);
      refused(await client.post(`${base}/plans`, { changes: [{ op: 'delete', id: 99_999 }] }), 404, 404001);
    });

    it('of a token with rules go back to what it may read, and leave the rest as it is', async () => {
      const { id: domain, base, version, now } = await zone('narrow-back.example', 2);
      const { token } = made(
        await admin.post('/api/tokens', {
          ...{ name: 'goes back', allowed_services: ['records:read', 'records:write'], allowed_domains: [domain] },
          rules: [{ effect: 'allow', hosts: ['h0'] }],
        }),
      );
      const client = service.server.as(token);
      const then = await version();
      const changes = done(await admin.get(`${base}/records?type=A`)).list.map(({ id }) => ({ op: 'delete', id }));
      const { change_set_id } = ended(await admin.post(`${base}/records/batch?force=empty_document`, { changes }));
      for (const target of [{ version: then }, { change_set_id }]) {
        const plan = made(await client.post(`${base}/plans`, target));
        assert.deepEqual([plan.changes.map(({ op, host }) => `${op} ${host}`), plan.warnings], [['create h0'], []]);
      }
      ended(await apply(made(await client.post(`${base}/plans`, { version: then })).id, {}, client));
      assert.deepEqual(await now(), ['h0 300 A 192.0.2.1']);
    });

    it('judge guards by the changes that are chosen, and leave no set with half of its TTL', async () => {
      const { plan, list, base } = await zone('chosen.example');
      const mx = (value: string) => ({ host: '@', type: 'MX', value, priority: 10, ttl: 300 });
      made(await admin.post(`${base}/records`, mx('one.example.net.')));
      const swap = await plan({ records: [mx('two.example.net.')], mode: 'sync', types: ['MX'] });
      assert.deepEqual(swap.guards, []);
      const gone = swap.changes.find(({ op }) => op === 'delete')?.id;
      refused(await apply(swap.id, { only: [gone] }), 409, 409003);
      for (const last of [1, 2])
        made(await admin.post(`${base}/records`, { host: 'w', type: 'A', value: `192.0.2.${last}`, ttl: 300 }));
      const first = (await list()).find(({ host }) => host === 'w');
      const moved = await plan({ changes: [{ op: 'update', id: first?.id, ttl: 900 }] });
      assert.equal(moved.changes.length, 2);
      refused(await apply(moved.id, { only: [1] }), 400, 400001);
      const result = ended(await apply(moved.id));
      const undo = await plan({ change_set_id: result.change_set_id });
      assert.deepEqual(
        undo.changes.map(({ before, after }) => [before?.ttl, after?.ttl]),
        [
          [900, 300],
          [900, 300],
        ],
      );
    });

    it('restore a version, and take a change set back: records come back under their ids', async () => {
      const { plan, now, list, base, version } = await zone('restore.example', 3);
      const [first, second, third] = (await list()) as [RecordView, RecordView, RecordView];
      const then = { number: await version(), words: await now() };
      done(await admin.delete(`${base}/records/${first.id}`));
      done(await admin.put(`${base}/records/${second.id}`, { value: '192.0.2.88' }));
      const before = await now();
      const result = ended(
        await admin.post(`${base}/records/batch`, {
          changes: [
            { op: 'delete', id: third.id },
            { op: 'create', host: 'x', type: 'A', value: '192.0.2.9', ttl: 300 },
          ],
        }),
      );
      const undo = await plan({ change_set_id: result.change_set_id });
      assert.deepEqual(undo.changes.map(({ op, host }) => [op, host]).toSorted(), [
        ['create', 'h2'],
        ['delete', 'x'],
      ]);
      ended(await apply(undo.id));
      assert.deepEqual(await now(), before);
      assert.ok((await list()).some(({ id, host }) => id === third.id && host === 'h2'));
      const restore = await plan({ version: then.number });
      ended(await apply(restore.id));
      assert.deepEqual(await now(), then.words);
      assert.deepEqual(
        (await list()).map(({ id, host }) => [id, host]).toSorted(),
        [first, second, third].map(({ id, host }) => [id, host]).toSorted(),
      );
      assert.deepEqual((await plan({ version: then.number })).changes, []);
    });

    it('that take back what somebody has changed since leave that out, and say so', async () => {
      const { plan, base, list } = await zone('since.example', 2);
      const [first, second] = (await list()) as [RecordView, RecordView];
      const changes = [first, second].map(({ id }) => ({ op: 'update', id, ttl: 600 }));
      const { change_set_id } = ended(await admin.post(`${base}/records/batch`, { changes }));
      done(await admin.put(`${base}/records/${first.id}`, { ttl: 1200 }));
      const undo = await plan({ change_set_id });
      assert.deepEqual(
        [undo.changes.map(({ host }) => host), undo.warnings],
        [['h1'], ['A h0 was changed since, and stays as it is']],
      );
      const { token } = made(
        await admin.post('/api/tokens', {
          ...{ name: 'looks', allowed_services: ['records:read'], rules: [{ effect: 'allow', hosts: ['h1'] }] },
        }),
      );
      const seen = done(await service.server.as(token).get(`/api/plans/${undo.id as number}`));
      assert.deepEqual(seen.warnings, ['Some records were changed since, and stay as they are']);
    });

    it('copy the records of another domain, of a token with rules those that it may read', async () => {
      const from = await zone('from.example', 2);
      const { plan, now, id } = await zone('to.example');
      const { token } = made(
        await admin.post('/api/tokens', {
          ...{ name: 'copies', allowed_services: ['records:read', 'records:write'], allowed_domains: [from.id, id] },
          rules: [
            { effect: 'allow', domains: [id] },
            { effect: 'allow', hosts: ['h1'] },
          ],
        }),
      );
      const some = await plan({ from_domain_id: from.id }, service.server.as(token));
      assert.deepEqual([some.changes.map(({ host }) => host), some.hidden], [['h1'], 0]);
      ended(await apply((await plan({ from_domain_id: from.id })).id));
      assert.deepEqual(await now(), await from.now());
    });

    it('take documents, and tell all their mistakes with their lines', async () => {
      const { plan, now, base } = await zone('document.example', 1);
      const text = '$ORIGIN document.example.\n$TTL 300\n@ IN SOA ns. h. 1 2 3 4 5\na A 192.0.2.5\n  TXT "one"\n';
      const { id, changes } = await plan({ document: { format: 'zonefile', text }, mode: 'sync' });
      assert.deepEqual(changes.map(({ op, host, type }) => `${op} ${host} ${type}`).toSorted(), [
        'create a A',
        'create a TXT',
        'delete h0 A',
      ]);
      ended(await apply(id, { force: ['many_deletes'] }));
      assert.deepEqual(await now(), ['a 300 A 192.0.2.5', 'a 300 TXT one']);
      const wrong = refused(
        await admin.post(`${base}/plans`, {
          document: { format: 'zonefile', text: 'a A nowhere\nb A 192.0.2.1\nc A 1\n' },
        }),
        ...[400, 400001],
      );
      assert.deepEqual(
        wrong.data.errors?.map(({ path, line }: { path: string; line?: number }) => [path, line]),
        [
          ['document', 1],
          ['document', 3],
        ],
      );
      // what is exported is what is there
      const exported = await fetch(`${service.server.url}${base}/export?format=octodns`, {
        headers: { authorization: `Bearer ${service.token}` },
      });
      const again = await plan({ document: { format: 'octodns', text: await exported.text() }, mode: 'sync' });
      assert.deepEqual(again.changes, []);
    });

    it('name the place in what was sent of each record that does not go together with others', async () => {
      const { base, plan } = await zone('together.example');
      const places = async (body: object) =>
        refused(await admin.post(`${base}/plans`, body), 400, 400001).data.errors?.map(
          ({ path, line, code }: { path: string; line?: number; code?: string }) =>
            [path, code, line].filter((part) => part !== undefined).join(' '),
        );
      const alias = { host: 'w', type: 'CNAME', value: 'other.example.net.' };
      const address = { host: 'w', type: 'A', value: '192.0.2.1' };
      const mail = { host: 'w', type: 'MX', value: 'mx.example.net.', priority: 5 };
      assert.deepEqual(await places({ records: [address, alias] }), ['records.1.type conflict']);
      assert.deepEqual(await places({ records: [address, mail, alias, { ...alias, host: 'v' }] }), [
        'records.2.type conflict',
      ]);
      const changes = [address, alias].map((record) => ({ op: 'create', ...record }));
      assert.deepEqual(await places({ changes }), ['changes.1.type conflict']);
      const documents = {
        zonefile: ['$TTL 300\nw A 192.0.2.1\n\nw CNAME other.example.net.\n', 4],
        csv: ['host,type,value\nw,A,192.0.2.1\nw,CNAME,other.example.net.\n', 3],
        json: [`[${JSON.stringify(address)},\n\n${JSON.stringify(alias)}]`, 3],
        octodns: ['w:\n- type: A\n  value: 192.0.2.1\n- type: CNAME\n  value: other.example.net.\n', 5],
      } as const;
      for (const [format, [text, line]] of Object.entries(documents))
        assert.deepEqual(await places({ document: { format, text } }), [`document conflict ${line}`], format);

      ended(await apply((await plan({ records: [address] })).id));
      assert.deepEqual(await places({ records: [alias] }), ['records.0.type conflict']);
      assert.deepEqual(await places({ changes: [{ op: 'create', ...alias }] }), ['changes.0.type conflict']);
      const text = '$TTL 300\nw CNAME other.example.net.\n';
      assert.deepEqual(await places({ document: { format: 'zonefile', text } }), ['document conflict 2']);
    });

    it('tell all that is wrong with all records at once', async () => {
      const { base } = await zone('wrong.example');
      const records = [
        { host: 'a', type: 'A', value: 'bad' },
        { host: 'b', type: 'A', value: '192.0.2.1', ttl: -1 },
        { host: 'c', type: 'MX', value: 'mx.example.net.', priority: 99_999 },
        { host: '-bad-..', type: 'TXT', value: 'x', weight: 5 },
        { host: 'd', type: 'NONE', value: 'x', ttl: -1 },
      ];
      const { errors } = refused(await admin.post(`${base}/plans`, { records }), 400, 400001).data;
      assert.deepEqual(errors?.map(({ path }) => path).toSorted(), [
        'records.0.value',
        'records.1.ttl',
        'records.2.priority',
        'records.3.host',
        'records.3.weight',
        'records.4.ttl',
        'records.4.type',
      ]);
    });

    it('read TYPE1 as A and \\# as data of its type, and never pass over a line that cannot be held', async () => {
      const { base, plan, now, edit } = await zone('generic.example');
      const records = [
        { host: 't', type: 'A', value: '192.0.2.5', ttl: 300 },
        { host: 'm', type: 'MX', value: 'mail.generic.example.', priority: 10, ttl: 300 },
        { host: 'x', type: 'TXT', value: 'hi', ttl: 300 },
      ];
      ended(await apply((await plan({ records })).id, { force: ['dangling'] }));
      const sync = (text: string) => ({ document: { format: 'zonefile', text: `$TTL 300\n${text}` }, mode: 'sync' });
      const mail = '046d61696c0767656e65726963076578616d706c6500';
      for (const text of [
        't TYPE1 \\# 4 C0000205\nm type15 10 mail\nx TYPE16 "hi"\n',
        `t A \\# 4 C000 0205\nm MX \\# 24 000a ${mail.slice(0, 10)} ${mail.slice(10)}\nx TXT \\# 3 026869\n`,
        `t type1 192.0.2.5\nm TYPE15 \\# 24 000A${mail}\nx TYPE16 \\# 3 ( 02\n 6869 )\n`,
      ])
        assert.deepEqual((await plan(sync(text))).changes, [], text);

      const lines = [
        't TYPE1 \\# 5 C0000205',
        't TYPE1 \\# 3 C00002',
        't TYPE1 nowhere',
        't TYPE15 \\# 2 000a',
        't A \\#',
        't A \\# 4 C000020',
        't HINFO "a" "b"',
        't TYPE0 \\# 0',
        't TYPE99999 \\# 0',
        't HTTPS \\# 5 0001000003',
      ];
      const places = async (body: object) =>
        refused(await admin.post(`${base}/plans`, body), 400, 400001).data.errors?.map(
          ({ path, line }: { path: string; line?: number }) => `${path} ${line}`,
        );
      assert.deepEqual(
        await places(sync(`${lines.join('\n')}\n`)),
        lines.map((_, i) => `document ${i + 2}`),
      );
      const csv = 'host,type,value\nt,HINFO,"""a"" ""b"""\n';
      assert.deepEqual(await places({ document: { format: 'csv', text: csv } }), ['document 2']);
      assert.equal((await plan({ ...sync('t HINFO a b\n'), types: ['TXT'] })).changes.length, 1, 'of TXT alone');

      // what the provider holds in such a form stays as it is, and may be named in each of its forms
      edit((text) => `${text}k 300 TYPE1 \\# 4 C0000207\nk 300 HINFO a b\nk 300 TYPE65534 \\# 2 ABCD\n`);
      const rest = 't A 192.0.2.5\nm MX 10 mail\nx TXT hi\n';
      for (const own of [
        'k A 192.0.2.7\nk HINFO "a" "b"\nk TYPE65534 \\# 2 abcd\n',
        'k TYPE1 \\# 4 c0000207\nk TYPE13 \\# 4 0161 0162\n',
        '',
      ])
        assert.deepEqual((await plan(sync(rest + own))).changes, [], own);
      assert.deepEqual(await places(sync(`${rest}k HINFO a c\n`)), ['document 5']);
      const marked = [{ host: 'z', type: 'HINFO', value: 'a b', read_only: true }];
      const { changes, warnings } = await plan({ document: { format: 'json', text: JSON.stringify(marked) } });
      assert.deepEqual(changes, []);
      assert.match(warnings.join(), /^Line 1 is read-only there, and left out/);
      assert.ok((await now()).includes('k 300 TYPE1 \\# 4 C0000207'));
    });

    it('are text for people: a unified diff, and Markdown', async () => {
      const { plan } = await zone('text.example');
      const { id } = await plan({ records: [{ host: 'a', type: 'A', value: '192.0.2.1', ttl: 300 }] });
      const text = async (accept: string) => {
        const answer = await fetch(`${service.server.url}/api/plans/${id as number}`, {
          headers: { authorization: `Bearer ${service.token}`, accept },
        });
        return [answer.headers.get('content-type'), await answer.text()] as const;
      };
      const [plainType, plain] = await text('text/plain');
      assert.match(plainType ?? '', /^text\/plain/);
      assert.equal(
        plain,
        '--- text.example\n+++ text.example\n@@ 1 created, 0 changed, 0 deleted @@\n+a 300 IN A 192.0.2.1\n',
      );
      const [, marked] = await text('text/markdown');
      assert.match(
        marked,
        /^### text\.example: 1 created.*\n\n\| # .*\n.*\n\| 1 \| create \| a \| A \| {2}\| `a 300 IN A 192\.0\.2\.1` \|\n/,
      );
    });

    it('are Markdown in which no value is markup', async () => {
      const { plan } = await zone('marks.example');
      const values = [
        'a`b``c',
        'x | y',
        '<!-- hidden --> [link](https://a.test) <b>',
        'back\\| slash',
        '`',
        '\u202etxet',
      ];
      const records = values.map((value, i) => ({ host: `h${i}`, type: 'TXT', value, ttl: 300 }));
      const { id } = await plan({ records: [...records, { host: '*._x', type: 'TXT', value: 't', ttl: 300 }] });
      const headers = { authorization: `Bearer ${service.token}`, accept: 'text/markdown' };
      const answer = await fetch(`${service.server.url}/api/plans/${id as number}`, { headers });
      const rows = (await answer.text()).split('\n').filter((line) => /^\| \d/.test(line));
      const cells = rows
        .map((row) => row.replace(/^\| | \|$/g, '').split(/(?<!\\) \| /))
        .map((row) => [row[2], row.at(-1)]);
      assert.deepEqual(cells.toSorted(), [
        ['`*._x`', '`*._x 300 IN TXT "t"`'],
        ['h0', '```h0 300 IN TXT "a`b``c"```'],
        ['h1', '`h1 300 IN TXT "x \\| y"`'],
        ['h2', '`h2 300 IN TXT "<!-- hidden --> [link](https://a.test) <b>"`'],
        ['h3', cells.find(([host]) => host === 'h3')?.[1]],
        ['h4', '``h4 300 IN TXT "`"``'],
        ['h5', '`h5 300 IN TXT "U+202Etxet"`'],
      ]);
      // a pipe behind a backslash ends a cell, whatever stands around it
      assert.match(String(cells.find(([host]) => host === 'h3')?.[1]), /^<code>[A-Za-z0-9 &#;]+<\/code>$/);
    });

    it('are discarded by another token of who asked only where it may make their changes', async () => {
      const { plan } = await zone('tokens.example');
      const token = async (more: object = {}) =>
        service.server.as(made(await admin.post('/api/tokens', { name: 'ci', ...more })).token);
      const { id } = await plan({ records: [{ host: 'a', type: 'A', value: '192.0.2.1' }] }, await token());
      const reader = await token({ rules: [{ effect: 'allow', actions: ['read'] }] });
      refused(await reader.delete(`/api/plans/${id as number}`), 403, 403001);
      done(await (await token()).delete(`/api/plans/${id as number}`));
    });

    it('are discarded once, and refuse what is no target', async () => {
      const { plan, base } = await zone('ends.example');
      const { id } = await plan({ records: [{ host: 'a', type: 'A', value: '192.0.2.1' }] });
      done(await admin.delete(`/api/plans/${id as number}`));
      refused(await admin.delete(`/api/plans/${id as number}`), 409, 409001);
      refused(await apply(id), 409, 409001);
      refused(await admin.post(`${base}/plans`, {}), 400, 400001);
      refused(await admin.post(`${base}/plans`, { document: [{ format: 'csv', text: 'x' }] }), 400, 400001);
      refused(await admin.post(`${base}/plans`, { version: 1, change_set_id: 1 }), 400, 400001);
      refused(await admin.post(`${base}/plans`, { version: 99 }), 404, 404001);
      refused(await admin.post(`${base}/plans`, { change_set_id: 99_999 }), 404, 404001);
      const wrong = refused(
        await admin.post(`${base}/plans`, { records: [{ host: 'a', type: 'A', value: 'no address' }] }),
        ...[400, 400001],
      );
      assert.deepEqual(
        wrong.data.errors?.map(({ path }) => path),
        ['records.0.value'],
      );
      for (const bound of [{ types: ['A', 'bogus'] }, { types: [7] }, { types: [] }, { hosts: [] }]) {
        const { errors } = refused(await admin.post(`${base}/plans`, { records: [], ...bound }), 400, 400001).data;
        assert.deepEqual(
          errors?.map(({ path }) => path),
          Object.keys(bound),
        );
      }
      assert.deepEqual((await plan({ records: [], mode: 'sync', types: ['txt'], hosts: ['*'] })).changes, []);
      refused(await admin.get('/api/plans/99999'), 404, 404001);
      assert.deepEqual(
        done(await admin.get(`${base}/plans`)).list.map(({ state }) => state),
        ['discarded'],
      );
    });

    it('of more than 200 changes go on in the background', async () => {
      const { plan, list } = await zone('long.example');
      const records = Array.from({ length: 250 }, (_, i) => ({
        host: `n${i}`,
        type: 'A',
        value: '192.0.2.1',
        ttl: 300,
      }));
      const { id } = await plan({ records });
      const answer = await admin.post(`/api/plans/${id as number}/apply?wait=30`, {});
      assert.equal(answer.status, 200, answer.msg);
      assert.equal((await list()).length, 250);
    });
  });
