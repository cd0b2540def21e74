import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { type ClientOptions, type Try, Unreachable, Zoneward, ZonewardError } from '../../packages/client/src/index.js';
import { type Cutter, startCutter } from '../support/cutter.js';
import { databases } from '../support/databases.js';
import { ADMIN, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { until } from '../support/until.js';
import { addAccount, addDomain, done, each, made } from '../support/world.js';

const DOMAINS = ['example.com', 'example.net', 'example.org'];

for (const { kind, skip } of databases('one'))
  describeUnless(skip)(`the client, on ${kind}`, () => {
    let service: Service;
    let cutter: Cutter;
    let account: number;
    let domain: number;
    let zoneward: Zoneward;
    let tries: Try[];

    const clientOf = (more: Partial<ClientOptions> = {}): Zoneward =>
      new Zoneward({ url: cutter.url, token: service.token, onTry: (one) => void tries.push(one), ...more });
    const records = { path: { domain_id: 'example.com' } };

    beforeAll(async () => {
      service = await startService(kind);
      cutter = await startCutter(service.server.url);
      account = await addAccount(service.admin, 'zonefile', {});
      [domain = 0] = await Promise.all(DOMAINS.map((name) => addDomain(service.admin, account, name, true)));
    });
    beforeEach(() => {
      cutter.fate = () => 'pass';
      cutter.requests.length = 0;
      tries = [];
      zoneward = clientOf();
    });
    afterAll(async () => {
      await cutter?.stop();
      await service?.stop();
    });

    const create = (host: string, client = zoneward) =>
      client.post('/api/domains/{domain_id}/records', { ...records, body: { host, type: 'A', value: '192.0.2.1' } });
    const valuesAt = async (host: string) =>
      done(await service.admin.get(`/api/domains/${domain}/records?host=${host}` as `/api/domains/${number}/records`))
        .list;
    const listsAt = async (host: string) =>
      done(await service.admin.get(`/api/domains/${domain}/changes?host=${host}` as `/api/domains/${number}/changes`))
        .total;
    const failure = async (work: Promise<unknown>): Promise<ZonewardError> => {
      const error = await work.then(
        () => assert.fail('it did not fail'),
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof ZonewardError, String(error));
      return error;
    };

    it('answers the data of the envelope, with the types of the description', async () => {
      const found = await zoneward.get('/api/domains', { query: { keyword: 'example.c' } });
      const name: string | undefined = found[0]?.name;
      assert.equal(name, 'example.com');
      // @ts-expect-error there is no such path
      await failure(zoneward.get('/api/domain'));
      // @ts-expect-error a path has its parameters
      await assert.rejects(zoneward.get('/api/domains/{domain_id}/records', {}), TypeError);
    });

    it.each(['', '.', '..'])('asks for no other route by the part %j of a path', async (host) => {
      const path = { domain_id: 'example.com', host, type: 'A' };
      await assert.rejects(
        zoneward.delete('/api/domains/{domain_id}/rrsets/{host}/{type}', { path }),
        new TypeError(`\`host\` of the path cannot be "${host}"`),
      );
      assert.equal(cutter.requests.length, 0);
    });

    it('makes a plan again whose answer is lost, and uses no key for it', async () => {
      cutter.fate = (_, number) => (number === 1 ? 'after' : 'pass');
      const body = { records: [{ host: 'keyless', type: 'A' as const, value: '192.0.2.1' }] };
      const { id } = await zoneward.post('/api/domains/{domain_id}/plans', { ...records, body });
      assert.ok(id);
      assert.deepEqual(
        cutter.requests.map(({ key }) => key),
        [undefined, undefined],
      );
      cutter.fate = () => 'before';
      const lost = await clientOf({ tries: 1 })
        .post('/api/domains/{domain_id}/plans', { ...records, body })
        .catch((error: unknown) => error);
      assert.ok(lost instanceof Unreachable);
      assert.equal(lost.outcomeUnknown, false);
    });

    it('tells failures with their code, reason, fields and the request', async () => {
      const body = { host: 'www', type: 'A' as const, value: '192.0.2.700' };
      const wrong = await failure(zoneward.post('/api/domains/{domain_id}/records', { ...records, body }));
      assert.deepEqual([wrong.status, wrong.code, wrong.reason], [400, 400001, 'invalid_fields']);
      assert.deepEqual(
        wrong.fields.map(({ path }) => path),
        ['value'],
      );
      assert.match(wrong.requestId ?? '', /^[\w-]{8,}$/);
      assert.equal(wrong.outcomeUnknown, false);
      const gone = await failure(zoneward.get('/api/plans/{id}', { path: { id: 999_999 } }));
      assert.deepEqual([gone.code, typeof gone.params], [404001, 'object']);
    });

    it.each(['before', 'after', 'half'] as const)('makes a write once whose connection breaks: %s', async (fate) => {
      cutter.fate = (_, number) => (number < 2 ? fate : 'pass');
      const { id } = await create(`lost-${fate}`);
      assert.deepEqual(
        (await valuesAt(`lost-${fate}`)).map((one) => one.id),
        [id],
      );
      assert.equal(await listsAt(`lost-${fate}`), 1);
      assert.equal(cutter.requests.length, 2);
      assert.equal(new Set(cutter.requests.map(({ key }) => key)).size, 1);
      assert.deepEqual(
        tries.map(({ number, status }) => [number, status]),
        [
          [1, null],
          [2, 201],
        ],
      );
    });

    it('takes another key for each call', async () => {
      await create('one');
      await create('two');
      const keys = cutter.requests.map(({ key }) => key);
      assert.equal(new Set(keys).size, 2);
      assert.ok(keys.every(Boolean));
    });

    it.each([429, 502, 503, 504])('asks again after %d', async (status) => {
      cutter.fate = (_, number) => (number === 1 ? { status, headers: { 'retry-after': '0' } } : 'pass');
      await create(`after-${status}`);
      assert.equal(cutter.requests.length, 2);
    });

    it('asks no second time what was refused', async () => {
      await failure(zoneward.get('/api/domains/{domain_id}', { path: { domain_id: 'nowhere.example' } }));
      await create('twice');
      await failure(create('twice'));
      await failure(clientOf({ token: `svc_${'0'.repeat(64)}` }).get('/api/domains'));
      assert.equal(cutter.requests.length, 4);
      cutter.fate = () => ({ status: 500 });
      assert.equal((await failure(create('broken'))).code, 500000);
      assert.equal(cutter.requests.length, 5);
    });

    it('waits for its own call where that still runs', async () => {
      const running = { code: 409004, data: { reason: 'key_running' }, msg: 'it still runs' };
      cutter.fate = (_, number) =>
        number < 8 ? { status: 409, body: JSON.stringify(running), headers: { 'retry-after': '0' } } : 'pass';
      await create('running');
      assert.equal(cutter.requests.length, 8);
    });

    it('says that nobody knows, and does not ask again, where a write was cut off for good', async () => {
      const unknown = { code: 409001, data: { reason: 'outcome_unknown', params: { request: 'r-1' } }, msg: 'cut off' };
      cutter.fate = () => ({ status: 409, body: JSON.stringify(unknown) });
      const error = await failure(create('cut'));
      assert.deepEqual([error.outcomeUnknown, error.params, cutter.requests.length], [true, { request: 'r-1' }, 1]);
    });

    it('says that nobody knows where somebody else answers a write in place of the service', async () => {
      const html = { body: '<html>', headers: { 'content-type': 'text/html' } };
      for (const status of [200, 201, 500, 502, 504]) {
        cutter.fate = () => ({ status, ...html });
        const error = await failure(create('foreign', clientOf({ tries: 1 })));
        assert.deepEqual([error.status, error.outcomeUnknown], [status, true]);
        const read = await failure(clientOf({ tries: 1 }).get('/api/domains'));
        assert.deepEqual([read.status, read.outcomeUnknown], [status, false]);
      }
      cutter.fate = () => ({ status: 413, ...html });
      assert.equal((await failure(create('foreign'))).outcomeUnknown, false);
    });

    it('says that nobody knows where a write without an answer is not let in any more', async () => {
      cutter.fate = (_, number) => (number === 1 ? 'after' : { status: 401, body: JSON.stringify(ended) });
      const ended = { code: 401001, data: { reason: 'api_token_invalid' }, msg: 'Invalid or expired token' };
      const error = await failure(create('revoked'));
      assert.deepEqual([error.reason, error.outcomeUnknown], ['api_token_invalid', true]);
      assert.equal((await valuesAt('revoked')).length, 1);
      cutter.fate = () => ({ status: 401, body: JSON.stringify(ended) });
      assert.equal((await failure(create('never'))).outcomeUnknown, false);
    });

    it('gives up after its tries, and at once where the pause is longer than its patience', async () => {
      cutter.fate = () => 'before';
      const lost = await create('never', clientOf({ tries: 2 })).catch((error: unknown) => error);
      assert.ok(lost instanceof Unreachable);
      assert.deepEqual([lost.tries, lost.outcomeUnknown, cutter.requests.length], [2, true, 2]);
      assert.doesNotMatch(lost.message, new RegExp(service.token.slice(0, 12)));
      cutter.fate = () => ({ status: 429, headers: { 'retry-after': '3600' } });
      assert.equal((await failure(create('never'))).retryAfter, 3600);
      assert.equal(cutter.requests.length, 3);
    });

    it('ends at once when its signal is aborted, in a call and in a pause', async () => {
      const stop = new Error('enough');
      cutter.fate = () => ({ status: 503, headers: { 'retry-after': '30' } });
      const pausing = new AbortController();
      const call = zoneward.get('/api/domains', { signal: pausing.signal });
      await until('it pauses', () => tries.length > 0);
      pausing.abort(stop);
      await assert.rejects(call, stop);
      await assert.rejects(zoneward.get('/api/domains', { signal: AbortSignal.abort(stop) }), stop);
      assert.equal(cutter.requests.length, 1);
    });

    it('sends no key, and no second time, what nobody is signed in for', async () => {
      const { token } = await clientOf({ token: undefined as never }).post('/api/auth/login', { body: ADMIN });
      assert.ok(token);
      cutter.fate = () => 'before';
      const stranger = new Zoneward({ url: cutter.url });
      await assert.rejects(stranger.post('/api/auth/login', { body: ADMIN }), Unreachable);
      assert.deepEqual(
        cutter.requests.map(({ key }) => key),
        [undefined, undefined],
      );
    });

    it('takes no credential to another address', async () => {
      cutter.fate = () => ({ status: 307, headers: { location: `${service.server.url}/api/domains` } });
      const error = await failure(zoneward.get('/api/domains'));
      assert.match(error.message, /leads elsewhere/);
      assert.equal(cutter.requests.length, 1);
      assert.throws(() => new Zoneward({ url: 'https://me:secret@dns.example.com' }), /credential/);
      assert.throws(() => new Zoneward({ url: 'dns' }), TypeError);
      for (const url of ['ftp://dns.example.com', 'https://dns.example.com/?a', 'https://dns.example.com/#a'])
        assert.throws(() => new Zoneward({ url }), /begins with https/);
    });

    it('takes no token that no header can hold, and tells it to nobody', async () => {
      for (const token of ['svc_one\nsvc_two', 'svc_\u2192', ''])
        assert.throws(
          () => clientOf({ token }),
          (error: Error) => error instanceof TypeError && !error.message.includes('svc_'),
        );
      assert.ok((await clientOf({ token: `${service.token}\n` }).get('/api/domains')).length);
    });

    it('goes through the pages of lists of both kinds', async () => {
      await each([1, 2, 3, 4, 5, 6, 7], 1, (n) => create(`page-${n}`));
      const names = async <T>(list: AsyncGenerator<T>, name: (one: T) => string) => {
        const found: string[] = [];
        for await (const one of list) found.push(name(one));
        return found.sort();
      };
      const query = { keyword: 'page-' };
      const hosts = zoneward.all('/api/domains/{domain_id}/records', { ...records, query }, 3);
      assert.deepEqual(
        await names(hosts, ({ host }) => host),
        [1, 2, 3, 4, 5, 6, 7].map((n) => `page-${n}`),
      );
      assert.equal(cutter.requests.filter(({ method }) => method === 'GET').length, 3);
      assert.deepEqual(await names(zoneward.all('/api/domains', {}, 2), ({ name }) => name), DOMAINS);
    });

    it('reads a list in one answer, and in pages only where it does not fit one', async () => {
      const read = async () => {
        const hosts = [];
        for await (const { host } of zoneward.all('/api/domains/{domain_id}/records', records)) hosts.push(host);
        return hosts;
      };
      const whole = await read();
      assert.deepEqual(
        cutter.requests.map(({ path }) => path),
        ['/api/domains/example.com/records'],
      );
      assert.ok(whole.length > 5);
      const long = { code: 400001, msg: 'wrong', data: { errors: [{ path: 'page', message: 'is required' }] } };
      cutter.requests.length = 0;
      cutter.fate = (_, number) => (number === 1 ? { status: 400, body: JSON.stringify(long) } : 'pass');
      assert.deepEqual(await read(), whole);
      assert.match(cutter.requests[1]?.path ?? '', /page=1&limit=500/);
    });

    it('reads a list from its beginning again where it has changed meanwhile', async () => {
      const list = ['a', 'b', 'c', 'd', 'e'];
      cutter.fate = ({ path }, number) => {
        // one of the first page is gone when the second one is asked for
        if (number === 2) list.splice(0, 1);
        const page = Number(/page=(\d)/.exec(path)?.[1]);
        const data = { total: list.length, list: list.slice(page * 2 - 2, page * 2).map((host) => ({ host })) };
        return { status: 200, body: JSON.stringify({ code: 0, msg: '', data }) };
      };
      const found = [];
      for await (const { host } of zoneward.all('/api/domains/{domain_id}/records', records, 2)) found.push(host);
      assert.deepEqual(found, ['b', 'c', 'd', 'e']);
    });

    it('takes no page with nothing on it for the end of a list that goes on', async () => {
      const part = (data: unknown) => ({ status: 200, body: JSON.stringify({ code: 0, msg: '', data }) });
      cutter.fate = ({ path }) => part({ total: 3, list: path.includes('page=1&') ? [{ host: 'a' }] : [] });
      const next = () => zoneward.all('/api/domains/{domain_id}/records', records, 1).next();
      assert.match((await failure(next())).message, /changes faster/);
      cutter.fate = () => part({ total: 3 });
      assert.match((await failure(next())).message, /is no list/);
    });

    it('takes a list that does not say how long it is for none', async () => {
      cutter.fate = () => ({ status: 200, body: JSON.stringify({ code: 0, msg: '', data: [] }) });
      const error = await failure(zoneward.all('/api/domains', {}).next());
      assert.match(error.message, /X-Total-Count is missing/);
    });

    it('applies a plan as it was shown, once, or not at all', async () => {
      const plan = (value: string) =>
        zoneward.post('/api/domains/{domain_id}/plans', {
          ...records,
          body: { records: [{ host: 'planned', type: 'A', value }] },
        });
      const { id } = await plan('192.0.2.1');
      cutter.fate = ({ path }, number) => (path.includes('/apply') && number === 2 ? 'after' : 'pass');
      const outcome = await zoneward.apply(id as number);
      assert.equal(outcome.state, 'done');
      assert.equal(await listsAt('planned'), 1);
      const stale = await plan('192.0.2.2');
      await zoneward.put('/api/domains/{domain_id}/rrsets/{host}/{type}', {
        path: { domain_id: domain, host: 'planned', type: 'A' },
        body: { values: ['192.0.2.3'] },
      });
      assert.equal((await failure(zoneward.apply(stale.id as number))).code, 412001);
      assert.deepEqual(
        (await valuesAt('planned')).map(({ value }) => value),
        ['192.0.2.3'],
      );
    });

    it('waits for a list that goes on, and for a job', async () => {
      const changes = Array.from({ length: 201 }, (_, n) => ({
        ...{ op: 'upsert' as const, host: `node${n}`, type: 'A' as const, value: '192.0.2.9' },
      }));
      const path = '/api/domains/{domain_id}/records/batch';
      const outcome = zoneward.outcome(await zoneward.call('POST', path, { ...records, body: { changes } }));
      assert.ok(outcome.state === 'running');
      const list = await zoneward.waitForChanges('example.com', outcome.changeSetId);
      assert.deepEqual([list.state, list.counts.applied], ['done', 201]);
      const started = await zoneward.post('/api/accounts/{id}/sync', { path: { id: account }, query: { wait: 0 } });
      const job = await zoneward.waitForJob((started as unknown as { job_id: number }).job_id);
      assert.equal(job.state, 'done');
    });

    it('tells that a write waits for an approval', async () => {
      const [, other = 0] = await Promise.all(
        ['example.com', 'example.net'].map(
          async (name) => (await zoneward.get('/api/domains', { query: { name } }))[0]?.id,
        ),
      );
      done(await service.admin.put(`/api/domains/${other}`, { approval: { for: 'all', by: { role: 2 }, own: false } }));
      const body = { host: 'www', type: 'A' as const, value: '192.0.2.1' };
      const answer = await zoneward.call('POST', '/api/domains/{domain_id}/records', {
        path: { domain_id: other },
        body,
      });
      const outcome = zoneward.outcome(answer);
      assert.ok(outcome.state === 'waiting');
      assert.equal(outcome.plan.domain, 'example.net');
    });

    it('reads a file in another form, whole or not at all', async () => {
      cutter.fate = (_, number) => (number === 1 ? 'half' : 'pass');
      const query = { format: 'zonefile' as const };
      const text = await zoneward.text('/api/domains/{domain_id}/export', '*/*', { ...records, query });
      assert.equal(
        text,
        await (
          await fetch(`${service.server.url}/api/domains/${domain}/export?format=zonefile`, {
            headers: { authorization: `Bearer ${service.token}` },
          })
        ).text(),
      );
    });

    it('takes a page of somebody else, and another form than it asked for, for no file', async () => {
      const page = { status: 200, body: '<!doctype html>sign in', headers: { 'content-type': 'text/html' } };
      const read = (accept: string) =>
        zoneward.text('/api/domains/{domain_id}/export', accept, { ...records, query: { format: 'zonefile' } });
      cutter.fate = () => page;
      assert.match((await failure(read('*/*'))).message, /text\/html/);
      cutter.fate = () => ({ ...page, headers: { 'content-type': 'text/plain' } });
      assert.match((await failure(read('text/markdown'))).message, /text\/plain, not text\/markdown/);
      assert.equal(await read('text/plain'), page.body);
    });

    it('tells that a plan over many domains goes on, and whether anything is published', () => {
      const answer = (status: number, data: object, headers = {}) => ({ status, data, headers: new Headers(headers) });
      assert.equal(zoneward.outcome(answer(202, { domains: [], counts: {} })).state, 'applying');
      const published = (headers: object) => {
        const outcome = zoneward.outcome(answer(200, { change_set_id: 1 }, headers));
        return outcome.state === 'done' && outcome.published;
      };
      assert.deepEqual([published({}), published({ 'Preference-Applied': 'respond-published' })], [false, true]);
    });

    it.each([{ hold_reason: 'its right ended' }, { paused_until: '2030-01-01T00:00:00.000Z' }])(
      'waits no longer for a list that stands still: %j',
      async (why) => {
        const set = { state: 'open', hold_reason: null, paused_until: null, ...why };
        cutter.fate = () => ({ status: 200, body: JSON.stringify({ code: 0, msg: '', data: set }) });
        const { state } = await zoneward.waitForChanges('example.com', 7, { timeout: 5000 });
        assert.deepEqual([state, cutter.requests.length], ['open', 1]);
      },
    );

    it('tells of its tries neither credentials nor bodies', async () => {
      made(await service.admin.post('/api/tokens', { name: 'told' }));
      await create('told');
      assert.doesNotMatch(JSON.stringify(tries), new RegExp(`${service.token.slice(0, 16)}|192\\.0\\.2`));
    });
  });
