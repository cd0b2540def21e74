import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { ProviderSessionsRepository } from '../../src/accounts/provider-sessions.repository.js';
import { ProviderSessions } from '../../src/accounts/provider-sessions.service.js';
import { keepTime, timeMs } from '../../src/platform/common/clock.js';
import { Deadline, underDeadline } from '../../src/platform/common/deadline.js';
import type { Config } from '../../src/platform/config/config.js';
import { secretBox } from '../../src/platform/config/secret-box.js';
import type { Db } from '../../src/platform/database/db.js';
import { SealedValues } from '../../src/platform/database/sealed-values.js';
import { connectProvider } from '../../src/providers/connect.js';
import { inwx } from '../../src/providers/inwx/declaration.js';
import { startInwx } from '../providers/inwx/stand-in.js';
import { connectOptions } from '../support/connect-options.js';
import { databases } from '../support/databases.js';
import { emptyDatabase } from '../support/leases.js';
import { SILENT } from '../support/silent.js';
import { describeUnless } from '../support/suites.js';

const FAST = { ...inwx, limits: { ...inwx.limits, requests: 100_000 } };
const KEY = 'k'.repeat(64);
const WINDOW_MS = 30_000;

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`sessions at providers on ${kind}`, () => {
    let db: Db;
    let close: () => Promise<void>;
    let vendor: Awaited<ReturnType<typeof startInwx>>;
    /** What another process has: nothing but the database is the same. */
    const process = (keys = ['a-key'], of = db) => {
      const box = secretBox(keys);
      const sealed = new SealedValues({} as Config, box);
      const repository = new ProviderSessionsRepository(of);
      return { sealed, sessions: new ProviderSessions(repository, box, SILENT, sealed) };
    };
    const connect = (sessions = process().sessions, password = 'a-pass') =>
      connectProvider(
        FAST,
        { username: 'ada', password, shared_secret: 'MFRGGZDFMZTWQ2LK', endpoint: `${vendor.url}/` },
        { ...connectOptions(10_000), sessions },
      );
    const unlocks = () =>
      vendor.requests.filter(({ body }) => (body as { method?: string }).method === 'account.unlock').length;
    const later = (ms: number) => keepTime(timeMs() + ms);

    beforeAll(async () => {
      ({ db, close } = await emptyDatabase(kind));
      vendor = await startInwx();
    });
    afterAll(async () => {
      keepTime(null);
      await vendor?.stop();
      await close?.();
    });
    beforeEach(async () => {
      await db.run('DELETE FROM provider_sessions');
      Object.assign(vendor.world, { logins: 0, sessions: [], tfa: 'GOOGLE-AUTH', tans: [], open: [] });
      vendor.requests.length = 0;
      // at the beginning of a window
      keepTime(Math.ceil(timeMs() / WINDOW_MS) * WINDOW_MS + 1000);
    });

    it('serve all processes: the code of the second factor is sent once', async () => {
      const [first, second] = [connect(), connect()];
      await first.check();
      await second.listZones();
      await connect().check();
      assert.deepEqual([vendor.world.logins, unlocks()], [1, 1]);
    });

    it('are opened by one of two that begin at once, also where the old one has ended', async () => {
      const [first, second] = [connect(), connect()];
      await Promise.all([first.check(), second.check()]);
      assert.equal(unlocks(), 1);
      vendor.world.sessions = [];
      vendor.world.open = [];
      const again = Promise.all([first.listZones(), second.listZones()]);
      later(WINDOW_MS);
      await again;
      assert.deepEqual([unlocks(), vendor.world.tans.length], [2, 2]);
    });

    it('take a time step for one caller alone, and never an older one', async () => {
      const all = Array.from({ length: 6 }, () => process().sessions);
      const claims = await Promise.all(all.map((one) => one.claim(KEY, 50)));
      assert.equal(claims.filter(Boolean).length, 1);
      assert.deepEqual(await Promise.all([process().sessions.claim(KEY, 49), process().sessions.claim(KEY, 50)]), [
        false,
        false,
      ]);
      assert.equal(await process().sessions.claim(KEY, 51), true);
    });

    it('are sealed, end, and are forgotten where they are still the ones that were refused', async () => {
      const { sessions } = process();
      const others = process().sessions;
      await Promise.all([sessions.set(KEY, { token: 'one', seconds: 60 }), others.claim(KEY, 7)]);
      await sessions.set(KEY, { token: 'two', seconds: 60 });
      assert.equal(await sessions.claim(KEY, 7), false);
      await others.forget(KEY, 'one');
      const found = await others.get(KEY);
      assert.deepEqual([found?.token, Math.round(found?.seconds ?? 0)], ['two', 60]);
      const [row] = await db.rows<{ session: string }>('SELECT session FROM provider_sessions');
      assert.match(row?.session ?? '', /^v1\./);
      await others.forget(KEY, 'two');
      assert.equal(await sessions.get(KEY), undefined);
      await sessions.set(KEY, { token: 'three', seconds: 60 });
      later(61_000);
      assert.equal(await sessions.get(KEY), undefined);
      await sessions.deleteExpired();
      assert.deepEqual(await db.rows('SELECT id FROM provider_sessions'), []);
    });

    it('are sealed anew with another key, and none where their key is lost', async () => {
      await process().sessions.set(KEY, { token: 'one', seconds: 60 });
      assert.equal(await process(['another']).sessions.get(KEY), undefined);
      const both = process(['another', 'a-key']);
      assert.deepEqual(await both.sealed.renewAll(), { renewed: 1, unreadable: 0 });
      assert.equal((await process(['another']).sessions.get(KEY))?.token, 'one');
      const { sealed } = process(['a third']);
      const [lost] = await sealed.lost();
      await db.transaction(async (manager) => lost?.drop(manager));
      assert.deepEqual(await db.rows('SELECT id FROM provider_sessions'), []);
      await sealed.check();
    });

    it('are those of one process where the database fails or hangs, and no call lasts longer for that', async () => {
      const broken = { rows: fail, row: fail, run: fail } as unknown as Db;
      await connect(process(['a-key'], broken).sessions).check();
      const hanging = { rows: never, row: never, run: never } as unknown as Db;
      const provider = connect(process(['a-key'], hanging).sessions);
      // without a deadline it would have no end
      await assert.rejects(
        underDeadline(new Deadline(600), () => provider.listZones()),
        { kind: 'unavailable' },
      );
      later(WINDOW_MS);
      assert.equal((await provider.listZones()).length, 1);
    }, 30_000);
  });
}

const fail = () => Promise.reject(new Error('no database'));
const never = () => new Promise(() => undefined);
