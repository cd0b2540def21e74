import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { basic, logOf, type Said, say, textsAt, tokenOf } from '../support/doors.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { done, startWorld, type World } from '../support/world.js';

const NAME = '_acme-challenge.www.example.com';
const text = (i: number) => String(i).padEnd(43, 'x');

interface Account {
  username: string;
  password: string;
  fulldomain: string;
  subdomain: string;
  allowfrom: string[];
}

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`the door acme-dns, on ${kind}`, () => {
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

    const at = (what: string) => `${world.server.url}/doors/acme-dns/${what}`;
    const register = (body?: unknown, authorization = basic(token)): Promise<Said> =>
      say(at('register'), 'POST', { authorization }, body);
    const account = async (body?: unknown, authorization = basic(token)): Promise<Account> => {
      const { status, text: answer } = await register(body, authorization);
      assert.equal(status, 201, answer);
      return JSON.parse(answer);
    };
    const update = ({ username, password, subdomain }: Account, txt: unknown, headers = {}): Promise<Said> =>
      say(at('update'), 'POST', { 'X-Api-User': username, 'X-Api-Key': password, ...headers }, { subdomain, txt });

    it('registers the one name that the rules of a token allow', async () => {
      const made = await account();
      assert.match(made.username, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      assert.match(made.password, /^[\w-]{40}$/);
      assert.deepEqual([made.fulldomain, made.allowfrom], [NAME, []]);
      assert.equal((await account({ fulldomain: 'www.example.com' })).fulldomain, NAME);
      assert.equal((await account({ fulldomain: '*.www.example.com' })).fulldomain, NAME);
      const [entry] = await logOf(world, '&action=door.register');
      assert.deepEqual([entry?.door, entry?.domain, entry?.target?.name], ['acme-dns', 'example.com', NAME]);
      assert.ok(!JSON.stringify(entry).includes(made.password));
    });

    it('puts a text there, and keeps the last two', async () => {
      const own = await account();
      for (const [i, left] of [[1], [1, 2], [2, 3], [3, 4]].entries()) {
        const answer = await update(own, text(i + 1));
        assert.deepEqual([answer.status, answer.text], [200, JSON.stringify({ txt: text(i + 1) })]);
        assert.deepEqual(await textsAt(world, NAME), left.map(text));
      }
      // the same once more writes nothing
      const writes = world.proxy.requests.filter(({ method }) => method === 'PATCH').length;
      assert.equal((await update(own, text(4))).status, 200);
      assert.equal(world.proxy.requests.filter(({ method }) => method === 'PATCH').length, writes);
      await world.agree();
      const [set] = done(await world.admin.get(`/api/domains/${world.domain}/changes`)).list;
      assert.deepEqual([set?.door, set?.door_key], ['door', 'acme-dns']);
    });

    it('keeps the texts that both challenges of a certificate send at once', async () => {
      const own = await account();
      const answers = await Promise.all([update(own, text(7)), update(own, text(8))]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
      );
      assert.deepEqual(await textsAt(world, NAME), [text(7), text(8)]);
    });

    it('takes JSON whatever its type is called, as acme.sh sends it', async () => {
      const own = await account('', basic(token));
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      assert.equal((await update(own, text(9), type)).status, 200);
      assert.equal((await say(at('health'), 'GET', {})).status, 200);
    });

    it('says what is wrong in the words of acme-dns', async () => {
      const own = await account();
      const headers = { 'X-Api-User': own.username, 'X-Api-Key': own.password };
      const wrong = (body: unknown) => say(at('update'), 'POST', headers, body);
      const table: [Promise<Said>, number, string | RegExp][] = [
        [update({ ...own, password: 'x'.repeat(40) }, text(1)), 401, 'forbidden'],
        [update({ ...own, username: 'nobody' }, text(1)), 401, 'forbidden'],
        [update({ ...own, subdomain: 'other' }, text(1)), 401, 'forbidden'],
        [update(own, 'short'), 400, 'bad_txt'],
        [update(own, 7), 400, 'bad_txt'],
        [update(own, `${text(1)} `), 400, 'bad_txt'],
        [wrong({ txt: text(1) }), 400, 'bad_subdomain'],
        [wrong('{'), 400, 'malformed_json_payload'],
        [wrong('[]'), 400, 'malformed_json_payload'],
        [register({ allowfrom: ['nowhere'] }), 400, 'invalid_allowfrom_cidr'],
        [register({}, ''), 401, 'forbidden'],
        [register({ fulldomain: 'mail.example.com' }), 403, /rule/],
        [register({ fulldomain: 'www.example.net' }), 403, /domain/],
        [register({}, basic(await tokenOf(world.admin, ['acme']))), 400, /just one name/],
        [register({}, basic(await tokenOf(world.admin, ['ddns']))), 403, /acme/],
      ];
      for (const [asked, status, word] of table) {
        const answer = await asked;
        assert.equal(answer.status, status, answer.text);
        const { error } = JSON.parse(answer.text);
        if (typeof word === 'string') assert.equal(error, word);
        else assert.match(error, word);
      }
    });

    it('takes a registration from its networks only', async () => {
      const away = await account({ allowfrom: ['192.0.2.0/24'] });
      assert.deepEqual(away.allowfrom, ['192.0.2.0/24']);
      assert.equal((await update(away, text(1))).status, 401);
      const here = await account({ allowfrom: ['192.0.2.0/24', '127.0.0.0/8'] });
      assert.equal((await update(here, text(1))).status, 200);
    });

    it('fails where the provider is away, in a freeze, and while an approval is waited for', async () => {
      const own = await account();
      const path = `/api/domains/${world.domain}` as const;
      world.proxy.fault = async () => ({ status: 503, body: 'down' });
      assert.equal((await update(own, text(20))).status, 500);
      world.proxy.fault = null;
      const [from, until] = [-60_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
      done(await world.admin.put(path, { freeze: { from, until, reason: 'audit', acme: true } }));
      assert.equal((await update(own, text(20))).status, 423);
      done(await world.admin.put(path, { freeze: null, approval: { for: 'all', by: { role: 2 }, own: true } }));
      assert.equal((await update(own, text(20))).status, 409);
      done(await world.admin.put(path, { approval: { for: 'none' } }));
      assert.equal((await update(own, text(20))).status, 200);
    });

    it('ends a registration with its token, and holds it where that is disabled', async () => {
      const secret = await tokenOf(world.admin, ['acme'], { name: 'ends', preset: { name: 'acme', host: 'www' } });
      const own = await account({}, basic(secret));
      const list = done(await world.admin.get('/api/tokens'));
      const id = list.find(({ name }) => name === 'ends')?.id as number;
      // another secret of the same token
      const rotated = await world.admin.post(`/api/tokens/${id}/rotate`, {});
      assert.equal(rotated.code, 0);
      assert.equal((await update(own, text(30))).status, 200);
      done(await world.admin.patch(`/api/tokens/${id}/status`, { is_active: false }));
      assert.equal((await update(own, text(31))).status, 401);
      done(await world.admin.patch(`/api/tokens/${id}/status`, { is_active: true }));
      assert.equal((await update(own, text(31))).status, 200);
      done(await world.admin.delete(`/api/tokens/${id}`));
      assert.equal((await update(own, text(32))).status, 401);
    });
  });
