import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { AttentionKind } from '../../src/overview/dashboard/dashboard.dto.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db, SqlValue } from '../../src/platform/database/db.js';
import { addTeam, addUser, grant, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const DAY_MS = 86_400_000;
const person = (username: string) => ({ username, password: 'correct-horse-battery-9' });

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`the overview, on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let user: Client;
    let db: Db;
    let close: () => Promise<void>;
    let account: number;
    /** a domain of the user, one that a team of theirs may write below a host, and two of others */
    let [own, shared, foreign, gone] = [0, 0, 0, 0];

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      account = await addAccount(admin, 'zonefile', {});
      own = await addDomain(admin, account, 'own.example', true);
      shared = await addDomain(admin, account, 'shared.example', true);
      foreign = await addDomain(admin, account, 'foreign.example', true);
      gone = await addDomain(admin, account, 'gone.example', true);
      const id = await addUser(db, person('reader'));
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [id, own]);
      await grant(db, await addTeam(db, 'hosts', [id]), shared, 'write');
      await db.run('UPDATE domain_permissions SET host = ? WHERE domain_id = ?', ['*.dev', shared]);
      user = service.server.as(await service.server.login(person('reader')));
      for (const domain of [own, shared, foreign]) await add(domain, 'www');
      await add(own, 'mail');
      await db.run('UPDATE domains SET expires_at = ? WHERE id IN (?, ?)', [now(5 * DAY_MS), own, foreign]);
      await db.run('UPDATE domains SET expires_at = ? WHERE id = ?', [now(20 * DAY_MS), shared]);
      await db.run("UPDATE domains SET status = 'missing' WHERE id = ?", [gone]);
      for (const domain of [own, foreign]) await addTrouble(domain);
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });

    const add = async (domain: number, host: string) =>
      made(await admin.post(`/api/domains/${domain}/records`, { host, type: 'A', value: '192.0.2.1' }));
    const insert = (table: string, row: Record<string, SqlValue>) =>
      db.run(
        `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row)
          .map(() => '?')
          .join(', ')})`,
        Object.values(row),
      );

    /** Of a domain: two late certificates, a broken delegation, a held rule that serves its backup, a held list. */
    async function addTrouble(domain_id: number) {
      const { name } = (await db.row<{ name: string }>('SELECT name FROM domains WHERE id = ?', [domain_id])) ?? {};
      await db.run('UPDATE domains SET watch_certificates = ? WHERE id = ?', [true, domain_id]);
      for (const host of ['www', 'mail']) {
        const times = { valid_from: now(-80 * DAY_MS), valid_to: now(3 * DAY_MS), checked_at: now() };
        await insert('certificates', { domain_id, host: `${host}.${name}`, ...times });
      }
      // neither is late: one lasts for another month, one was issued for six days only
      await insert('certificates', {
        domain_id,
        host: `a.${name}`,
        valid_from: now(-60 * DAY_MS),
        valid_to: now(30 * DAY_MS),
      });
      await insert('certificates', {
        domain_id,
        host: `b.${name}`,
        valid_from: now(-2 * DAY_MS),
        valid_to: now(4 * DAY_MS),
      });
      await insert('delegations', {
        domain_id,
        broken: '["no_server_answers"]',
        checked_at: now(),
        next_at: now(DAY_MS),
      });
      await insert('failovers', { domain_id, enabled: true });
      const check = { kind: 'tcp', port: 1, interval_s: 3600, timeout_s: 1 };
      const config = { host: 'www', type: 'A', line: 'default', primary: ['127.0.0.1'], backup: ['127.0.0.2'], check };
      await insert('failover_rules', {
        ...{ domain_id, position: 0, version: 1, name: `www.${name}`, config: JSON.stringify(config), hold: true },
        ...{
          hold_reason: 'somebody changed it to 127.0.0.9',
          active: 'backup',
          checks: '{}',
          switches: 1,
          recent: '[]',
        },
      });
      const set = { domain: name ?? '', door: 'api', actor_type: 'user', request_id: 'r', comment: '', owner: '' };
      const flags = { atomic: false, background: false, whole: false };
      const more = { total: 3, created_at: now(), hold_reason: 'a right ended', state: 'unknown' };
      await insert('change_sets', { domain_id, ...set, ...flags, ...more });
    }

    const show = async (client: Client, query: '' | `?${string}` = '') =>
      done(await client.get(`/api/dashboard${query}`));
    const tokenOf = async (client: Client, more: object) =>
      service.server.as(made(await client.post('/api/tokens', { name: `t${Math.random()}`, ...more })).token);
    const ALL: Record<AttentionKind, number | null> = {
      ...{ registration_ending: 3, certificate_ending: 4, delegation_broken: 2, domain_missing: 1, sync_failed: 0 },
      ...{ account_paused: 0, account_held: 0, failover_held: 2, failover_backup: 2, change_in_doubt: 2 },
      ...{ change_held: 2, job_failing: 0 },
    };

    it('an administrator sees all domains, accounts, records and everything that needs attention', async () => {
      const { counts, domains, attention, changes } = await show(admin);
      // a new zone file has a record of its own
      const zonefile = { provider: 'zonefile', accounts: 1, domains: 4, records: 8 };
      assert.deepEqual(counts, { accounts: 1, domains: 4, records: 8, by_provider: [zonefile] });
      assert.deepEqual(domains, { missing: 1, sync_failed: 0, paused: 0, never_synced: 0, ok: 3 });
      assert.deepEqual(attention.totals, ALL);
      assert.equal(attention.list.length, 18);
      assert.deepEqual(changes, done(await admin.get('/api/changes?limit=10')).list);
    });

    it('somebody else sees what is theirs and what their teams may read, and of other domains nothing', async () => {
      const shown = await show(user);
      assert.deepEqual(shown.counts, {
        ...{ accounts: null, domains: 2, records: 5 },
        by_provider: [{ provider: 'zonefile', accounts: null, domains: 2, records: 5 }],
      });
      assert.deepEqual(shown.domains, { missing: 0, sync_failed: 0, paused: 0, never_synced: 0, ok: 2 });
      assert.deepEqual(shown.attention.totals, {
        ...{ registration_ending: 2, certificate_ending: 2, delegation_broken: 1, domain_missing: 0, sync_failed: 0 },
        ...{ account_paused: 0, account_held: null, failover_held: 1, failover_backup: 1, change_in_doubt: 1 },
        ...{ change_held: 1, job_failing: null },
      });
      assert.deepEqual(shown.changes, done(await user.get('/api/changes?limit=10')).list);
      assert.doesNotMatch(JSON.stringify(shown), /foreign|gone/);
    });

    it('somebody without any right sees zeros, and strangers are refused', async () => {
      await addUser(db, person('nobody'));
      const shown = await show(service.server.as(await service.server.login(person('nobody'))));
      assert.deepEqual(shown.counts, { accounts: null, domains: 0, records: 0, by_provider: [] });
      assert.deepEqual([shown.attention.list, shown.changes], [[], []]);
      refused(await service.server.call('GET', '/api/dashboard'), 401, 401001);
    });

    it('an entry names its targets, how bad it is, and a path that the caller may read', async () => {
      const { list } = (await show(user)).attention;
      const order = ['critical', 'warning', 'hint'];
      const ranks = list.map(({ severity }) => order.indexOf(severity));
      assert.deepEqual(ranks, ranks.toSorted());
      const ending = list.find(({ kind }) => kind === 'registration_ending');
      assert.deepEqual([ending?.domain_id, ending?.domain, ending?.severity], [own, 'own.example', 'critical']);
      assert.match(ending?.text ?? '', /^The registration of own\.example ends in 5 days, on /);
      const rule = list.find(({ kind }) => kind === 'failover_held');
      assert.equal(rule?.text, 'Failover of www.own.example A is on hold: somebody changed it to 127.0.0.9');
      assert.ok(rule?.rule_id && list.some(({ change_set_id }) => change_set_id));
      // a look at the delegation asks name servers
      for (const { href } of list.filter((one) => !one.href.endsWith('/health')))
        assert.equal((await user.get(href as '/api/changes')).status, 200, href);
    });

    it('each kind has as many entries as the limit says, and its total counts all of them', async () => {
      const { attention, changes } = await show(admin, '?limit=1');
      assert.deepEqual(attention.totals, ALL);
      assert.equal(attention.list.length, 8);
      assert.equal(changes?.length, 1);
      for (const limit of ['0', '51', 'x']) refused(await admin.get(`/api/dashboard?limit=${limit}`), 400, 400001);
    });

    it('a token that is narrowed to domains counts these alone, and no accounts or jobs', async () => {
      const { counts, attention } = await show(await tokenOf(admin, { allowed_domains: [shared] }));
      assert.deepEqual([counts.domains, counts.records, counts.accounts], [1, 2, null]);
      const { registration_ending, certificate_ending, account_held, job_failing } = attention.totals;
      assert.deepEqual([registration_ending, certificate_ending, account_held, job_failing], [1, 0, null, null]);
    });

    it('a token with rules sees neither names nor values that these do not let it read', async () => {
      const rules = [{ effect: 'allow', domains: [own], hosts: ['mail'], actions: ['read'] }];
      const shown = await show(await tokenOf(user, { rules }));
      assert.deepEqual([shown.counts.domains, shown.counts.records], [1, null]);
      const { certificate_ending, failover_held, failover_backup } = shown.attention.totals;
      assert.deepEqual([certificate_ending, failover_held, failover_backup], [1, 0, 0]);
      assert.doesNotMatch(JSON.stringify(shown), /www|127\.0\.0|shared|foreign/);
      const all = await show(await tokenOf(user, { rules: [{ effect: 'allow', actions: ['read'] }] }));
      assert.equal(all.attention.totals.failover_held, 1);
      // why it is on hold may name values that the rules hide
      assert.doesNotMatch(JSON.stringify(all), /127\.0\.0\.9/);
    });

    it('a token sees what its scopes let it list', async () => {
      const { counts, attention, changes } = await show(await tokenOf(admin, { allowed_services: ['domains:read'] }));
      const { failover_held, change_in_doubt, account_held, job_failing, delegation_broken } = attention.totals;
      assert.deepEqual(
        [failover_held, change_in_doubt, account_held, job_failing, delegation_broken],
        [null, null, null, null, 2],
      );
      assert.deepEqual([counts.accounts, changes], [null, null]);
      refused(await (await tokenOf(admin, { allowed_services: ['records:read'] })).get('/api/dashboard'), 403, 403001);
    });

    it('accounts that failed or are paused are counted for all that have domains there, with reasons for administrators', async () => {
      await db.run('UPDATE dns_accounts SET last_error = ?, paused_until = ?, pause_reason = ? WHERE id = ?', [
        ...['The key is wrong', now(DAY_MS), 'Too many calls', account],
      ]);
      const [all, mine] = [await show(admin), await show(user)];
      assert.deepEqual([all.domains.sync_failed, mine.domains.sync_failed, mine.domains.ok], [3, 2, 0]);
      const textOf = ({ attention }: typeof all, wanted: AttentionKind) =>
        attention.list.filter((one) => one.kind === wanted).map(({ text }) => text.replace(/account \S+/, 'account'));
      assert.match(String(textOf(all, 'sync_failed')), /^The account.* could not be synchronised: The key is wrong$/);
      assert.match(String(textOf(all, 'account_paused')), /is paused: Too many calls$/);
      assert.match(String(textOf(mine, 'sync_failed')), /of 2 domains here, could not be synchronised$/);
      assert.doesNotMatch(JSON.stringify(mine), /The key is wrong|Too many calls/);
      await db.run('UPDATE dns_accounts SET last_error = NULL, paused_until = NULL WHERE id = ?', [account]);
    });

    it('jobs that failed are shown to those who may list them: super administrators', async () => {
      const times = { next_at: now(), created_at: now(), ended_at: now() };
      const job = {
        name: 'account.sync',
        kind: 'once',
        unique_key: 'account.sync|9',
        payload: 'null',
        runs: 1,
        tries: 1,
      };
      await insert('jobs', { ...job, ...times, state: 'failed', last_error: 'No answer' });
      const { totals, list } = (await show(admin)).attention;
      assert.equal(totals.job_failing, 1);
      const failing = list.find((one) => one.kind === 'job_failing');
      assert.equal(failing?.text, 'The job account.sync|9 fails: No answer');
      assert.equal((await show(user)).attention.totals.job_failing, null);
      await addUser(db, person('second'), 2);
      const second = service.server.as(await service.server.login(person('second')));
      refused(await second.get('/api/system/jobs'), 403, 403001);
      assert.equal((await show(second)).attention.totals.job_failing, null);
    });
  });
