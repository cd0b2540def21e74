import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { logOf, textsAt, tokenOf } from '../support/doors.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { ask, done, made, refused, startWorld, type World } from '../support/world.js';

const TEXT = 'LHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM';

/** What both clients look at: they pass over the status. */
interface Envelope<T> {
  status: number;
  code: number;
  msg: string;
  data: T;
}
type Held = { total: number; list: { id: string; name: string; type: string; value: string; ttl: number }[] };

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`the doors of the panel's clients, on ${kind}`, () => {
    let world: World;
    let router: string;
    let certificates: string;

    beforeAll(async () => {
      world = await startWorld(kind);
      const rules = [{ effect: 'allow', hosts: ['home'], types: ['A', 'AAAA'], actions: ['read', 'create', 'update'] }];
      router = await tokenOf(world.admin, ['ddns'], { rules });
      certificates = await tokenOf(world.admin, ['acme'], { preset: { name: 'acme', host: 'www' } });
    });
    afterAll(() => world.stop());
    beforeEach(() => {
      world.proxy.fault = null;
    });

    async function call<T>(door: string, method: string, path: string, token: string, body?: object) {
      const response = await fetch(`${world.server.url}/doors/${door}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: response.status, ...((await response.json()) as object) } as Envelope<T>;
    }
    const given = <T>({ code, data, msg }: Envelope<T>): T => {
      assert.equal(code, 0, msg);
      return data;
    };
    const records = () => `/domains/${world.domain}/records`;

    it('takes the calls of ddns-go: its domain, the record by name and type, another address', async () => {
      const first = given(
        await call<{ id: number; name: string }[]>('ddns-go', 'GET', '/domains?page=1&pageSize=1&keyword=', router),
      );
      assert.deepEqual(first, [{ id: world.domain, name: 'example.com' }]);
      assert.deepEqual(given(await call('ddns-go', 'GET', '/domains?page=2&pageSize=100', router)), []);
      const look = `${records()}?page=1&pageSize=100&subdomain=home&type=A`;
      assert.deepEqual(given(await call<Held>('ddns-go', 'GET', look, router)), { total: 0, list: [] });
      const record = { name: 'home', type: 'A', value: '192.0.2.7', ttl: 600, line: '0' };
      const { id } = given(await call<{ id: string }>('ddns-go', 'POST', records(), router, record));
      const held = given(await call<Held>('ddns-go', 'GET', look, router));
      assert.deepEqual(held, { total: 1, list: [{ ...record, id, line: 'default', mx: null }] });
      assert.equal(typeof held.list[0]?.id, 'string');
      given(await call('ddns-go', 'PUT', `${records()}/${id}`, router, { ...record, value: '192.0.2.8' }));
      const answers = await ask(world.pdns.dnsPort, 'home.example.com', 'A');
      assert.deepEqual(
        answers.map(({ rdata }) => rdata),
        ['192.0.2.8'],
      );
      const changes = async () => done(await world.admin.get(`/api/domains/${world.domain}/changes`)).list.length;
      const before = await changes();
      given(await call('ddns-go', 'PUT', `${records()}/${id}`, router, { ...record, value: '192.0.2.8' }));
      assert.equal(await changes(), before);
      await world.agree();
    });

    it('takes the calls of certd: all domains, a challenge, and its end by the id', async () => {
      const list = given(await call<{ id: number; name: string }[]>('certd', 'GET', '/domains', certificates));
      assert.deepEqual(list, [{ id: world.domain, name: 'example.com' }]);
      const record = { name: '_acme-challenge.www', type: 'TXT', value: TEXT, ttl: 600, line: '0' };
      const { id } = given(await call<{ id: string }>('certd', 'POST', records(), certificates, record));
      assert.deepEqual(await textsAt(world, '_acme-challenge.www.example.com'), [TEXT]);
      given(await call('certd', 'DELETE', `${records()}/${id}`, certificates));
      assert.deepEqual(await textsAt(world, '_acme-challenge.www.example.com'), []);
    });

    it('says by the code, which is all that they look at, that something failed', async () => {
      const record = { name: 'home', type: 'A', value: '192.0.2.9', ttl: 600, line: '0' };
      const post = (body: object, token = router) => call('ddns-go', 'POST', records(), token, body);
      for (const [what, asked, status, code, words] of [
        ['wrong token', () => post(record, `svc_${'0'.repeat(64)}`), 401, 401001, /invalid or expired/i],
        ['the token of the other door', () => post(record, certificates), 403, 403001, /./],
        ['foreign name', () => post({ ...record, name: 'mail' }), 403, 403001, /rule/],
        ['no address', () => post({ ...record, value: 'x' }), 400, 400001, /value/],
        ['no object', () => call('ddns-go', 'POST', records(), router, []), 400, 400001, /body/],
        ['no such domain', () => call('ddns-go', 'GET', '/domains/999/records', router), 404, 404001, /./],
        ['no such place', () => call('ddns-go', 'GET', '/users', router), 404, 404001, /exist/],
      ] as const) {
        const answer = await asked();
        assert.deepEqual([what, answer.status, answer.code], [what, status, code], answer.msg);
        assert.match(answer.msg, words);
      }
      world.proxy.fault = async () => ({ status: 503, body: 'down' });
      const away = await call('ddns-go', 'POST', records(), router, { ...record, type: 'AAAA', value: '2001:db8::9' });
      assert.deepEqual([away.code, /503/.test(away.msg)], [500002, true], away.msg);
    });

    it('tells that an address waits for an approval, and asks for it once', async () => {
      const at = `/api/domains/${world.domain}` as const;
      done(await world.admin.put(at, { approval: { for: 'all', by: { role: 2 }, own: true } }));
      const record = { name: 'home', type: 'AAAA', value: '2001:db8::7', ttl: 600, line: '0' };
      const first = await call('ddns-go', 'POST', records(), router, record);
      assert.deepEqual([first.code, /plan \d+/.test(first.msg)], [409001, true], first.msg);
      assert.equal((await call('ddns-go', 'POST', records(), router, record)).msg, first.msg);
      const { list } = done(await world.admin.get(`${at}/plans?state=waiting`));
      assert.deepEqual(
        list.map(({ door, door_key }) => [door, door_key]),
        [['door', 'ddns-go']],
      );
      done(await world.admin.put(at, { approval: { for: 'none' } }));
    });

    it('is closed by the settings, leaves its name in the log, and opens nothing else to its token', async () => {
      const [newest] = await logOf(world, '&action=record.create');
      assert.deepEqual([newest?.result, newest?.door], ['failed', 'ddns-go']);
      for (const path of ['/api/domains', world.records] as const)
        refused(await world.server.as(router).get(path as '/api/domains'), 403, 403001);
      done(await world.admin.put('/api/settings/doors', { 'ddns-go': { enabled: false } }));
      assert.equal((await call('ddns-go', 'GET', '/domains', router)).status, 404);
      given(await call('certd', 'GET', '/domains', certificates));
      made(await world.admin.post(world.records, { host: 'x', type: 'A', value: '192.0.2.1' }));
    });
  });
