import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { DomainEndsRepository } from '../../src/domains/domain-ends.repository.js';
import { DomainsRepository } from '../../src/domains/domains.repository.js';
import { ENTITIES } from '../../src/entities.js';
import { DelegationsRepository } from '../../src/monitoring/delegation/delegations.repository.js';
import { CertificatesRepository } from '../../src/monitoring/expiry/certificates.repository.js';
import { now } from '../../src/platform/common/clock.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { isDuplicate } from '../../src/platform/database/db.js';
import { PrivateZones1764170000000 } from '../../src/platform/schema/migrations/1764170000000-private-zones.js';
import { databases, freshDatabase } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { describeUnless } from '../support/suites.js';

const DAY_MS = 86_400_000;

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`domains beside private zones, on ${kind}`, () => {
    const folder = skip ? '' : mkdtempSync(join(tmpdir(), 'zoneward-private-'));
    let source: AppDataSource;
    let drop: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      let url = 'sqlite:zoneward.db';
      if (kind !== 'sqlite') ({ url, drop } = await freshDatabase(kind));
      source = new AppDataSource(ENTITIES);
      await source.open(parseDatabaseUrl(url, folder));
    });
    afterAll(async () => {
      await source?.destroy();
      await drop?.();
      rmSync(folder, { recursive: true, force: true });
    });

    it('from before are public, and the version before goes on writing; the upgrade may run twice and be undone', async () => {
      const db = dbOn(source);
      /** What the version before writes: it knows no column `apart`. */
      const add = (id: number) =>
        db.run(
          `INSERT INTO domains (id, name, account_id, remote_id, status, remark, records_count, revision, created_at)
           VALUES (?, 'a.example', 1, ?, 'active', '', 0, 0, ?)`,
          [id, `z${id}`, now()],
        );
      const up = async () => {
        const runner = source.createQueryRunner();
        await new PrivateZones1764170000000().up(runner);
        await runner.release();
      };
      const down = async () => {
        const runner = source.createQueryRunner();
        await new PrivateZones1764170000000().down(runner);
        await runner.release();
      };
      await db.run(
        `INSERT INTO dns_accounts (id, provider, name, remark, credentials, created_at, updated_at)
          VALUES (1, 'zonefile', 'a', '', '', ?, ?)`,
        [now(), now()],
      );
      await down();
      await add(1);
      await assert.rejects(add(2), isDuplicate);
      await up();
      await up();
      await assert.rejects(add(2), isDuplicate);
      await db.run("UPDATE domains SET apart = 'z1' WHERE id = 1", []);
      await add(2);
      await down();
      assert.deepEqual(
        (await db.rows<{ id: number }>('SELECT id FROM domains')).map(({ id }) => id),
        [2],
      );
      await up();
    });

    it('are found by looks and names, and private ones are not', async () => {
      const db = dbOn(source);
      const add = (id: number, apart: string) =>
        db.run(
          `INSERT INTO domains (id, name, account_id, remote_id, apart, status, remark, records_count, revision,
            watch_certificates, created_at)
           VALUES (?, 'b.example', 1, ?, ?, 'active', '', 0, 0, ?, ?)`,
          [id, `z${id}`, apart, true, now(-DAY_MS)],
        );
      const found = async () => {
        const ends = new DomainEndsRepository(db);
        const domains = new DomainsRepository(db);
        const lists = {
          registrations: await ends.watched(9),
          registration: await ends.below('b.example'),
          delegations: await new DelegationsRepository(db).due(10, now(), now(), 9),
          certificates: await new CertificatesRepository(db).watched(9, 10),
          tunnels: await domains.named(1, ['b.example']),
          overlaps: await domains.overlapping('www.b.example', 0),
        };
        return Object.fromEntries(Object.entries(lists).map(([what, rows]) => [what, rows.map(({ id }) => id)]));
      };
      const only = (...ids: number[]) => ({
        ...{ registrations: ids, registration: ids, delegations: ids, certificates: ids, tunnels: ids, overlaps: ids },
      });
      await add(10, 'z10');
      await add(11, '');
      for (const id of [10, 11])
        await db.run(
          `INSERT INTO dns_records (domain_id, remote_id, host, type, value, ttl, line, proxied, enabled, remark, read_only, updated_at)
           VALUES (?, ?, 'www', 'A', '192.0.2.1', 60, 'default', ?, ?, '', ?, ?)`,
          [id, `r${id}`, false, true, false, now()],
        );
      assert.deepEqual(await found(), only(11));
    });
  });
}
