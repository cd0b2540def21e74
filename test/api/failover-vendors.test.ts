import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { startBunny } from '../providers/bunny/stand-in.js';
import { type Service, startService } from '../support/server.js';
import { startTargets, type Targets } from '../support/targets.js';
import { addAccount, addDomain, done, until } from '../support/world.js';

const QUICK = { interval_s: 1, timeout_s: 1, fall: 1, rise: 1 };
const [P1, P2, B1] = ['127.0.2.1', '127.0.2.2', '127.0.3.1'] as const;

describe('failover at vendors that change one record after the other', () => {
  let service: Service;
  let targets: Targets;
  const vendors: Awaited<ReturnType<typeof startBunny>>[] = [];
  beforeAll(async () => {
    targets = await startTargets();
    // a vendor that hangs does so for longer than any test waits
    service = await startService('sqlite', { OUTBOUND_ALLOW: '127.0.0.0/8', PROVIDER_TIMEOUT_MS: '120000' });
  });
  afterAll(async () => {
    for (const vendor of vendors) await vendor.stop();
    await service?.stop();
    await targets?.stop();
  });

  /** A zone at a vendor of its own, with one rule for each host. */
  const zone = async (name: string, hosts: string[], values: object[], primary: string) => {
    const vendor = await startBunny();
    vendors.push(vendor);
    vendor.world.domains = [name];
    const account = await addAccount(service.admin, 'bunny', { access_key: 'a-key', endpoint: vendor.url });
    const domain = await addDomain(service.admin, account, name);
    const changes = hosts.flatMap((host) => values.map((one) => ({ op: 'create', host, type: 'A', ttl: 300, ...one })));
    const { outcomes } = done(await service.admin.post(`/api/domains/${domain}/records/batch`, { changes }));
    assert.ok(outcomes?.every(({ ok }) => ok));
    const check = { kind: 'tcp', port: targets.port, ...QUICK };
    const rules = hosts.map((host) => ({ host, type: 'A', primary: [primary], backup: [B1], check }));
    const url = `/api/domains/${domain}/failover` as const;
    done(await service.admin.post(url, { enabled: true, rules }));
    const get = async () => done(await service.admin.get(url)).rules;
    await until('all is known to work', async () =>
      (await get()).every(({ state }) => state.values.every(({ up }) => up)),
    );
    return { vendor, get, live: () => vendor.records.filter((one) => !one.Disabled).map((one) => one.Value) };
  };

  it('keeps an answer at every moment where the backup is a disabled record', async () => {
    await targets.up(P1, B1);
    const values = [{ value: P1 }, { value: B1, enabled: false }];
    const { vendor, get, live } = await zone('paused.example', ['h'], values, P1);
    const { handler } = vendor;
    let writes = 0;
    vendor.handler = (request) => {
      if (request.method === 'GET') return handler(request);
      writes++;
      // of each list the second write fails
      return writes % 2 ? handler(request) : { status: 400, body: { Message: 'no more changes today' } };
    };
    await targets.down(P1);
    await until('it was tried', async () => {
      assert.notDeepEqual(live(), []);
      return writes >= 2;
    });
    vendor.handler = handler;
    await until('it is switched', async () => {
      assert.notDeepEqual(live(), []);
      return (await get())[0]?.state.active === 'backup';
    });
    assert.deepEqual([live(), (await get())[0]?.hold], [[B1], false]);
  });

  it('switches in one domain while the vendor of another domain hangs', async () => {
    await targets.up(P1, P2, B1);
    const hosts = Array.from({ length: 40 }, (_, i) => `h${i}`);
    const slow = await zone('slow.example', hosts, [{ value: P1 }], P1);
    const quick = await zone('quick.example', ['h'], [{ value: P2 }], P2);
    let asked = 0;
    slow.vendor.handler = () => {
      asked++;
      return new Promise(() => undefined);
    };
    await targets.down(P1);
    await until('the other one is asked', async () => asked > 0);
    await until('all of its rules are to be switched', async () =>
      (await slow.get()).every(({ state }) => state.values[0]?.up === false),
    );
    await targets.down(P2);
    await until('it is switched', async () => String(quick.live()) === B1);
  });
});
