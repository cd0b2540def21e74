import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, grant, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Client, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const USER = { username: 'reader', password: 'correct-horse-battery-9' };

for (const { kind, skip } of databases('all'))
  describeUnless(skip)(`GET /api/records, on ${kind}`, () => {
    let service: Service;
    let admin: Client;
    let user: Client;
    let db: Db;
    let close: () => Promise<void>;
    const accounts: number[] = [];
    const domains: number[] = [];

    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      for (const directory of ['a', 'b']) accounts.push(await addAccount(admin, 'zonefile', { directory }));
      for (const [i, name] of ['one.example', 'two.example', 'three.example'].entries()) {
        const domain = await addDomain(admin, accounts[i === 2 ? 1 : 0] as number, name, true);
        domains.push(domain);
        for (const record of [
          { host: 'www', type: 'A', value: `192.0.2.${i + 1}` },
          { host: 'bücher', type: 'CNAME', value: 'shop.example.net.', remark: 'the Shop' },
          { host: '@', type: 'MX', value: '10 mail.example.net.' },
          { host: '@', type: 'TXT', value: 'v=spf1 -all', enabled: false },
        ])
          made(await admin.post(`/api/domains/${domain}/records`, record));
      }
      const id = await addUser(db, USER);
      await db.run('UPDATE domains SET owner_id = ? WHERE id = ?', [id, domains[0] as number]);
      await grant(db, await addTeam(db, 'readers', [id]), domains[1] as number, 'read');
      user = service.server.as(await service.server.login(USER));
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });

    /** What a search finds: the type and the domain of each record. */
    const found = async (query: string, client = admin): Promise<string[]> => {
      const { total, list } = done(await client.get(`/api/records?limit=50&${query}`));
      assert.equal(total, list.length);
      return list.map(({ type, domain }) => `${type} ${domain.split('.')[0]}`);
    };
    const of = (type: string, ...names: string[]) => names.map((name) => `${type} ${name}`);
    const ALL = ['one', 'two', 'three'];
    const zonefileNs = async () => (await found('type=NS')).length;

    it('shows each record as the list of its domain does, with its domain', async () => {
      const { total, list } = done(await admin.get('/api/records?limit=500'));
      assert.equal(total, 12 + (await zonefileNs()));
      for (const [i, domain] of domains.entries()) {
        const own = done(await admin.get(`/api/domains/${domain}/records`)).list;
        const some = list.filter((record) => record.domain_id === domain);
        assert.deepEqual(
          some.map(({ domain: name, domain_id: _, ...record }) => [name, record]),
          own.map((record) => [`${ALL[i]}.example`, record]),
        );
      }
    });

    it('is narrowed by each filter, alone and together', async () => {
      assert.deepEqual(await found('host=WWW'), of('A', ...ALL));
      assert.deepEqual(await found(`host=${encodeURIComponent('Bücher')}`), of('CNAME', ...ALL));
      assert.deepEqual(await found('host=@&type=mx'), of('MX', ...ALL));
      assert.deepEqual(await found('value=192.0.2.2'), ['A two']);
      assert.deepEqual(await found(`value=${encodeURIComponent('SHOP.example.net.')}`), of('CNAME', ...ALL));
      assert.deepEqual(await found(`value=${encodeURIComponent('10 mail.example.net')}`), of('MX', ...ALL));
      assert.deepEqual(await found('keyword=shop&domain=Two.Example.'), ['CNAME two']);
      assert.deepEqual(await found(`keyword=${encodeURIComponent('bücher')}`), of('CNAME', ...ALL));
      assert.deepEqual(await found(`domain=${domains[2]}&type=A,TXT`), ['A three', 'TXT three']);
      assert.deepEqual(await found(`account_id=${accounts[0]}&host=www`), of('A', 'one', 'two'));
      assert.deepEqual(await found('enabled=false'), of('TXT', ...ALL));
      assert.deepEqual(await found('type=TXT&sort=-id'), of('TXT', 'three', 'two', 'one'));
      assert.deepEqual(await found('domain=nowhere.example'), []);
    });

    it('is cut into pages of 20, which say where the next one is', async () => {
      const first = await admin.get('/api/records?type=A&limit=2');
      assert.deepEqual([done(first).total, done(first).list.length], [3, 2]);
      assert.equal(first.headers.get('x-total-count'), '3');
      assert.match(String(first.headers.get('link')), /page=2.*rel="next"/);
      assert.equal(done(await admin.get('/api/records?type=A&limit=2&page=2')).list.length, 1);
    });

    it('is of the domains that somebody may read, and of a token what its rules let read', async () => {
      assert.deepEqual(await found('host=www', user), of('A', 'one', 'two'));
      assert.deepEqual(await found('domain=three.example', user), []);
      const token = async (client: Client, more: object) =>
        service.server.as(made(await client.post('/api/tokens', { name: 't', ...more })).token);
      const scoped = await token(admin, { allowed_services: ['accounts:read'] });
      refused(await scoped.get('/api/records'), 403, 403001);
      const narrow = await token(admin, { allowed_domains: [domains[2]] });
      assert.deepEqual(await found('host=www', narrow), ['A three']);
      const hosts = await token(user, { rules: [{ effect: 'allow', hosts: ['www'], types: ['A'] }] });
      assert.deepEqual(await found('', hosts), of('A', 'one', 'two'));
      const [, two, three] = domains;
      // values are judged here, and not in SQL
      const rules = [
        { effect: 'allow', types: ['A', 'TXT'], domains: [two, three] },
        { effect: 'deny', types: ['A'], domains: [three], values: { cidrs: ['192.0.2.0/24'] } },
      ];
      const judged = await token(admin, { rules });
      assert.deepEqual(await found('', judged), ['A two', 'TXT two', 'TXT three']);
      assert.deepEqual(await found('value=192.0.2.3', judged), []);
    });

    it('names what is wrong with a filter', async () => {
      for (const [query, path] of [
        ['type=NOPE', 'type'],
        ['sort=value', 'sort'],
        ['domain=a', 'domain'],
        ['host=www.one.example.', 'host'],
        ['account_id=x', 'account_id'],
        ['enabled=x', 'enabled'],
        ['line=x', 'line'],
      ] as const) {
        const { data } = refused(await admin.get(`/api/records?${query}`), 400, 400001);
        assert.deepEqual(
          data.errors?.map((error) => error.path),
          [path],
          query,
        );
      }
    });
  });
