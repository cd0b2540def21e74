import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { atOnce } from '../support/at-once.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const ZONES = ['own.example', 'other.example', 'third.example'];

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`permissions of teams on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    type Person = { id: number; client: Client };
    /** Olga owns the first domain and her teams; Max is in them; Stan has a team and the second domain */
    let olga: Person;
    let max: Person;
    let stan: Person;
    let own: number;
    let foreign: number;
    let third: number;
    const person = async (username: string, role = 1): Promise<Person> => {
      const user = { username, password: `${username}-secret` };
      const id = await addUser(db, user, role);
      return { id, client: service.server.as(await service.server.login(user)) };
    };
    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      done(await admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0, user: 0, token: 0 } }));
      const account = await addAccount(admin, 'zonefile', {});
      const ids = [];
      for (const name of ZONES) ids.push(await addDomain(admin, account, name, true));
      [own, foreign, third] = ids as [number, number, number];
      olga = await person('olga');
      max = await person('max');
      stan = await person('stan');
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [olga.id, own]);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [stan.id, foreign]);
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    /** A team of a user with these members. @returns its path */
    const team = async (who: Person, name: string, members: Person[] = []) => {
      const path = `/api/teams/${made(await who.client.post('/api/teams', { name })).id}` as const;
      for (const { id } of members) made(await who.client.post(`${path}/members`, { user_id: id }));
      return path;
    };
    const give = (
      who: Person | { client: Client },
      path: `/api/teams/${number}`,
      domain_id: number,
      more: object = {},
    ) => who.client.post(`${path}/permissions`, { domain_id, permission: 'write', ...more });
    const records = (domain: number) => `/api/domains/${domain}/records` as const;
    const add = (client: Client, domain: number, host: string) =>
      client.post(records(domain), { host, type: 'TXT', value: 'x' });
    const denied = (answer: Answer) => refused(answer, 403, 403001);
    const tokenOf = async ({ client }: Person, more: object = {}) =>
      service.server.as(made(await client.post('/api/tokens', { name: 'ci', ...more })).token);
    const domains = async (client: Client) =>
      done(await client.get('/api/domains')).map((d) => [d.name, d.permission, ...(d.write_hosts ?? [])].join(' '));
    const newest = async (action: string) => done(await admin.get(`/api/audit/logs?action=${action}&limit=1`)).list[0];

    it('are given, listed and revoked', async () => {
      const path = await team(olga, 'first', [max]);
      const read = made(await give(olga, path, own, { permission: 'read' }));
      const team_id = Number(path.split('/').at(-1));
      const shown = { team_id, domain_id: own, domain_name: 'own.example' };
      assert.deepEqual(read, { id: read.id, ...shown, permission: 'read', host: null });
      assert.deepEqual(await domains(max.client), ['own.example read']);
      denied(await add(max.client, own, 'www'));
      const write = made(await give(olga, path, own));
      assert.deepEqual(await domains(max.client), ['own.example write']);
      made(await add(max.client, own, 'www'));
      for (const one of [read, write]) {
        assert.deepEqual(done(await max.client.get(`${path}/permissions/${one.id}`)), one);
        denied(await stan.client.get(`${path}/permissions/${one.id}`));
      }
      const elsewhere = await team(olga, 'elsewhere');
      refused(await olga.client.get(`${elsewhere}/permissions/${read.id}`), 404, 404001);
      const page = await max.client.get(`${path}/permissions?sort=-id&limit=1`);
      assert.deepEqual(done(page), [write]);
      assert.equal(page.headers.get('x-total-count'), '2');
      assert.deepEqual(done(await max.client.get(`${path}/permissions?keyword=OWN`)).length, 2);
      assert.deepEqual(done(await max.client.get(`${path}/permissions?keyword=nothing`)), []);
      refused(await max.client.get(`${path}/permissions?sort=host`), 400, 400001);
      const created = await newest('permission.create');
      assert.deepEqual([created.domain, created.domain_id, created.after?.permission], ['own.example', own, 'write']);
      done(await olga.client.delete(`${path}/permissions/${write.id}`));
      assert.equal((await newest('permission.delete')).domain, 'own.example');
      refused(await olga.client.delete(`${path}/permissions/${write.id}`), 404, 404001);
      assert.deepEqual(done(await olga.client.get(`${path}/permissions`)), [read]);
      done(await olga.client.delete(path));
    });

    it('are listed and revoked by the owner of the domain, whichever team has them', async () => {
      const path = await team(stan, 'strangers', [max]);
      const given = made(await give({ client: admin }, path, own));
      const under = made(await give({ client: admin }, path, own, { host: 'dev' }));
      const list = `/api/domains/${own}/permissions` as const;
      // she does not manage the team
      denied(await olga.client.delete(`${path}/permissions/${given.id}`));
      const page = await olga.client.get(`${list}?sort=id&limit=1`);
      assert.equal(page.headers.get('x-total-count'), '2');
      const admins = await db.row<{ id: number }>("SELECT id FROM users WHERE username = 'admin'");
      assert.deepEqual(done(page), [{ ...given, team_name: 'strangers', granted_by: admins?.id ?? 0 }]);
      assert.deepEqual(done(await olga.client.get(`${list}/${given.id}`)), done(page)[0]);
      assert.equal(done(await admin.get(`${list}?keyword=strang`)).length, 2);
      assert.deepEqual(done(await admin.get(`/api/domains/${third}/permissions`)), []);
      for (const client of [stan.client, max.client]) {
        denied(await client.get(list));
        denied(await client.get(`${list}/${given.id}`));
        denied(await client.delete(`${list}/${given.id}`));
      }
      // of another domain it is not found
      refused(await stan.client.get(`/api/domains/${foreign}/permissions/${given.id}`), 404, 404001);
      refused(await stan.client.delete(`/api/domains/${foreign}/permissions/${given.id}`), 404, 404001);
      made(await add(max.client, own, 'taken'));
      done(await olga.client.delete(`${list}/${given.id}`));
      denied(await add(max.client, own, 'taken'));
      assert.deepEqual(await domains(max.client), ['own.example write dev']);
      assert.equal((await max.client.get('/api/domains?limit=10')).headers.get('x-total-count'), '1');
      assert.equal(((await newest('permission.delete')).before as { team?: string }).team, 'strangers');
      refused(await olga.client.delete(`${list}/${given.id}`), 404, 404001);
      done(await olga.client.delete(`${list}/${under.id}`));
      assert.deepEqual(await domains(max.client), []);
      done(await stan.client.delete(path));
    });

    it('refuse unknown values', async () => {
      const path = await team(olga, 'checked');
      const WRONG: [object, string][] = [
        [{ domain_id: 0 }, 'domain_id'],
        [{ domain_id: String(own) }, 'domain_id'],
        [{ domain_id: undefined }, 'domain_id'],
        [{ permission: 'admin' }, 'permission'],
        [{ permission: undefined }, 'permission'],
        [{ host: '' }, 'host'],
        [{ host: 'two words' }, 'host'],
        [{ host: 'a..b' }, 'host'],
        [{ host: 7 }, 'host'],
        [{ host: 'x'.repeat(64) }, 'host'],
        [{ permission: 'read', host: '*.dev' }, 'host'],
        [{ team_id: 1 }, 'team_id'],
      ];
      for (const [more, field] of WRONG) {
        const { errors } = refused(await give(olga, path, own, more), 400, 400001).data;
        assert.deepEqual([...new Set(errors.map((e) => e.path))], [field], JSON.stringify(more));
      }
      assert.equal(made(await give(olga, path, own, { host: 'BÜcher.Dev' })).host, 'xn--bcher-kva.dev');
      done(await olga.client.delete(path));
    });

    it('exist once each, even when given at once', async () => {
      const path = await team(olga, 'once');
      for (const more of [{ permission: 'read' }, { host: '*.dev' }, { host: '@' }, {}]) {
        const answers = await atOnce(
          db,
          kind,
          [olga, { client: admin }, olga].map((who) => () => give(who, path, own, more)),
        );
        assert.deepEqual(answers.map((a) => a.status).toSorted(), [201, 409, 409], JSON.stringify(more));
      }
      refused(await give(olga, path, own, { host: '*.DEV' }), 409, 409001);
      assert.equal(done(await olga.client.get(`${path}/permissions`)).length, 4);
      done(await olga.client.delete(path));
    });

    it('cannot be given by users who do not own the domain', async () => {
      const path = await team(olga, 'greedy', [max]);
      // a domain of another tenant, one that does not exist, a team of another tenant
      denied(await give(olga, path, foreign));
      assert.deepEqual([(await newest('permission.create')).result], ['failed']);
      denied(await give(olga, path, foreign, { permission: 'read' }));
      denied(await give(olga, path, 2147483647));
      refused(await give({ client: admin }, path, 2147483647), 404, 404001);
      denied(await give(stan, path, foreign));
      denied(await give(max, path, own));
      const { list } = done(await admin.get('/api/audit/logs?action=permission.create&result=failed&limit=6'));
      assert.deepEqual(
        list.map((e) => e.actor.username),
        ['max', 'stan', 'admin', 'olga', 'olga', 'olga'],
      );
      // users who may read, or write some hosts, cannot give either
      made(await give({ client: admin }, path, third, { permission: 'read' }));
      made(await give({ client: admin }, path, third, { host: '*.dev' }));
      for (const more of [{ permission: 'read' }, {}, { host: 'a.dev' }]) denied(await give(olga, path, third, more));
      // nor can users who may write all of it: a manager tries it in the team and in one of his own
      done(await olga.client.put(`${path}/members/${max.id}`, { role: 'manager' }));
      made(await give(olga, path, own));
      made(await add(max.client, own, 'written'));
      denied(await give(max, path, own, { host: 'a' }));
      const mine = await team(max, 'of Max');
      assert.match(denied(await give(max, mine, own, { host: 'a' })).msg, /owner of the domain/);
      denied(await max.client.delete(`/api/domains/${own}`));
      for (const [who, gone] of [
        [olga, path],
        [max, mine],
      ] as const) {
        done(await who.client.delete(gone));
      }
    });

    it('of another team cannot be reached by their id', async () => {
      const path = await team(olga, 'mine', [max]);
      const theirs = await team(stan, 'theirs');
      const { id } = made(await give(stan, theirs, foreign));
      refused(await olga.client.delete(`${path}/permissions/${id}`), 404, 404001);
      denied(await olga.client.delete(`${theirs}/permissions/${id}`));
      denied(await olga.client.get(`${theirs}/permissions`));
      refused(await admin.delete(`${path}/permissions/${id}`), 404, 404001);
      const failed = await newest('permission.delete');
      assert.equal(failed.result, 'failed');
      assert.equal(done(await stan.client.get(`${theirs}/permissions`)).length, 1);
      const own1 = made(await give(olga, path, own)).id;
      denied(await max.client.delete(`${path}/permissions/${own1}`));
      done(await admin.delete(`${path}/permissions/${own1}`));
      for (const bad of ['0', 'x', '1e1']) {
        refused(await olga.client.delete(`${path}/permissions/${bad}`), 400, 400001);
      }
      done(await olga.client.delete(path));
      done(await stan.client.delete(theirs));
    });

    it('count at the very next request, for tokens too', async () => {
      const token = await tokenOf(max);
      const narrowed: Client[] = [];
      const works = async () => {
        for (const client of [max.client, token]) {
          done(await client.get(records(own)));
          const { id } = made(await add(client, own, 'now'));
          done(await client.delete(`${records(own)}/${id}`));
        }
        for (const client of narrowed) done(await client.get(records(own)));
      };
      const stopped = async () => {
        for (const client of [max.client, token, ...narrowed]) {
          denied(await client.get(records(own)));
          denied(await add(client, own, 'now'));
          assert.deepEqual(await domains(client), []);
        }
      };
      await stopped();
      const path = await team(olga, 'short-lived', [max]);
      const { id } = made(await give(olga, path, own));
      await works();
      narrowed.push(await tokenOf(max, { allowed_domains: [own] }));
      await works();
      done(await olga.client.delete(`${path}/permissions/${id}`));
      await stopped();
      made(await give(olga, path, own));
      await works();
      done(await olga.client.delete(`${path}/members/${max.id}`));
      await stopped();
      made(await olga.client.post(`${path}/members`, { user_id: max.id }));
      await works();
      done(await max.client.delete(`${path}/members/${max.id}`));
      await stopped();
      made(await olga.client.post(`${path}/members`, { user_id: max.id }));
      await works();
      done(await olga.client.delete(path));
      await stopped();
    });

    it('can be given by tokens only for domains in their reach', async () => {
      const path = await team(olga, 'by token');
      const token = await tokenOf(olga);
      made(await give({ client: token }, path, own, { host: 't' }));
      denied(await give({ client: token }, path, foreign));
      denied(await give({ client: await tokenOf(olga, { allowed_domains: [own] }) }, path, own));
      done(await olga.client.delete(path));
    });

    it('with a glob of hosts cover these records and no others', async () => {
      const path = await team(olga, 'developers', [max]);
      const { id: permission } = made(await give(olga, path, own, { host: '*.dev' }));
      const token = await tokenOf(max);
      const made1 = async (client: Client, host: string) =>
        `${records(own)}/${made(await add(client, own, host)).id}` as const;
      const outside = await made1(olga.client, 'outside');
      assert.deepEqual(await domains(max.client), ['own.example write *.dev']);
      done(await max.client.get(outside));
      for (const client of [max.client, token]) {
        const inside = await made1(client, 'a.dev');
        for (const host of ['www', '@', 'dev', 'b.a.dev', 'a.devx', 'adev', '*.dev.x', '*.dev']) {
          denied(await add(client, own, host));
        }
        // what is delegated is no longer under these hosts
        denied(await client.post(records(own), { host: 'ns.dev', type: 'NS', value: 'ns.elsewhere.example' }));
        assert.match(denied(await add(client, own, 'www')).msg, /\*\.dev/);
        done(await client.put(inside, { value: 'changed' }));
        done(await client.put(inside, { host: 'b.dev' }));
        // neither out of it, nor into it
        denied(await client.put(inside, { host: 'www' }));
        denied(await client.put(inside, { host: 'c.b.dev' }));
        denied(await client.put(outside, { host: 'c.dev' }));
        denied(await client.put(outside, { value: 'changed' }));
        denied(await client.patch(`${outside}/status`, { enabled: false }));
        denied(await client.delete(outside));
        assert.equal(done(await client.get(inside)).host, 'b.dev');
        done(await client.delete(inside));
        denied(await client.put(`/api/domains/${own}`, { remark: 'mine' }));
        denied(await client.delete(`/api/domains/${own}`));
      }
      assert.equal(done(await olga.client.get(outside)).host, 'outside');
      // a second one adds to it
      made(await give(olga, path, own, { host: '**.test' }));
      done(await max.client.delete(await made1(max.client, 'x.y.test')));
      done(await max.client.delete(await made1(max.client, 'a.dev')));
      denied(await add(max.client, own, 'www'));
      done(await olga.client.delete(`${path}/permissions/${permission}`));
      denied(await add(max.client, own, 'a.dev'));
      done(await max.client.delete(await made1(max.client, 'x.y.test')));
      // and a whole write reaches all
      made(await give(olga, path, own));
      done(await max.client.delete(outside));
      done(await olga.client.delete(path));
    });

    it('are deleted with their domain', async () => {
      const account = await addAccount(admin, 'zonefile', {});
      const domain = await addDomain(admin, account, 'passing.example', true);
      const path = await team(olga, 'passing');
      made(await give({ client: admin }, path, domain));
      done(await admin.delete(`/api/domains/${domain}`));
      assert.deepEqual(done(await olga.client.get(`${path}/permissions`)), []);
      done(await olga.client.delete(path));
    });
  });
}
