import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { startRoute53 } from '../providers/route53/stand-in.js';
import { type Client, type Service, startService } from '../support/server.js';
import { addAccount, addDomain, done } from '../support/world.js';

const REQUESTS = 5;
/** half of the second of the limit: what leaves in order may arrive closer together */
const WINDOW_MS = 500;
const LENGTH = 1000;

describe('a provider that allows five requests a second', () => {
  let service: Service;
  let admin: Client;
  let standIn: Awaited<ReturnType<typeof startRoute53>>;
  const times: number[] = [];
  let refusals = 0;
  beforeAll(async () => {
    standIn = await startRoute53();
    const { handler } = standIn;
    standIn.handler = (request) => {
      const at = performance.now();
      if (times.filter((time) => at - time < WINDOW_MS).length >= REQUESTS) {
        refusals++;
        return { status: 429, body: 'Rate exceeded' };
      }
      times.push(at);
      return handler(request);
    };
    service = await startService('sqlite');
    ({ admin } = service);
  });
  afterAll(async () => {
    await service?.stop();
    await standIn?.stop();
  });

  it(`takes a list of ${LENGTH} changes without ever refusing one`, async () => {
    const keys = { access_key_id: 'AKID', secret_access_key: 'a-secret-key', endpoint: standIn.url };
    const account = await addAccount(admin, 'route53', keys);
    const domain = await addDomain(admin, account, 'contract.example');
    // proving the credentials was of another connection
    times.length = 0;
    refusals = 0;
    const changes = Array.from({ length: LENGTH }, (_, i) => ({
      op: 'create',
      host: `host${i}`,
      type: 'A',
      value: '192.0.2.1',
      ttl: 300,
    }));
    const { outcomes } = done(await admin.post(`/api/domains/${domain}/records/batch?wait=120`, { changes }));
    assert.ok(outcomes?.every((o) => o.ok));
    assert.equal([...standIn.sets.values()].filter(({ name }) => name.startsWith('host')).length, LENGTH);
    assert.equal(refusals, 0);
    assert.ok(times.length > REQUESTS, 'there was something to be limited');
    // and would refuse
    await Promise.all(Array.from({ length: 4 * REQUESTS }, () => fetch(standIn.url)));
    assert.ok(refusals > 0);
  });
});
