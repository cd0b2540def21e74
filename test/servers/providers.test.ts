import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { request } from 'undici';
import { PROVIDERS } from '../../src/providers/registry.js';
import { noPowerdns, startPowerdns } from '../support/powerdns.js';
import { type Service, startService } from '../support/server.js';
import { itUnless } from '../support/suites.js';
import { made } from '../support/world.js';

describe('the kinds of providers', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService('sqlite');
  });
  afterAll(() => service?.stop());
  const list = (headers: Record<string, string> = {}) =>
    request(`${service.server.url}/api/providers`, {
      headers: { authorization: `Bearer ${service.token}`, ...headers },
    });

  it('are listed in few bytes, compressed for who takes that', async () => {
    const plain = Buffer.from(await (await list()).body.arrayBuffer());
    assert.equal(JSON.parse(plain.toString()).data.length, PROVIDERS.length);
    assert.ok(plain.length < PROVIDERS.length * 1280, `${plain.length} bytes`);
    const packed = await list({ 'accept-encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    const bytes = Buffer.from(await packed.body.arrayBuffer());
    assert.ok(bytes.length < 12 * 1024, `${bytes.length} bytes`);
    assert.deepEqual(JSON.parse(gunzipSync(bytes).toString()).data, JSON.parse(plain.toString()).data);
  });

  it('are not sent again to who has them', async () => {
    const first = await list();
    const tag = String(first.headers.etag);
    await first.body.dump();
    assert.match(tag, /^W\/"[0-9a-f]+"$/);
    for (const known of [tag, `"other", ${tag}`]) {
      const again = await list({ 'if-none-match': known });
      assert.deepEqual([again.statusCode, await again.body.text()], [304, '']);
    }
    const other = await list({ 'if-none-match': 'W/"other"' });
    assert.equal(other.statusCode, 200);
    await other.body.dump();
  });

  it('have one name each, and answer to no other one twice', () => {
    const names = PROVIDERS.flatMap(({ kind, aliases }) => [kind, ...aliases]);
    assert.equal(new Set(names).size, names.length);
  });

  itUnless(noPowerdns)('are found by the names that other tools have for them, and stored by their own', async () => {
    const server = await startPowerdns();
    const credentials = { url: server.url, api_key: server.apiKey };
    const account = made(await service.admin.post('/api/accounts', { provider: 'pdns', name: 'p', credentials }));
    assert.equal(account.provider, 'powerdns');
    await server.stop();
  });
});
