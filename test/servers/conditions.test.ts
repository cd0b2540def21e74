import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, refused, startWorld, type World } from '../support/world.js';

const DESCRIPTION = join(import.meta.dirname, '../../docs/openapi.json');
const NAMES = ['If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'] as const;
const READS = ['If-None-Match', 'If-Modified-Since'];

interface Parameter {
  in: string;
  name: string;
}
type Operations = Record<string, { parameters?: Parameter[] } | undefined>;

for (const { kind, skip } of databases('sqlite')) {
  describeUnless(skip || noPowerdns)(`conditional requests, on ${kind}`, () => {
    let world: World;
    let admin: Client;
    let set: `/api/domains/${number}/rrsets/${string}/A`;
    beforeAll(async () => {
      world = await startWorld(kind, { OUTBOUND_ALLOW: '127.0.0.0/8' });
      ({ admin } = world);
      set = `/api/domains/${world.domain}/rrsets/seen/A`;
    });
    afterAll(() => world?.stop());

    const tagOf = async () => (await admin.get(set)).headers.get('etag') as string;
    const valuesIn = (data: unknown) =>
      (data as { rrset: { values: { value: string }[] } }).rrset.values.map(({ value }) => value);

    it('a record set is written over only where it is what the caller has seen', async () => {
      done(await admin.put(set, { values: ['192.0.2.1'], ttl: 300 }, { 'if-none-match': '*' }));
      const again = refused(await admin.put(set, { values: ['192.0.2.2'] }, { 'if-none-match': '*' }), 412, 412001);
      assert.deepEqual(valuesIn(again.data), ['192.0.2.1']);
      const tag = await tagOf();
      assert.match(tag, /^"[0-9a-f]{32}"$/);
      done(await admin.put(set, { values: ['192.0.2.1', '192.0.2.2'] }, { 'if-match': `"other", ${tag}` }));
      const stale = refused(await admin.put(set, { values: ['192.0.2.3'] }, { 'if-match': tag }), 412, 412001);
      assert.deepEqual(valuesIn(stale.data), ['192.0.2.1', '192.0.2.2']);
      refused(await admin.delete(set, undefined, { 'if-match': tag }), 412, 412001);
      assert.equal(done(await admin.get(set)).values.length, 2);
      done(await admin.delete(set, undefined, { 'if-match': await tagOf() }));
      // there is nothing that a condition could name
      for (const call of [
        admin.put(set, { values: ['192.0.2.3'] }, { 'if-match': '*' }),
        admin.delete(set, undefined, { 'if-match': '*' }),
      ])
        assert.deepEqual(refused(await call, 412, 412001).data, { reason: 'if_match' });
      await world.agree();
    });

    it('of what must not be there yet no tag is taken but "*"', async () => {
      const record = { host: 'fresh', type: 'A', value: '192.0.2.1' };
      for (const tag of ['"x"', 'W/"x"', '*, "x"', ''])
        for (const answer of [
          await admin.put(set, { values: ['192.0.2.1'] }, { 'if-none-match': tag }),
          await admin.post(`/api/domains/${world.domain}/records`, record, { 'if-none-match': tag }),
        ]) {
          const { errors } = refused(answer, 400, 400001).data as { errors: { path: string; code: string }[] };
          assert.deepEqual(
            errors.map(({ path, code }) => ({ path, code })),
            [{ path: 'If-None-Match', code: 'choice' }],
          );
        }
      await world.agree();
      made(await admin.post(`/api/domains/${world.domain}/records`, record, { 'if-none-match': ' * ' }));
    });

    it('what was changed at the provider since is not what the caller has seen', async () => {
      done(await admin.put(set, { values: ['192.0.2.1'], ttl: 300 }));
      const tag = await tagOf();
      const records = ['192.0.2.1', '192.0.2.9'].map((content) => ({ content, disabled: false }));
      const theirs = { name: `seen.${world.zone}.`, type: 'A', ttl: 300, changetype: 'REPLACE', records };
      assert.ok((await world.pdns.api('PATCH', `/zones/${world.zone}.`, { rrsets: [theirs] })).ok);
      const stale = refused(await admin.put(set, { values: ['192.0.2.3'] }, { 'if-match': tag }), 412, 412001);
      assert.deepEqual(valuesIn(stale.data).sort(), ['192.0.2.1', '192.0.2.9']);
      const held = (await world.pdns.zone(world.zone)).rrsets.find(({ name }) => name === theirs.name);
      assert.equal(held?.records.length, 2);
    });

    it('who may not read is told that it is another one, and nothing of it', async () => {
      const { token } = made(await admin.post('/api/tokens', { name: 'blind', allowed_services: ['records:write'] }));
      const answer = await world.server.as(token).put(set, { values: ['192.0.2.4'] }, { 'if-match': '"other"' });
      assert.deepEqual(refused(answer, 412, 412001).data, { reason: 'if_match' });
    });

    it('a domain is changed and deleted only where people have not changed it since', async () => {
      const path = `/api/domains/${world.domain}` as const;
      const read = await admin.get(path);
      const seen = { 'if-match': read.headers.get('etag') as string };
      // what a synchronisation does is no change of people
      done(await admin.get(`${path}/records?refresh=true`));
      const first = await admin.put(path, { remark: 'first' }, seen);
      assert.equal(done(first).remark, 'first');
      const stale = refused(await admin.put(path, { remark: 'second' }, seen), 412, 412001);
      assert.equal((stale.data as unknown as { domain: { remark: string } }).domain.remark, 'first');
      refused(await admin.delete(path, undefined, seen), 412, 412001);
      assert.equal(done(await admin.get(path)).remark, 'first');
      done(await admin.put(path, { remark: '' }, { 'if-match': first.headers.get('etag') as string }));
    });

    it('of two changes of a domain that have seen the same, one is made', async () => {
      const path = `/api/domains/${world.domain}` as const;
      const seen = { 'if-match': (await admin.get(path)).headers.get('etag') as string };
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) => admin.put(path, { remark: `of ${i}` }, seen)),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(412)]);
    });

    it('of two lists for all records that have seen the same, one is carried out, whatever their names', async () => {
      const read = await admin.get(world.records);
      const seen = { 'if-match': read.headers.get('etag') as string };
      const answers = await Promise.all(
        Array.from({ length: 4 }, (_, i) => {
          const changes = [{ op: 'create', host: `list${i}`, type: 'A', value: '192.0.2.1' }];
          return admin.post(`${world.records}/batch`, { changes }, seen);
        }),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412]);
    });

    it('settings are written and confirmed only where they are what the caller has seen', async () => {
      const read = await admin.get('/api/settings/smtp');
      const seen = { 'if-match': read.headers.get('etag') as string };
      const first = await admin.put('/api/settings/smtp', { from: 'dns@example.net' }, seen);
      assert.equal(done(first).from, 'dns@example.net');
      const stale = refused(await admin.put('/api/settings/smtp', { from: 'other@example.net' }, seen), 412, 412001);
      assert.equal((stale.data as unknown as { settings: { from: string } }).settings.from, 'dns@example.net');
      refused(await admin.post('/api/settings/smtp/confirm', undefined, seen), 412, 412001);
      const now = { 'if-match': first.headers.get('etag') as string };
      done(await admin.post('/api/settings/smtp/confirm', undefined, now));
    });

    it('rules of failover are replaced only where they are what the caller has seen', async () => {
      const path = `/api/domains/${world.domain}/failover` as const;
      const seen = { 'if-match': (await admin.get(path)).headers.get('etag') as string };
      const check = { kind: 'tcp', port: 9 };
      const rule = { host: 'fo', type: 'A', primary: ['127.0.0.1'], backup: ['127.0.0.2'], check };
      const first = await admin.post(path, { enabled: false, rules: [rule] }, seen);
      assert.equal(done(first).rules.length, 1);
      const stale = refused(await admin.post(path, { enabled: false, rules: [] }, seen), 412, 412001);
      assert.equal((stale.data as unknown as { failover: { rules: unknown[] } }).failover.rules.length, 1);
      refused(await admin.delete(path, undefined, seen), 412, 412001);
      done(await admin.delete(path, undefined, { 'if-match': first.headers.get('etag') as string }));
    });

    it('a list of changes is begun only where no record of the domain has changed since', async () => {
      const path = `/api/domains/${world.domain}/records` as const;
      const tag = async () => ({ 'if-match': (await admin.get(path)).headers.get('etag') as string });
      const create = (host: string) => ({ changes: [{ op: 'create', host, type: 'A', value: '192.0.2.1' }] });
      const seen = await tag();
      done(await admin.post(`${path}/batch`, create('batch-1'), seen));
      const { data } = refused(await admin.post(`${path}/batch`, create('batch-2'), seen), 412, 412001);
      assert.match(String((data as unknown as { revision: number }).revision), /^\d+$/);
      done(await admin.post(`${path}/batch`, create('batch-3'), await tag()));
      // a list of which nothing is stored leaves the records as they were
      const unchanged = await tag();
      refused(await admin.post(`${path}/batch`, create('batch-3'), unchanged), 422, 422002);
      assert.deepEqual(await tag(), unchanged);
      done(await admin.post(`${path}/batch`, create('batch-4'), unchanged));
      // a change at the provider counts as soon as it is read
      const before = await tag();
      const records = [{ content: '192.0.2.7', disabled: false }];
      const theirs = { name: `theirs.${world.zone}.`, type: 'A', ttl: 300, changetype: 'REPLACE', records };
      assert.ok((await world.pdns.api('PATCH', `/zones/${world.zone}.`, { rrsets: [theirs] })).ok);
      done(await admin.get(`${path}?refresh=true`));
      refused(await admin.post(`${path}/batch`, create('batch-2'), before), 412, 412001);
      // and a list that says the same is no change
      const after = await tag();
      done(await admin.get(`${path}?refresh=true`));
      assert.deepEqual(await tag(), after);
      assert.equal(done(await admin.get(`${path}?host=batch-2`)).total, 0);
    });

    it('every route honours a conditional header that it declares, and refuses all others', async () => {
      const document = JSON.parse(readFileSync(DESCRIPTION, 'utf8')) as { paths: Record<string, Operations> };
      const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
        Object.entries(operations).flatMap(([method, operation]) =>
          path.startsWith('/api/') && /^(get|put|post|patch|delete)$/.test(method)
            ? [{ path, method: method.toUpperCase(), declared: operation?.parameters ?? [] }]
            : [],
        ),
      );
      assert.ok(routes.length > 140, `${routes.length} routes`);
      const passed: string[] = [];
      for (const { path, method, declared } of routes) {
        const filled = path
          .replace(/^(\/api\/domains\/)\{[^}]+\}/, `$1${world.domain}`)
          .replace('{host}', 'nowhere')
          .replace('{type}', 'A')
          .replace(/\{[^}]+\}/g, '999999');
        for (const name of NAMES) {
          const isRead = method === 'GET' && READS.includes(name);
          if (isRead) continue;
          const tag = name === 'If-None-Match' ? '*' : '"stale"';
          const answer = await world.server.call(method, filled, undefined, world.token, { [name]: tag });
          const { errors = [] } = (answer.data ?? {}) as { errors?: { path: string }[] };
          const named = errors.some((error) => error.path === name);
          const honours = declared.some((one) => one.in === 'header' && one.name === name);
          const isRight = honours ? !named : answer.status === 400 && named;
          if (!isRight) passed.push(`${method} ${filled} ${name}: ${answer.status}`);
        }
      }
      assert.deepEqual(passed, []);
    });
  });
}
