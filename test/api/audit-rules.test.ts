import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { AuditJobs } from '../../src/administration/audit/jobs.service.js';
import { AuditRulesCheck } from '../../src/administration/audit/rules.service.js';
import { AuditService } from '../../src/audit/audit.service.js';
import { ChainEnds } from '../../src/audit/chain-ends.service.js';
import { CheckpointFile } from '../../src/audit/checkpoint-file.service.js';
import { ChangeRetention } from '../../src/changes/retention.service.js';
import { Notices } from '../../src/notifications/notices.service.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db, SqlValue } from '../../src/platform/database/db.js';
import type { Notice } from '../../src/platform/events/events.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { applicationOf, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const RULE = { name: 'many tokens', match: { action: 'token.create' }, threshold: 3, window_minutes: 5 };
const PATH = '/api/settings/audit-rules';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`rules of the audit log on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    const notices: Notice[] = [];
    let outboxFails = false;
    const of = <T>(kindOf: new (...args: never[]) => T): T => applicationOf(service.server.dataDir)?.get(kindOf) as T;
    const check = async (): Promise<Notice[]> => {
      notices.length = 0;
      // two processes that look at once
      await Promise.all([of(AuditRulesCheck).check(), of(AuditRulesCheck).check()]);
      // a checkpoint that came between is a notice, too
      return notices.filter(({ event }) => event === 'audit.rule');
    };
    const create = async (count: number) => {
      for (let i = 0; i < count; i++) made(await service.admin.post('/api/tokens', { name: 'x' }));
    };
    const set = async (rule: object) => done(await service.admin.put(PATH, { rules: [{ ...RULE, ...rule }] }));
    beforeAll(async () => {
      service = await startService(kind);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      const outbox = of(Notices);
      const tell = outbox.tell.bind(outbox);
      outbox.tell = async (manager, notice) => {
        if (outboxFails) throw new Error('the outbox takes nothing');
        await tell(manager, notice);
        notices.push(notice);
      };
      // the scheduled check of the service does not interfere
      const ended = `UPDATE jobs SET state = 'done' WHERE name = 'audit.rules' AND state = 'waiting'`;
      await until('the first look', async () => (await db.run(ended)) === 1);
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });
    beforeEach(async () => {
      await db.run('DELETE FROM audit_rule_states');
      // dates back what earlier tests wrote
      await db.run('UPDATE audit_logs SET created_at = ?', [now(-DAY_MS)]);
    });

    it('are shown with their defaults', async () => {
      assert.deepEqual(done(await service.admin.get(PATH)), { retention_days: null, rules: [] });
      const { rules } = await set({});
      const [rule] = rules;
      assert.match(rule?.id ?? '', /^[0-9a-f]{16}$/);
      assert.deepEqual(rule, {
        id: rule?.id,
        ...RULE,
        enabled: true,
        match: { action: 'token.create', domain: null, actor: null },
        channels: [],
      });
      assert.deepEqual(done(await service.admin.put(PATH, { retention_days: 30 })).rules, rules);
      assert.deepEqual(done(await service.admin.put(PATH, { retention_days: null, rules })).rules, rules);
      const [entry] = done(await service.admin.get('/api/audit/logs?action=settings.update')).list;
      assert.deepEqual([entry?.before?.retention_days, entry?.after?.retention_days], [30, null]);
    });

    it('are refused with the names of all invalid fields', async () => {
      const before = done(await service.admin.get(PATH));
      const wrong: [object, string[]][] = [
        [{ retention_days: 0 }, ['retention_days']],
        [{ retention_days: 1.5 }, ['retention_days']],
        [{ rules: null }, ['rules']],
        [{ rules: [{}] }, ['rules.0.name', 'rules.0.threshold', 'rules.0.window_minutes']],
        [
          { rules: [{ ...RULE, threshold: 0, window_minutes: 20_000 }] },
          ['rules.0.threshold', 'rules.0.window_minutes'],
        ],
        [{ rules: [{ ...RULE, match: { action: '', x: 1 } }] }, ['rules.0.match.action', 'rules.0.match.x']],
        [{ rules: [{ ...RULE, channels: ['a', 'a'] }] }, ['rules.0.channels']],
        [{ rules: [{ ...RULE, name: 'two\nlines', id: 'a b' }] }, ['rules.0.id', 'rules.0.name']],
        [{ rules: [{ ...RULE, id: 'a' }, RULE, { ...RULE, id: 'a' }] }, ['rules.2.id']],
        [{ other: 1 }, ['other']],
      ];
      for (const [body, paths] of wrong) {
        const { errors } = refused(await service.admin.put(PATH, body), 400, 400001).data;
        assert.deepEqual(errors.map(({ path }) => path).toSorted(), paths, JSON.stringify(body));
      }
      assert.deepEqual(done(await service.admin.get(PATH)), before);
    });

    it('notify once per window when their threshold is reached', async () => {
      await set({ id: 'r1', channels: ['pager'] });
      await create(2);
      assert.deepEqual(await check(), []);
      await create(1);
      const [notice, ...more] = await check();
      assert.equal(more.length, 0);
      assert.deepEqual([notice?.event, notice?.channels, notice?.domain], ['audit.rule', ['pager'], null]);
      assert.match(notice?.text ?? '', /"many tokens": 3 matching entries within 5 min/);
      assert.deepEqual([notice?.details?.rule_id, notice?.details?.count], ['r1', 3]);
      await create(4);
      assert.deepEqual(await check(), []);
      // after the window, the same entries no longer notify, and newer ones do
      const back = now(-5 * MINUTE_MS - 1000);
      await db.run('UPDATE audit_rule_states SET fired_at = ?, checked_at = ?', [back, back]);
      const [next] = await check();
      assert.equal(next?.details?.count, 7);
    });

    it('notify later when notifying failed', async () => {
      await set({ id: 'later' });
      await create(3);
      outboxFails = true;
      await Promise.allSettled([check()]);
      outboxFails = false;
      assert.equal((await check()).length, 1);
      assert.deepEqual(await check(), []);
    });

    it('check the same entries again when these could not be linked', async () => {
      await set({ id: 'unlinked' });
      assert.deepEqual(await check(), []);
      const before = await db.rows('SELECT checked_at FROM audit_rule_states');
      const chain = of(ChainEnds);
      chain.lock = async () => {
        throw new Error('the chain is locked');
      };
      await create(3);
      await assert.rejects(check(), /the chain is locked/);
      assert.deepEqual(await db.rows('SELECT checked_at FROM audit_rule_states'), before);
      Reflect.deleteProperty(chain, 'lock');
      assert.equal((await check()).length, 1);
    });

    it('count only entries within their window', async () => {
      await set({ id: 'r2' });
      assert.deepEqual(await check(), []);
      await create(3);
      const entries = done(await service.admin.get('/api/audit/logs?action=token.create&limit=3')).list;
      const at = [0, -2, -6].map((minutes) => now(minutes * MINUTE_MS));
      for (const [i, { id }] of entries.entries())
        await db.run('UPDATE audit_logs SET created_at = ? WHERE id = ?', [at[i] as string, id]);
      assert.deepEqual(await check(), []);
      await create(1);
      assert.equal((await check()).length, 1);
    });

    it('match by action, domain and actor, and count repetitions of anonymous callers', async () => {
      const account = await addAccount(service.admin, 'zonefile', {});
      const domain = await addDomain(service.admin, account, 'rules.example', true);
      const records = `/api/domains/${domain}/records` as const;
      const add = (last: number) => service.admin.post(records, { host: `h${last}`, type: 'A', value: '192.0.2.1' });
      const MATCHES: [object, boolean][] = [
        [{ action: 'record.*' }, true],
        [{ action: 'record.delete' }, false],
        [{ domain: 'Rules.example' }, true],
        [{ domain: '*.example', actor: 'ADMIN' }, true],
        [{ domain: 'other.example' }, false],
        [{ actor: 'system', action: 'record.*' }, false],
        [{ actor: 'adm*', action: 'record.create' }, true],
      ];
      for (const [i, [match, hits]] of MATCHES.entries()) {
        await set({ id: `m${i}`, match, threshold: 1 });
        await db.run('UPDATE audit_logs SET created_at = ?', [now(-DAY_MS)]);
        made(await add(i));
        assert.equal((await check()).length, hits ? 1 : 0, JSON.stringify(match));
      }
      await set({ id: 'strangers', match: { action: 'auth.login_failed' }, threshold: 5 });
      await service.server.call('POST', '/api/auth/login', { username: 'nobody', password: 'x' });
      assert.deepEqual(await check(), []);
      const failed = "SELECT id FROM audit_logs WHERE action = 'auth.login_failed'";
      const [row] = await db.rows<{ id: number }>(failed);
      await db.run('UPDATE audit_logs SET state_after = ? WHERE id = ?', ['{"count":5}', row?.id as number]);
      assert.equal((await check())[0]?.details?.count, 5);
      done(await service.admin.put(PATH, { rules: [{ ...RULE, id: 'off', threshold: 1, enabled: false }] }));
      await create(2);
      assert.deepEqual(await check(), []);
    });

    it('keeps entries for as long as a super administrator sets', async () => {
      await addUser(db, { username: 'second', password: 'second-secret' }, 2);
      const second = service.server.as(await service.server.login({ username: 'second', password: 'second-secret' }));
      refused(await second.put(PATH, { retention_days: 30 }), 403, 403001);
      assert.equal(done(await second.get(PATH)).retention_days, null);
    });

    it('limits states and sections to bytes that every database can hold', async () => {
      const stored = async (texts: number) => {
        const after = { list: Array.from({ length: texts }, () => '€'.repeat(1000)) };
        await of(AuditService).append('system', { action: 'test.wide' as 'record.wide', after });
        return { after, entry: done(await service.admin.get('/api/audit/logs?action=test.wide')).list[0] };
      };
      const whole = await stored(19);
      assert.deepEqual(whole.entry?.after, whole.after);
      assert.deepEqual((await stored(20)).entry?.after, { left_out: '60070 bytes' });
      const wide = '€'.repeat(64);
      const rules = Array.from({ length: 100 }, () => ({ ...RULE, name: wide, match: { action: wide, actor: wide } }));
      const before = done(await service.admin.get(PATH));
      refused(await service.admin.put(PATH, { rules }), 400, 400001);
      assert.deepEqual(done(await service.admin.get(PATH)), before);
    });
  });

  describeUnless(skip)(`retention of the audit log on ${kind}`, () => {
    it('removes whole days, and leaves a log that verifies', async () => {
      const service = await startService(kind);
      const { db, close } = await openDatabase(service.databaseUrl, service.server.dataDir);
      try {
        const { admin } = service;
        const app = applicationOf(service.server.dataDir);
        const verify = async () => done(await admin.get('/api/audit/verify'));
        const total = async () => done(await admin.get('/api/audit/logs')).total;
        const prune = async () => {
          await app?.get(AuditJobs).prune();
          await app?.get(ChangeRetention).prune();
        };
        const account = await addAccount(admin, 'zonefile', {});
        const domain = await addDomain(admin, account, 'example.com', true);
        for (let i = 0; i < 12; i++)
          made(await admin.post(`/api/domains/${domain}/records`, { host: `h${i}`, type: 'A', value: '192.0.2.1' }));
        const whole = await verify();
        await prune();
        assert.equal(await total(), whole.entries, 'kept for ever');
        done(await admin.put('/api/settings/audit-rules', { retention_days: 30 }));
        await prune();
        assert.equal(await total(), whole.entries + 1, 'nothing is so old');

        // forty days ago: times are hashed, so the first entries are linked anew, as by a service of that time
        const cut = 8;
        const rows = await db.rows<Record<string, SqlValue>>('SELECT * FROM audit_logs ORDER BY seq');
        await db.transaction(async (manager) => {
          await db.run('DELETE FROM audit_logs', [], manager);
          await db.run(`UPDATE audit_chain SET seq = 0, hash = '', secret = NULL, signature = NULL`, [], manager);
          for (const [i, { id: _, seq, prev_hash, hash, seal, ...entry }] of rows.entries())
            await db.insert('audit_pending', { ...entry, ...(i < cut && { created_at: now(-40 * DAY_MS) }) }, manager);
        });
        // after a checkpoint that was being written of the old chain
        await app?.get(CheckpointFile).update();
        rmSync(join(service.server.dataDir, 'audit-checkpoint.json'), { force: true });
        const sets = await db.rows<{ id: number }>('SELECT id FROM change_sets ORDER BY id');
        await db.run('UPDATE change_sets SET finished_at = ? WHERE id <= ?', [
          now(-40 * DAY_MS),
          sets[3]?.id as number,
        ]);
        await db.run("UPDATE change_sets SET state = 'unknown' WHERE id = ?", [sets[0]?.id as number]);
        const before = await verify();
        assert.equal(before.ok, true, before.reason ?? '');
        await prune();
        const after = await verify();
        assert.deepEqual([after.ok, after.reason], [true, null]);
        assert.equal(after.checkpoint?.start_seq, cut + 1);
        assert.equal(after.entries, before.entries - cut + 1, 'and the entry of the removal');
        assert.equal(await total(), after.entries, 'what is gone is not counted any more');
        const [entry] = done(await admin.get('/api/audit/logs?action=audit.prune')).list;
        assert.deepEqual([entry?.actor.type, entry?.after?.entries], ['system', cut]);
        assert.equal((await db.rows('SELECT id FROM change_sets')).length, sets.length - 3);
        assert.equal(
          (await db.rows('SELECT id FROM record_changes WHERE change_set_id <= ?', [sets[3]?.id as number])).length,
          1,
          'what is unclear is kept',
        );
        // the new beginning is signed
        await db.run('UPDATE audit_chain SET start_seq = ?, start_hash = (SELECT hash FROM audit_logs WHERE seq = ?)', [
          cut + 2,
          cut + 1,
        ]);
        await db.run('DELETE FROM audit_logs WHERE seq = ?', [cut + 1]);
        assert.equal((await verify()).ok, false);
      } finally {
        await close();
        await service.stop();
      }
    });
  });
}
