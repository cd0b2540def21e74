import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { DnsRecordsRepository } from '../../src/cache/dns-records.repository.js';
import type { RowValues } from '../../src/cache/reconcile.js';
import { RecordCache } from '../../src/cache/record-cache.js';
import { RecordCountsRepository } from '../../src/cache/record-counts.repository.js';
import { DomainStateRepository } from '../../src/domains/domain-state.repository.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { rowValues } from '../support/rows.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';

const DOMAIN = 1;
const row = (remote_id: string | null, value: string, more: Partial<RowValues & { remark: string }> = {}) => ({
  ...rowValues(value, { remote_id }),
  remark: '',
  ...more,
});

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`the cache of records, on ${kind}`, () => {
    let service: Service;
    let db: Db;
    let close: () => Promise<void>;
    let cache: RecordCache;
    let state: DomainStateRepository;
    beforeAll(async () => {
      service = await startService(kind);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      state = new DomainStateRepository(db);
      cache = new RecordCache(new DnsRecordsRepository(db), new RecordCountsRepository(db), state);
      await db.run(
        `INSERT INTO dns_accounts (id, provider, name, remark, credentials, created_at, updated_at)
          VALUES (1, 'zonefile', 'a', '', '', ?, ?)`,
        [now(), now()],
      );
      await db.run(
        `INSERT INTO domains (id, name, account_id, remote_id, status, remark, records_count, revision, created_at)
         VALUES (?, 'd.example', 1, 'x', 'active', '', 0, 0, ?)`,
        [DOMAIN, now()],
      );
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });
    beforeEach(async () => {
      await remove((await all()).map((r) => r.id));
      await exact([]);
    });

    const all = async () =>
      cache.those(
        DOMAIN,
        'id',
        (await cache.following(DOMAIN)).map((r) => r.id),
      );
    const locked = <T>(work: (manager: Parameters<RecordCache['write']>[0]) => Promise<T>) =>
      db.transaction(async (manager) => {
        await state.raiseRevision(DOMAIN, manager);
        return work(manager);
      });
    const write = (...list: Parameters<RecordCache['write']>[2]) => locked((m) => cache.write(m, DOMAIN, list));
    const remove = (ids: number[]) => locked((m) => cache.remove(m, DOMAIN, ids));
    /** What is there, by id, and that the counts say the same. */
    const exact = async (wanted: [number, string | null, string][]) => {
      const rows = await all();
      assert.deepEqual(
        rows.map((r) => [r.id, r.remote_id, r.value]),
        wanted,
      );
      const total = await db.row<{ n: number }>('SELECT records_count AS n FROM domains WHERE id = ?', [DOMAIN]);
      assert.equal(total?.n, rows.length);
      for (const type of ['A', 'AAAA'])
        assert.equal(await cache.countOf(DOMAIN, [type]), rows.filter((r) => r.type === type).length, type);
    };

    it('counts what was there, not what was meant', async () => {
      const [a = 0, b = 0] = await write({ id: null, row: row('a', '1') }, { id: null, row: row('b', '2') });
      assert.equal(await remove([a, 999_999]), 1);
      assert.equal(await remove([a]), 0);
      await exact([[b, 'b', '2']]);
      // a synchronisation took it, and the provider has it again
      assert.deepEqual(await write({ id: a, row: row('c', '3') }), [a]);
      await exact([
        [a, 'c', '3'],
        [b, 'b', '2'],
      ]);
      await write({ id: b, row: row('b', '::1', { type: 'AAAA' }) });
      await exact([
        [a, 'c', '3'],
        [b, 'b', '::1'],
      ]);
    });

    it('gives a new record the stale row of its id, and lets a stale row give way to another one', async () => {
      const [a = 0, b = 0] = await write({ id: null, row: row('a', '1') }, { id: null, row: row('b', '2') });
      assert.deepEqual(await write({ id: null, row: row('a', '::3', { type: 'AAAA' }) }), [a]);
      await exact([
        [a, 'a', '::3'],
        [b, 'b', '2'],
      ]);
      assert.deepEqual(await write({ id: b, row: row('a', '4') }), [b]);
      await exact([[b, 'a', '4']]);
    });

    it('writes lists: many, twice the same, and ids that change hands', async () => {
      const many = Array.from({ length: 450 }, (_, i) => ({
        id: null,
        row: row(`m${i}`, `${i}`, { remark: `r${i}` }),
      }));
      const ids = await write(...many);
      assert.equal(new Set(ids).size, 450);
      const rows = await all();
      for (const [i, id] of ids.entries()) assert.equal(rows.find((r) => r.id === id)?.remark, `r${i}`);
      await exact(rows.map((r) => [r.id, r.remote_id, r.value]));
      await remove(ids);
      const [a = 0, b = 0] = await write({ id: null, row: row('a', '1') }, { id: null, row: row('b', '2') });
      assert.deepEqual(
        await write(
          { id: a, row: row('b', '3') },
          { id: b, row: row('a', '4') },
          { id: null, row: row(null, '5', { enabled: false }) },
          { id: null, row: row('n', '6') },
          { id: null, row: row('n', '7') },
        ).then((list) => [list[0], list[1], list[3] === list[4]]),
        [a, b, true],
      );
      assert.deepEqual(
        (await all()).map((r) => [r.remote_id, r.value]).toSorted(),
        [
          [null, '5'],
          ['a', '4'],
          ['b', '3'],
          ['n', '7'],
        ].toSorted(),
      );
    });

    it('marks what is pending', async () => {
      const [a = 0] = await write({ id: null, row: row('a', '1') });
      const mark = (pending: boolean) => locked((m) => cache.markPending(m, DOMAIN, [a, 999_999], pending));
      assert.equal((await cache.one(DOMAIN, a))?.pending, false);
      assert.equal(await mark(true), 1);
      await write({ id: a, row: row('a', '2') });
      assert.equal((await cache.one(DOMAIN, a))?.pending, true);
      await mark(false);
      assert.equal((await cache.one(DOMAIN, a))?.pending, false);
    });
  });
}
