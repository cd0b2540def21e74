import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { type Client, ServerProcess, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, refused } from '../support/world.js';

const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';
const ada = { username: 'ada', password: 'violet-harbour-92' };

// what docs/architecture.md says of what a process remembers: the other one follows at its next request
for (const { kind, skip } of databases('postgresql', 'mysql')) {
  describeUnless(skip)(`the other replica on one ${kind}`, () => {
    let first: Service;
    let second: ServerProcess;
    let there: Client;
    beforeAll(async () => {
      first = await startService(kind, { SECRET_KEY });
      const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-follow-'));
      second = await ServerProcess.start({ DATABASE_URL: first.databaseUrl, SECRET_KEY }, dataDir);
      there = second.as(first.token);
    });
    afterAll(async () => {
      await second?.kill();
      if (second) rmSync(second.dataDir, { recursive: true, force: true });
      await first?.stop();
    });

    it('has changed settings', async () => {
      const names = ['One', 'Two', 'Three'];
      for (const site_name of names) {
        done(await first.admin.put('/api/settings', { site_name }));
        assert.equal(done(await second.call('GET', '/api/site')).name, site_name);
      }
      const limits = (answer: { headers: Headers }) => answer.headers.get('x-ratelimit-limit');
      for (const user of [500, 600]) {
        done(await first.admin.put('/api/settings/security', { rate_limits: { user } }));
        assert.equal(limits(await there.get('/api/auth/me')), String(user));
      }
    });

    it('knows of what was taken away from people', async () => {
      const { id } = made(await first.admin.post('/api/users', { ...ada, role: 2 }));
      const client = second.as(await first.server.login(ada));
      done(await client.get('/api/accounts'));
      done(await first.admin.put(`/api/users/${id}`, { role: 1 }));
      refused(await client.get('/api/accounts'), 403, 403001);
      done(await client.get('/api/domains'));
      done(await first.admin.put(`/api/users/${id}`, { status: 0 }));
      refused(await client.get('/api/domains'), 401, 401001);
      done(await first.admin.put(`/api/users/${id}`, { status: 1 }));
      const token = await first.server.login(ada);
      done(await second.as(token).get('/api/domains'));
      done(await first.server.as(token).post('/api/auth/logout'));
      refused(await second.as(token).get('/api/domains'), 401, 401001);
    });

    it('asks providers with the new credentials', async () => {
      const keys: unknown[] = [];
      const vendor: HttpServer = createServer((request, response) => {
        keys.push(request.headers['x-api-key']);
        response.setHeader('content-type', 'application/json').end('[]');
      });
      await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
      try {
        const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
        const body = { provider: 'powerdns', name: 'x', credentials: { url, api_key: 'the-first-key' } };
        const { id } = made(await first.admin.post('/api/accounts?check=false', body));
        done(await there.post(`/api/accounts/${id}/sync`));
        const credentials = { url, api_key: 'the-second-key' };
        done(await first.admin.put(`/api/accounts/${id}?check=false`, { credentials }));
        done(await there.post(`/api/accounts/${id}/sync`));
        assert.deepEqual([...new Set(keys)], ['the-first-key', 'the-second-key']);
        done(await first.admin.delete(`/api/accounts/${id}`));
        refused(await there.post(`/api/accounts/${id}/sync`), 404, 404001);
      } finally {
        await new Promise((resolve) => vendor.close(resolve));
      }
    });
  });
}
