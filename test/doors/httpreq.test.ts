import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { basic, logOf, type Said, say, textsAt, tokenOf } from '../support/doors.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { addDomain, done, made, refused, startWorld, type World } from '../support/world.js';

const NAME = '_acme-challenge.www.example.com';
const [ONE, TWO] = ['LHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM', 'vlLHEYnEk3_KdOdNlpWf0RdLAnhLrVmnd3TmnMbZfjU'];

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`the door httpreq, on ${kind}`, () => {
    let world: World;
    let token: string;

    beforeAll(async () => {
      world = await startWorld(kind);
      token = await tokenOf(world.admin, ['acme'], { preset: { name: 'acme', host: 'www' } });
    });
    afterAll(() => world.stop());
    beforeEach(() => {
      world.proxy.fault = null;
    });

    const ask = (what: string, body: unknown, authorization = basic(token)): Promise<Said> =>
      say(`${world.server.url}/doors/httpreq/${what}`, 'POST', { authorization }, body);

    it('puts both challenges of a zone and its wildcard beside each other, and takes each away alone', async () => {
      const [one, two] = [ONE, TWO].map((value) => ({ fqdn: `${NAME}.`, value }));
      const answer = await ask('present', one);
      assert.deepEqual([answer.status, JSON.parse(answer.text)], [200, one]);
      assert.equal((await ask('present', two)).status, 200);
      // a client that got no answer sends it once more
      assert.equal((await ask('present', one)).status, 200);
      assert.deepEqual(await textsAt(world, NAME), [ONE, TWO].sort());
      assert.equal((await ask('cleanup', one)).status, 200);
      assert.deepEqual(await textsAt(world, NAME), [TWO]);
      assert.equal((await ask('cleanup', one)).status, 200);
      assert.equal((await ask('cleanup', two)).status, 200);
      assert.deepEqual(await textsAt(world, NAME), []);
      await world.agree();
    });

    it('works out name and text itself in RAW mode, of a wildcard, too', async () => {
      const raw = { domain: '*.www.example.com', token: 'x', keyAuth: 'x.y' };
      const text = createHash('sha256').update('x.y').digest('base64url');
      const answer = await ask('present', raw, `Bearer ${token}`);
      assert.deepEqual([answer.status, JSON.parse(answer.text)], [200, { fqdn: `${NAME}.`, value: text }]);
      assert.deepEqual(await textsAt(world, NAME), [text]);
      assert.equal((await ask('cleanup', raw)).status, 200);
      assert.deepEqual(await textsAt(world, NAME), []);
    });

    it('puts a deep name into the zone that is nearest', async () => {
      await world.pdns.createZone('deep.example.com');
      const domain = await addDomain(world.admin, world.account, 'deep.example.com');
      const all = await tokenOf(world.admin, ['acme']);
      const challenge = { fqdn: '_acme-challenge.a.b.deep.example.com.', value: ONE };
      assert.equal((await ask('present', challenge, basic(all))).status, 200);
      const { list } = done(await world.admin.get(`/api/domains/${domain}/records?type=TXT`));
      assert.deepEqual(
        list.map(({ host, value }) => [host, value]),
        [['_acme-challenge.a.b', ONE]],
      );
    });

    it('names what is missing or wrong in a request', async () => {
      for (const [body, words] of [
        [{ value: ONE }, /^fqdn: /],
        [{ fqdn: `${NAME}.` }, /^value: /],
        [{ domain: 'www.example.com' }, /^keyAuth: /],
        [{ fqdn: 7, value: ONE }, /^fqdn: /],
        [{ fqdn: 'a..example.com', value: ONE }, /^fqdn: /],
        [{ fqdn: `${'a'.repeat(300)}.example.com`, value: ONE }, /^fqdn: /],
        ['{"fqdn"', /^body: /],
        ['[]', /^body: /],
        ['"x"', /^body: /],
      ] as const) {
        const { status, text } = await ask('present', body);
        assert.equal(status, 400, `${JSON.stringify(body)} ${text}`);
        assert.match(text, words);
      }
    });

    it('tells a client what failed, with a status that it takes for a failure', async () => {
      const challenge = { fqdn: `${NAME}.`, value: ONE };
      const table: [string, () => Promise<Said>, number, RegExp][] = [
        ['wrong token', () => ask('present', challenge, basic(`svc_${'0'.repeat(64)}`)), 401, /invalid or expired/i],
        ['no token', () => ask('present', challenge, ''), 401, /token/],
        ['foreign zone', () => ask('present', { ...challenge, fqdn: '_acme-challenge.example.net.' }), 403, /domain/],
        ['foreign name', () => ask('present', { ...challenge, fqdn: '_acme-challenge.example.com.' }), 403, /rule/],
        ['foreign name', () => ask('cleanup', { ...challenge, fqdn: '_acme-challenge.example.com.' }), 403, /rule/],
        ['no such place', () => ask('nothing', challenge), 404, /exist/],
      ];
      for (const [what, asked, status, words] of table) {
        const answer = await asked();
        assert.deepEqual([what, answer.status], [what, status], answer.text);
        assert.match(answer.text, words);
        assert.match(answer.type, /^text\/plain/);
      }
    });

    it('fails where the provider is away', async () => {
      world.proxy.fault = async () => ({ status: 503, body: 'down' });
      const { status, text } = await ask('present', { fqdn: `${NAME}.`, value: ONE });
      assert.deepEqual([status, /503/.test(text)], [500, true], text);
    });

    it('fails in a freeze that holds challenges back, and while an approval is waited for', async () => {
      const at = `/api/domains/${world.domain}` as const;
      const challenge = { fqdn: `${NAME}.`, value: TWO };
      const [from, until] = [-60_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
      done(await world.admin.put(at, { freeze: { from, until, reason: 'audit', acme: true } }));
      const frozen = await ask('present', challenge);
      assert.equal(frozen.status, 423, frozen.text);
      assert.ok(Number(frozen.headers.get('retry-after')) > 0);
      done(await world.admin.put(at, { freeze: null, approval: { for: 'all', by: { role: 2 }, own: true } }));
      const waits = await ask('present', challenge);
      assert.equal(waits.status, 409, waits.text);
      assert.match(waits.text, /plan \d+/);
      assert.equal((await ask('present', challenge)).text, waits.text);
      const { list } = done(await world.admin.get(`${at}/plans?state=waiting`));
      assert.deepEqual(
        list.map(({ door, door_key }) => [door, door_key]),
        [['door', 'httpreq']],
      );
      done(await world.admin.post(`/api/plans/${list[0]?.id as number}/approve`, {}));
      assert.deepEqual(await textsAt(world, NAME), [TWO]);
      done(await world.admin.put(at, { approval: { for: 'none' } }));
      // it is there: nobody has to agree to that
      assert.equal((await ask('present', challenge)).status, 200);
      const [set] = done(await world.admin.get(`${at}/changes`)).list;
      assert.deepEqual([set?.door, set?.door_key], ['door', 'httpreq']);
      assert.equal((await ask('cleanup', challenge)).status, 200);
    });

    it('leaves what was done and what was refused in the log, each with the door', async () => {
      await ask('present', { fqdn: `${NAME}.`, value: ONE });
      await ask('present', { fqdn: 'mail.example.com.', value: ONE });
      const [second, first] = await logOf(world);
      assert.deepEqual([first?.action, first?.result, first?.door], ['record.upsert', 'ok', 'httpreq']);
      assert.deepEqual([second?.action, second?.result, second?.door], ['record.create', 'failed', 'httpreq']);
      assert.deepEqual([second?.domain, second?.target?.name], ['example.com', 'mail.example.com']);
      made(await world.admin.post(world.records, { host: 'x', type: 'A', value: '192.0.2.1' }));
      assert.equal((await logOf(world))[0]?.door, null);
    });

    it('opens nothing else to its token', async () => {
      for (const path of ['/api/domains', '/api/records', '/api/doors', world.records] as const)
        refused(await world.server.as(token).get(path as '/api/domains'), 403, 403001);
      const record = { host: '_acme-challenge.www', type: 'TXT', value: ONE };
      refused(await world.server.as(token).post(world.records, record), 403, 403001);
    });
  });
