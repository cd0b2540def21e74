import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { RecordCache } from '../../../src/cache/record-cache.js';
import { wanted } from '../../../src/monitoring/propagation/published.js';
import { served } from '../../../src/records/served.js';
import { type SteeredClock, steerClock } from '../../support/clock.js';
import { applicationOf, type Service, startService } from '../../support/server.js';
import { startTargets, type Targets } from '../../support/targets.js';
import { addAccount, addDomain, done, made, until } from '../../support/world.js';
import { startVercel } from './stand-in.js';

const [PRIMARY, BACKUP] = ['127.0.2.1', '127.0.3.1'] as const;
const ZONE = 'contract.example';
/** in which a write without an answer may still be carried out */
const UNCLEAR_MS = 60_000;

describe('own records beside the system records of Vercel', () => {
  let service: Service;
  let clock: SteeredClock;
  let targets: Targets;
  let vendor: Awaited<ReturnType<typeof startVercel>>;
  let domain: number;
  let records: `/api/domains/${number}/records`;

  beforeAll(async () => {
    targets = await startTargets();
    vendor = await startVercel();
    service = await startService('sqlite', { OUTBOUND_ALLOW: '127.0.0.0/8', UNCLEAR_AFTER_MS: String(UNCLEAR_MS) });
    clock = steerClock();
  });
  afterAll(async () => {
    clock.release();
    await service.stop();
    await vendor.stop();
    await targets.stop();
  });
  beforeEach(async () => {
    vendor.records.length = 0;
    if (domain) done(await service.admin.delete(`/api/domains/${domain}?force=true`));
    // of each test, since an account has few calls a minute
    const account = await addAccount(service.admin, 'vercel', { api_token: 'a-token', endpoint: vendor.url });
    domain = await addDomain(service.admin, account, ZONE);
    records = `/api/domains/${domain}/records`;
  });

  const system = (name: string, type: string, value: string, ttl = 60) =>
    vendor.records.push({ ttl, creator: 'system', id: `rec_${name}${type}`, name, type, value, createdAt: 1 });
  const own = (host: string, type: string, value: string, ttl = 300) =>
    service.admin.post(records, { host, type, value, ttl, remark: 'ours' });
  const list = async () => done(await service.admin.get(`${records}?refresh=true`)).list;
  /** What became of the last changes by a list that was begun when nothing could be carried out any more. */
  const settled = async () => {
    await clock.advance(UNCLEAR_MS + 1);
    await list();
    return done(await service.admin.get(`/api/domains/${domain}/changes?limit=1&door=api`)).list[0]?.counts;
  };
  /** Breaks the connection of such requests before they are carried out. */
  const lose = async (method: string, work: () => Promise<unknown>) => {
    const real = vendor.handler;
    vendor.handler = async (request) => (request.method === method ? { body: {}, breakAfter: 0 } : real(request));
    await work();
    vendor.handler = real;
  };

  it('make a set that can be read, written back and deleted', async () => {
    system('', 'CAA', '0 issue "letsencrypt.org"');
    made(await own('@', 'CAA', '0 issue "letsencrypt.org"'));
    assert.equal((await list()).length, 2);
    const url = `/api/domains/${domain}/rrsets/@/CAA` as const;
    const { ttl, values } = done(await service.admin.get(url));
    assert.deepEqual([ttl, values.length], [300, 1]);
    const same = values.map(({ value }) => ({ value }));
    assert.equal(done(await service.admin.put(url, { ttl, values: same })).changed, false);
    assert.equal(done(await service.admin.delete(url)).changed, true);
    assert.deepEqual(
      vendor.records.map(({ creator }) => creator),
      ['system'],
    );
  });

  it('stay when they are disabled here and the same system record appears', async () => {
    const { id } = made(await own('*', 'CNAME', 'cname.vercel-dns.com'));
    done(await service.admin.put(`${records}/${id}`, { enabled: false }));
    system('*', 'CNAME', 'cname.vercel-dns.com.');
    assert.deepEqual((await list()).map((record) => [record.read_only, record.enabled, record.remark]).toSorted(), [
      [false, false, 'ours'],
      [true, true, ''],
    ]);
    assert.equal(done(await service.admin.put(`${records}/${id}`, { enabled: true })).enabled, true);
    assert.equal(vendor.records.length, 2);
  });

  it('are not proved by a system record of the same content', async () => {
    system('*', 'CNAME', 'cname.vercel-dns.com.', 300);
    await lose('POST', () => own('*', 'CNAME', 'cname.vercel-dns.com'));
    assert.equal((await settled())?.failed, 1);
    const { id } = made(await own('*', 'CNAME', 'shop.example.net'));
    await lose('PATCH', () => service.admin.put(`${records}/${id}`, { value: 'cname.vercel-dns.com' }));
    assert.equal((await settled())?.failed, 1);
    assert.deepEqual((await list()).map(({ value, read_only }) => [value, read_only]).toSorted(), [
      ['cname.vercel-dns.com', true],
      ['shop.example.net', false],
    ]);
  });

  it('are what name servers are expected to answer', async () => {
    system('', 'A', '76.76.21.21');
    made(await own('@', 'A', '192.0.2.1'));
    assert.equal((await list()).length, 2);
    const rows = await applicationOf(service.server.dataDir)?.get(RecordCache).those(domain, 'host', ['@']);
    assert.deepEqual(wanted(ZONE, '@', 'A', served('vercel', rows ?? [])).lines, [new Set([' 192.0.2.1'])]);
  });

  it('are switched by failover, there and back', async () => {
    await targets.up(PRIMARY, BACKUP);
    system('', 'A', '76.76.21.21');
    made(await own('@', 'A', PRIMARY));
    assert.equal((await list()).length, 2);
    const url = `/api/domains/${domain}/failover` as const;
    const check = { kind: 'tcp', port: targets.port, interval_s: 1, timeout_s: 1, fall: 1, rise: 1 } as const;
    const rule = { host: '@', type: 'A', primary: [PRIMARY], backup: [BACKUP], check } as const;
    done(await service.admin.post(url, { enabled: true, rules: [rule] } as never));
    const seen = async () => done(await service.admin.get(url)).rules[0];
    const active = async (side: string) => {
      const { state, hold } = (await seen()) ?? {};
      assert.ok(!hold);
      return state?.active === side;
    };
    await until('both are known to work', async () => (await seen())?.state.values.every(({ up }) => up) === true);
    await targets.down(PRIMARY);
    await until('the backup is served', () => active('backup'));
    await targets.up(PRIMARY);
    await until('the primary is served again', () => active('primary'));
  });
});
