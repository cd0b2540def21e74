import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ENTITIES } from '../../src/entities.js';
import { now } from '../../src/platform/common/clock.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { Ownership1763920000000 } from '../../src/platform/schema/migrations/1763920000000-ownership.js';
import { addTeam, addUser } from '../support/database.js';
import { databases, freshDatabase } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { describeUnless } from '../support/suites.js';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`permissions of before an upgrade, on ${kind}`, () => {
    const folder = skip ? '' : mkdtempSync(join(tmpdir(), 'zoneward-ownership-'));
    const source = new AppDataSource(ENTITIES);
    const db = dbOn(source);
    let drop: (() => Promise<void>) | undefined;
    let entries = 0;
    const user = (username: string, role = 1) => addUser(db, { username, password: 'x' }, role);
    const audit = (
      user_id: number | null,
      action: string,
      target: object,
      before: object | null = null,
      result = 'ok',
    ) =>
      db.run(
        `INSERT INTO audit_logs (seq, created_at, actor_type, user_id, action, target, state_before, result, ip,
          user_agent, request_id, prev_hash, hash)
         VALUES (?, ?, 'user', ?, ?, ?, ?, ?, '', '', '', '', '')`,
        [++entries, now(), user_id, action, JSON.stringify(target), JSON.stringify(before), result],
      );
    /** A permission of a team on the domain. @returns its id */
    const given = async (
      team: number,
      domain: number,
      by: number | null,
      host: string,
      repeated: true | null = null,
    ) => {
      await db.run(
        `INSERT INTO domain_permissions (team_id, domain_id, domain_name, permission, host, repeated)
          VALUES (?, ?, 'a.test', 'write', ?, ?)`,
        [team, domain, host, repeated],
      );
      const row = await db.row<{ id: number }>('SELECT MAX(id) AS id FROM domain_permissions');
      const id = Number(row?.id);
      if (by !== null) await audit(by, 'permission.create', { type: 'permission', id, name: 'a.test' });
      return id;
    };

    beforeAll(async () => {
      let url = 'sqlite:zoneward.db';
      if (kind !== 'sqlite') ({ url, drop } = await freshDatabase(kind));
      await source.open(parseDatabaseUrl(url, folder));
    });
    afterAll(async () => {
      if (source.isInitialized) await source.destroy();
      await drop?.();
      rmSync(folder, { recursive: true, force: true });
    });

    it('end when who gave them was neither owner nor administrator', async () => {
      const owner = await user('owner');
      const admin = await user('admin', 2);
      const writer = await user('writer');
      const once = await user('once');
      const team = await addTeam(db, 'team', []);
      const other = await addTeam(db, 'other', []);
      await db.run(
        `INSERT INTO dns_accounts (provider, name, remark, credentials, created_at, updated_at) VALUES ('zonefile', 'x', '', '', ?, ?)`,
        [now(), now()],
      );
      await db.run(
        `INSERT INTO domains (name, account_id, remote_id, owner_id, status, remark, records_count, revision, created_at)
         SELECT 'a.test', id, 'a', ?, 'active', '', 0, 0, ? FROM dns_accounts`,
        [owner, now()],
      );
      const domain = Number((await db.row<{ id: number }>('SELECT id FROM domains'))?.id);
      const ended = [await given(team, domain, writer, 'w'), await given(other, domain, writer, 'w')];
      const kept = [
        await given(team, domain, owner, 'o', true),
        await given(team, domain, admin, 'a', true),
        await given(team, domain, null, 'unknown', true),
        await given(team, domain, 999_999, 'gone', true),
        await given(team, domain, once, 'once', true),
      ];
      // somebody who tried and was refused gave nothing
      await audit(writer, 'permission.create', { type: 'permission', id: kept[2] }, null, 'failed');
      await audit(admin, 'user.update', { type: 'user', id: once }, { role: 2 });
      const runner = source.createQueryRunner();
      for (let i = 0; i < 2; i++) await new Ownership1763920000000().up(runner);
      await runner.release();
      const rows = await db.rows<{ id: number; granted_by: number | null; repeated: unknown }>(
        'SELECT id, granted_by, repeated FROM domain_permissions ORDER BY id',
      );
      assert.deepEqual(
        rows.map(({ id }) => id),
        kept,
        `without ${ended}`,
      );
      assert.deepEqual(
        rows.map(({ granted_by }) => granted_by),
        [owner, admin, null, 999_999, once],
      );
      // lists count a domain of a team once: the one that counted is gone
      assert.deepEqual(
        rows.map(({ repeated }) => repeated === null),
        [true, false, false, false, false],
      );
    });
  });
}
