import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { startCloudflare } from '../support/cloudflare.js';
import { databases } from '../support/databases.js';
import { type Description, readDescription } from '../support/openapi.js';
import { startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, made } from '../support/world.js';

const STREAM = 'GET /api/events';

// drivers differ in the types that they read
for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`answers as the OpenAPI description has them, on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let description: Description;
    beforeAll(async () => {
      service = await startService(kind);
      description = await readDescription(service.server);
    });
    afterAll(() => service?.stop());

    it('every GET', async () => {
      const { document, operations, success, mismatches } = description;
      const { admin, server, token } = service;
      const account = await addAccount(admin, 'zonefile', {});
      const domain = await addDomain(admin, account, 'example.com', true);
      const ci = made(await admin.post('/api/tokens', { name: 'ci', allowed_domains: [domain] })).token;
      made(await admin.post('/api/tokens/1/tsig-key' as '/api/tokens/{id}/tsig-key', {}));
      const record = made(
        await admin.post(`/api/domains/${domain}/records`, { host: 'www', type: 'A', value: '192.0.2.1' }),
      ).id;
      const team_id = made(await admin.post('/api/teams', { name: 'dns' })).id;
      made(await admin.post(`/api/teams/${team_id}/permissions`, { domain_id: domain, permission: 'write' }));
      assert.equal((await admin.put(`/api/accounts/${account}`, { team_id })).status, 200);
      made(
        await admin.post(`/api/domains/${domain}/plans`, { records: [{ host: 'p', type: 'A', value: '192.0.2.1' }] }),
      );
      const elsewhere = await addAccount(admin, 'zonefile', { directory: 'elsewhere' });
      made(await admin.post(`/api/domains/${domain}/migration`, { account_id: elsewhere, create: true }));
      const { file } = made(await admin.post('/api/system/backup'));
      const cloudflare = await startCloudflare();
      const cloud = await addAccount(admin, 'cloudflare', { api_token: 'of the cloud', endpoint: cloudflare.url });
      const rule = { hostname: 'a.example.com', service: 'http://localhost', originRequest: { noTLSVerify: true } };
      const tunnel = await admin.post('/api/tunnels', { account_id: cloud, name: 'office', ingress: [rule] });
      const [, described] = success(document.paths['/api/tunnels'].post);
      const told = { code: tunnel.code, data: made(tunnel), msg: tunnel.msg };
      assert.deepEqual(mismatches(told, described, 'POST /api/tunnels'), []);
      cloudflare.tunnels.connect(cloudflare.tunnels.live()[0] as never);
      for (const { name, path, operation } of operations.filter((o) => o.method === 'get' && o.name !== STREAM)) {
        if (path.endsWith('{file}')) {
          const [type] = Object.keys(operation.responses[200].content);
          const headers = { authorization: `Bearer ${token}` };
          const response = await fetch(server.url + path.replace('{file}', file), { headers });
          assert.deepEqual([response.status, response.headers.get('content-type')], [200, type]);
          await response.body?.cancel();
          continue;
        }
        const [status, schema] = success(operation);
        const url = path
          .replace('{record_id}', String(record))
          .replace('{host}/{type}', 'www/A')
          .replace(/\{\w+\}/g, '1')
          .replace(/\/export$/, '/export?format=json');
        const credential = path.endsWith('/self') ? ci : token;
        const response = await fetch(server.url + url, { headers: { authorization: `Bearer ${credential}` } });
        assert.equal(response.status, Number(status), name);
        assert.deepEqual(mismatches(await response.json(), schema, name), []);
      }
      await cloudflare.stop();
    });

    it('created things', async () => {
      const { document, success, mismatches } = description;
      const { admin } = service;
      const BODIES: [string, object][] = [
        ['/api/tokens', { name: 'x' }],
        ['/api/users', { username: 'ada', password: 'seven-green-lamps-42', role: 2 }],
        ['/api/teams', { name: 'mail' }],
        ['/api/teams/{id}/members', { user_id: 2 }],
        ['/api/teams/{id}/permissions', { domain_id: 1, permission: 'write', host: '*.dev' }],
        ['/api/accounts', { provider: 'zonefile', name: 'more', credentials: { directory: 'more' } }],
        ['/api/domains', { name: 'new.example', account_id: 1, create: true }],
      ];
      for (const [path, body] of BODIES) {
        const answer = await admin.post(path.replace('{id}', '1'), body);
        const [status, schema] = success(document.paths[path].post);
        assert.equal(String(answer.status), status, path);
        const { code, data, msg } = answer;
        assert.deepEqual(mismatches({ code, data, msg }, schema, path), []);
      }
    });
  });
}
