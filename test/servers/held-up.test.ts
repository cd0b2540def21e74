import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, done, startWorld, until, type World } from '../support/world.js';

const REQUEST_MS = 24_000;
const PAST = '2020-01-01T00:00:00.000Z';

describeUnless(noPowerdns)('nobody is held up', () => {
  let world: World;
  let db: Db;
  let close: () => Promise<void>;
  let release = () => undefined as unknown;
  beforeAll(async () => {
    const times = { REQUEST_DEADLINE_MS: String(REQUEST_MS), PROVIDER_TIMEOUT_MS: '120000' };
    world = await startWorld('sqlite', times);
    ({ db, close } = await openDatabase(world.databaseUrl, world.server.dataDir));
  });
  afterAll(async () => {
    release();
    await close?.();
    await world?.stop();
  });

  /** The provider says nothing until `release`. @returns whether it was asked */
  const hang = (method: string) => {
    let asked = false;
    const released = new Promise((resolve) => {
      release = () => resolve(undefined);
    });
    world.proxy.fault = async (request, forward) => {
      if (request.method !== method) return forward();
      asked = true;
      await released;
      return forward();
    };
    return async () => asked;
  };

  it('by an account whose synchronisation cannot be planned', async () => {
    const { admin, account } = world;
    const broken = await addAccount(admin, 'powerdns', { url: `${world.proxy.url}/`, api_key: world.pdns.apiKey });
    for (const [id, at] of [
      [broken, PAST],
      [account, '2021-01-01T00:00:00.000Z'],
    ] as const)
      await db.run('UPDATE dns_accounts SET sync_interval_minutes = 60, sync_next_at = ? WHERE id = ?', [at, id]);
    await db.run(`CREATE TRIGGER broken BEFORE UPDATE OF sync_next_at ON dns_accounts WHEN OLD.id = ${broken}
      BEGIN SELECT RAISE(ABORT, 'broken'); END`);
    await until('the accounts that are due are looked for', async () => {
      const [job] = done(await admin.get('/api/system/jobs?name=accounts.due')).list;
      return (await admin.post(`/api/system/jobs/${job?.id ?? 0}/retry`)).status === 200;
    });
    await until('the other one is planned', async () => {
      const [row] = await db.rows<{ at: string }>('SELECT sync_next_at AS at FROM dns_accounts WHERE id = ?', [
        account,
      ]);
      return (row?.at ?? PAST) > '2022';
    });
    await db.run('DROP TRIGGER broken');
    // its zone is one of one account again
    done(await admin.delete(`/api/accounts/${broken}?force=true`));
    await db.run('UPDATE dns_accounts SET sync_interval_minutes = 0');
  });

  it('by a provider that says nothing, who reads the records of a zone that another account has changed', async () => {
    await db.run('UPDATE domains SET stale_revision = revision WHERE id = ?', [world.domain]);
    const asked = hang('GET');
    let status = 0;
    const reading = world.admin.get(world.records).then((answer) => {
      status = answer.status;
    });
    await until('the list is there', async () => status === 200, REQUEST_MS / 2);
    assert.ok(await asked());
    release();
    await reading;
  });

  it('by a provider that says nothing, who deletes its account', async () => {
    const { admin, domain, account } = world;
    const asked = hang('PATCH');
    const changes = Array.from({ length: 300 }, (_, i) => ({
      ...{ op: 'create', host: `host${i}`, type: 'A', value: '192.0.2.1' },
    }));
    assert.equal((await admin.post(`/api/domains/${domain}/records/batch`, { changes })).status, 202);
    await until('it is asked', asked);
    done(await admin.delete(`/api/accounts/${account}?force=true`));
  });
});
