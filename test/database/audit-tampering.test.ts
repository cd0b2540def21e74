import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { AuditAcceptance } from '../../src/audit/accept.service.js';
import { AuditService } from '../../src/audit/audit.service.js';
import { entryHash, type Hashed } from '../../src/audit/chain.js';
import { CheckpointFile } from '../../src/audit/checkpoint-file.service.js';
import { checkExport } from '../../src/audit/export-check.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { applicationOf, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made } from '../support/world.js';

type Row = Record<string, string | number | null>;

const ENTRIES = 30;
const parse = (text: unknown) => (typeof text === 'string' ? JSON.parse(text) : null);

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`verification of a tampered audit log on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    const verify = async () => done(await service.admin.get('/api/audit/verify'));
    const rows = () => db.rows<Row>('SELECT * FROM audit_logs ORDER BY seq');
    const ends = () => db.rows<Row>('SELECT * FROM audit_chain');
    const put = async (table: string, row: Row) => {
      const columns = Object.keys(row);
      const marks = columns.map(() => '?').join(', ');
      await db.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`, Object.values(row));
    };
    /** Rewrites rows as an attacker would who knows how hashes are made. */
    const rehashed = (list: Row[], from: number): Row[] => {
      let previous = String(list[from - 2]?.hash ?? '');
      return list.map((row, i) => {
        if (i < from - 1) return row;
        const { target, state_before, state_after } = row;
        const states = { target: parse(target), state_before: parse(state_before), state_after: parse(state_after) };
        const seq = i + 1;
        const hash = entryHash(previous, { ...row, ...states, seq } as unknown as Hashed);
        const fresh = { ...row, seq, prev_hash: previous, hash };
        previous = hash;
        return fresh;
      });
    };
    /** Verifies a log and an end of the chain, and restores the original ones. */
    const said = async (list: Row[], end: Row = {}) => {
      const [before, chain] = [await rows(), (await ends())[0] as Row];
      const write = async (all: Row[], row: Row) => {
        await db.run('DELETE FROM audit_logs');
        for (const one of all) await put('audit_logs', one);
        await db.run('DELETE FROM audit_chain');
        await put('audit_chain', row);
      };
      await write(list, { ...chain, ...end });
      const { ok, first_bad_seq, reason, entries } = await verify();
      await write(before, chain);
      return { ok, first_bad_seq, reason, entries };
    };
    beforeAll(async () => {
      service = await startService(kind);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      for (let i = 0; i < ENTRIES; i++) made(await service.admin.post('/api/tokens', { name: `t${i}` }));
      assert.equal((await verify()).ok, true);
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('names an entry in which any one field was changed', async () => {
      for (const column of [
        'username',
        'action',
        'error',
        'created_at',
        'state_after',
        'target',
        'ip',
        'hash',
        'prev_hash',
        'seal',
      ]) {
        const forged = column === 'state_after' ? '{"forged":true}' : 'forged';
        const list = (await rows()).map((row) => (row.seq === 5 ? { ...row, [column]: forged } : row));
        const { ok, first_bad_seq, entries } = await said(list);
        assert.deepEqual([ok, first_bad_seq, entries], [false, 5, 4], column);
      }
      assert.equal((await verify()).ok, true);
    });

    it('names an entry with JSON of ten thousand brackets, which is listed as it is', async () => {
      const row = (await rows())[4] as Row;
      const deep = '['.repeat(10_000) + ']'.repeat(10_000);
      await db.run('UPDATE audit_logs SET state_after = ? WHERE seq = 5', [deep]);
      const { ok, first_bad_seq } = await verify();
      const listed = done(await service.admin.get('/api/audit/logs?limit=500')).list.find(({ seq }) => seq === 5);
      await db.run('UPDATE audit_logs SET state_after = ? WHERE seq = 5', [row.state_after as string]);
      assert.deepEqual([ok, first_bad_seq, listed?.after], [false, 5, deep]);
      assert.equal((await verify()).ok, true);
    });

    it('names an entry with a number that JavaScript cannot represent', async () => {
      if (kind !== 'sqlite') return;
      const row = (await rows())[4] as Row;
      await db.run('UPDATE audit_logs SET user_id = 1152921504606846977 WHERE seq = 5');
      const { ok, first_bad_seq } = await verify();
      await db.run('UPDATE audit_logs SET user_id = ? WHERE seq = 5', [row.user_id as number]);
      assert.deepEqual([ok, first_bad_seq], [false, 5]);
    });

    it('names a deleted entry, and the first when all were deleted', async () => {
      const deleted = await said((await rows()).filter((row) => row.seq !== 7));
      assert.deepEqual([deleted.ok, deleted.first_bad_seq], [false, 7]);
      assert.match(deleted.reason ?? '', /entry 7 is missing/);
      const first = await said((await rows()).filter((row) => row.seq !== 1));
      assert.deepEqual([first.ok, first.first_bad_seq], [false, 1]);
      const all = await said([]);
      assert.deepEqual([all.ok, all.first_bad_seq, all.entries], [false, 1, 0]);
    });

    it('names the first of two entries that were swapped', async () => {
      const places: Record<number, number> = { 9: 12, 12: 9 };
      const swapped = (await rows()).map((row) => ({ ...row, seq: places[row.seq as number] ?? row.seq }) as Row);
      const { ok, first_bad_seq } = await said(swapped);
      assert.deepEqual([ok, first_bad_seq], [false, 9]);
    });

    it('names the first of two entries whose ids were swapped, and one with a new id', async () => {
      const ids = new Map((await rows()).map(({ seq, id }) => [seq as number, id as number]));
      const renumbered = async (change: Record<number, number | undefined>) =>
        said((await rows()).map((row) => ({ ...row, id: change[row.seq as number] ?? row.id }) as Row));
      for (const [one, other] of [
        [9, 12],
        [1, 2],
      ] as const) {
        const { ok, first_bad_seq } = await renumbered({ [one]: ids.get(other), [other]: ids.get(one) });
        assert.deepEqual([ok, first_bad_seq], [false, one]);
      }
      const { ok, first_bad_seq } = await renumbered({ 5: 1_000_000 });
      assert.deepEqual([ok, first_bad_seq], [false, 5]);
      assert.equal((await verify()).ok, true);
    });

    it('names a missing tail, whatever the recorded end says', async () => {
      const list = await rows();
      const cut = list.slice(0, -10);
      const due = cut.length + 1;
      const { seq, hash } = cut.at(-1) as Row;
      for (const end of [{}, { seq, hash } as Row]) {
        const { ok, first_bad_seq, reason } = await said(cut, end);
        assert.deepEqual([ok, first_bad_seq], [false, due]);
        assert.match(reason ?? '', new RegExp(`tail is missing: entries ${due} to ${list.length}`));
      }
    });

    it('names the missing tail when an older end is restored with its signature', async () => {
      const [old, list] = [(await ends())[0] as Row, await rows()];
      for (let i = 0; i < 3; i++) made(await service.admin.post('/api/tokens', { name: `later${i}` }));
      assert.equal((await verify()).ok, true);
      const { ok, first_bad_seq, reason } = await said(list, old);
      assert.deepEqual([ok, first_bad_seq], [false, list.length + 1]);
      assert.match(reason ?? '', /tail is missing/);
      assert.equal((await verify()).ok, true);
    });

    it('names an inserted entry: in the middle, behind the end, before the beginning', async () => {
      const list = await rows();
      const copy = { ...(list[10] as Row), id: 900_000, username: 'forged' };
      const middle = rehashed([...list.slice(0, 11), copy, ...list.slice(11)], 12);
      const last = middle.at(-1) as Row;
      const inserted = await said(middle, { seq: last.seq, hash: last.hash } as Row);
      assert.deepEqual([inserted.ok, inserted.first_bad_seq], [false, 12]);
      const behind = rehashed([...list, copy], list.length + 1);
      const appended = await said(behind);
      assert.deepEqual([appended.ok, appended.first_bad_seq], [false, list.length + 1]);
      for (const seq of [0, -2_147_483_648, ...(kind === 'sqlite' ? [-3_000_000_000] : [])]) {
        const before = await said([{ ...copy, seq }, ...list]);
        assert.deepEqual([before.ok, before.first_bad_seq], [false, seq]);
      }
      assert.equal((await verify()).ok, true);
    });

    it('names an entry that was changed with all later hashes', async () => {
      const list = await rows();
      const forged = rehashed(
        list.map((row) => (row.seq === 15 ? { ...row, username: 'somebody' } : row)),
        15,
      );
      const last = forged.at(-1) as Row;
      const { ok, first_bad_seq, reason } = await said(forged, { hash: last.hash } as Row);
      assert.deepEqual([ok, first_bad_seq], [false, 15]);
      assert.match(reason ?? '', /without the key/);
      // removing the key does not help
      const bare = forged.map((row) => ({ ...row, seal: null }));
      const none = { hash: last.hash, secret: null, signature: null, unsealed_seq: null } as Row;
      assert.equal((await said(bare, none)).ok, false);
      assert.equal((await said(bare, { hash: last.hash, unsealed_seq: last.seq } as Row)).ok, false);
      assert.equal((await verify()).ok, true);
    });

    it('names a foreign key of the chain', async () => {
      const sealed = (await ends())[0]?.secret as string;
      for (const secret of ['forged', `${sealed.slice(0, -8)}AAAAAAAA`, sealed.replace(/^v1\.\w+/, 'v1.00000000')]) {
        const { ok, first_bad_seq, reason } = await said(await rows(), { secret });
        assert.deepEqual([ok, first_bad_seq], [false, null]);
        assert.match(reason ?? '', /key of the chain is none of this service/);
      }
      assert.equal((await verify()).ok, true);
    });

    it('reports pending entries that cannot be linked', async () => {
      await db.run('ALTER TABLE audit_pending RENAME TO elsewhere');
      const { ok, first_bad_seq, reason } = await verify();
      await db.run('ALTER TABLE elsewhere RENAME TO audit_pending');
      assert.deepEqual([ok, first_bad_seq], [false, null]);
      assert.match(reason ?? '', /^entries wait that cannot be put into the chain: .*audit_pending/);
      assert.equal((await verify()).ok, true);
    });

    it('goes on linking, and does not sign a chain that somebody else changed', async () => {
      const before = await rows();
      const { seq, hash } = before[before.length - 6] as Row;
      await db.run('DELETE FROM audit_logs WHERE seq > ?', [seq as number]);
      await db.run('UPDATE audit_chain SET seq = ?, hash = ?', [seq as number, hash as string]);
      // nothing else holds the old state
      rmSync(join(service.server.dataDir, 'audit-checkpoint.json'), { force: true });
      for (let i = 0; i < 8; i++) made(await service.admin.post('/api/tokens', { name: `after${i}` }));
      const { total } = done(await service.admin.get('/api/audit/logs'));
      assert.equal(total, (seq as number) + 8);
      assert.equal((await verify()).ok, false);
      // as after a restore: an operator accepts the chain
      const accepted = await applicationOf(service.server.dataDir)?.get(AuditAcceptance).accept();
      assert.equal(accepted, (seq as number) + 8);
      const { ok, entries } = await verify();
      assert.deepEqual([ok, entries], [true, (seq as number) + 9]);
      const [entry] = done(await service.admin.get('/api/audit/logs?action=audit.accept')).list;
      assert.deepEqual([entry?.actor.type, entry?.after?.seq], ['system', accepted]);
    });

    it('links, shows and exports invalid JSON as plain text', async () => {
      const entry = { created_at: now(), actor_type: 'system', action: 'auth.login_failed', result: 'ok' };
      const of = { ip: '192.0.2.9', user_agent: '', request_id: '' };
      await put('audit_pending', { ...entry, ...of, target: '{', state_before: 'null', state_after: 'forged' });
      const [shown] = done(await service.admin.get('/api/audit/logs?limit=1')).list;
      assert.deepEqual([shown?.target, shown?.before, shown?.after], ['{', null, 'forged']);
      assert.equal((await verify()).ok, true);
      done(await service.admin.get('/api/system/login-stats'));
      const headers = { authorization: `Bearer ${service.token}` };
      const file = join(service.server.dataDir, 'export.ndjson');
      const answer = await fetch(`${service.server.url}/api/audit/export?format=ndjson`, { headers });
      writeFileSync(file, await answer.text());
      assert.equal((await checkExport(file, [], false)).wrong, null);
    });

    it('tolerates several processes that keep the checkpoint at once', async () => {
      const checkpoints = applicationOf(service.server.dataDir)?.get(CheckpointFile) as CheckpointFile;
      await checkpoints.forget();
      await Promise.all(Array.from({ length: 20 }, () => checkpoints.update()));
      assert.ok(await checkpoints.read());
      assert.ok(!service.server.log.includes('audit checkpoints cannot be kept'));
    });

    it('names a duplicate number, where no index forbids it', async () => {
      const audit = applicationOf(service.server.dataDir)?.get(AuditService);
      // the last one that is read at once
      for (let i = (await rows()).length; i < 205; i++)
        await audit?.append('system', { action: 'test.entry' as 'record.entry' });
      assert.equal((await verify()).ok, true);
      await db.run(`DROP INDEX audit_logs_seq_uq${kind === 'mysql' ? ' ON audit_logs' : ''}`);
      const { id: _, ...row } = (await rows())[199] as Row;
      await put('audit_logs', row);
      const { ok, first_bad_seq, reason } = await verify();
      assert.deepEqual([ok, first_bad_seq, reason], [false, 200, 'entry 200 is there twice']);
    });
  });
}
