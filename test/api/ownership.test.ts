import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import type { Query } from '../support/answers.js';
import { addTeam, addUser, grant, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`what belongs to whom, on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    let account: number;
    type Person = { id: number; client: Client };
    /** Ann and Bob may add domains of the account; Ann owns ann.example */
    let ann: Person;
    let bob: Person;
    let team: number;
    let owned: number;
    const person = async (username: string, role = 1): Promise<Person> => {
      const user = { username, password: `${username}-secret` };
      const id = await addUser(db, user, role);
      return { id, client: service.server.as(await service.server.login(user)) };
    };
    const add = (client: Client, name: string, query: Query = '', account_id = account) =>
      client.post(`/api/domains${query}`, { name, account_id, create: true });
    const denied = (answer: Answer) => refused(answer, 403, 403001);
    const names = async (client: Client, query: Query) =>
      done(await client.get(`/api/domains${query}`)).map((d) => d.name);

    beforeAll(async () => {
      service = await startService(kind, { LOG_LEVEL: 'error' });
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      done(await admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0, user: 0, token: 0 } }));
      ann = await person('ann');
      bob = await person('bob');
      team = await addTeam(db, 'both', [ann.id, bob.id]);
      account = await addAccount(admin, 'zonefile', {});
      await db.run('UPDATE dns_accounts SET team_id = ? WHERE id = ?', [team, account]);
      owned = made(await add(ann.client, 'ann.example')).id;
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('a public suffix needs an administrator and force, and a synchronisation leaves it out', async () => {
      for (const name of ['com', 'co.uk', 'CO.UK.', 'xn--p1ai', 'kawasaki.jp']) {
        assert.match(denied(await add(ann.client, name)).msg, /public suffix/);
        denied(await add(ann.client, name, '?force=true'));
        assert.match(refused(await add(admin, name), 409, 409001).msg, /force=true/);
      }
      const { id } = made(await add(admin, 'co.uk', '?force=true'));
      // what is known stays
      assert.equal(done(await admin.post(`/api/accounts/${account}/sync`)).left_out, undefined);
      done(await admin.delete(`/api/domains/${id}`));
      assert.deepEqual(done(await admin.post(`/api/accounts/${account}/sync`)).left_out, ['co.uk']);
      assert.deepEqual(await names(admin, '?name=co.uk'), []);
      // private suffixes, unknown top-level names, and names below suffixes are domains like others
      for (const name of ['github.io', 'internal', 'shop.co.uk'])
        done(await admin.delete(`/api/domains/${made(await add(bob.client, name)).id}`));
    });

    it('a domain below or above that of another user needs an administrator and force', async () => {
      for (const name of ['sub.ann.example', 'a.b.ann.example', 'example']) {
        const answer = denied(await add(bob.client, name));
        // whose it is, and what, is not for him to know
        assert.doesNotMatch(answer.msg, /\(/);
        assert.deepEqual(answer.data.domains, []);
        denied(await add(bob.client, name, '?force=true'));
        const asked = refused(await add(admin, name), 409, 409001);
        assert.match(asked.msg, /\(ann\.example\).*force=true/);
        assert.deepEqual(asked.data.domains, [{ id: owned, name: 'ann.example' }]);
      }
      made(await add(bob.client, 'nn.example'));
      made(await add(bob.client, 'ann.example.org'));
      made(await add(ann.client, 'own.ann.example'));
      await grant(db, team, owned, 'read');
      assert.match(denied(await add(bob.client, 'sub.ann.example')).msg, /\(ann\.example\)/);
      const { id } = made(await add(admin, 'sub.ann.example', '?force=true'));
      done(await admin.delete(`/api/domains/${id}`));
      await db.run('DELETE FROM domain_permissions WHERE team_id = ?', [team]);
    });

    it('so does the name of a domain of another user in another account', async () => {
      const other = await addAccount(admin, 'zonefile', { directory: 'other' });
      await db.run('UPDATE dns_accounts SET team_id = ? WHERE id = ?', [team, other]);
      denied(await add(bob.client, 'ann.example', '', other));
      refused(await add(admin, 'ann.example', '', other), 409, 409001);
      made(await add(ann.client, 'ann.example', '', other));
    });

    it('of two such domains at once one is added', async () => {
      const answers = await Promise.all([add(ann.client, 'race.test'), add(bob.client, 'sub.race.test')]);
      assert.deepEqual(answers.map((a) => a.status).toSorted(), [201, 403]);
    });

    it('users with write permission can neither delete nor share it; the owner and administrators can', async () => {
      const { id } = made(await add(ann.client, 'shared.test'));
      await grant(db, team, id, 'write');
      done(await bob.client.put(`/api/domains/${id}`, { remark: 'by Bob' }));
      assert.equal(denied(await bob.client.delete(`/api/domains/${id}`)).data.required, `domain:${id}:own`);
      const mine = made(await bob.client.post('/api/teams', { name: 'of Bob' })).id;
      denied(await bob.client.post(`/api/teams/${mine}/permissions`, { domain_id: id, permission: 'read' }));
      const { id: given } = made(
        await admin.post(`/api/teams/${mine}/permissions`, { domain_id: id, permission: 'read' }),
      );
      const row = await db.row<{ granted_by: number }>('SELECT granted_by FROM domain_permissions WHERE id = ?', [
        given,
      ]);
      assert.equal(row?.granted_by, 1);
      const token = made(await ann.client.post('/api/tokens', { name: 'ci', rules: [{ effect: 'allow' }] })).token;
      denied(await service.server.as(token).delete(`/api/domains/${id}`));
      done(await ann.client.delete(`/api/domains/${id}`));
    });

    it('a domain shows what the caller can do there', async () => {
      const { id } = made(await add(ann.client, 'says.test'));
      const says = async (client: Client) => {
        const { permission, write_hosts, can_delete, capabilities } = done(await client.get(`/api/domains/${id}`));
        assert.ok(capabilities.types.includes('A') && capabilities.min_ttl >= 0);
        return [permission, write_hosts, can_delete];
      };
      assert.deepEqual(await says(ann.client), ['write', null, true]);
      assert.deepEqual(await says(admin), ['write', null, true]);
      await grant(db, team, id, 'read');
      assert.deepEqual(await says(bob.client), ['read', null, false]);
      await db.run(`UPDATE domain_permissions SET permission = 'write', host = '*.dev' WHERE domain_id = ?`, [id]);
      assert.deepEqual(await says(bob.client), ['write', ['*.dev'], false]);
      const [listed] = done(await bob.client.get('/api/domains?name=says.test'));
      assert.deepEqual([listed.permission, listed.write_hosts], ['write', ['*.dev']]);
      await db.run('UPDATE domain_permissions SET host = NULL WHERE domain_id = ?', [id]);
      assert.deepEqual(await says(bob.client), ['write', null, false]);
      const token = async (more: object) =>
        service.server.as(made(await ann.client.post('/api/tokens', { name: 'ci', ...more })).token);
      assert.deepEqual(await says(await token({})), ['write', null, true]);
      assert.deepEqual(await says(await token({ preset: 'read-only' })), ['read', null, false]);
      assert.deepEqual(await says(await token({ preset: 'acme' })), ['write', ['_acme-challenge'], false]);
      assert.deepEqual(await says(await token({ allowed_services: ['domains:read'] })), ['read', null, false]);
      const narrowed = await token({ allowed_domains: [id] });
      assert.ok(done(await narrowed.get('/api/providers')).length > 0);
    });

    it('domains are found by their owner and by a team, but no team that the caller may not know of', async () => {
      const [dora, emil] = [await person('dora'), await person('emil')];
      const own = await addAccount(admin, 'zonefile', { directory: 'dora' });
      const id = await addDomain(admin, own, 'dora.test', true);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [dora.id, id]);
      const [emils, others] = [await addTeam(db, 'of emil', [emil.id]), await addTeam(db, 'of others', [])];
      await grant(db, emils, id, 'read');
      await grant(db, others, id, 'read');
      for (const { client } of [{ client: admin }, dora, emil]) {
        assert.deepEqual(await names(client, `?owner_id=${dora.id}`), ['dora.test']);
        assert.deepEqual(await names(client, `?team_id=${emils}&limit=5`), ['dora.test']);
        assert.deepEqual(await names(client, `?team_id=${emils}&owner_id=${dora.id}&sort=-id`), ['dora.test']);
        assert.deepEqual(await names(client, `?owner_id=${emil.id}`), []);
        for (const wrong of ['owner_id=dora', 'team_id=0'])
          refused(await client.get(`/api/domains?${wrong}`), 400, 400001);
      }
      assert.deepEqual(await names(admin, `?team_id=${others}`), ['dora.test']);
      assert.deepEqual(await names(dora.client, `?team_id=${others}`), ['dora.test']);
      assert.deepEqual(await names(emil.client, `?team_id=${others}`), []);
      assert.deepEqual(await names(ann.client, `?owner_id=${dora.id}`), []);
    });

    it('domains are found by name, account, provider and status', async () => {
      const clara = await person('clara');
      const mine = await addAccount(admin, 'zonefile', { directory: 'clara' });
      const id = await addDomain(admin, mine, 'münchen.test', true);
      const second = await addDomain(admin, mine, 'a_b.münchen.example', true);
      await db.run(`UPDATE domains SET owner_id = ?, status = 'missing' WHERE id = ?`, [clara.id, id]);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [clara.id, second]);
      const muc = 'xn--mnchen-3ya.test';
      const both = ['a_b.xn--mnchen-3ya.example', muc];
      for (const client of [admin, clara.client]) {
        for (const name of ['münchen.test', 'MÜNCHEN.test.', muc]) {
          assert.deepEqual(await names(client, `?name=${encodeURIComponent(name)}`), [muc]);
        }
        assert.deepEqual(await names(client, '?name=nchen.test'), []);
        assert.deepEqual(await names(client, `?keyword=${encodeURIComponent('münchen')}`), both);
        assert.deepEqual(await names(client, '?keyword=A_B'), both.slice(0, 1));
        assert.deepEqual(await names(client, `?account_id=${mine}`), both);
        assert.deepEqual(await names(client, `?account_id=${mine}&provider=zonefile&status=missing`), [muc]);
        assert.deepEqual(await names(client, `?account_id=${mine}&provider=powerdns`), []);
        const page = await client.get(`/api/domains?account_id=${mine}&limit=1&page=2&sort=-name`);
        assert.equal(page.headers.get('x-total-count'), '2');
        assert.deepEqual(
          done(page).map((d) => d.name),
          both.slice(0, 1),
        );
        assert.equal((await client.get(`/api/domains?status=missing&limit=5`)).headers.get('x-total-count'), '1');
        for (const wrong of ['status=gone', 'account_id=x', 'name=', 'provider='])
          refused(await client.get(`/api/domains?${wrong}`), 400, 400001);
      }
    });
  });
}
