import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { Db } from '../../src/platform/database/db.js';
import { PlansService } from '../../src/records/plans/plans.service.js';
import { addTeam, addUser, grant } from '../support/database.js';
import { databases } from '../support/databases.js';
import { applicationOf, type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const DAY_MS = 86_400_000;

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`limits of stored plans, on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let db: Db;
    let domain: number;
    let other: number;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      db = applicationOf(service.server.dataDir)?.get(Db) as Db;
      const account = await addAccount(admin, 'zonefile', {});
      domain = await addDomain(admin, account, 'plans.example', true);
      other = await addDomain(admin, account, 'other.example', true);
      for (const id of [domain, other])
        made(await admin.post(`/api/domains/${id}/records`, { host: 'www', type: 'A', value: '192.0.2.1' }));
    });
    afterAll(() => service?.stop());

    const stored = async () => (await db.rows('SELECT id FROM plans')).length;
    const where = { where: { host: 'www' }, set: { ttl: 900 } };
    const plan = (client: Client) => client.post('/api/plans', where);

    it('a user who may only read stores none, and gets the rest where something may be written', async () => {
      const user = { username: 'reader', password: 'correct-horse-battery-8' };
      const team = await addTeam(db, 'readers', [await addUser(db, user)]);
      await grant(db, team, domain, 'read');
      const reader = service.server.as(await service.server.login(user));
      const before = await stored();
      const denied = refused(await plan(reader), 403, 403001);
      assert.equal(denied.data.required, `domain:${domain}:write`);
      assert.equal(await stored(), before);

      await grant(db, team, other, 'write');
      const { plans, failed } = made(await plan(reader));
      assert.deepEqual(
        plans.map((one) => one.domain),
        ['other.example'],
      );
      assert.deepEqual(
        failed.map(({ domain_id, code }) => [domain_id, code]),
        [[domain, 403001]],
      );
      assert.equal(await stored(), before + 1);
    });

    it('one user has 1,000 plans at most that are neither applied nor expired', async () => {
      const { plans } = made(await plan(admin));
      const [row] = await db.rows<Record<string, string | number | null>>('SELECT * FROM plans WHERE id = ?', [
        plans[0]?.id as number,
      ]);
      const copy = Object.fromEntries(Object.entries({ ...row, group_id: null }).filter(([name]) => name !== 'id'));
      const open = async () =>
        Number(
          (await db.row<{ n: number }>("SELECT COUNT(*) AS n FROM plans WHERE state = 'open' AND user_id = 1"))?.n,
        );
      for (let count = await open(); count < 999; count++)
        await db.transaction((manager) => db.insert('plans', copy, manager));
      // there is room for one, not for those of two domains
      refused(await plan(admin), 409, 409001);
      const document = { format: 'csv' as const, text: 'host,type,value\nnew,A,192.0.2.9\n' };
      const single = () => admin.post(`/api/domains/${domain}/plans`, { document });
      const { id } = made(await single());
      const full = refused(await single(), 409, 409001);
      assert.equal(full.data.reason, 'plans_full');
      // a plan that is discarded takes room until it expires
      done(await admin.delete(`/api/plans/${id as number}`));
      refused(await single(), 409, 409001);
      await db.run('UPDATE plans SET expires_at = ? WHERE id = ?', [now(-1), id as number]);
      made(await single());
    });

    it('those that have expired are deleted after a day, those with another end after a week', async () => {
      await db.run('DELETE FROM plans');
      const ends: [string, number][] = [
        ...[1, 25, 167, 169].map((hours): [string, number] => ['open', hours]),
        ...[1, 25, 167, 169].map((hours): [string, number] => ['applied', hours]),
      ];
      for (const [state, hours] of ends) {
        const { plans } = made(await plan(admin));
        const at = now(-hours * (DAY_MS / 24));
        for (const { id } of plans)
          await db.run('UPDATE plans SET state = ?, expires_at = ?, comment = ? WHERE id = ?', [
            ...[state, at, `${state} ${hours}`, id as number],
          ]);
      }
      await applicationOf(service.server.dataDir)?.get(PlansService).prune();
      const left = await db.rows<{ comment: string }>('SELECT DISTINCT comment FROM plans');
      assert.deepEqual(left.map(({ comment }) => comment).sort(), ['applied 1', 'applied 167', 'applied 25', 'open 1']);
    });
  });
