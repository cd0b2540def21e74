import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { basic, logOf, say, tokenOf } from '../support/doors.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { done, refused, startWorld, type World } from '../support/world.js';

const CHALLENGE = { fqdn: '_acme-challenge.example.com.', value: 'LHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM' };
const KEYS = ['httpreq', 'acme-dns', 'dyndns2', 'external-dns', 'ddns-go', 'certd', 'rfc2136', 'webhook', 'powerdns'];
const CLOSED = ['rfc2136', 'powerdns'];
const OPEN = Object.fromEntries(KEYS.map((key) => [key, { enabled: !CLOSED.includes(key) }]));

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`doors, on ${kind}`, () => {
    let world: World;
    let token: string;
    let url: string;

    beforeAll(async () => {
      world = await startWorld(kind);
      url = world.server.url;
      token = await tokenOf(world.admin, ['acme', 'ddns']);
    });
    afterAll(() => world.stop());
    afterEach(async () => void done(await world.admin.put('/api/settings/doors', OPEN)));

    const present = (authorization: string) =>
      say(`${url}/doors/httpreq/present`, 'POST', { authorization }, CHALLENGE);
    const update = (authorization: string, query = 'hostname=a.example.com&myip=192.0.2.1') =>
      say(`${url}/nic/update?${query}`, 'GET', { authorization });

    it('are listed with what to paste into each tool, and never with a token', async () => {
      done(await world.admin.put('/api/settings/doors', { dyndns2: { enabled: false } }));
      const list = done(await world.admin.get('/api/doors'));
      assert.deepEqual(
        list.map(({ key, enabled, url: at, scope }) => [key, enabled, new URL(at).pathname, scope]),
        [
          ['httpreq', true, '/doors/httpreq', 'acme'],
          ['acme-dns', true, '/doors/acme-dns', 'acme'],
          ['dyndns2', false, '/nic/update', 'ddns'],
          ['external-dns', true, '/doors/external-dns', 'external-dns'],
          ['ddns-go', true, '/doors/ddns-go', 'ddns'],
          ['certd', true, '/doors/certd', 'acme'],
          ['rfc2136', false, '', 'rfc2136'],
          ['webhook', true, '/doors/hook', 'webhook'],
          ['powerdns', false, '/doors/powerdns', 'powerdns'],
        ],
      );
      for (const { url: at, auth, tools } of list) {
        assert.ok(auth && tools.length);
        const pasted = tools.map(({ snippet }) => snippet).join('\n');
        assert.ok(pasted.includes(new URL(at).hostname));
        assert.match(pasted, /\$ZONEWARD_TOKEN/);
        assert.doesNotMatch(pasted, /svc_/);
      }
    });

    it('are open at first, but those with a port of their own, and what is not named stays as it is', async () => {
      assert.deepEqual(done(await world.admin.get('/api/settings/doors')), OPEN);
      const closed = done(await world.admin.put('/api/settings/doors', { httpreq: { enabled: false } }));
      assert.deepEqual(closed, { ...OPEN, httpreq: { enabled: false } });
      refused(await world.admin.put('/api/settings/doors', { httpreq: { enabled: 'no' } }), 400, 400001);
      refused(await world.admin.put('/api/settings/doors', { httpreq: null }), 400, 400001);
      refused(await world.admin.put('/api/settings/doors', { garage: { enabled: true } }), 400, 400001);
    });

    it('are opened and closed by administrators only', async () => {
      const { db, close } = await openDatabase(world.databaseUrl, world.server.dataDir);
      const user = { username: 'reader', password: 'reader-secret' };
      await addUser(db, user, 1);
      await close();
      const client = world.server.as(await world.server.login(user));
      refused(await client.get('/api/settings/doors'), 403, 403001);
      refused(await client.put('/api/settings/doors', { httpreq: { enabled: false } }), 403, 403001);
      assert.equal(done(await client.get('/api/doors')).length, KEYS.length);
    });

    it('are not there for anybody while they are closed', async () => {
      const closed = Object.fromEntries(KEYS.map((key) => [key, { enabled: false }]));
      done(await world.admin.put('/api/settings/doors', closed));
      const all = await tokenOf(world.admin, ['*']);
      for (const authorization of [basic(all), basic(token), '']) {
        assert.equal((await present(authorization)).status, 404);
        assert.equal((await update(authorization)).status, 404);
        assert.equal((await say(`${url}/v3/update?hostname=a.example.com`, 'GET', { authorization })).status, 404);
        assert.equal((await say(`${url}/doors/acme-dns/register`, 'POST', { authorization }, {})).status, 404);
        // another method is no other answer
        assert.equal((await say(`${url}/doors/httpreq/present`, 'GET', { authorization })).status, 404);
      }
      assert.equal((await say(`${url}/doors/acme-dns/health`, 'GET', {})).status, 404);
      assert.equal((await say(`${url}/doors/external-dns/`, 'GET', {})).status, 404);
      assert.equal((await say(`${url}/doors/hook/1`, 'POST', {}, {})).status, 404);
      assert.equal((await say(`${url}/doors/powerdns/api`, 'GET', { 'x-api-key': all })).status, 404);
    });

    it('take a token of their own scope, or of all, and no other', async () => {
      for (const services of [['records:write', 'records:read'], ['external-dns'], ['ddns']])
        assert.equal((await present(basic(await tokenOf(world.admin, services)))).status, 403);
      assert.equal((await update(basic(await tokenOf(world.admin, ['acme'])))).text, 'badauth');
      for (const services of [['*'], ['records:read', 'acme']])
        assert.equal((await present(basic(await tokenOf(world.admin, services)))).status, 200);
    });

    it('take no login in place of a token', async () => {
      assert.equal((await present(`Bearer ${world.token}`)).status, 401);
      assert.equal((await present(basic(world.token))).status, 401);
      assert.equal((await update(basic(world.token))).status, 401);
    });

    it('hold a token to its networks, its end and its rate', async () => {
      const elsewhere = await tokenOf(world.admin, ['acme', 'ddns'], { allowed_cidrs: ['192.0.2.0/24'] });
      assert.equal((await present(basic(elsewhere))).status, 403);
      assert.equal((await update(basic(elsewhere))).text, 'badauth');
      const past = { start_time: '2020-01-01T00:00:00Z', end_time: '2020-01-02T00:00:00Z' };
      assert.equal((await present(basic(await tokenOf(world.admin, ['acme'], past)))).status, 401);
      const limits = { rate_limits: { user: 0, token: 1 } };
      done(await world.admin.put('/api/settings/security', limits));
      const fast = await tokenOf(world.admin, ['acme', 'ddns']);
      const answers = [];
      for (let i = 0; i < 100; i++) answers.push(await update(basic(fast), 'hostname=a.example.com&myip=192.0.2.1'));
      const late = answers.at(-1);
      assert.deepEqual([late?.status, late?.text], [200, '911']);
      assert.ok(Number(late?.headers.get('retry-after')) > 0);
      assert.equal((await present(basic(fast))).status, 429);
      done(await world.admin.put('/api/settings/security', { rate_limits: { user: 3000, token: 3000 } }));
    });

    it('name themselves in the log, also of what they refuse', async () => {
      const blind = await tokenOf(world.admin, ['records:read']);
      await present(basic(blind));
      const [entry] = await logOf(world);
      assert.deepEqual([entry?.door, entry?.result, entry?.actor.token_name], ['httpreq', 'failed', 'records:read']);
      const verdict = done(await world.admin.get('/api/audit/verify' as '/api/audit/logs')) as unknown as {
        ok: boolean;
      };
      assert.equal(verdict.ok, true);
    });

    it('leave what no door knows as it is', async () => {
      const known = await say(`${url}/nothing/update`, 'GET', {});
      for (const path of ['/nic', '/nic/other', '/v3', '/v3/updates', '/doors', '/doors/other'])
        assert.deepEqual([path, (await say(`${url}${path}`, 'GET', {})).status], [path, known.status]);
    });
  });
