import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Query } from '../support/answers.js';
import { type Answer, startService } from '../support/server.js';
import { type StandIn, startStandIn } from '../support/vendor.js';
import { done, made, refused } from '../support/world.js';

const KEYS = { token: 'cf-token-4711', api: 'pdns-key-4711', tsig: 'dHNpZy1zZWNyZXQtNDcxMQ==' };

/** What each kind of account is made of; its secrets must never arrive at `thief`. */
const ACCOUNTS = {
  cloudflare: { credentials: { api_token: KEYS.token }, secrets: ['api_token'] },
  powerdns: { credentials: { url: 'http://127.0.0.1:9/api/v1', api_key: KEYS.api }, secrets: ['api_key'] },
  rfc2136: {
    credentials: { server: '127.0.0.1', port: 9, tsig_name: 'key', tsig_secret: KEYS.tsig, zones: 'example.com' },
    secrets: ['tsig_secret'],
  },
};

describe('the secrets of an account', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let thief: StandIn;
  const ids: Record<string, number> = {};
  const path = (kind: keyof typeof ACCOUNTS) => `/api/accounts/${ids[kind] as number}` as const;
  const put = (kind: keyof typeof ACCOUNTS, credentials: object, query: Query = '') =>
    service.admin.put(`${path(kind)}${query}`, { credentials });
  beforeAll(async () => {
    thief = await startStandIn(() => ({ status: 500, body: {} }));
    service = await startService('sqlite', { PROVIDER_TIMEOUT_MS: '1000' });
    for (const [provider, { credentials }] of Object.entries(ACCOUNTS)) {
      const body = { provider, name: provider, credentials };
      ids[provider] = made(await service.admin.post('/api/accounts?check=false', body)).id;
    }
  });
  afterAll(async () => {
    await service.stop();
    await thief.stop();
  });

  const assertKept = async (kind: keyof typeof ACCOUNTS, work: () => Promise<Answer>) => {
    const before = done(await service.admin.get(path(kind)));
    const answer = refused(await work(), 400, 400001);
    assert.deepEqual(
      answer.data.errors.map((e) => [e.path, e.code]),
      ACCOUNTS[kind].secrets.map((key) => [`credentials.${key}`, 'required']),
    );
    assert.deepEqual(done(await service.admin.get(path(kind))), before, 'nothing changed');
    await service.admin.post(`${path(kind)}/sync`);
    assert.equal(thief.requests.length, 0, JSON.stringify(thief.requests));
  };

  it('cannot be sent to another address by a client that does not know them', async () => {
    for (const query of ['', '?check=false'] as const) {
      await assertKept('cloudflare', () => put('cloudflare', { endpoint: thief.url }, query));
      await assertKept('cloudflare', () => put('cloudflare', { endpoint: thief.url, api_token: '***' }, query));
      await assertKept('powerdns', () => put('powerdns', { url: thief.url }, query));
      await assertKept('powerdns', () => put('powerdns', { url: thief.url, api_key: ' *** ' }, query));
      await assertKept('powerdns', () => put('powerdns', { endpoint: thief.url }, query));
      for (const change of [{ server: 'thief.example' }, { port: 5300 }, { port: null }, { endpoint: 'thief.example' }])
        await assertKept('rfc2136', () => put('rfc2136', change, query));
    }
  });

  it('can be moved to another address, and back, by sending them again only', async () => {
    await put('cloudflare', { endpoint: thief.url, api_token: 'another-token' });
    assert.ok(thief.requests.length > 0);
    assert.ok(!JSON.stringify(thief.requests).includes(KEYS.token));
    thief.requests.length = 0;
    done(await put('cloudflare', { endpoint: 'https://proxy.example/v4', api_token: KEYS.token }, '?check=false'));
    await assertKept('cloudflare', () => put('cloudflare', { endpoint: null }));
    done(await put('cloudflare', { endpoint: null, api_token: KEYS.token }, '?check=false'));
  });

  it('stay when the same address is written in another way', async () => {
    for (const url of ['HTTP://127.0.0.1:9/api/v1/', 'http://127.1:9/api/v1', 'http://127.0.0.1:9/api/v1'])
      done(await put('powerdns', { url }, '?check=false'));
    done(await put('rfc2136', { server: '127.0.0.1.', port: '9', endpoint: null }, '?check=false'));
    done(await put('powerdns', { server_id: 'other' }, '?check=false'));
    const shown = done(await service.admin.get(path('powerdns')));
    done(await put('powerdns', shown.credentials, '?check=false'));
  });

  it('are marked as changed in the audit log, and never shown', async () => {
    done(await put('powerdns', { server_id: 'third', api_key: KEYS.api }, '?check=false'));
    done(await put('powerdns', { api_key: 'another-key' }, '?check=false'));
    done(await put('powerdns', { server_id: 'fourth' }, '?check=false'));
    const { list } = done(await service.admin.get('/api/audit/logs?action=account.update&limit=3'));
    const [later, changed, same] = list.map(({ after }) => after?.credentials);
    const { credentials } = done(await service.admin.get(path('powerdns')));
    assert.deepEqual(later, credentials);
    assert.deepEqual(changed, { ...credentials, server_id: 'third', api_key: '***', api_key_changed: true });
    assert.deepEqual(same, { ...credentials, server_id: 'third' });
    assert.ok(!JSON.stringify(list).includes('another-key'));
  });

  it('are not used by another alternative of the credentials, which needs its own', async () => {
    done(await put('cloudflare', { api_token: null, email: 'a@example.com', api_key: 'global' }, '?check=false'));
    const answer = refused(await put('cloudflare', { api_token: '***', email: null }), 400, 400001);
    assert.equal(answer.data.errors[0].code, 'required');
  });

  it('depend on the declarations of the providers, which name the address fields', async () => {
    const kinds = done(await service.admin.get('/api/providers'));
    const addresses = (kind: string) =>
      kinds
        .find((k) => k.kind === kind)
        ?.credentials[0].filter((f) => f.address)
        .map((f) => f.key);
    assert.deepEqual(addresses('rfc2136'), ['server', 'port', 'endpoint']);
    assert.deepEqual(addresses('powerdns'), ['url', 'endpoint']);
    assert.deepEqual(addresses('cloudflare'), ['endpoint']);
  });
});
