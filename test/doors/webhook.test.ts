import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { logOf, type Said, say } from '../support/doors.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Answer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { ask, done, made, refused, startWorld, type World } from '../support/world.js';

const NAME = 'button.example.com';
const signed = (secret: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

interface Hook {
  id: number;
  url: string;
  secret: string;
}

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`the door webhook, on ${kind}`, () => {
    let world: World;
    let token: number;
    let hook: Hook;

    const makeToken = async (more: object = {}): Promise<number> => {
      const body = { name: 'button', allowed_services: ['webhook'], ...more };
      const answer = (await world.admin.post('/api/tokens', body)) as Answer<{ tokenData: { id: number } }>;
      return made(answer).tokenData.id;
    };
    const makeHook = (of: number, more: object = {}) =>
      world.admin.post(
        `/api/tokens/${of}/hooks` as const,
        {
          ...{ domain_id: world.domain, host: 'button', type: 'A', name: 'blue or green' },
          ...more,
        } as never,
      ) as Promise<Answer<Hook>>;
    const at = (id: number | string) => `${world.server.url}/doors/hook/${id}`;
    const send = (to: Hook, body: unknown, headers: Record<string, string> = {}): Promise<Said> => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return say(at(to.id), 'POST', { 'X-Hub-Signature-256': signed(to.secret, text), ...headers }, text);
    };
    const addresses = async () => (await ask(world.pdns.dnsPort, NAME, 'A')).map(({ rdata }) => rdata).sort();
    const writes = () => world.proxy.requests.filter(({ method }) => method === 'PATCH').length;

    beforeAll(async () => {
      world = await startWorld(kind);
      token = await makeToken();
      hook = made(await makeHook(token));
    });
    afterAll(() => world.stop());
    beforeEach(() => {
      world.proxy.fault = null;
    });

    it('shows its secret once, and stores it sealed', async () => {
      assert.match(hook.secret, /^[0-9a-f]{64}$/);
      assert.equal(new URL(hook.url).pathname, `/doors/hook/${hook.id}`);
      const path = `/api/tokens/${token}/hooks` as const;
      const [view] = done(await world.admin.get(path));
      assert.deepEqual([view?.id, view?.host, view?.type, view?.name], [hook.id, 'button', 'A', 'blue or green']);
      assert.ok(!JSON.stringify(view).includes(hook.secret));
      const [row] = await rowsOf(world, 'SELECT secret FROM hooks');
      assert.match(String(row?.secret), /^v1\./);
      const [entry] = await logOf(world, '&action=door.hook_create');
      assert.ok(entry && !JSON.stringify(entry).includes(hook.secret));
    });

    it('gives the set of its name the values of a delivery', async () => {
      const answer = await send(hook, { value: '192.0.2.1' });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(JSON.parse(answer.text), { name: NAME, type: 'A', values: ['192.0.2.1'], changed: true });
      assert.deepEqual(await addresses(), ['192.0.2.1']);
      assert.equal((await send(hook, { values: ['192.0.2.2', '192.0.2.3'] })).status, 200);
      assert.deepEqual(await addresses(), ['192.0.2.2', '192.0.2.3']);
      await world.agree();
      const [set] = done(await world.admin.get(`/api/domains/${world.domain}/changes`)).list;
      assert.deepEqual([set?.door, set?.door_key], ['door', 'webhook']);
      const [entry] = await logOf(world, '&action=record.create');
      assert.equal(entry?.door, 'webhook');
    });

    it('takes a signature over the very octets of the body, and no other', async () => {
      const odd = '{ "value" :\t"192.0.2.4" , "note": "é" }\n';
      assert.equal((await send(hook, odd)).status, 200);
      const body = '{"value":"192.0.2.5"}';
      const other = made(await makeHook(token, { host: 'other' }));
      for (const signature of [
        signed(hook.secret, odd),
        signed(other.secret, body),
        signed(hook.secret, body).replace('sha256=', 'sha1='),
        `${signed(hook.secret, body)}0`,
        'sha256=',
        '',
      ]) {
        const answer = await say(at(hook.id), 'POST', { 'X-Hub-Signature-256': signature }, body);
        assert.equal(answer.status, 401, signature);
        assert.deepEqual(Object.keys(JSON.parse(answer.text)), ['error']);
      }
      for (const id of ['999999', 'x', '99999999999'])
        assert.equal(
          (await say(at(id), 'POST', { 'X-Hub-Signature-256': signed(hook.secret, body) }, body)).status,
          401,
        );
      assert.deepEqual(await addresses(), ['192.0.2.4']);
    });

    it('carries a delivery out once, and gives its answer again', async () => {
      for (const header of ['X-GitHub-Delivery', 'X-Delivery']) {
        const id = { [header]: randomUUID() };
        const first = await send(hook, { value: '192.0.2.10' }, id);
        assert.equal(first.status, 200);
        assert.equal((await send(hook, { value: '192.0.2.11' })).status, 200);
        const again = await send(hook, { value: '192.0.2.10' }, id);
        assert.deepEqual([again.status, again.text], [200, first.text]);
        // whatever comes under its id
        assert.equal((await send(hook, { value: '192.0.2.12' }, id)).text, first.text);
        // and however its hook is spelled
        assert.equal(
          (await send({ ...hook, id: `0${hook.id}` as never }, { value: '192.0.2.12' }, id)).text,
          first.text,
        );
        assert.deepEqual(await addresses(), ['192.0.2.11']);
      }
      const wrong = { 'X-Delivery': randomUUID() };
      const refusal = await send(hook, { value: 'nowhere' }, wrong);
      assert.equal(refusal.status, 400);
      assert.deepEqual(await send(hook, { value: '192.0.2.13' }, wrong).then(({ status, text }) => [status, text]), [
        400,
        refusal.text,
      ]);
      // another hook has ids of its own, and a forged delivery takes none
      const other = made(await makeHook(token, { host: 'button2' }));
      const id = { 'X-Delivery': randomUUID() };
      assert.equal((await send({ ...hook, secret: 'x' }, { value: '192.0.2.14' }, id)).status, 401);
      assert.equal((await send(hook, { value: '192.0.2.14' }, id)).status, 200);
      assert.equal(JSON.parse((await send(other, { value: '192.0.2.14' }, id)).text).name, 'button2.example.com');
    });

    it('lets a delivery that comes again while the first is under way wait for its answer', async () => {
      const id = { 'X-Delivery': randomUUID() };
      const before = writes();
      const answers = await Promise.all([0, 1, 2, 3].map((i) => send(hook, { value: `192.0.2.2${i}` }, id)));
      for (const { status, text } of answers) assert.deepEqual([status, text], [200, answers[0]?.text]);
      assert.equal(writes() - before, 1);
    });

    it('tries a delivery anew that failed since the provider was away', async () => {
      const id = { 'X-Delivery': randomUUID() };
      world.proxy.fault = async () => ({ status: 401, body: 'down' });
      assert.equal((await send(hook, { value: '192.0.2.30' }, id)).status, 500);
      world.proxy.fault = null;
      assert.equal((await send(hook, { value: '192.0.2.30' }, id)).status, 200);
      assert.deepEqual(await addresses(), ['192.0.2.30']);
    });

    it('says what is wrong with a delivery', async () => {
      const table: [unknown, RegExp][] = [
        [{}, /value/],
        [{ value: 7 }, /value/],
        [{ values: [] }, /values/],
        [{ values: 'x' }, /values/],
        [{ value: '192.0.2.1', values: ['192.0.2.1'] }, /values/],
        [{ values: ['192.0.2.1', 'x'] }, /values\.1/],
        ['{', /body/],
        ['[]', /body/],
      ];
      for (const [body, words] of table) {
        const answer = await send(hook, body);
        assert.equal(answer.status, 400, answer.text);
        assert.match(JSON.parse(answer.text).error, words);
      }
    });

    it('is made for what its token may do only', async () => {
      refused(await makeHook(await makeToken({ allowed_services: ['ddns'] })), 403, 403001);
      refused(await makeHook(token, { domain_id: 999_999 }), 404, 404001);
      refused(await makeHook(token, { type: 'NOPE' }), 400, 400001);
      refused(await makeHook(token, { host: 'a b' }), 400, 400001);
      refused(await makeHook(999_999), 404, 404001);
      const rules = [{ effect: 'allow', hosts: ['button'], types: ['A'] }];
      const narrow = await makeToken({ rules });
      refused(await makeHook(narrow, { host: 'www' }), 403, 403001);
      const own = made(await makeHook(narrow));
      assert.equal((await send(own, { value: '192.0.2.40' })).status, 200);
      // rights that were taken away are gone at the next delivery
      const path = `/api/tokens/${narrow}` as '/api/tokens/{id}';
      done(await world.admin.put(path, { rules: [{ effect: 'allow', hosts: ['www'], types: ['A'] }] } as never));
      assert.equal((await send(own, { value: '192.0.2.41' })).status, 403);
      const [entry] = await logOf(world, '&action=record.update');
      assert.deepEqual([entry?.door, entry?.result, entry?.target?.name], ['webhook', 'failed', NAME]);
      assert.deepEqual(await addresses(), ['192.0.2.40']);
    });

    it('has at most 100 hooks a token', async () => {
      const full = await makeToken();
      for (let i = 0; i < 100; i++) made(await makeHook(full, { host: `h${i}` }));
      refused(await makeHook(full), 409, 409001);
    });

    it('ends with itself, its token and its door', async () => {
      const one = await makeToken();
      const [a, b] = [made(await makeHook(one)), made(await makeHook(one))];
      const path = `/api/tokens/${one}/hooks/${a.id}` as '/api/tokens/{id}/hooks/{hook_id}';
      refused(await world.admin.delete(`/api/tokens/${token}/hooks/${a.id}` as typeof path), 404, 404001);
      done(await world.admin.delete(path));
      refused(await world.admin.delete(path), 404, 404001);
      assert.equal((await send(a, { value: '192.0.2.50' })).status, 401);
      const status = `/api/tokens/${one}/status` as '/api/tokens/{id}/status';
      done(await world.admin.patch(status, { is_active: false }));
      assert.equal((await send(b, { value: '192.0.2.50' })).status, 401);
      done(await world.admin.patch(status, { is_active: true }));
      assert.equal((await send(b, { value: '192.0.2.50' })).status, 200);
      done(await world.admin.put('/api/settings/doors', { webhook: { enabled: false } }));
      assert.equal((await send(b, { value: '192.0.2.51' })).status, 404);
      done(await world.admin.put('/api/settings/doors', { webhook: { enabled: true } }));
      done(await world.admin.delete(`/api/tokens/${one}` as '/api/tokens/{id}'));
      assert.equal((await send(b, { value: '192.0.2.51' })).status, 401);
    });
  });
