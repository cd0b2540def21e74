import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { openDatabase } from '../support/database.js';
import { ADMIN, LocalServer, type Service, startService } from '../support/server.js';
import { atEndOfTest } from '../support/suites.js';
import { done } from '../support/world.js';

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const ASSETS = join(__dirname, '../../web/dist/assets');

describe('the page of the console', () => {
  let service: Service;
  let url: string;
  beforeAll(async () => {
    service = await startService('sqlite');
    url = service.server.url;
  });
  afterAll(() => service?.stop());

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(url + path, { method, headers, redirect: 'manual' });

  it('is answered at the addresses of screens, each time with a nonce of its own, and kept nowhere', async () => {
    const nonces = new Set<string>();
    for (const path of ['/', '/domains/7/history', '/oauth/callback?state=x', '/nothing.example']) {
      const answer = await get(path, HTML);
      const html = await answer.text();
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/html; charset=utf-8'], path);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('etag'), null);
      const policy = answer.headers.get('content-security-policy') ?? '';
      const [, nonce = ''] = /style-src 'self' 'nonce-([^']{22,})'/.exec(policy) ?? [];
      assert.ok(html.includes(`nonce="${nonce}"`), policy);
      nonces.add(nonce);
      assert.doesNotMatch(html, /__BASE__|__NONCE__/);
      assert.match(html, /<base href="\/" ?\/?>/);
    }
    assert.equal(nonces.size, 4);
  });

  it('allows nothing inline, and nothing from elsewhere but a picture that the settings name', async () => {
    const policy = async () => (await get('/', HTML)).headers.get('content-security-policy') ?? '';
    const before = await policy();
    assert.doesNotMatch(before, /unsafe/);
    for (const part of [
      "default-src 'self'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'self'",
      "object-src 'none'",
    ])
      assert.ok(before.split('; ').includes(part), part);
    assert.ok(before.includes("img-src 'self' data:;"));
    done(await service.admin.put('/api/settings', { background_image: 'https://pictures.example/sea.jpg?x=1' }));
    assert.ok((await policy()).includes("img-src 'self' data: https://pictures.example;"));
    done(await service.admin.put('/api/settings', { background_image: 'data:image/png;base64,AAAA' }));
    assert.ok((await policy()).includes("img-src 'self' data:;"));
    // as an earlier version could have stored it
    const { db, close } = await openDatabase(service.databaseUrl, service.server.dataDir);
    try {
      const affected = await db.run(`UPDATE settings SET content = replace(content, ?, ?) WHERE name = 'general'`, [
        'data:image/png;base64,AAAA',
        'https://x;sandbox/a.png',
      ]);
      assert.equal(affected, 1);
      assert.equal((await policy()).replace(/nonce-[^']+/, ''), before.replace(/nonce-[^']+/, ''));
    } finally {
      await close();
    }
  });

  it('has its files compressed and kept for ever, under names that change with what is in them', async () => {
    const [script] = (await (await get('/', HTML)).text()).match(/assets\/index-[\w-]+\.js/) ?? [];
    const plain = await (await get(`/${script}`, { 'accept-encoding': 'identity' })).text();
    assert.match(plain, /^(import|const) /);
    for (const encoding of ['br', 'gzip'] as const) {
      const answer = await get(`/${script}`, { 'accept-encoding': encoding });
      assert.equal(answer.headers.get('content-encoding'), encoding);
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.match(answer.headers.get('content-type') ?? '', /javascript/);
      assert.equal(await answer.text(), plain);
    }
    const scheme = await get('/scheme.js');
    assert.deepEqual([scheme.status, scheme.headers.get('cache-control')], [200, 'no-cache']);
    const again = await get('/scheme.js', { 'if-none-match': scheme.headers.get('etag') as string });
    assert.equal(again.status, 304);
    assert.ok(readdirSync(ASSETS).some((name) => name.endsWith('.css.br')));
  });

  it('has its files whole, in an encoding that is taken, and to be read only', async () => {
    const name = readdirSync(ASSETS).find((one) => /^index-.*\.js$/.test(one));
    const path = `/assets/${name}`;
    const whole = readFileSync(join(ASSETS, String(name))).length;
    for (const range of ['bytes=5-2', 'bytes=-5', 'bytes=0-4', 'bytes=99999999-', 'lines=1-2']) {
      const answer = await get(path, { range, 'accept-encoding': 'identity' });
      assert.equal(answer.status, 200, range);
      assert.equal((await answer.arrayBuffer()).byteLength, whole, range);
    }
    const encodings = { 'br;q=0': null, 'br;q=0, gzip': 'gzip', 'br, gzip;q=0': 'br', '*': 'br', 'x-br': null };
    for (const [accepted, encoding] of Object.entries(encodings)) {
      const answer = await get(path, { 'accept-encoding': accepted });
      assert.equal(answer.headers.get('content-encoding'), encoding, accepted);
    }
    const kept = await get(path);
    const again = await get(path, { 'if-none-match': kept.headers.get('etag') as string });
    assert.equal(again.status, 304);
    for (const header of ['cache-control', 'vary'])
      assert.equal(again.headers.get(header), kept.headers.get(header), header);
    const posted = await get(path, {}, 'POST');
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
    assert.equal(posted.headers.get('cache-control'), 'no-store');
    assert.equal(service.server.log.includes('internal error'), false);
  });

  it('stands in the way of nothing else', async () => {
    const failure = async (answer: Response) => [answer.status, ((await answer.json()) as { code: number }).code];
    assert.deepEqual(await failure(await get('/assets/nothing.js', HTML)), [404, 404001]);
    assert.equal((await get('/assets/nothing.js')).headers.get('cache-control'), 'no-store');
    assert.deepEqual(await failure(await get('/index.html')), [404, 404001]);
    assert.deepEqual(await failure(await get('/api/nothing', HTML)), [404, 404001]);
    assert.deepEqual(await failure(await get('/health/nothing', HTML)), [404, 404001]);
    assert.deepEqual(await failure(await get('/domains')), [404, 404001]);
    assert.deepEqual(await failure(await get('/domains', HTML, 'POST')), [404, 404001]);
    assert.equal((await get('/domains', HTML, 'HEAD')).status, 200);
    assert.equal((await get('/api/docs', HTML)).status, 200);
    assert.deepEqual(await failure(await get('/api/auth/login', HTML)), [405, 405001]);
    const root = await get('/');
    assert.deepEqual([root.status, root.headers.get('location')], [302, '/api/docs']);
    const file = await get('/assets/..%2findex.html', HTML);
    assert.deepEqual(await failure(file), [404, 404001]);
  });
});

describe('the page of the console elsewhere', () => {
  const afterTest = atEndOfTest();

  it('is the same below the path of BASE_URL, whether a proxy strips it or not', async () => {
    const server = await LocalServer.start({ BASE_URL: 'https://example.com/tools/dns/' });
    afterTest(() => server.stop());
    for (const prefix of ['', '/tools/dns']) {
      const html = await (await fetch(`${server.url}${prefix}/domains`, { headers: HTML })).text();
      assert.match(html, /<base href="\/tools\/dns\/" ?\/?>/);
      const [script] = html.match(/assets\/index-[\w-]+\.js/) ?? [];
      assert.equal((await fetch(`${server.url}${prefix}/${script}`)).status, 200);
    }
  });

  it('is there before anything is set up', async () => {
    const server = await LocalServer.start();
    afterTest(() => server.stop());
    const answer = await fetch(`${server.url}/`, { headers: HTML });
    assert.equal(answer.status, 200);
    assert.equal((await server.call('POST', '/api/auth/login', ADMIN)).status, 503);
  });
});
