import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, grant, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const person = (username: string) => ({ username, password: 'correct-horse-battery-9' });

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`the lists of changes of all domains, on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let db: Db;
    let close: () => Promise<void>;
    let account: number;
    /** ids of the domains, and of a user who owns the first one and whose team reads the second one */
    let [first, second, third, reader] = [0, 0, 0, 0];
    let user: Client;

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      account = await addAccount(admin, 'zonefile', {});
      first = await addDomain(admin, account, 'first.example', true);
      second = await addDomain(admin, account, 'second.example', true);
      third = await addDomain(admin, account, 'third.example', true);
      reader = await addUser(db, person('reader'));
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [reader, first]);
      await grant(db, await addTeam(db, 'readers', [reader]), second, 'read');
      user = service.server.as(await service.server.login(person('reader')));
      for (const domain of [first, second, third]) {
        await add(domain, { host: 'www', type: 'A', value: '192.0.2.1' });
        await add(domain, { host: '@', type: 'TXT', value: 'v=spf1 -all' });
      }
      const { id } = await add(first, { host: 'old', type: 'A', value: '192.0.2.7' }, user);
      done(await user.put(`/api/domains/${first}/records/${id}`, { host: 'new' }));
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });

    const add = async (domain: number, record: { host: string; type: string; value: string }, client = admin) =>
      made(await client.post(`/api/domains/${domain}/records`, record));
    const idsOf = async (
      query = '',
      client = admin,
      path: '/api/changes' | `/api/domains/${number}/changes` = '/api/changes',
    ) => done(await client.get(`${path}?limit=50${query && `&${query}`}`)).list.map(({ id }) => id);
    const ofDomains = async (domains: number[], query = '', client = admin) =>
      (await Promise.all(domains.map((id) => idsOf(query, client, `/api/domains/${id}/changes`))))
        .flat()
        .toSorted((a, b) => b - a);
    const tokenOf = async (client: Client, more: object) =>
      service.server.as(made(await client.post('/api/tokens', { name: `t${Math.random()}`, ...more })).token);

    it('an administrator sees those of every domain, newest first', async () => {
      const all = await idsOf();
      assert.equal(all.length, 8);
      assert.deepEqual(all, await ofDomains([first, second, third]));
    });

    it('somebody else sees those of the domains that they own or that a team of theirs may read', async () => {
      assert.deepEqual(await idsOf('', user), await ofDomains([first, second], '', user));
      const { list } = done(await user.get('/api/changes'));
      const shown = new Set(list.map(({ domain_id, domain }) => `${domain_id} ${domain}`));
      assert.deepEqual(shown, new Set([`${first} first.example`, `${second} second.example`]));
      const stranger = person('stranger');
      await addUser(db, stranger);
      assert.deepEqual(await idsOf('', service.server.as(await service.server.login(stranger))), []);
    });

    it('an entry is the same as in the list of its domain', async () => {
      const { list } = done(await user.get('/api/changes'));
      for (const set of list) {
        const own = done(await user.get(`/api/domains/${set.domain_id}/changes`)).list;
        assert.deepEqual(
          set,
          own.find(({ id }) => id === set.id),
        );
      }
    });

    it('a token sees those of its domains and rules, and needs the scope', async () => {
      const narrow = await tokenOf(admin, { allowed_domains: [third] });
      assert.deepEqual(await idsOf('', narrow), await ofDomains([third]));
      const ruled = await tokenOf(admin, { rules: [{ effect: 'allow', domains: [second], hosts: ['www'] }] });
      assert.deepEqual(await idsOf('', ruled), await ofDomains([second], '', ruled));
      const beyond = await tokenOf(user, { allowed_domains: [first] });
      await db.run('UPDATE domains SET owner_id = NULL WHERE id = ?', [first]);
      assert.deepEqual(await idsOf('', beyond), []);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [reader, first]);
      refused(await (await tokenOf(admin, { allowed_services: ['domains:read'] })).get('/api/changes'), 403, 403001);
    });

    it('both lists are narrowed by host, type, state, door, actor and days', async () => {
      await db.run("UPDATE change_sets SET created_at = '2026-02-03T12:00:00.000Z' WHERE id = ?", [
        (await idsOf()).at(-1) as number,
      ]);
      const counts: [query: string, every: number, ofFirst: number][] = [
        ['host=www', 3, 1],
        ['host=WWW&type=a', 3, 1],
        ['host=www&type=TXT', 0, 0],
        ['host=%40', 3, 1],
        ['host=old', 2, 2],
        ['host=new', 1, 1],
        ['type=TXT', 3, 1],
        ['type=MX', 0, 0],
        ['state=done', 8, 4],
        ['state=open', 0, 0],
        ['door=api', 8, 4],
        ['door=token', 0, 0],
        [`actor=${reader}`, 2, 2],
        ['actor=999999', 0, 0],
        ['from=2026-02-04', 7, 3],
        ['to=2026-02-03', 1, 1],
        ['from=2026-02-03&to=2026-02-03', 1, 1],
        ['to=2026-02-02', 0, 0],
        [`host=old&type=A&actor=${reader}&door=api&state=done&from=2026-02-04`, 2, 2],
      ];
      for (const [query, every, ofFirst] of counts) {
        assert.equal((await idsOf(query)).length, every, query);
        assert.equal((await ofDomains([first], query)).length, ofFirst, query);
        assert.deepEqual(await idsOf(query), await ofDomains([first, second, third], query), query);
        assert.deepEqual(await idsOf(query, user), await ofDomains([first, second], query, user), query);
      }
      assert.equal((await ofDomains([first], 'host=www.first.example.')).length, 1);
    });

    it('what is no record type is refused, and that of a vendor where there is a change of it', async () => {
      const ruled = await tokenOf(admin, { rules: [{ effect: 'allow', domains: [second], hosts: ['www'] }] });
      for (const path of ['/api/changes', `/api/domains/${second}/changes`] as const)
        for (const client of [admin, ruled]) {
          const { data } = refused(await client.get(`${path}?type=REDIRECT_URL`), 400, 400001);
          assert.deepEqual(data?.errors?.[0]?.path, 'type');
        }
      const [newest] = await idsOf('host=www&type=A', admin, `/api/domains/${second}/changes`);
      await db.run("UPDATE record_changes SET type = 'REDIRECT_URL' WHERE change_set_id = ?", [newest as number]);
      assert.deepEqual(await idsOf('type=redirect_url'), [newest]);
      assert.deepEqual(await idsOf('type=REDIRECT_URL', ruled), [newest]);
      refused(await admin.get(`/api/domains/${third}/changes?type=REDIRECT_URL`), 400, 400001);
      await db.run("UPDATE record_changes SET type = 'A' WHERE change_set_id = ?", [newest as number]);
    });

    it('a value that no filter can have is refused by its name', async () => {
      const wrong = {
        ...{ host: 'www.first.example.', type: 'A%20B', state: 'closed', door: 'window', actor: 'reader' },
        ...{ from: 'today', to: '2026-02-31', page: '0', limit: '51' },
      };
      for (const [field, value] of Object.entries(wrong)) {
        const { data } = refused(await admin.get(`/api/changes?${field}=${value}`), 400, 400001);
        assert.deepEqual(
          data?.errors?.map(({ path }) => path),
          [field],
        );
      }
      const other = `/api/domains/${first}/changes?host=www.second.example.` as const;
      assert.equal(refused(await admin.get(other), 400, 400001).data?.errors?.[0]?.path, 'host');
    });

    it('no filter tells a token with rules of a record that these hide', async () => {
      const deny = { effect: 'deny', values: { text: { pattern: 'v=spf1.*' } } };
      for (const rules of [
        [{ effect: 'allow', domains: [first, second], hosts: ['www', 'new'] }],
        [{ effect: 'allow', domains: [first, second], types: ['A', 'TXT'], hosts: ['www', 'new', '@'] }, deny],
      ]) {
        const ruled = await tokenOf(admin, { rules });
        assert.equal((await idsOf('host=www', ruled)).length, 2);
        assert.equal((await idsOf('type=A', ruled)).length, 2);
        // `new` was `old` before, which they hide
        for (const query of ['host=%40', 'type=TXT', 'host=old', 'host=new', 'host=%40&type=TXT']) {
          const { total, list } = done(await ruled.get(`/api/changes?${query}`));
          assert.deepEqual([total, list], [0, []], query);
          assert.equal(done(await ruled.get(`/api/domains/${first}/changes?${query}`)).total, 0, query);
        }
        const { total, list } = done(await ruled.get('/api/changes?host=www&limit=1&page=2'));
        assert.deepEqual([total, list.length, list[0]?.domain_id], [2, 1, first]);
      }
    });

    it('a page is cut out of all, and tells how many there are', async () => {
      const all = await idsOf('', user);
      const answer = await user.get('/api/changes?page=2&limit=4');
      const { total, list } = done(answer);
      assert.equal(total, 6);
      assert.equal(answer.headers.get('X-Total-Count'), '6');
      assert.match(answer.headers.get('Link') ?? '', /page=1&limit=4>; rel="prev"/);
      assert.deepEqual(
        list.map(({ id }) => id),
        all.slice(4),
      );
      const pages: number[] = [];
      for (let page = 1; page <= 7; page++) {
        const one = done(await user.get(`/api/changes?page=${page}&limit=1`));
        pages.push(...one.list.map(({ id }) => id));
      }
      assert.deepEqual(pages, all);
    });

    it('a long page takes as many statements as a short one', async () => {
      const cost = async (limit: number) => {
        const told = tellStatements();
        done(await user.get(`/api/changes?limit=${limit}`));
        return told().filter(({ sql }) => /change_sets|record_changes/.test(sql)).length;
      };
      assert.deepEqual([await cost(1), await cost(6)], [3, 3]);
    });

    it('lists of a domain that was removed are gone with it', async () => {
      const gone = await addDomain(admin, account, 'gone.example', true);
      await add(gone, { host: 'www', type: 'A', value: '192.0.2.1' });
      const before = await idsOf();
      done(await admin.delete(`/api/domains/${gone}`));
      assert.deepEqual(await idsOf(), before.slice(1));
      assert.deepEqual(await idsOf('host=www'), await ofDomains([first, second, third], 'host=www'));
    });
  });
