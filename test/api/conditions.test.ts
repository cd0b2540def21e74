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
      world = await startWorld(kind);
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
        assert.equal(refused(await call, 412, 412001).data, undefined);
      await world.agree();
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
      assert.equal(refused(answer, 412, 412001).data, undefined);
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
          const answer = await world.server.call(method, filled, undefined, world.token, { [name]: '"stale"' });
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
