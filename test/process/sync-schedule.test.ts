import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { nextSync } from '../../src/accounts/accounts.service.js';
import { ServerProcess, type Service, startProcess } from '../support/server.js';
import { rowsOf } from '../support/tables.js';
import { type Answer, type StandIn, startStandIn } from '../support/vendor.js';
import { done, made, until } from '../support/world.js';

const ACCOUNTS = 20;
const ZONES = 20;
/** the account whose vendor says nothing after so many zones */
const SLOW = 7;
const READ = 8;
const HOUR = 3_600_000;

const zoneOf = (account: number, zone: number) => `z${zone}.a${account}.example.`;

describe('synchronisations by interval', () => {
  let service: Service<ServerProcess>;
  let vendor: StandIn;
  const waiting: (() => void)[] = [];
  let isSlow = true;
  let [answered, most] = [0, 0];

  const slow = async (answer: Answer): Promise<Answer> => {
    if (!isSlow || answered++ < READ) return answer;
    await new Promise<void>((resolve) => {
      most = Math.max(most, waiting.push(resolve));
    });
    return answer;
  };
  const env = { OUTBOUND_ALLOW: '127.0.0.0/8', PROVIDER_TIMEOUT_MS: '120000' };
  beforeAll(async () => {
    vendor = await startStandIn(({ path }) => {
      const [, account, zone] = /^\/a(\d+)\/api\/v1\/servers\/localhost\/zones(?:\/(.+))?$/.exec(path) ?? [];
      const soa = { content: 'ns1.example.net. h.example. 1 1 1 1 1', disabled: false };
      const answer = (id: string) => ({ id, name: id, rrsets: [{ name: id, type: 'SOA', ttl: 60, records: [soa] }] });
      if (!account) return { body: {} };
      if (!zone) return { body: Array.from({ length: ZONES }, (_none, i) => answer(zoneOf(Number(account), i))) };
      return Number(account) === SLOW ? slow({ body: answer(zone) }) : { body: answer(zone) };
    });
    service = await startProcess('sqlite', env);
    for (let i = 0; i < ACCOUNTS; i++) {
      const credentials = { url: `${vendor.url}/a${i}`, api_key: 'x' };
      const body = { provider: 'powerdns', name: `a${i}`, credentials, sync_interval_minutes: 60 };
      made(await service.admin.post('/api/accounts?check=false', body));
    }
  });
  afterAll(async () => {
    for (const go of waiting) go();
    // the second one, which `stop` does not know
    await service?.server.kill();
    await service?.stop();
    await vendor?.stop();
  });

  /** Looks for the accounts that are due. */
  const look = () =>
    until('it is looked for what is due', async () => {
      const [job] = done(await service.admin.get('/api/system/jobs?name=accounts.due')).list;
      return (await service.admin.post(`/api/system/jobs/${job?.id ?? 0}/retry`)).status === 200;
    });
  const synced = () => rowsOf(service, 'SELECT name FROM dns_accounts WHERE last_sync_at IS NOT NULL');
  const readZones = () =>
    rowsOf(service, 'SELECT name FROM domains WHERE synced_at IS NOT NULL').then((rows) => rows.length);
  const askedFor = () => vendor.requests.flatMap(({ path }) => /\/zones\/(.+)$/.exec(path)?.[1] ?? []);

  it('are done at all accounts while the vendor of one says nothing, which is asked a few things at a time', async () => {
    await look();
    await until('all others are read', async () => (await synced()).length === ACCOUNTS - 1);
    await until('it hangs', async () => (await readZones()) >= (ACCOUNTS - 1) * ZONES + READ && waiting.length > 0);
    assert.ok(!(await synced()).some(({ name }) => name === `a${SLOW}`));
    assert.equal(await readZones(), (ACCOUNTS - 1) * ZONES + READ);
    assert.ok(most <= 4, `${most} at once`);
  });

  it('come next at moments that are spread over the interval, though all were due at once', async () => {
    const rows = await rowsOf(service, 'SELECT sync_next_at AS at FROM dns_accounts ORDER BY sync_next_at');
    const times = rows.map(({ at }) => Date.parse(String(at)));
    const gaps = times.slice(1).map((time, i) => time - (times[i] as number));
    assert.ok(Math.min(...gaps) > HOUR / ACCOUNTS / 3, String(gaps));
    assert.ok(Math.max(...gaps) < (HOUR / ACCOUNTS) * 3, String(gaps));
  });

  it('go on after a crash with what was not read yet, and nothing else begins anew', async () => {
    const progress = async () => {
      const { list } = done(await service.admin.get('/api/system/jobs?name=account.sync&state=running'));
      return (list[0]?.progress as { done?: number } | null)?.done ?? 0;
    };
    await until('it has told how far it is', async () => (await progress()) >= READ);
    const { server, databaseUrl } = service;
    await server.kill();
    isSlow = false;
    for (const go of waiting.splice(0)) go();
    vendor.requests.length = 0;
    service.server = await ServerProcess.start({ DATABASE_URL: databaseUrl, ...env }, server.dataDir);
    service.admin = service.server.as(service.token);
    await until('the last one is read', async () => (await synced()).length === ACCOUNTS, 120_000);
    assert.equal(await readZones(), ACCOUNTS * ZONES);
    const asked = new Set(askedFor());
    assert.equal(asked.size, ZONES - READ, [...asked].join(' '));
    for (const zone of asked) assert.match(zone, new RegExp(`\\.a${SLOW}\\.`));
  });
});

describe('the next synchronisation of an account', () => {
  it('comes an interval after the one before, when that was begun within half an interval of its moment', () => {
    for (const id of [1, 2, 77, 10_000])
      for (const late of [0, 59_000, HOUR / 2 - 2000]) {
        const first = Date.parse(nextSync(id, HOUR, Date.UTC(2026, 0, 1)));
        const second = Date.parse(nextSync(id, HOUR, first + late));
        assert.ok(Math.abs(second - first - HOUR) < 10, `${id} ${late} ${second - first}`);
      }
  });

  it('is at once where there is no interval any more', () => {
    const at = Date.UTC(2026, 0, 1);
    assert.equal(Date.parse(nextSync(3, 0, at)), at);
  });
});
