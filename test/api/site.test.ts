import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, openDatabase } from '../support/database.js';
import { type Client, type Service, startService } from '../support/server.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

describe('the first requests of a page', () => {
  let service: Service;
  let admin: Client;
  let db: Db;
  let close: () => Promise<void>;
  beforeAll(async () => {
    service = await startService('sqlite');
    ({ admin } = service);
    ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
  });
  afterAll(async () => {
    await close?.();
    await service?.stop();
  });

  it('the site: shows anonymous callers the current settings, and no more', async () => {
    const { server } = service;
    assert.deepEqual(done(await server.call('GET', '/api/site')), {
      name: 'Zoneward',
      language: 'en',
      background_image: null,
      registration_enabled: false,
      sign_in: { password: true, passkeys: true, oauth: [] },
    });
    const change = { site_name: 'Names', registration_enabled: true, base_url: 'http://192.0.2.1' };
    done(await admin.put('/api/settings', change));
    const provider = {
      key: 'corp',
      name: 'Corp',
      issuer: 'https://id.example.com',
      client_id: 'x',
      client_secret: 'y',
    };
    done(await admin.put('/api/settings/oauth', { enabled: true, providers: [provider] }));
    const { sign_in, name, registration_enabled } = done(await server.call('GET', '/api/site'));
    assert.deepEqual([name, registration_enabled], ['Names', true]);
    // browsers allow no passkeys at an IP address
    assert.deepEqual(sign_in, { password: true, passkeys: false, oauth: [{ key: 'corp', name: 'Corp' }] });
  });

  it('the bootstrap: shows signed-in users their own data, and counts of what they may see', async () => {
    const { server } = service;
    const account = await addAccount(admin, 'zonefile', {});
    const ids = [];
    for (const name of ['one.example', 'two.example', 'three.example'])
      ids.push(await addDomain(admin, account, name, true));
    made(await admin.post('/api/tokens', { name: 'ci' }));
    const mine = done(await admin.get('/api/bootstrap'));
    assert.deepEqual(mine.counts, { domains: 3, accounts: 1, tokens: 1 });
    assert.equal(mine.me.username, 'admin');
    assert.equal(mine.settings.site_name, 'Names');
    assert.ok(!('base_url' in mine.settings) && !('dns_resolvers' in mine.settings));
    const [, claims] = service.token.split('.') as [string, string];
    const { iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    assert.equal(Date.parse(mine.renew_at), ((iat + exp) / 2) * 1000);
    const answer = await admin.get('/api/providers', undefined, { 'if-none-match': mine.providers.etag });
    assert.equal(answer.status, 304);

    const login = { username: 'reader', password: 'violet-harbour-92' };
    const id = await addUser(db, login, 1);
    const team = await addTeam(db, 'readers', [id]);
    const sql = 'INSERT INTO domain_permissions (team_id, domain_id, domain_name, permission) VALUES (?, ?, ?, ?)';
    await db.run(sql, [team, ids[1] as number, 'two.example', 'read']);
    const reader = server.as(await server.login(login));
    const { counts, me, profile } = done(await reader.get('/api/bootstrap'));
    assert.deepEqual(counts, { domains: 1, accounts: null, tokens: 0 });
    assert.deepEqual([me.id, me.role, profile.nickname], [id, 1, me.nickname]);
  });

  it('the bootstrap: is refused to API tokens and anonymous callers', async () => {
    const { token } = made(await admin.post('/api/tokens', { name: 'other' }));
    refused(await service.server.as(token).get('/api/bootstrap'), 403, 403001);
    refused(await service.server.call('GET', '/api/bootstrap'), 401, 401001);
  });
});
