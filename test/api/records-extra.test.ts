import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { startCloudflareApi } from '../providers/cloudflare/stand-in.js';
import { databases } from '../support/databases.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made } from '../support/world.js';

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`what a provider holds of a record besides, on ${kind}`, () => {
    let service: Service;
    beforeAll(async () => {
      service = await startService(kind);
    });
    afterAll(() => service?.stop());

    it('comes back with the record that is enabled again, and is not shown', async () => {
      const vendor = await startCloudflareApi();
      try {
        const credentials = { api_token: 'a-token-for-the-tests', endpoint: vendor.url };
        const account = await addAccount(service.admin, 'cloudflare', credentials);
        const domain = await addDomain(service.admin, account, 'contract.example');
        const url = `/api/domains/${domain}/records` as const;
        const shop = { host: 'shop', type: 'A', value: '192.0.2.1', ttl: 300 };
        const { id } = made(await service.admin.post(url, shop));
        const own = { comment: 'of the shop', tags: ['team:shop'], settings: { ipv4_only: true } };
        Object.assign(vendor.records[0] as object, own);
        done(await service.admin.post(`/api/accounts/${account}/sync`));
        done(await service.admin.patch(`${url}/${id}/status`, { enabled: false }));
        assert.equal(vendor.records.length, 0);
        done(await service.admin.put(`${url}/${id}`, { value: '192.0.2.2' }));
        done(await service.admin.post(`/api/accounts/${account}/sync`));
        const enabled = done(await service.admin.patch(`${url}/${id}/status`, { enabled: true }));
        assert.ok(!('extra' in enabled));
        const [held] = vendor.records;
        assert.equal(held?.content, '192.0.2.2');
        assert.deepEqual({ comment: held?.comment, tags: held?.tags, settings: held?.settings }, own);
        const { list } = done(await service.admin.get(`/api/domains/${domain}/changes`));
        for (const set of list) {
          const { changes } = done(await service.admin.get(`/api/domains/${domain}/changes/${set.id}`));
          for (const { before, after } of changes)
            for (const state of [before, after]) assert.ok(!state || !('extra' in state));
        }
      } finally {
        await vendor.stop();
      }
    });
  });
