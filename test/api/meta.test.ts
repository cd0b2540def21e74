import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { SCOPES } from '../../src/access/scopes.js';
import { RULES } from '../../src/dns/rdata.js';
import type { MetaView } from '../../src/overview/meta.dto.js';
import { STREAM_EVENTS } from '../../src/overview/stream.dto.js';
import { CODES, FIELD_CODES } from '../../src/platform/common/words/codes.js';
import { NOTICE_EVENTS } from '../../src/platform/events/events.js';
import { type Document, type Part, readDescription } from '../support/openapi.js';
import { type Client, type Service, startService } from '../support/server.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

describe('the description of what fields take', () => {
  let service: Service;
  let admin: Client;
  let meta: MetaView;
  let document: Document;
  beforeAll(async () => {
    service = await startService('sqlite');
    ({ admin } = service);
    meta = done(await admin.get('/api/meta'));
    ({ document } = await readDescription(service.server));
  });
  afterAll(() => service?.stop());

  it('an answer that is at hand is not sent again, and strangers get none', async () => {
    const { headers } = await admin.get('/api/meta');
    assert.match(headers.get('ETag') ?? '', /^W\/"[0-9a-f]{16}"$/);
    const again = await admin.get('/api/meta', undefined, { 'if-none-match': `"x", ${headers.get('ETag')}` });
    assert.equal(again.status, 304);
    assert.equal((await admin.get('/api/meta', undefined, { 'if-none-match': '"x"' })).status, 200);
    refused(await service.server.call('GET', '/api/meta'), 401, 401001);
  });

  it('every type that can be written is there, and each of its examples is accepted as it is', async () => {
    const domain = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'meta.example', true);
    assert.deepEqual(meta.records.types.map(({ type }) => type).sort(), Object.keys(RULES).sort());
    const { types } = done(await admin.get(`/api/domains/${domain}`)).capabilities;
    for (const { type, value, priority } of meta.records.types.filter((one) => types.includes(one.type))) {
      const input = { host: `x-${type.toLowerCase()}`, type, value: value.example };
      const { id } = made(await admin.post(`/api/domains/${domain}/records`, input));
      const record = done(await admin.get(`/api/domains/${domain}/records/${id}`));
      assert.deepEqual([record.value, record.priority], [value.example, priority?.default ?? null], type);
    }
  });

  it('lists are those of the service', () => {
    assert.deepEqual(
      meta.scopes.map(({ name }) => name),
      [...SCOPES],
    );
    assert.deepEqual(meta.notice_events, [...NOTICE_EVENTS]);
    assert.deepEqual(meta.stream_events, [...STREAM_EVENTS]);
    assert.deepEqual(
      meta.codes.map(({ code }) => code),
      Object.values(CODES).map(({ code }) => code),
    );
    assert.deepEqual(
      meta.field_codes.map(({ name }) => name),
      Object.keys(FIELD_CODES),
    );
    assert.deepEqual(meta.roles, [
      { role: 1, name: 'user' },
      { role: 2, name: 'admin' },
      { role: 3, name: 'super' },
    ]);
  });

  it('lists are those that the fields of the API take', () => {
    const of = (name: string, field: string) => {
      const part = document.components.schemas[name]?.properties?.[field] as Part & { items?: Part };
      return [...(((part.items ?? part) as { enum?: unknown[] }).enum ?? [])].sort();
    };
    const named = (list: { name: string }[]) => list.map(({ name }) => name).sort();
    assert.deepEqual(of('TokenInput', 'allowed_services'), named(meta.scopes));
    assert.deepEqual(of('PresetInput', 'name'), named(meta.presets));
    assert.deepEqual(of('ProfileInput', 'language'), meta.languages.toSorted());
    assert.deepEqual(of('ProfileInput', 'theme'), meta.themes.toSorted());
    assert.deepEqual(of('PermissionInput', 'permission'), meta.permissions.toSorted());
    assert.deepEqual(of('ApplyInput', 'force'), named(meta.guards));
    const guards = document.components.schemas.DomainGuards?.properties ?? {};
    assert.deepEqual(Object.keys(guards).sort(), named(meta.guards));
    assert.deepEqual(of('DomainGuards', 'last_mx'), meta.guard_modes.toSorted());
    assert.deepEqual(of('RecordInput', 'type'), meta.records.types.map(({ type }) => type).sort());
  });

  it('every action that the code writes begins with one of the nouns, and each noun is used', () => {
    const root = join(process.cwd(), 'src');
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const texts = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
    const found = [...texts.matchAll(/(?:@Audited\(|\baction: )'([a-z]+)\./g)].map(([, noun]) => noun as string);
    assert.deepEqual([...new Set(found)].sort(), meta.audit_nouns.toSorted());
  });
});
