import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { startGodaddy } from '../providers/godaddy/stand-in.js';
import { type Stored, startVercel } from '../providers/vercel/stand-in.js';
import { type Service, startService } from '../support/server.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

describe('records that a provider makes itself, and takes back for those of its users', () => {
  let service: Service;
  let vendor: Awaited<ReturnType<typeof startVercel>>;
  beforeAll(async () => {
    service = await startService('sqlite');
    vendor = await startVercel();
  });
  afterAll(async () => {
    await service?.stop();
    await vendor?.stop();
  });

  it('are shown, and in nobody else’s way', async () => {
    const common = { ttl: 60, creator: 'system' };
    const system: Stored[] = [
      { ...common, id: 'rec_s1', name: '*', type: 'CNAME', value: 'cname.vercel-dns.com.', createdAt: 1 },
      { ...common, id: 'rec_s2', name: '', type: 'A', value: '76.76.21.21', createdAt: 2 },
    ];
    vendor.records.push(...system);
    const account = await addAccount(service.admin, 'vercel', { api_token: 'a-token', endpoint: vendor.url });
    const domain = await addDomain(service.admin, account, 'contract.example');
    const url = `/api/domains/${domain}/records` as const;
    done(await service.admin.post(`/api/accounts/${account}/sync`));
    const { list } = done(await service.admin.get(url));
    assert.deepEqual(list.map((one) => [one.host, one.read_only]).sort(), [
      ['*', true],
      ['@', true],
    ]);
    const wild = { host: '*', type: 'CNAME', ttl: 300 };
    const { id } = made(await service.admin.post(url, { ...wild, value: 'shop.example.net' }));
    // of Vercel's own value, too
    done(await service.admin.put(`${url}/${id}`, { value: 'cname.vercel-dns.com' }));
    done(await service.admin.put(`/api/domains/${domain}/rrsets/@/A`, { ttl: 300, values: [{ value: '192.0.2.1' }] }));
    const again = { changes: [{ op: 'upsert', host: '@', type: 'A', value: '76.76.21.21', ttl: 300 }] };
    const { outcomes } = done(await service.admin.post(`${url}/batch`, again));
    assert.ok(outcomes?.every(({ ok }) => ok));
    const own = vendor.records.filter(({ creator }) => creator !== 'system');
    assert.deepEqual(own.map(({ name, value }) => `${name} ${value}`).sort(), [
      ' 192.0.2.1',
      ' 76.76.21.21',
      '* cname.vercel-dns.com.',
    ]);
    // one's own are in the way as ever
    refused(await service.admin.post(url, { ...wild, value: 'cname.vercel-dns.com' }), 409, 409001);
  });

  it('a whole set is written over an address `Parked` of GoDaddy, which is never sent back', async () => {
    const godaddy = await startGodaddy();
    const parked = { type: 'A', name: '@', data: 'Parked', ttl: 600 };
    godaddy.state.rows.push(parked);
    try {
      const credentials = { api_key: 'a-key', api_secret: 'a-secret', endpoint: godaddy.url };
      const domain = await addDomain(
        service.admin,
        await addAccount(service.admin, 'godaddy', credentials),
        'contract.example',
      );
      const set = { ttl: 600, values: [{ value: '192.0.2.1' }] };
      done(await service.admin.put(`/api/domains/${domain}/rrsets/@/A`, set));
      assert.deepEqual(
        godaddy.state.rows.filter(({ type }) => type === 'A'),
        [{ ...parked, data: '192.0.2.1' }],
      );
    } finally {
      await godaddy.stop();
    }
  });
});
