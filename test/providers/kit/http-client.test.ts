import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, describe, it, jest } from '@jest/globals';
import type { Agent } from 'undici';
import { keepTime } from '../../../src/platform/common/clock.js';
import { Deadline, underDeadline, withoutDeadline } from '../../../src/platform/common/deadline.js';
import { outboundAgent } from '../../../src/platform/outbound/agent.js';
import { withinDeadline } from '../../../src/providers/kit/http/deadline-context.js';
import { Http, type HttpOptions } from '../../../src/providers/kit/http/http-client.js';
import { asOneList, currentList } from '../../../src/providers/kit/http/list-size.js';
import { RateLimiter } from '../../../src/providers/kit/http/rate-limiter.js';
import { cachedToken, withBearerToken } from '../../../src/providers/kit/http/token-cache.js';
import { sleep } from '../../support/sleep.js';
import { until } from '../../support/until.js';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** ms in which one call too many would arrive */
const MORE_MS = 20;

describe('the HTTP client of all providers', () => {
  let standIn: StandIn;
  let agent: Agent;
  beforeAll(async () => {
    standIn = await startStandIn();
    agent = outboundAgent([], 2000);
  });
  afterAll(async () => {
    await agent.destroy();
    await standIn.stop();
  });
  beforeEach(() => {
    standIn.requests.length = 0;
  });

  const client = (more: Partial<HttpOptions> = {}): Http =>
    new Http({
      baseUrl: standIn.url,
      headers: {},
      timeoutMs: 5000,
      retries: 2,
      waitMs: 5000,
      dispatcher: agent,
      limiter: new RateLimiter(8),
      redact: (text) => text.replaceAll('s3cret', '***'),
      ...more,
    });
  /** Answers in turn; the last one again and again. */
  const answers = (...list: Answer[]) => {
    standIn.handler = () => list[Math.min(standIn.requests.length, list.length) - 1] as Answer;
  };
  const broken: Answer = { body: { long: 'enough to be cut' }, breakAfter: 5 };
  const good: Answer = { body: { fine: true } };

  it('hands the entries of a long list on by a thousand, and takes no more than a million of them', async () => {
    const read = async (count: number) => {
      answers({ body: { list: Array.from({ length: count }, () => 0) } });
      const sizes: number[] = [];
      for await (const entries of client().entries('/x', 'list')) sizes.push(entries.length);
      return { most: Math.max(...sizes), all: sizes.reduce((sum, one) => sum + one, 0) };
    };
    assert.deepEqual(await read(100_000), { most: 1000, all: 100_000 });
    await assert.rejects(read(1_000_001), /more than 1000000 list/);
  });

  it('takes no more than 256 MiB for one list, in however many answers', async () => {
    answers(good);
    const { length } = JSON.stringify(good.body);
    const room = 256 * 1024 * 1024 - 2 * length;
    const http = client();
    await asOneList(async () => {
      currentList()?.add(room);
      for (let i = 0; i < 2; i++) await http.get('/x');
      await assert.rejects(http.get('/x'), { kind: 'unavailable', message: /does not end: it has more than 256 MiB/ });
    });
    await asOneList(() => http.get('/x'));
    assert.equal(standIn.requests.length, 4);
  });

  it('asks ten times at most for one request that is refused, whatever calls it makes, but for what is put back', async () => {
    answers({ status: 429, headers: { 'retry-after': '0' } });
    const http = client();
    const refused = { kind: 'rate_limit', mayHaveApplied: false };
    await underDeadline(new Deadline(50_000), async () => {
      for (let i = 0; i < 5; i++) await assert.rejects(http.get('/x'), refused);
      assert.equal(standIn.requests.length, 10);
      await assert.rejects(
        withoutDeadline(() => http.get('/x')),
        refused,
      );
      assert.equal(standIn.requests.length, 13);
    });
    // what the provider takes in between counts
    const request = new Deadline(50_000);
    for (let i = 0; i < 9; i++) request.heard(true);
    request.heard(false);
    request.heard(true);
    assert.ok(!request.isRefused);
  });

  it('sends query, headers and body, and gives the parsed answer', async () => {
    answers({ status: 201, body: { id: 7 }, headers: { 'x-total': '3' } });
    const http = client({ headers: { a: '1', b: '1' } }).extend({ baseUrl: `${standIn.url}/v1`, headers: { b: '2' } });
    const query = { text: 'ä&=', number: 5, absent: undefined };
    const answer = await http.exchange('POST', '/x', { query, json: { y: 1 }, headers: { c: '3' } });
    assert.deepEqual(answer.body, { id: 7 });
    assert.equal(answer.status, 201);
    assert.equal(answer.headers['x-total'], '3');
    const [sent] = standIn.requests;
    assert.equal(sent?.path, '/v1/x');
    assert.deepEqual(sent?.query, { text: 'ä&=', number: '5' });
    assert.deepEqual(sent?.body, { y: 1 });
    assert.deepEqual([sent?.headers.a, sent?.headers.b, sent?.headers.c], ['1', '2', '3']);
    assert.equal(sent?.headers['content-type'], 'application/json');
  });

  it('takes out of the words of a vendor what the request was authorised by', async () => {
    answers({ status: 400, body: 'no: Basic YWRhOnNlY3JldA== and token-of-the-hour' });
    const headers = { authorization: 'Basic YWRhOnNlY3JldA==', 'x-token': 'token-of-the-hour' };
    await assert.rejects(client({ headers }).get('/x'), { message: 'no: Basic *** and *** (HTTP 400)' });
  });

  it('calls once more with another token where that is refused, and no oftener', async () => {
    let fetched = 0;
    const token = cachedToken(async () => ({ token: `t${++fetched}`, seconds: 3600 }));
    const http = client().extend(withBearerToken(token, {}));
    answers({ status: 401, body: {} }, good);
    assert.deepEqual(await http.post('/x', { json: {} }), { fine: true });
    assert.deepEqual(
      standIn.requests.map((r) => r.headers.authorization),
      ['Bearer t1', 'Bearer t2'],
    );
    standIn.requests.length = 0;
    answers({ status: 401, body: {} });
    await assert.rejects(http.get('/x'), { kind: 'auth' });
    assert.equal(standIn.requests.length, 2);
  });

  it('a credential that no header can carry is said to be wrong, and nothing is sent', async () => {
    const failure = { kind: 'auth', mayHaveApplied: false, message: /a character that no request can carry/ };
    await assert.rejects(client({ headers: { authorization: 'Bearer \u2019x\u2019' } }).post('/x'), failure);
    assert.equal(standIn.requests.length, 0);
  });

  it('what only reads changes nothing, however it fails', async () => {
    answers({ status: 500, body: {} });
    await assert.rejects(client({ retries: 0 }).get('/x'), { kind: 'unavailable', mayHaveApplied: false });
    await assert.rejects(client({ retries: 0 }).put('/x'), { kind: 'unavailable', mayHaveApplied: true });
  });

  it('gives undefined for an empty answer', async () => {
    answers({ status: 204 });
    assert.equal(await client().delete('/x'), undefined);
  });

  it('waits for an answer no longer than the limit', async () => {
    standIn.handler = () => new Promise(() => {});
    const failure = { kind: 'unavailable', mayHaveApplied: true, message: 'The provider did not answer within 0.1 s' };
    await assert.rejects(client({ timeoutMs: 100 }).get('/slow'), { ...failure, mayHaveApplied: false });
    await assert.rejects(client({ timeoutMs: 100 }).post('/slow'), failure);
    assert.equal(standIn.requests.length, 2, 'the slow are not asked again');
  });

  it('counts a body that stops arriving against the same limit', async () => {
    standIn.handler = () => ({ body: '{"a":', headers: { 'content-length': '100' } });
    await assert.rejects(client({ timeoutMs: 200, retries: 0 }).get('/'), { kind: 'unavailable' });
  });

  for (const [method, answer, attempts] of [
    ['GET', broken, 3],
    ['PUT', broken, 3],
    ['DELETE', broken, 3],
    ['POST', broken, 1],
    ['PATCH', broken, 1],
    ['GET', { status: 502 }, 3],
    ['GET', { status: 503 }, 3],
    ['GET', { status: 504 }, 3],
    ['POST', { status: 503 }, 1],
    ['GET', { status: 500 }, 1],
    ['GET', { status: 400 }, 1],
    ['GET', { status: 429, headers: { 'retry-after': '0' } }, 3],
    ['POST', { status: 429, headers: { 'retry-after': '0' } }, 3],
    ['GET', { status: 429, headers: { 'retry-after': '60' } }, 1],
    ['GET', { status: 503, headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() } }, 1],
    ['GET', { status: 503, headers: { 'retry-after': new Date(0).toUTCString() } }, 3],
  ] as const) {
    const { status = 'a broken connection', headers } = answer as Answer;
    it(`tries ${method} ${attempts} times on ${status} ${JSON.stringify(headers ?? {})}`, async () => {
      answers(answer);
      await assert.rejects(client().call(method, '/'));
      assert.equal(standIn.requests.length, attempts);
    });
  }

  it('makes no write twice that was sent and broken off, where its repetition could be undone by it', async () => {
    const once = client({ neverTwice: true });
    for (const [method, attempts] of [
      ['PUT', 1],
      ['DELETE', 1],
      ['GET', 3],
    ] as const) {
      standIn.requests.length = 0;
      answers(broken);
      await assert.rejects(once.call(method, '/'));
      assert.equal(standIn.requests.length, attempts, method);
    }
  });

  it('says that it may have been applied when one attempt may have been, whatever became of the next', async () => {
    for (const next of [{ status: 401 }, { status: 404 }, { status: 429, headers: { 'retry-after': '60' } }]) {
      standIn.requests.length = 0;
      answers(broken, next);
      await assert.rejects(client().put('/', { json: {} }), { mayHaveApplied: true });
      standIn.requests.length = 0;
      answers({ status: 503 }, next);
      await assert.rejects(client().put('/', { json: {} }), { mayHaveApplied: true });
    }
  });

  it('says of a write without an answer in time that it may still be carried out, and if an earlier attempt may be', async () => {
    const silent = () => new Promise<Answer>(() => {});
    const of = (call: Promise<unknown>) =>
      call.then(
        () => 'no failure',
        (error: { late: unknown }) => error.late,
      );
    const impatient = client({ timeoutMs: 100 });
    standIn.handler = silent;
    assert.equal(await of(impatient.post('/')), 'once');
    assert.equal(await of(impatient.get('/')), null);
    assert.equal(await of(impatient.post('/', { reads: true })), null);
    standIn.requests.length = 0;
    standIn.handler = () => (standIn.requests.length === 1 ? broken : silent());
    assert.equal(await of(impatient.put('/', { json: {} })), 'again');
    answers({ status: 504 });
    assert.equal(await of(client().post('/')), 'once');
    standIn.requests.length = 0;
    assert.equal(await of(client().put('/')), 'once');
    assert.equal(standIn.requests.length, 1, 'it is not repeated behind itself');
    for (const lost of [broken, { status: 502 }, { body: '{"half":' }]) {
      answers(lost);
      assert.equal(await of(client().post('/')), 'once');
    }
    for (const clear of [{ status: 500 }, { status: 503 }]) {
      answers(clear);
      assert.equal(await of(client().post('/')), null);
    }
    const closed = await startStandIn();
    await closed.stop();
    assert.equal(await of(client({ baseUrl: closed.url }).put('/')), null, 'nobody was there to be told');
  });

  it('takes secrets out of words before they are cut', async () => {
    const silent = (error: Error) => !/s3c/.test(error.message);
    answers({ status: 400, body: `${'x'.repeat(97)}s3cret` });
    await assert.rejects(client().get('/'), silent);
    answers({ status: 200, body: 'no JSON', headers: { 'content-type': 'x/s3cret' } });
    await assert.rejects(client().get('/'), silent);
  });

  it('succeeds when a later attempt does', async () => {
    answers({ status: 503 }, broken, good);
    assert.deepEqual(await client().get('/'), { fine: true });
    standIn.requests.length = 0;
    answers(broken, good);
    assert.deepEqual(await client().patch('/', { json: {}, idempotent: true }), { fine: true });
  });

  it('waits as long as Retry-After says', async () => {
    answers({ status: 429, headers: { 'retry-after': '1' } }, good);
    const start = performance.now();
    await client().post('/');
    // a lower bound, which no slow machine breaks
    assert.ok(performance.now() - start >= 990);
    assert.equal(standIn.requests.length, 2);
  });

  it('knows that what was never sent changed nothing', async () => {
    const closed = await startStandIn();
    await closed.stop();
    await assert.rejects(client({ baseUrl: closed.url }).post('/'), { kind: 'unavailable', mayHaveApplied: false });
  });

  for (const [status, kind] of [
    [400, 'rejected'],
    [401, 'auth'],
    [403, 'auth'],
    [404, 'not_found'],
    [409, 'rejected'],
    [422, 'rejected'],
    [429, 'rate_limit'],
    [500, 'unavailable'],
    [302, 'rejected'],
  ] as const) {
    it(`answers HTTP ${status} as ${kind}`, async () => {
      answers({ status, body: 'no luck', headers: { location: `${standIn.url}/elsewhere` } });
      const failure = { kind, message: `no luck (HTTP ${status})` };
      await assert.rejects(client({ retries: 0 }).get('/'), { ...failure, mayHaveApplied: false });
      await assert.rejects(client({ retries: 0 }).post('/'), { ...failure, mayHaveApplied: status >= 500 });
      assert.equal(standIn.requests.length, 2, 'redirects are not followed');
    });
  }

  it('believes a vendor that says a refusal by a status of 5xx', async () => {
    answers({ status: 501, body: 'no luck' });
    const refusal = client({ errorKind: (status) => (status === 501 ? 'rejected' : undefined) });
    await assert.rejects(refusal.post('/'), { kind: 'rejected', mayHaveApplied: false });
    await assert.rejects(client().post('/'), { kind: 'unavailable', mayHaveApplied: true });
  });

  it('takes words and kinds of errors from the hooks, and no HTML', async () => {
    const http = client({
      retries: 0,
      errorMessage: (body) => (body as { why?: string }).why,
      errorKind: (_status, body) => ((body as { why?: string }).why ? 'not_found' : undefined),
    });
    answers({ status: 400, body: { why: 'no such thing' } });
    await assert.rejects(http.get('/'), { kind: 'not_found', message: 'no such thing (HTTP 400)' });
    standIn.requests.length = 0;
    answers({ status: 502, body: '<html>Bad gateway</html>' });
    await assert.rejects(http.get('/'), { kind: 'unavailable', message: 'HTTP 502' });
    // whatever listens where an account points: its pages are not read out here
    const page = `root:x:0:0:${'secret '.repeat(500)}`;
    for (const [answer, most] of [
      [{ status: 400, body: page }, 111],
      [{ status: 200, body: page }, 160],
      [{ status: 200, body: '{', headers: { 'content-type': `text/${'x'.repeat(5000)}` } }, 160],
      [{ status: 400, body: { why: 'x'.repeat(5000) } }, 1000],
    ] as const) {
      answers(answer);
      await assert.rejects(http.get('/'), (error: Error) => error.message.length <= most);
    }
  });

  it('takes secrets out of every message', async () => {
    answers({ status: 403, body: 'the key s3cret is unknown' });
    await assert.rejects(client().get('/'), { message: 'the key *** is unknown (HTTP 403)' });
    const deny = client({ baseUrl: 'http://s3cret.invalid', retries: 0 });
    await assert.rejects(deny.get('/'), (error: Error) => !error.message.includes('s3cret'));
  });

  it('takes a cut or foreign document for an error', async () => {
    for (const body of ['{"records":[{"a":1},', '<html>Log in</html>', 'ok']) {
      answers({ body });
      await assert.rejects(client().get('/'), {
        kind: 'unavailable',
        message: /cut off or is not JSON \(text\/plain\)/,
      });
    }
  });

  it('signs each attempt anew', async () => {
    answers({ status: 503 }, good);
    let count = 0;
    const http = client().extend({
      beforeRequest: (r) => ({ ...r, headers: { ...r.headers, nonce: String(++count) } }),
    });
    await http.get('/');
    assert.deepEqual(
      standIn.requests.map((r) => r.headers.nonce),
      ['1', '2'],
    );
  });

  it('keeps connections and goes through the limits of the account', async () => {
    answers(good);
    const fresh = outboundAgent([], 2000);
    const http = client({ dispatcher: fresh });
    for (let i = 0; i < 10; i++) await http.get('/');
    await fresh.close();
    // a second one is opened when a request follows before the first connection is marked idle
    assert.ok(new Set(standIn.requests.map((r) => r.connection)).size <= 2);
    let now = 0;
    let most = 0;
    standIn.handler = async () => {
      most = Math.max(most, ++now);
      // as many as may be at once, and time for one too many
      await until('three are at once', () => most >= 3);
      await sleep(MORE_MS);
      now--;
      return good;
    };
    const narrow = client({ limiter: new RateLimiter(3) });
    const other = narrow.extend({ headers: { x: '1' } });
    await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 ? narrow : other).get('/')));
    assert.equal(most, 3);
  });

  it('sends forms, texts and documents, and reads documents and texts', async () => {
    answers({ body: '<r xmlns="urn:x"><a n="1 &amp; 2">007</a><a n="3"/><b>t&#233;&lt;</b></r>' });
    const http = client({ answers: 'xml' });
    const read = { r: { a: [{ '#text': '007', '@n': '1 & 2' }, { '@n': '3' }], b: 'té<' } };
    assert.deepEqual(await http.post('/', { form: { a: 'x&y=ü', b: 5, c: undefined } }), read);
    await http.post('/', { xml: { Change: { '@xmlns': 'urn:x', Value: ['"a" & <b>', '2'] } } });
    await http.post('/', { text: 'as it is' });
    assert.deepEqual(
      standIn.requests.map((r) => [r.headers['content-type'], r.body]),
      [
        ['application/x-www-form-urlencoded', 'a=x%26y%3D%C3%BC&b=5'],
        [
          'application/xml',
          '<?xml version="1.0" encoding="UTF-8"?><Change xmlns="urn:x"><Value>&quot;a&quot; &amp; &lt;b&gt;</Value><Value>2</Value></Change>',
        ],
        ['text/plain; charset=utf-8', 'as it is'],
      ],
    );
    for (const body of ['<r><a>1</a>', 'no document', '<html><br></html>']) {
      answers({ body });
      await assert.rejects(http.get('/'), { kind: 'unavailable', message: /cut off or is not XML/ });
    }
    answers({ body: 'a,b\n' });
    assert.equal(await client({ answers: 'text' }).get('/'), 'a,b\n');
  });

  it('takes an error with a status of success for what it is', async () => {
    const http = client({
      failed: (body) => (body as { ok: boolean }).ok === false,
      errorMessage: (body) => (body as { why?: string }).why,
      errorKind: (_status, body) => ((body as { why?: string }).why === 'slow down' ? 'rate_limit' : undefined),
    });
    answers({ body: { ok: false, why: 'no such type' } });
    await assert.rejects(http.post('/'), {
      kind: 'rejected',
      message: 'no such type (HTTP 200)',
      mayHaveApplied: false,
    });
    standIn.requests.length = 0;
    answers({ body: { ok: false, why: 'slow down' } }, { body: { ok: true } });
    assert.deepEqual(await http.post('/'), { ok: true });
  });

  it('lets what authorises a request make calls of its own, even where one at a time is allowed', async () => {
    standIn.handler = ({ path }) => (path === '/token' ? { body: { token: 't1' } } : good);
    const http = client({ limiter: new RateLimiter(1) });
    const events: string[] = [];
    const authorised = http.extend({
      async beforeRequest(request) {
        const { token } = await http.post<{ token: string }>('/token');
        events.push('authorised');
        return { ...request, headers: { ...request.headers, authorization: token } };
      },
      sign(request) {
        events.push('signed');
        return { ...request, headers: { ...request.headers, signature: `of ${request.headers.authorization}` } };
      },
    });
    assert.deepEqual(await authorised.get('/zones'), { fine: true });
    assert.deepEqual(
      standIn.requests.map((r) => [r.path, r.headers.signature]),
      [
        ['/token', undefined],
        ['/zones', 'of t1'],
      ],
    );
    assert.deepEqual(events, ['authorised', 'signed']);
  });

  it('waits for its turn no longer than it may', async () => {
    let release = () => {};
    standIn.handler = () => new Promise((done) => (release = () => done(good)));
    const http = client({ limiter: new RateLimiter(1), waitMs: 100 });
    const first = http.get('/first');
    await assert.rejects(http.post('/second'), { name: 'NotBegun', kind: 'unavailable', mayHaveApplied: false });
    release();
    await first;
    assert.deepEqual(
      standIn.requests.map((r) => r.path),
      ['/first'],
    );
    standIn.handler = () => good;
    assert.deepEqual(await http.get('/third'), { fine: true });
  });

  it('makes the whole account wait as long as a 429 says', async () => {
    const times: number[] = [];
    standIn.handler = () => {
      times.push(performance.now());
      return times.length > 1 ? good : { status: 429, headers: { 'retry-after': '1' } };
    };
    const limiter = new RateLimiter(8);
    let told = false;
    const errorKind = () => {
      told = true;
      return undefined;
    };
    const first = client({ limiter, errorKind }).post('/first');
    await until('the account is to wait', () => told);
    const other = client({ limiter }).extend({ headers: { x: '1' } });
    await Promise.all([first, client({ limiter }).get('/second'), other.get('/third')]);
    assert.equal(times.length, 4);
    // a lower bound, which no slow machine breaks
    assert.ok(times.slice(1).every((time) => time - (times[0] as number) >= 990));
  });

  it('refuses a call at once that cannot wait for the end of the pause', async () => {
    answers({ status: 429, headers: { 'retry-after': '60' } });
    const limiter = new RateLimiter(8);
    await assert.rejects(client({ limiter }).get('/'), { kind: 'rate_limit' });
    await assert.rejects(client({ limiter }).get('/'), { name: 'NotBegun', kind: 'rate_limit', mayHaveApplied: false });
    assert.equal(standIn.requests.length, 1);
  });

  it('is not refused by a provider that says how long to wait, however often it has to', async () => {
    let second = 0;
    let inSecond = 0;
    let refused = 0;
    standIn.handler = () => {
      const now = Math.floor(Date.now() / 1000);
      inSecond = now === second ? inSecond + 1 : 1;
      second = now;
      if (inSecond <= 5) return good;
      refused++;
      return { status: 429, headers: { 'retry-after': '1' } };
    };
    const http = client({ waitMs: 60_000 });
    const all = await Promise.all(Array.from({ length: 30 }, () => http.post('/')));
    assert.equal(all.length, 30);
    assert.ok(refused > 0);
  });

  it('keeps several windows of time', async () => {
    jest.useFakeTimers();
    // a suite before this one may have followed the clock of a database
    keepTime(null);
    try {
      const start = Date.now();
      const begun: number[] = [];
      const limiter = new RateLimiter(100, [
        { requests: 4, perSeconds: 1 },
        { requests: 6, perSeconds: 10 },
      ]);
      const all = Promise.all(
        Array.from({ length: 13 }, () => limiter.run(async () => begun.push(Date.now() - start))),
      );
      await jest.advanceTimersByTimeAsync(60_000);
      await all;
      assert.deepEqual(begun, [0, 0, 0, 0, 1000, 1000, 10_000, 10_000, 10_000, 10_000, 11_000, 11_000, 20_000]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('begins no call of a list after its deadline', async () => {
    answers(good);
    const http = client();
    const late = withinDeadline(performance.now() - 1, () => http.post('/'));
    await assert.rejects(late, { name: 'NotBegun', kind: 'unavailable', mayHaveApplied: false });
    assert.equal(standIn.requests.length, 0);
    // a pause that ends after the deadline is not waited for, although the call alone might wait
    answers({ status: 429, headers: { 'retry-after': '60' } });
    const soon = withinDeadline(performance.now() + 30_000, () => client({ waitMs: 120_000 }).post('/'));
    await assert.rejects(soon, { kind: 'rate_limit' });
    assert.equal(standIn.requests.length, 1);
  });

  it('remembers over all calls of one piece of work what may have been applied', async () => {
    const closed = await startStandIn();
    await closed.stop();
    const http = client({ retries: 0 });
    const dead = client({ baseUrl: closed.url, retries: 0 });
    for (const next of [() => http.get('/'), () => dead.put('/'), () => dead.get('/')]) {
      const twice = () =>
        withinDeadline(undefined, async () => {
          answers(broken);
          standIn.requests.length = 0;
          await http.put('/').catch(() => {});
          answers(broken, { status: 401 });
          return next();
        });
      await assert.rejects(twice, { mayHaveApplied: true });
    }
    // a failed reading changes nothing
    const reads = withinDeadline(undefined, async () => {
      answers(broken);
      await http.get('/').catch(() => {});
      return dead.put('/');
    });
    await assert.rejects(reads, { mayHaveApplied: false });
  });

  it('counts an attempt that was broken off when the next one finds nobody', async () => {
    const other = await startStandIn();
    other.handler = async () => {
      setImmediate(() => void other.stop());
      return broken;
    };
    const call = client({ baseUrl: other.url }).put('/', { json: {} });
    await assert.rejects(call, { kind: 'unavailable', mayHaveApplied: true, message: /ECONNREFUSED/ });
    assert.equal(other.requests.length, 1);
  });
});
