import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

/** A thing that a PUT changes: how it is read, a field that changes, and fields that cannot. */
interface Thing {
  path: string;
  read(): Promise<object>;
  change: object;
  readOnly: object;
}

/** Everything that a PUT might write. */
const TABLES = 'users teams team_members dns_accounts domains settings sessions audit_logs tunnels'.split(' ');

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`what a GET answered is a legal PUT on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let admin: Client;
    let db: Db;
    let close: () => Promise<void>;
    let things: Record<string, Thing>;
    let cloudflare: Cloudflare;
    const stored = async () => {
      // links what is written, so that all entries are in one table
      done(await admin.get('/api/audit/verify'));
      return Object.fromEntries(
        await Promise.all(TABLES.map(async (name) => [name, await db.rows(`SELECT * FROM ${name} ORDER BY 1, 2`)])),
      );
    };
    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      const account = await addAccount(admin, 'zonefile', {});
      const domain = await addDomain(admin, account, 'example.com', true);
      const cloud = { provider: 'cloudflare', name: 'cloud', credentials: { api_token: 'secret-of-the-cloud' } };
      const secret = made(await admin.post('/api/accounts?check=false', cloud)).id;
      cloudflare = await startCloudflare('tunnels.example');
      const credentials = { api_token: 'token-of-tunnels', endpoint: cloudflare.url };
      const cloudy = await addAccount(admin, 'cloudflare', credentials);
      await addDomain(admin, cloudy, 'tunnels.example');
      const ingress = [{ hostname: 'a.tunnels.example', service: 'http://localhost', originRequest: { caPool: 'x' } }];
      const tunnel = made(await admin.post('/api/tunnels', { account_id: cloudy, name: 'office', ingress })).id;
      const user = await addUser(db, { username: 'ada', password: 'ada-secret' });
      done(await admin.put(`/api/users/${user}`, { email: 'ada@example.com' }));
      const team = made(await admin.post('/api/teams', { name: 'mail' })).id;
      made(await admin.post(`/api/teams/${team}/members`, { user_id: user }));
      done(await admin.put(`/api/accounts/${account}`, { team_id: team }));
      const smtp = { host: 'mail.example.com', username: 'x', password: 'secret', from: 'dns@example.com' };
      // the limits that suites begin with are set by nobody's PUT
      done(await admin.put('/api/settings/security', done(await admin.get('/api/settings/security'))));
      done(await admin.put('/api/settings/smtp', { ...smtp, enabled: true }));
      const provider = { key: 'acme', name: 'Acme', issuer: 'https://id.example.com', client_id: 'x' };
      const hook = { url: 'https://hooks.example.com/x', secret: 'secret' };
      const chat = { url: 'https://chat.example.com/send?access_token=secret', secret: 'secret' };
      const channels = [
        { id: 'hook', type: 'webhook', name: 'Hook', config: hook, events: ['sync.failed'] },
        { type: 'dingtalk', name: 'Chat', config: chat },
        { type: 'telegram', name: 'Chat', config: { token: '1:secret', chat_id: '-100' } },
        { type: 'email', name: 'Mail', config: { to: ['a@example.com'] }, enabled: false },
      ];
      done(await admin.put('/api/settings/notifications', { channels }));
      done(await admin.put('/api/settings/oauth', { providers: [{ ...provider, client_secret: 'secret' }] }));

      const rule = { name: 'Many deletions', match: { action: 'record.delete' }, threshold: 20, window_minutes: 5 };
      done(await admin.put('/api/settings/audit-rules', { rules: [rule] }));

      const plain = (path: string, change: object, readOnly: object = {}): Thing => ({
        path,
        read: async () => done(await admin.get(path)) as object,
        change,
        readOnly,
      });
      const member = `/api/teams/${team}/members/${user}`;
      const rules = [{ effect: 'allow', hosts: ['www'] }];
      const token = made(await admin.post('/api/tokens', { name: 'ci', rules })).tokenData.id;
      made(await admin.post(`/api/tokens/${token}/tsig-key`));
      things = {
        '/api/users/{id}': plain(
          `/api/users/${user}`,
          { nickname: 'Lady' },
          { id: 99, username: 'eve', created_at: '2020-01-01T00:00:00.000Z', totp_enabled: true, last_login_at: 'now' },
        ),
        '/api/teams/{id}': plain(
          `/api/teams/${team}`,
          { description: 'post' },
          { id: 99, created_by: 99, created_at: null, member_count: 3, my_role: 'member', accounts: [] },
        ),
        '/api/teams/{id}/members/{userId}': {
          path: member,
          read: async () => done(await admin.get(`/api/teams/${team}/members`)).filter((m) => m.user_id === user)[0],
          change: { role: 'manager' },
          readOnly: { user_id: 99, username: 'eve', nickname: 'Eve', joined_at: null },
        },
        '/api/accounts/{id}': plain(
          `/api/accounts/${secret}`,
          { remark: 'changed' },
          { id: 99, provider: 'zonefile', owner_id: 99, domains_count: 7, last_sync_at: 'now', last_error: 'x' },
        ),
        '/api/tokens/{id}': plain(
          `/api/tokens/${token}`,
          { end_time: '2099-01-01T00:00:00.000Z' },
          { id: 99, user_id: 99, created_at: '2020-01-01T00:00:00.000Z' },
        ),
        '/api/tokens/{id}/tsig-key': plain(
          `/api/tokens/${token}/tsig-key`,
          { notify: ['ns2.example.net:53'] },
          { name: 'other', algorithm: 'hmac-md5', created_at: null, notified: [{ target: 'ns2.example.net:53' }] },
        ),
        '/api/tunnels/{id}': plain(
          `/api/tunnels/${tunnel}`,
          { ingress: [...ingress, { hostname: 'nowhere.test', service: 'http://localhost' }] },
          { id: 99, account_id: 99, cloudflare_account: 'x', tunnel_id: 'x', state: 'deleting', created_at: 'now' },
        ),
        '/api/domains/{domain_id}': plain(
          `/api/domains/${domain}`,
          { remark: 'changed' },
          { id: 99, name: 'example.org', account_id: 99, owner_id: null, status: 'missing', permission: 'read' },
        ),
        '/api/settings': plain('/api/settings', { site_name: 'DNS' }, { confirmed: false, waiting: ['base_url'] }),
        '/api/settings/security': plain(
          '/api/settings/security',
          { session: { token_minutes: 600 } },
          { confirmed: false, waiting: ['x'] },
        ),
        '/api/settings/smtp': plain(
          '/api/settings/smtp',
          { from: 'other@example.com' },
          { confirmed: false, waiting: ['host'], password_set: false },
        ),
        '/api/settings/oauth': plain(
          '/api/settings/oauth',
          { enabled: true },
          { confirmed: false, waiting: ['k.issuer'] },
        ),
        '/api/settings/notifications': plain('/api/settings/notifications', { channels: [] }, {}),
        '/api/settings/doors': plain('/api/settings/doors', { httpreq: { enabled: false } }),
        '/api/settings/audit-rules': plain('/api/settings/audit-rules', { retention_days: 30 }),
        '/api/security/profile': plain('/api/security/profile', { nickname: 'Boss' }, { email_verified: true }),
      };
    });
    afterAll(async () => {
      await close();
      await service.stop();
      await cloudflare.stop();
    });

    it('covers every PUT route', async () => {
      const response = await fetch(`${service.server.url}/api/openapi.json`);
      const { paths } = (await response.json()) as { paths: Record<string, object> };
      const routes = Object.keys(paths).filter((path) => 'put' in (paths[path] as object));
      // records are sent back in the tests of records: their PUT goes to a provider
      const others = routes.filter((path) => !/\/(records|rrsets)\//.test(path));
      assert.deepEqual(Object.keys(things).toSorted(), others.toSorted());
    });

    it('sent back as it is, it changes nothing and writes nothing', async () => {
      for (const [route, { path, read }] of Object.entries(things)) {
        const object = await read();
        const rows = await stored();
        assert.deepEqual(done(await admin.put(path, object)), object, route);
        assert.deepEqual(await stored(), rows, route);
        // whatever the order of the fields
        done(await admin.put(path, Object.fromEntries(Object.entries(object).reverse())));
        assert.deepEqual(await stored(), rows, route);
        assert.deepEqual(await read(), object, route);
      }
    });

    it('with one field changed, it changes that one, with one entry in the audit log', async () => {
      for (const [route, { path, read, change }] of Object.entries(things)) {
        const object = await read();
        const entries = (await stored()).audit_logs?.length as number;
        const answer = done(await admin.put(path, { ...object, ...change }));
        assert.notDeepEqual(answer, object, route);
        assert.deepEqual(await read(), answer, route);
        assert.equal((await stored()).audit_logs?.length, entries + 1, route);
      }
    });

    it('read-only fields that are not as they were are all named', async () => {
      for (const [route, { path, read, readOnly }] of Object.entries(things)) {
        if (!Object.keys(readOnly).length) continue;
        const object = await read();
        const { errors } = refused(await admin.put(path, { ...object, ...readOnly }), 400, 400001).data;
        assert.deepEqual(errors.map((e) => e.path).toSorted(), Object.keys(readOnly).toSorted(), route);
        for (const e of errors) assert.equal(e.code, 'read_only', `${route} ${e.path}`);
        assert.deepEqual(await read(), object, route);
      }
    });

    it('what is told of an OAuth provider is compared provider by provider', async () => {
      const path = '/api/settings/oauth';
      const { providers } = done(await admin.get(path));
      const [told] = providers;
      const answer = await admin.put(path, { providers: [{ ...told, client_secret_set: false, confirmed: false }] });
      const paths = refused(answer, 400, 400001).data.errors.map((e) => [e.path, e.code]);
      assert.deepEqual(paths, [
        ['providers.0.client_secret_set', 'read_only'],
        ['providers.0.confirmed', 'read_only'],
      ]);
    });

    it('a secret that is sent again is a change', async () => {
      const { path, read } = things['/api/accounts/{id}'] as Thing;
      const before = await stored();
      const object = await read();
      done(await admin.put(`${path}?check=false`, { ...object, credentials: { api_token: 'another-secret' } }));
      const later = await stored();
      assert.notDeepEqual(later.dns_accounts, before.dns_accounts);
      assert.equal(later.audit_logs?.length, (before.audit_logs?.length as number) + 1);
    });
  });
}
