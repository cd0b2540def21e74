import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, type Client, ServerProcess, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

const PAST = '2020-01-01T00:00:00.000Z';
const DAY_MS = 86_400_000;
const PRELOADED = join(import.meta.dirname, '../support/kill-at.mjs');

type Path = `/api/domains/${number}`;
const at = (id: number): Path => `/api/domains/${id}`;

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`the trash of domains, on ${kind}`, () => {
    let service: Service;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    let account: number;
    /** owns what is deleted; has a team that reads */
    let olga: { id: number; client: Client };
    let other: { id: number; client: Client };
    let team: number;
    let count = 0;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      done(await admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0, user: 0, token: 0 } }));
      account = await addAccount(admin, 'zonefile', {});
      olga = await person('olga');
      other = await person('other');
      team = made(await admin.post('/api/teams', { name: 'readers' })).id;
      made(await admin.post(`/api/teams/${team}/members`, { user_id: other.id }));
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });

    const person = async (username: string, role = 1) => {
      const user = { username, password: `${username}-secret` };
      const id = await addUser(db, user, role);
      return { id, client: service.server.as(await service.server.login(user)) };
    };
    const zoneFile = (name: string) => join(service.server.dataDir, 'zones', `${name}.zone`);
    const entries = async (client = admin) => done(await client.get('/api/trash/domains?limit=100')).list;
    const entry = async (id: number) => (await entries()).find((one) => one.id === id);
    const records = async (id: number, client = admin) => done(await client.get(`${at(id)}/records`)).list;
    const identities = async (id: number) =>
      (await records(id)).map((r) => [r.id, r.host, r.type, r.value, r.remark, r.expires_at].join(' ')).toSorted();
    const versions = async (id: number) => done(await admin.get(`${at(id)}/versions?limit=50`)).list;
    const remove = async (id: number, client = admin) => done(await client.delete(at(id)));
    const restore = (id: number, client = admin) => client.post(`/api/trash/domains/${id}/restore`);
    const swept = (id: number) =>
      until('the trash has no rows of it', async () => {
        const counts = await Promise.all([
          db.row<{ n: number }>('SELECT COUNT(*) AS n FROM trashed_records WHERE domain_id = ?', [id]),
          db.row<{ n: number }>('SELECT COUNT(*) AS n FROM trashed_domains WHERE id = ?', [id]),
        ]);
        return counts.every((row) => Number(row?.n) === 0);
      });
    const sweep = async () => {
      const [job] = done(await admin.get('/api/system/jobs?name=trash.sweep')).list;
      await until('the sweep is asked for', async () =>
        [200, 202].includes((await admin.post(`/api/system/jobs/${job?.id}/retry`)).status),
      );
    };

    /** Adds Olga to the team and lets the team add domains of the account. */
    async function shareAccount() {
      await db.run('UPDATE dns_accounts SET team_id = ? WHERE id = ?', [team, account]);
      const members = done(await admin.get(`/api/teams/${team}/members`));
      if (!members.some((one) => one.user_id === olga.id))
        made(await admin.post(`/api/teams/${team}/members`, { user_id: olga.id }));
    }

    /** A domain of Olga with records, an end, a remark, rules and a permission. */
    async function domain(hasRules = true) {
      const name = `trash${++count}.example`;
      const id = await addDomain(admin, account, name, true);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [olga.id, id]);
      for (const [host, value] of Object.entries({ www: '192.0.2.1', app: '192.0.2.2', old: '192.0.2.3' }))
        made(await admin.post(`${at(id)}/records`, { host, type: 'A', value, remark: `of ${host}` }));
      const [app] = (await records(id)).filter((one) => one.host === 'app');
      done(await admin.put(`${at(id)}/records/${app?.id}`, { expires_at: '2999-01-01T00:00:00.000Z' }));
      const rules = hasRules ? { guards: { last_mx: 'force' }, ttl_floor: 30 } : {};
      done(await admin.put(at(id), { remark: 'the shop', ...rules } as never));
      made(await admin.post(`/api/teams/${team}/permissions`, { domain_id: id, permission: 'read' }));
      return { id, name };
    }
    const stable = (detail: object) => {
      const { synced_at: _synced, ...rest } = detail as Record<string, unknown>;
      return rest;
    };

    it('a deleted domain is nowhere but there, and is restored as it was', async () => {
      const { id, name } = await domain();
      const before = {
        detail: done(await admin.get(at(id))),
        rows: await identities(id),
        versions: await versions(id),
      };
      const stored = async () => {
        const all = (table: string, column: string) =>
          db.rows<Record<string, unknown>>(`SELECT * FROM ${table} WHERE ${column} = ? ORDER BY 1`, [id]);
        const [row] = await all('domains', 'id');
        const { revision: _one, stale_revision: _two, synced_at: _three, ...rest } = row ?? {};
        return [rest, await all('dns_records', 'domain_id'), await all('domain_permissions', 'domain_id')];
      };
      const rows = await stored();
      const readable = done(await other.client.get('/api/domains')).map((one) => one.id);
      assert.ok(readable.includes(id));
      await remove(id, olga.client);
      refused(await admin.get(at(id)), 404, 404001);
      assert.equal(done(await admin.get(`/api/records?domain=${name}`)).total, 0);
      assert.ok(!done(await admin.get('/api/changes?limit=50')).list.some((set) => set.domain_id === id));
      for (const table of ['domains', 'dns_records', 'domain_permissions', 'record_counts']) {
        const column = table === 'domains' ? 'id' : 'domain_id';
        const row = await db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table} WHERE ${column} = ?`, [id]);
        assert.equal(Number(row?.n), 0, table);
      }
      const kept = await entry(id);
      assert.deepEqual(
        [kept?.name, kept?.account_id, kept?.account_name, kept?.owner_id, kept?.deleted_by],
        [name, account, 'zonefile account', olga.id, { user_id: olga.id, username: 'olga' }],
      );
      assert.equal(Date.parse(kept?.purged_at as string) - Date.parse(kept?.deleted_at as string), 30 * DAY_MS);
      const detail = done(await restore(id, olga.client));
      assert.deepEqual(stable(done(await admin.get(at(id)))), stable(before.detail));
      assert.equal(detail.id, id);
      assert.deepEqual(await stored(), rows);
      assert.deepEqual(await identities(id), before.rows);
      assert.deepEqual(await versions(id), before.versions);
      assert.ok(done(await other.client.get('/api/domains')).some((one) => one.id === id));
      assert.equal(await entry(id), undefined);
      await swept(id);
      made(await olga.client.post(`${at(id)}/records`, { host: 'new', type: 'A', value: '192.0.2.9' }));
      const actions = done(await admin.get(`/api/audit/logs?domain_id=${id}&limit=50`)).list.map((one) => one.action);
      assert.ok(actions.includes('domain.delete') && actions.includes('domain.restore'), actions.join());
    });

    it('what changed at the provider meanwhile is a version of the restored domain', async () => {
      const { id, name } = await domain();
      const [www] = (await records(id)).filter((one) => one.host === 'www');
      const newest = (await versions(id))[0]?.version as number;
      await remove(id);
      const text = readFileSync(zoneFile(name), 'latin1');
      writeFileSync(zoneFile(name), text.replace('192.0.2.3', '192.0.2.33'));
      done(await restore(id));
      assert.deepEqual((await records(id)).find((one) => one.host === 'www')?.id, www?.id);
      assert.ok((await records(id)).some((one) => one.value === '192.0.2.33'));
      const [last] = await versions(id);
      assert.deepEqual([last?.version, last?.door], [newest + 1, 'provider']);
    });

    it('a domain that is added again takes its history up, but nobody gets a right back', async () => {
      const { id, name } = await domain();
      const rows = await identities(id);
      const old = await versions(id);
      await remove(id);
      const text = readFileSync(zoneFile(name), 'latin1');
      writeFileSync(zoneFile(name), text.replace(/^old.*\n/m, ''));
      const added = made(await admin.post('/api/domains', { name, account_id: account }));
      assert.equal(added.id, id);
      assert.deepEqual([added.remark, added.guards, added.ttl_floor], ['', { last_mx: 'force' }, 30]);
      assert.notEqual(added.owner_id, olga.id);
      refused(await olga.client.get(at(id)), 403, 403001);
      refused(await other.client.get(at(id)), 403, 403001);
      assert.deepEqual(done(await admin.get(`${at(id)}/permissions`)), []);
      assert.deepEqual(
        await identities(id),
        rows.filter((row) => !row.includes('192.0.2.3')),
      );
      const now = await versions(id);
      assert.deepEqual(now.slice(1), old);
      assert.deepEqual([now[0]?.door, now[0]?.counts?.delete], ['provider', 1]);
      const first = done(await admin.get(`${at(id)}/versions/${old[0]?.version}?limit=50`));
      assert.ok(first.list.some((one) => one.host === 'old'));
      assert.equal(await entry(id), undefined);
      refused(await restore(id), 404, 404001);
      await swept(id);
    });

    it('a user without a permission on a deleted domain gets a new domain, and the trash keeps the old one', async () => {
      await shareAccount();
      const eve = await person(`eve${++count}`);
      const helper = await person(`helper${count}`);
      for (const { id } of [eve, helper]) made(await admin.post(`/api/teams/${team}/members`, { user_id: id }));
      const add = async (client: Client, name: string) =>
        made(await client.post('/api/domains', { name, account_id: account }));
      const { id, name } = await domain(false);
      // a permission on one host does not inherit the domain
      const helpers = await addTeam(db, `helpers${count}`, [helper.id]);
      await db.run('UPDATE domain_permissions SET team_id = ?, host = ? WHERE domain_id = ?', [helpers, 'www', id]);
      await remove(id);
      for (const { client } of [eve, helper]) {
        const added = await add(client, name);
        assert.notEqual(added.id, id);
        assert.deepEqual((await records(added.id, client)).map((one) => one.remark).filter(Boolean), []);
        assert.deepEqual(done(await client.get(`${at(added.id)}/versions`)).list.length, 1);
        refused(await client.get(at(id)), 403, 403001);
        assert.ok(await entry(id));
        await db.run('DELETE FROM domains WHERE id = ?', [added.id]);
      }
      const inherited = await add(olga.client, name);
      assert.equal(inherited.id, id);
    });

    it('a member of a team with a right on the whole domain inherits it', async () => {
      await shareAccount();
      const { id, name } = await domain(false);
      await remove(id);
      assert.equal(made(await other.client.post('/api/domains', { name, account_id: account })).id, id);
    });

    it('so does one that a synchronisation of the account finds', async () => {
      const { id } = await domain();
      const rows = await identities(id);
      await remove(id);
      const result = done(await admin.post(`/api/accounts/${account}/sync`));
      assert.ok((result as { added: number }).added >= 1);
      assert.deepEqual(await identities(id), rows);
      refused(await olga.client.get(at(id)), 403, 403001);
      assert.equal(await entry(id), undefined);
    });

    it('is shown to its owner and to administrators, and to no other', async () => {
      const { id } = await domain();
      await remove(id);
      const reader = await person(`role${count}`, 2);
      for (const [client, seen] of [
        [olga.client, true],
        [reader.client, true],
        [other.client, false],
      ] as const)
        assert.equal(
          (await entries(client)).some((one) => one.id === id),
          seen,
        );
      refused(await restore(id, other.client), 404, 404001);
      for (const client of [olga.client, other.client, reader.client])
        refused(await client.delete(`/api/trash/domains/${id}`), 403, 403001);
      const token = async (more: object) =>
        service.server.as(made(await olga.client.post('/api/tokens', { name: `t${++count}`, ...more })).token);
      const narrow = await token({ allowed_services: ['domains:read', 'records:write'] });
      refused(await narrow.get('/api/trash/domains'), 403, 403001);
      refused(await restore(id, narrow), 403, 403001);
      done(await restore(id, await token({})));
      refused(await restore(999_999), 404, 404001);
      refused(await admin.delete('/api/trash/domains/999999'), 404, 404001);
    });

    it('lists its domains in pages, sorted and searched', async () => {
      const names = [];
      for (let i = 0; i < 3; i++) {
        const { id, name } = await domain();
        await remove(id);
        names.push(name);
      }
      const page = async (query: string) => {
        const { total, list } = done(await admin.get(`/api/trash/domains?${query}`));
        return [total, list.map(({ name }) => name)];
      };
      const keyword = `keyword=${names[1]?.toUpperCase()}`;
      assert.deepEqual(await page(keyword), [1, [names[1]]]);
      const [total] = await page('limit=1');
      assert.ok((total as number) >= 3);
      assert.deepEqual(await page('limit=1&sort=-id'), [total, [names[2]]]);
      refused(await admin.get('/api/trash/domains?sort=content'), 400, 400001);
    });

    it('does not restore into a name that the account has again', async () => {
      const { id, name } = await domain();
      await remove(id);
      // as one that was added by a process that knows no trash
      const sql = `INSERT INTO domains (name, account_id, remote_id, status, remark, records_count, revision, created_at)
        VALUES (?, ?, ?, 'active', '', 0, 0, ?)`;
      await db.run(sql, [name, account, name, PAST]);
      refused(await restore(id), 409, 409001);
      assert.ok(await entry(id));
      await db.run('DELETE FROM domains WHERE name = ?', [name]);
      done(await restore(id));
    });

    it('restores below a domain that somebody else has added meanwhile for administrators alone', async () => {
      const { id, name } = await domain();
      await remove(id);
      const above = await addDomain(admin, account, `sub.${name}`, true);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [other.id, above]);
      refused(await restore(id, olga.client), 403, 403001);
      refused(await restore(id), 409, 409001);
      done(await admin.post(`/api/trash/domains/${id}/restore?force=true`));
      assert.equal(done(await admin.get(at(id))).owner_id, olga.id);
    });

    it('is purged with its history by role 3, and the name begins anew', async () => {
      const { id, name } = await domain();
      await remove(id);
      done(await admin.delete(`/api/trash/domains/${id}`));
      assert.equal(await entry(id), undefined);
      refused(await restore(id), 404, 404001);
      refused(await admin.delete(`/api/trash/domains/${id}`), 404, 404001);
      await swept(id);
      for (const table of ['change_sets', 'record_changes', 'versions', 'trashed_permissions']) {
        const row = await db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table} WHERE domain_id = ?`, [id]);
        assert.equal(Number(row?.n), 0, table);
      }
      const again = await addDomain(admin, account, name);
      assert.ok(again > id);
      assert.equal((await versions(again)).length, 1);
      const [log] = done(await admin.get(`/api/audit/logs?domain_id=${id}&action=domain.purge`)).list;
      assert.equal(log?.actor.username, 'admin');
    });

    it('is purged by itself when its time is over', async () => {
      const { id, name } = await domain();
      await remove(id);
      await db.run('UPDATE trashed_domains SET purged_at = ? WHERE id = ?', [PAST, id]);
      assert.equal(await entry(id), undefined);
      refused(await restore(id), 404, 404001);
      assert.notEqual(await addDomain(admin, account, name), id);
      await sweep();
      await swept(id);
      const [log] = done(await admin.get(`/api/audit/logs?domain_id=${id}&action=domain.purge`)).list;
      assert.equal(log?.actor.type, 'system');
    });

    it('goes with its account, its team and its owner', async () => {
      const mine = await addAccount(admin, 'zonefile', { directory: 'mine' });
      const id = await addDomain(admin, mine, `gone${++count}.example`, true);
      await remove(id);
      done(await admin.delete(`/api/accounts/${mine}`));
      assert.equal(await entry(id), undefined);
      refused(await restore(id), 404, 404001);
      await sweep();
      await swept(id);

      const second = await domain();
      const lost = made(await admin.post('/api/teams', { name: 'lost' })).id;
      made(await admin.post(`/api/teams/${lost}/permissions`, { domain_id: second.id, permission: 'write' }));
      const leaver = await person(`leaver${count}`);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [leaver.id, second.id]);
      await remove(second.id);
      done(await admin.delete(`/api/teams/${lost}`));
      await db.run('DELETE FROM users WHERE id = ?', [leaver.id]);
      done(await restore(second.id));
      assert.equal(done(await admin.get(at(second.id))).owner_id, null);
      const teams = done(await admin.get(`${at(second.id)}/permissions`)).map((one) => one.team_name);
      assert.deepEqual(teams, ['readers']);
    });

    it('a domain that is deleted, restored and deleted again stays whole', async () => {
      const { id } = await domain();
      const rows = await identities(id);
      for (let i = 0; i < 3; i++) {
        await remove(id);
        done(await restore(id));
      }
      assert.deepEqual(await identities(id), rows);
      const [one, two] = await Promise.all([admin.delete(at(id)), olga.client.delete(at(id))]);
      assert.ok([one, two].some(({ status }) => status === 200));
      assert.ok([one, two].every(({ status }: Answer) => [200, 403, 404].includes(status)));
      const both = await Promise.all([restore(id), restore(id)]);
      assert.equal(both.filter(({ status }) => status === 200).length, 1);
      assert.deepEqual(await identities(id), rows);
    });

    it('a large domain goes and comes back while the service answers', async () => {
      const name = `large${++count}.example`;
      const small = await domain();
      const made_ = await addDomain(admin, account, name, true);
      const lines = Array.from(
        { length: 20_000 },
        (_, i) => `h${i} 300 IN A 10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
      );
      writeFileSync(zoneFile(name), `${readFileSync(zoneFile(name), 'latin1')}\n${lines.join('\n')}\n`);
      const size = done(await admin.get(`${at(made_)}/records?refresh=true&limit=1`)).total;
      assert.ok(size >= 20_000);
      const sum = async () => {
        const row = await db.row<{ n: number; ids: number }>(
          'SELECT COUNT(*) AS n, SUM(id) AS ids FROM dns_records WHERE domain_id = ?',
          [made_],
        );
        return [Number(row?.n), Number(row?.ids)];
      };
      const before = await sum();
      let over = false;
      let alive = 0;
      const beats = (async () => {
        while (!over) if ((await fetch(`${service.server.url}/health/live`)).ok) alive++;
      })();
      await remove(made_);
      done(await admin.get(at(small.id)));
      done(await restore(made_));
      over = true;
      await beats;
      assert.ok(alive > 1);
      assert.deepEqual(await sum(), before);
      assert.equal(done(await admin.get(`${at(made_)}/records?limit=1`)).total, size);
      await remove(made_);
      done(await admin.delete(`/api/trash/domains/${made_}`));
      await swept(made_);
    });
  });

describe('a process that dies on a deletion', () => {
  for (const { kind, skip } of databases('one'))
    describeUnless(skip)(`on ${kind}`, () => {
      it('leaves the domain whole, live or in the trash, and the next one removes what is left', async () => {
        const service = await startService(kind);
        await service.server.stop();
        const { dataDir } = service.server;
        const file = join(dataDir, 'kill-at');
        const env = {
          DATABASE_URL: service.databaseUrl,
          NODE_OPTIONS: `--import=${PRELOADED}`,
          KILL_AT_FILE: file,
        };
        let server = await ServerProcess.start(env, dataDir);
        const { db, close } = await openDatabase(service.databaseUrl, dataDir);
        const again = async () => {
          await server.kill();
          rmSync(file, { force: true });
          server = await ServerProcess.start(env, dataDir);
        };
        const client = () => server.as(service.token);
        const count = async (table: string, column = 'domain_id') =>
          Number((await db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table} WHERE ${column} = ?`, [id]))?.n);
        let id = 0;
        try {
          const account = await addAccount(client(), 'zonefile', {});
          id = await addDomain(client(), account, 'killed.example', true);
          const path = join(dataDir, 'zones', 'killed.example.zone');
          const lines = Array.from({ length: 700 }, (_, i) => `h${i} 300 IN A 10.0.${i >> 8}.${i & 255}`);
          writeFileSync(path, `${readFileSync(path, 'latin1')}\n${lines.join('\n')}\n`);
          const { total } = done(await client().get(`${at(id)}/records?refresh=true&limit=1`));
          let died = 0;
          let trashed = false;
          for (const step of [14, 24, 40]) {
            writeFileSync(file, `before ${step}`);
            await client()
              .delete(at(id))
              .catch(() => died++);
            await again();
            const live = await count('domains', 'id');
            assert.equal(live + (await count('trashed_domains', 'id')), 1, `step ${step}`);
            trashed = live === 0;
            assert.equal(await count(trashed ? 'trashed_records' : 'dns_records'), total, `step ${step}`);
            if (trashed) break;
          }
          assert.ok(died > 1, 'it was killed on its way');
          if (!trashed) {
            const [job] = done(await client().get('/api/system/jobs?name=trash.sweep')).list;
            await client().post(`/api/system/jobs/${job?.id}/retry`);
            await until('the copies are removed', async () => (await count('trashed_records')) === 0);
            done(await client().delete(at(id)));
          }
          done(await client().post(`/api/trash/domains/${id}/restore`));
          assert.equal(done(await client().get(`${at(id)}/records?limit=1`)).total, total);
        } finally {
          await close();
          await server.kill();
          await service.stop();
        }
      });
    });
});
