import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import type { TeamView } from '../../src/teams/team.dto.js';
import { atOnce } from '../support/at-once.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, done, made, refused } from '../support/world.js';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`teams on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    type Person = { id: number; username: string; client: Client };
    let owner: Person;
    let manager: Person;
    let member: Person;
    let stranger: Person;
    let other: Person;
    const person = async (username: string, role = 1): Promise<Person> => {
      const user = { username, password: `${username}-secret` };
      const id = await addUser(db, user, role);
      return { id, username, client: service.server.as(await service.server.login(user)) };
    };
    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      const rate_limits = { login: 100, public: 0, user: 0, token: 0 };
      done(await admin.put('/api/settings/security', { rate_limits }));
      owner = await person('olga');
      manager = await person('mia');
      member = await person('max');
      stranger = await person('stan');
      other = await person('otto');
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    /** A team of Olga's with Mia as manager and Max as member. @returns its path */
    const team = async (name = 'dns') => {
      await db.run("DELETE FROM limits WHERE network LIKE 'user %'");
      const path = `/api/teams/${made(await owner.client.post('/api/teams', { name })).id}` as const;
      made(await owner.client.post(`${path}/members`, { user_id: manager.id, role: 'manager' }));
      made(await owner.client.post(`${path}/members`, { user_id: member.id }));
      return path;
    };
    const members = async (path: `/api/teams/${number}`) =>
      done(await admin.get(`${path}/members`)).map((m) => `${m.username} ${m.role}`);
    const names = (answer: Answer<TeamView[]>) => done(answer).map((t) => t.name);
    const newest = async (action: string) => done(await admin.get(`/api/audit/logs?action=${action}&limit=1`)).list[0];
    const denied = (answer: Answer) => refused(answer, 403, 403001);

    it('are created by any user, who owns them', async () => {
      const created = made(await owner.client.post('/api/teams', { name: ' Mail ', description: 'mail zones' }));
      const { id, created_at } = created;
      assert.match(created_at, /^\d{4}-.*Z$/);
      const stored = { id, name: 'Mail', description: 'mail zones', created_by: owner.id, created_at };
      assert.deepEqual(created, { ...stored, member_count: 1, my_role: 'owner' });
      const path = `/api/teams/${id}` as const;
      assert.deepEqual(done(await owner.client.get(path)), { ...created, accounts: [] });
      assert.deepEqual(done(await admin.get(path)), { ...created, my_role: null, accounts: [] });
      const changed = done(await owner.client.put(path, { name: 'Post' }));
      assert.deepEqual(changed, { ...created, name: 'Post', accounts: [] });
      assert.deepEqual(done(await owner.client.put(path, { description: '' })).description, '');
      assert.deepEqual(await members(path), ['olga owner']);
      done(await owner.client.delete(path));
      refused(await admin.get(path), 404, 404001);
      for (const [action, was, is] of [
        ['team.create', undefined, 'Mail'],
        ['team.update', 'Post', 'Post'],
        ['team.delete', 'Post', undefined],
      ]) {
        const entry = await newest(action as string);
        assert.deepEqual([entry.before?.name, entry.after?.name, entry.actor.username], [was, is, 'olga']);
      }
    });

    it('take members by name, without letting names be enumerated', async () => {
      const path = await team('named');
      const add = (body: object, client = owner.client) => client.post(`${path}/members`, body);
      const added = made(await add({ username: ' STAN ' }));
      assert.deepEqual([added.user_id, added.username, added.role], [stranger.id, 'stan', 'member']);
      refused(await add({ username: 'stan' }), 409, 409001);
      done(await owner.client.delete(`${path}/members/${stranger.id}`));
      const why = (answer: Answer) => {
        const [{ path: field, message, code }] = refused(answer, 400, 400001).data.errors;
        return [field, message, code];
      };
      const [byId, byName] = [why(await add({ user_id: 999_999 })), why(await add({ username: 'nobody' }))];
      assert.deepEqual(byId.slice(1), byName.slice(1));
      assert.deepEqual([byId[0], byName[0]], ['user_id', 'username']);
      assert.equal(why(await add({}))[2], 'required');
      assert.equal(why(await add({ user_id: stranger.id, username: 'stan' }))[2], 'conflict');

      const status: number[] = [];
      for (let i = 0; i < 31; i++) status.push((await add({ username: `nobody${i}` })).status);
      assert.ok(status.indexOf(429) > 20 && status.lastIndexOf(400) < status.indexOf(429), status.join());
      const blocked = refused(await add({ user_id: stranger.id }), 429, 429001);
      assert.ok(Number(blocked.headers.get('retry-after')) > 3000);
      // another team of the same person counts with it; others and administrators do not
      const second = `/api/teams/${made(await owner.client.post('/api/teams', { name: 'second' })).id}`;
      refused(await owner.client.post(`${second}/members`, { user_id: other.id }), 429, 429001);
      made(await add({ username: 'otto' }, manager.client));
      for (let i = 0; i < 31; i++) refused(await add({ username: `nobody${i}` }, admin), 400, 400001);
      denied(await add({ username: 'otto' }, stranger.client));
    });

    it('refuse what they do not know', async () => {
      const path = await team('checked');
      const WRONG: [object, string][] = [
        [{ name: '' }, 'name'],
        [{ name: '   ' }, 'name'],
        [{ name: 'two\nlines' }, 'name'],
        [{ name: 'x'.repeat(129) }, 'name'],
        [{ name: 7 }, 'name'],
        [{ name: null }, 'name'],
        [{ description: 'x'.repeat(256) }, 'description'],
        [{ description: 'a\u0000b' }, 'description'],
        [{ description: null }, 'description'],
        [{ created_by: 1 }, 'created_by'],
      ];
      const fields = (answer: Answer) => [...new Set(refused(answer, 400, 400001).data.errors.map((e) => e.path))];
      for (const [body, field] of WRONG) {
        assert.deepEqual(fields(await owner.client.post('/api/teams', { name: 'x', ...body })), [field]);
        assert.deepEqual(fields(await owner.client.put(path, body)), [field]);
      }
      assert.deepEqual(fields(await owner.client.post('/api/teams', {})), ['name']);
      const WRONG_MEMBERS: [object, string][] = [
        [{ user_id: 0 }, 'user_id'],
        [{ user_id: '3' }, 'user_id'],
        [{ user_id: undefined }, 'user_id'],
        [{ role: 'boss' }, 'role'],
        [{ role: null }, 'role'],
        [{ username: 'otto' }, 'username'],
      ];
      for (const [body, field] of WRONG_MEMBERS) {
        const answer = await owner.client.post(`${path}/members`, { user_id: other.id, ...body });
        assert.deepEqual(fields(answer), [field]);
      }
      assert.deepEqual(fields(await owner.client.put(`${path}/members/${member.id}`, {})), ['role']);
      for (const bad of ['/api/teams/x', '/api/teams/0', `${path}/members/x`]) {
        refused(await owner.client.delete(bad), 400, 400001);
      }
    });

    it('are seen by their members and by administrators', async () => {
      const path = await team('seen');
      const reader = await person('reader', 2);
      const own = made(await stranger.client.post('/api/teams', { name: 'of a stranger' }));
      assert.deepEqual(names(await stranger.client.get('/api/teams')), ['of a stranger']);
      assert.ok(!names(await owner.client.get('/api/teams')).includes('of a stranger'));
      const roles = async ({ client }: Person) =>
        done(await client.get('/api/teams?keyword=SEEN')).map((t) => [t.name, t.my_role, t.member_count]);
      assert.deepEqual(await roles(owner), [['seen', 'owner', 3]]);
      assert.deepEqual(await roles(manager), [['seen', 'manager', 3]]);
      assert.deepEqual(await roles(member), [['seen', 'member', 3]]);
      assert.deepEqual(await roles(reader), [['seen', null, 3]]);
      assert.deepEqual(await roles(stranger), []);
      for (const [who, answer] of [
        [reader, 200],
        [manager, 200],
        [member, 200],
        [stranger, 403],
      ] as const) {
        for (const part of ['', '/members', '/permissions']) {
          assert.equal((await who.client.get(path + part)).status, answer, `${who.username} ${part}`);
        }
      }
      // ids tell strangers nothing
      for (const part of ['', '/members', '/permissions']) {
        const nowhere = `/api/teams/2147483647${part}`;
        assert.equal(
          denied(await stranger.client.get(nowhere)).msg,
          denied(await stranger.client.get(path + part)).msg,
        );
        refused(await reader.client.get(nowhere), 404, 404001);
      }
      done(await stranger.client.delete(`/api/teams/${own.id}`));
    });

    it('are listed in pages, sorted and searched', async () => {
      for (const name of ['page a', 'page b', 'page c', '100% page']) await team(name);
      const list = async (query: string) => {
        const answer = await member.client.get(`/api/teams?${query}`);
        return [names(answer), answer.headers.get('x-total-count')];
      };
      assert.deepEqual(await list('keyword=PAGE%20&sort=-name&limit=2'), [['page c', 'page b'], '3']);
      assert.deepEqual(await list('keyword=page%20&sort=-name&limit=2&page=2'), [['page a'], '3']);
      assert.deepEqual(await list('keyword=0%25'), [['100% page'], '1']);
      refused(await member.client.get('/api/teams?sort=description'), 400, 400001);
      const path = await team('big');
      for (let i = 0; i < 5; i++) {
        const user = await addUser(db, { username: `extra-${i}`, password: 'x' });
        made(await owner.client.post(`${path}/members`, { user_id: user }));
      }
      const page = await member.client.get(`${path}/members?keyword=EXTRA&sort=-username&limit=2&page=2`);
      assert.deepEqual(
        done(page).map((m) => m.username),
        ['extra-2', 'extra-1'],
      );
      assert.equal(page.headers.get('x-total-count'), '5');
      refused(await member.client.get(`${path}/members?sort=password_hash`), 400, 400001);
      done(await admin.get(`${path}/members?sort=user_id`));
    });

    it('are changed by owners and managers, deleted by owners', async () => {
      const path = await team('ruled');
      for (const { client } of [member, stranger]) denied(await client.put(path, { name: 'taken' }));
      for (const { client } of [manager, member, stranger]) denied(await client.delete(path));
      assert.equal(done(await manager.client.put(path, { name: 'managed' })).my_role, 'manager');
      assert.equal(done(await admin.put(path, { name: 'administered' })).my_role, null);
      const failed = await newest('team.delete');
      assert.deepEqual([failed.result, failed.actor.username], ['failed', 'stan']);
      done(await admin.delete(path));
      denied(await owner.client.get(path));
      refused(await admin.delete(path), 404, 404001);
    });

    it('show their accounts, which stay when the team is deleted', async () => {
      const path = await team('with accounts');
      const account = await addAccount(admin, 'zonefile', {});
      const id = Number(path.split('/').at(-1));
      done(await admin.put(`/api/accounts/${account}`, { team_id: id }));
      const { accounts } = done(await member.client.get(path));
      assert.deepEqual(accounts, [{ id: account, name: 'zonefile account', provider: 'zonefile' }]);
      const zone = { name: 'by-member.example', account_id: account, create: true };
      denied(await stranger.client.post('/api/domains', zone));
      made(await member.client.post('/api/domains', zone));
      done(await owner.client.delete(path));
      assert.equal(done(await admin.get(`/api/accounts/${account}`)).team_id, null);
      denied(await member.client.post('/api/domains', { ...zone, name: 'too-late.example' }));
      for (const table of ['team_members', 'domain_permissions']) {
        assert.equal(await db.row(`SELECT team_id FROM ${table} WHERE team_id = ?`, [id]), undefined);
      }
    });

    it('take members once', async () => {
      const path = await team('growing');
      const added = made(await manager.client.post(`${path}/members`, { user_id: other.id }));
      const { joined_at } = added;
      for (const who of [member.client, admin])
        assert.deepEqual(done(await who.get(`${path}/members/${other.id}`)), added);
      refused(await owner.client.get(`${path}/members/${stranger.id}`), 404, 404001);
      denied(await stranger.client.get(`${path}/members/${other.id}`));
      assert.deepEqual(added, { user_id: other.id, username: 'otto', nickname: 'otto', role: 'member', joined_at });
      assert.deepEqual(await members(path), ['max member', 'mia manager', 'olga owner', 'otto member']);
      assert.match(
        refused(await owner.client.post(`${path}/members`, { user_id: other.id, role: 'owner' }), 409, 409001).msg,
        /user_id/,
      );
      const unknown = await owner.client.post(`${path}/members`, { user_id: 2147483647 });
      assert.equal(refused(unknown, 400, 400001).data.errors[0].path, 'user_id');
      const off = await person('off');
      done(await admin.put(`/api/users/${off.id}`, { status: 0 }));
      refused(await owner.client.post(`${path}/members`, { user_id: off.id }), 400, 400001);
      const twins = await atOnce(
        db,
        kind,
        [owner, manager, owner].map(
          ({ client }) =>
            () =>
              client.post(`${path}/members`, { user_id: stranger.id }),
        ),
      );
      assert.deepEqual(twins.map((a) => a.status).toSorted(), [201, 409, 409]);
      assert.equal(done(await owner.client.get(path)).member_count, 5);
      const { list } = done(await admin.get('/api/audit/logs?action=member.create&result=failed&limit=10'));
      assert.ok(list.some((e) => /user_id: is no active user/.test(e.error ?? '')));
    });

    it('let managers change ordinary members only', async () => {
      const path = await team('ranks');
      const of = (who: Person) => `${path}/members/${who.id}` as const;
      const join = (who: Person, role?: string) => who.client.post(`${path}/members`, { user_id: other.id, role });
      for (const role of ['owner', 'manager']) denied(await join(manager, role));
      for (const who of [member, stranger]) denied(await join(who));
      made(await join(manager, 'member'));
      denied(await member.client.delete(of(other)));
      denied(await stranger.client.delete(of(other)));
      for (const who of [manager, member, stranger]) {
        denied(await who.client.put(of(other), { role: 'manager' }));
        denied(await who.client.put(of(who), { role: 'owner' }));
      }
      done(await owner.client.put(of(other), { role: 'manager' }));
      denied(await manager.client.delete(of(other)));
      denied(await manager.client.delete(of(owner)));
      denied(await manager.client.put(of(other), { role: 'member' }));
      done(await manager.client.delete(of(member)));
      refused(await manager.client.delete(of(member)), 404, 404001);
      refused(await owner.client.put(of(member), { role: 'manager' }), 404, 404001);
      denied(await member.client.delete(of(member)));
      assert.equal(done(await admin.put(of(other), { role: 'owner' })).role, 'owner');
      assert.deepEqual(await members(path), ['mia manager', 'olga owner', 'otto owner']);
      const entry = await newest('member.update');
      assert.deepEqual([entry.before?.role, entry.after?.role, entry.target?.name], ['manager', 'owner', 'otto']);
      done(await other.client.delete(of(owner)));
      denied(await owner.client.get(path));
      assert.equal((await newest('member.delete')).before?.username, 'olga');
    });

    it('are left by anybody but the last owner', async () => {
      const path = await team('left');
      const of = (who: Person) => `${path}/members/${who.id}` as const;
      done(await member.client.delete(of(member)));
      denied(await member.client.get(path));
      for (const answer of [
        await owner.client.delete(of(owner)),
        await owner.client.put(of(owner), { role: 'manager' }),
        await admin.delete(of(owner)),
        await admin.put(of(owner), { role: 'member' }),
      ]) {
        assert.match(refused(answer, 409, 409001).msg, /last owner/);
      }
      done(await owner.client.put(of(owner), { role: 'owner' }));
      done(await owner.client.put(of(manager), { role: 'owner' }));
      done(await owner.client.put(of(owner), { role: 'manager' }));
      done(await owner.client.delete(of(owner)));
      assert.deepEqual(await members(path), ['mia owner']);
      made(await admin.post(`${path}/members`, { user_id: owner.id }));
    });

    it('keep one owner when two leave at once', async () => {
      const path = await team('racing');
      const of = (who: Person) => `${path}/members/${who.id}` as const;
      for (let round = 0; round < 20; round++) {
        await db.run(`UPDATE team_members SET role = 'owner' WHERE user_id = ?`, [owner.id]);
        await db.run(`UPDATE team_members SET role = 'owner' WHERE user_id = ?`, [manager.id]);
        const step = (me: Person, them: Person, way: number) => () =>
          way === 0 ? me.client.delete(of(me)) : me.client.put(of(way === 1 ? me : them), { role: 'manager' });
        const answers = await atOnce(db, kind, [
          step(owner, manager, round % 3),
          step(manager, owner, (round >> 1) % 3),
        ]);
        const statuses = answers.map((a) => a.status).toSorted();
        // who was put out of the owners by then may no longer put out others, nor who has left be put out
        assert.equal(statuses[0], 200, `round ${round}`);
        assert.ok([200, 403, 404, 409].includes(statuses[1] as number), `${statuses}`);
        const left = (await members(path)).filter((m) => m.endsWith('owner'));
        assert.equal(left.length, 1, `round ${round}: ${left}`);
        const back = await db.rows<{ user_id: number }>('SELECT user_id FROM team_members WHERE team_id = ?', [
          Number(path.split('/').at(-1)),
        ]);
        for (const who of [owner, manager]) {
          if (!back.some((row) => row.user_id === who.id))
            made(await admin.post(`${path}/members`, { user_id: who.id }));
        }
      }
    });

    it('answer API tokens as they answer their creators', async () => {
      const path = await team('tokens');
      const tokenOf = async (who: Person, more: object = {}) =>
        service.server.as(made(await who.client.post('/api/tokens', { name: 'ci', ...more })).token);
      const token = await tokenOf(owner);
      assert.equal(done(await token.get(path)).my_role, 'owner');
      done(await token.put(path, { description: 'by token' }));
      denied(await (await tokenOf(stranger)).get(path));
      const scoped = await tokenOf(owner, { allowed_services: ['domains:read'] });
      denied(await scoped.get('/api/teams'));
      const outgoing = await tokenOf(manager);
      done(await outgoing.get(path));
      done(await owner.client.delete(`${path}/members/${manager.id}`));
      denied(await outgoing.get(path));
      assert.ok(!names(await outgoing.get('/api/teams')).includes('tokens'));
    });
  });
}
