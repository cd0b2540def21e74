import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { noPowerdns, type Powerdns, startPowerdns } from '../support/powerdns.js';
import type { Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused, startWorld, type World } from '../support/world.js';

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`a change on its way while its account is changed, on ${kind}`, () => {
    let world: World;
    let admin: Client;
    let other: Powerdns;
    beforeAll(async () => {
      [world, other] = await Promise.all([startWorld(kind), startPowerdns()]);
      ({ admin } = world);
      await other.createZone(world.zone);
    });
    afterAll(async () => {
      await world?.stop();
      await other?.stop();
    });
    afterEach(() => {
      world.proxy.fault = null;
    });

    const hostsAt = async (server: Powerdns) =>
      (await server.zone(world.zone)).rrsets.map(({ name }) => name.split('.')[0]);

    /** Lets the provider's first answer wait until `meanwhile` has happened. */
    const heldUntil = async <T>(change: () => Promise<T>, meanwhile: () => Promise<unknown>): Promise<T> => {
      let arrived = () => {};
      let go = () => {};
      const asked = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const free = new Promise<void>((resolve) => {
        go = resolve;
      });
      world.proxy.fault = async (_, forward) => {
        arrived();
        await free;
        return forward();
      };
      const answer = change();
      await asked;
      await meanwhile();
      go();
      return answer;
    };

    it('goes to the server that the account has when it is written', async () => {
      const [{ id } = { id: 0 }] = done(await admin.get('/api/accounts'));
      const credentials = { url: other.url, api_key: other.apiKey };
      const put = () => admin.put(`/api/domains/${world.domain}/rrsets/moved/A`, { values: [{ value: '192.0.2.1' }] });
      const answer = await heldUntil(put, async () => done(await admin.put(`/api/accounts/${id}`, { credentials })));
      assert.equal((await hostsAt(world.pdns)).includes('moved'), false);
      assert.equal((await hostsAt(other)).includes('moved'), answer.status === 200);
    });

    it('is refused when the account has gone with its domains, also one that was never read', async () => {
      const [{ id } = { id: 0 }] = done(await admin.get('/api/accounts'));
      const credentials = { url: world.proxy.url, api_key: world.pdns.apiKey };
      done(await admin.put(`/api/accounts/${id}`, { credentials }));
      const { db, close } = await openDatabase(world.databaseUrl, world.server.dataDir);
      await db.run('UPDATE domains SET synced_at = NULL WHERE id = ?', [world.domain]);
      await close();
      const put = () => admin.put(`/api/domains/${world.domain}/rrsets/gone/A`, { values: [{ value: '192.0.2.1' }] });
      const answer = await heldUntil(put, async () => done(await admin.delete(`/api/accounts/${id}?force=true`)));
      refused(answer, 404, 404001);
      assert.equal((await hostsAt(world.pdns)).includes('gone'), false);
    });
  });
