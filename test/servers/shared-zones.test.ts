import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { type SteeredClock, stopClock } from '../support/clock.js';
import { databases } from '../support/databases.js';
import { whileWaiting } from '../support/late-writes.js';
import { noPowerdns } from '../support/powerdns.js';
import { type HeldWrite, holdFirstWrite } from '../support/proxy.js';
import type { Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { openIntents } from '../support/tables.js';
import {
  addAccount,
  cacheLines,
  done,
  made,
  powerdnsLines,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

const MANY = 40;
const ZONE = 'example.com';
/** ms in which a write without an answer may still be applied, by a clock that stands still. */
const UNCLEAR_MS = 30_000;

for (const { kind, skip } of databases('one')) {
  describeUnless(skip || noPowerdns)(`one zone in two accounts, on ${kind}`, () => {
    let world: World;
    let admin: Client;
    let other: number;
    let second: `/api/domains/${number}/records`;
    let account: number;
    let clock: SteeredClock;
    let late: HeldWrite;

    beforeAll(async () => {
      world = await startWorld(kind, { UNCLEAR_AFTER_MS: String(UNCLEAR_MS) }, 'lmdb');
      ({ admin } = world);
      // the same server by another name
      const url = world.proxy.url.replace('127.0.0.1', 'localhost');
      account = await addAccount(admin, 'powerdns', { url: `${url}/`, api_key: world.pdns.apiKey });
      clock = stopClock();
    });
    afterAll(async () => {
      clock?.release();
      await world?.stop();
    });

    const held = async (host: string): Promise<string[]> =>
      (await world.pdns.zone(ZONE)).rrsets
        .filter(({ name, type }) => name === `${host}.${ZONE}.` && type === 'A')
        .flatMap(({ records }) => records.map(({ content }) => content))
        .toSorted();
    /** The next write breaks off, and is carried out when the test releases it. */
    const breakOff = () => {
      late = holdFirstWrite('close');
      world.proxy.fault = late.fault;
    };
    /** Carries out the held write, and reads the zone again by one of its domains, which shows the write. */
    const come = async () => {
      await late.release();
      done(await admin.get(`${second}?refresh=true`));
    };
    /** That both caches hold what the server holds, once what is under way has ended. */
    const bothAgree = async () => {
      await until('every change has an end', async () => {
        await clock.advance(1000);
        return (await openIntents(world)) === 0;
      });
      const lines = powerdnsLines(await world.pdns.zone(ZONE));
      for (const domain of [world.domain, other]) assert.deepEqual(await cacheLines(admin, domain), lines);
    };

    it('is added by administrators with force=true', async () => {
      const body = { name: ZONE, account_id: account };
      const { data } = refused(await admin.post('/api/domains', body), 409, 409001);
      assert.deepEqual((data as unknown as { domains: object[] }).domains, [{ id: world.domain, name: ZONE }]);
      other = made(await admin.post('/api/domains?force=true', body)).id;
      second = `/api/domains/${other}/records`;
      // a synchronisation says which zones are so
      const { shared, failed } = done(await admin.post(`/api/accounts/${account}/sync`)) as {
        shared: string[];
        failed: number;
      };
      assert.deepEqual([shared, failed], [[ZONE], 0]);
    });

    it(`holds all of ${MANY} values that are made at one name through both at once`, async () => {
      const values = Array.from({ length: MANY }, (_, i) => `10.0.0.${i}`);
      const answers = await Promise.all(
        values.map((value, i) => admin.post(i % 2 ? second : world.records, { host: 'both', type: 'A', value })),
      );
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
      assert.deepEqual(await held('both'), values.toSorted());
      await bothAgree();
    });

    it('is planned by what the other account has changed in it', async () => {
      const { id } = made(await admin.post(world.records, { host: 'seen', type: 'A', value: '192.0.2.1' }));
      const [twin] = done(await admin.get(`${second}?host=seen`)).list;
      assert.ok(twin);
      done(await admin.delete(`${world.records}/${id}`));
      // what one cache has lost, the other one does not claim to hold
      refused(await admin.put(`${second}/${twin.id}`, { ttl: 900 }), 404, 404001);
      made(await admin.post(second, { host: 'seen', type: 'A', value: '192.0.2.1' }));
      refused(await admin.post(world.records, { host: 'seen', type: 'A', value: '192.0.2.1' }), 409, 409001);
      await bothAgree();
    });

    it('is not written while a change of the other account is in flight', async () => {
      made(await admin.post(world.records, { host: 'late', type: 'A', value: '192.0.2.1' }));
      breakOff();
      refused(await admin.post(world.records, { host: 'late', type: 'A', value: '192.0.2.2' }), 500, 500002);
      made(await whileWaiting(clock, come, admin.post(second, { host: 'late', type: 'A', value: '192.0.2.3' })));
      world.proxy.fault = null;
      assert.deepEqual(await held('late'), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
      await bothAgree();
    });

    it('is neither deleted nor moved to another server while a change of it is in flight', async () => {
      made(await admin.post(second, { host: 'kept', type: 'A', value: '192.0.2.1' }));
      breakOff();
      refused(await admin.post(second, { host: 'kept', type: 'A', value: '192.0.2.2' }), 500, 500002);
      for (const force of ['', '?force=true']) {
        const { msg } = refused(await admin.delete(`/api/domains/${other}${force}`), 409, 409001);
        assert.match(msg, /may still carry out an earlier change of example\.com/);
      }
      refused(await admin.delete(`/api/accounts/${account}?force=true`), 409, 409001);
      const elsewhere = { url: world.pdns.url, api_key: world.pdns.apiKey };
      refused(await admin.put(`/api/accounts/${account}`, { credentials: elsewhere }), 409, 409001);
      // whoever writes there by the other account waits for it, as before
      made(await whileWaiting(clock, come, admin.post(world.records, { host: 'kept', type: 'A', value: '192.0.2.3' })));
      world.proxy.fault = null;
      assert.deepEqual(await held('kept'), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
      await bothAgree();
    });

    it('can be deleted in one account while it stays in the other one', async () => {
      done(await admin.delete(`/api/domains/${world.domain}`));
      made(await admin.post(second, { host: 'left', type: 'A', value: '192.0.2.1' }));
      assert.deepEqual(await held('left'), ['192.0.2.1']);
      assert.deepEqual(await cacheLines(admin, other), powerdnsLines(await world.pdns.zone(ZONE)));
    });

    it('is not added again while a change from before its deletion is in flight', async () => {
      breakOff();
      refused(await admin.post(second, { host: 'again', type: 'A', value: '192.0.2.1' }), 500, 500002);
      done(await admin.delete(`/api/domains/${other}?force=true`));
      const body = { name: ZONE, account_id: account };
      refused(await admin.post('/api/domains?force=true', body), 409, 409001);
      await late.release();
      world.proxy.fault = null;
      refused(await admin.post('/api/domains?force=true', body), 409, 409001);
      // and a little more, since the time of a database is known only so well
      await clock.advance(UNCLEAR_MS + 5000);
      made(await admin.post('/api/domains?force=true', body));
    });
  });
}
