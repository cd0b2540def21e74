import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, it } from '@jest/globals';
import { noChromium, type Pages, startPages } from '../support/chromium.js';
import { openDatabase } from '../support/database.js';
import { ADMIN, type Client, type Service, startService } from '../support/server.js';
import { EventStream } from '../support/stream.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

/** Runs in a page: signs in, opens the stream with a ticket, makes a record, and tells what the stream did. */
const SCRIPT = (api: string, domain: number, host: string) => `(async () => {
  const json = { 'content-type': 'application/json' };
  const call = async (path, body, headers = {}) => {
    const answer = await fetch('${api}' + path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
    return { ...(await answer.json()), id: answer.headers.get('x-request-id') };
  };
  const { data: { token } } = await call('/api/auth/login', ${JSON.stringify(ADMIN)});
  const mine = { authorization: 'Bearer ' + token };
  const { data: { ticket } } = await call('/api/events/ticket', undefined, mine);
  const stream = new EventSource('${api}/api/events?ticket=' + ticket);
  const next = (name) => new Promise((resolve, reject) => {
    stream.addEventListener(name, ({ data }) => resolve(JSON.parse(data)), { once: true });
    stream.addEventListener('error', () => reject(new Error('the stream failed')), { once: true });
  });
  await next('ready');
  const changed = next('records.changed');
  const { id } = await call('/api/domains/${domain}/records', { host: '${host}', type: 'A', value: '192.0.2.1' }, mine);
  const { domain_id } = await changed;
  stream.close();
  return { domain_id, id };
})()`;

describeUnless(noChromium)('pages of this origin and of another one', () => {
  let service: Service;
  let admin: Client;
  let domain: number;
  let browser: Pages;
  let site: Server;
  let origin: string;

  beforeAll(async () => {
    site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>a page</p>'));
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    origin = `http://localhost:${(site.address() as AddressInfo).port}`;
    service = await startService('sqlite', { CORS_ORIGINS: `${origin}, https://console.example.com` });
    ({ admin } = service);
    domain = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'pages.example', true);
    browser = await startPages();
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
    site?.close();
  });

  it('sign in, open the stream with a ticket, and see a change', async () => {
    const home = service.server.url.replace('127.0.0.1', 'localhost');
    for (const [place, host] of [
      [`${home}/oauth/callback`, 'same'],
      [`${origin}/`, 'other'],
    ] as const) {
      const page = await browser.open(place);
      const { domain_id, id } = (await page.evaluate(SCRIPT(home, domain, host))) as { domain_id: number; id: string };
      assert.equal(domain_id, domain);
      assert.ok(id, 'headers can be read');
    }
  });

  it('of an origin that is not listed get nothing', async () => {
    const page = await browser.open(`${origin.replace('localhost', '127.0.0.1')}/`);
    const home = service.server.url.replace('127.0.0.1', 'localhost');
    await assert.rejects(page.evaluate(SCRIPT(home, domain, 'strange')), /Failed to fetch/);
    const asked = (from: string) =>
      fetch(`${service.server.url}/api/domains`, {
        method: 'OPTIONS',
        headers: { origin: from, 'access-control-request-method': 'POST' },
      });
    const allowed = await asked('https://console.example.com');
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://console.example.com');
    assert.match(String(allowed.headers.get('access-control-allow-headers')), /Authorization.*If-Match/);
    assert.equal(allowed.headers.get('access-control-allow-credentials'), null);
    const refused = await asked('https://console.example.com.evil.example');
    assert.equal(refused.headers.get('access-control-allow-origin'), null);
    assert.match(String(refused.headers.get('allow')), /POST/);
  });

  const ticketOf = async (client: Client) => done(await client.post('/api/events/ticket')).ticket;
  const open = (query: string) => fetch(`${service.server.url}/api/events?${query}`);

  it('a ticket opens one stream, with the rights of its credential, and nothing else', async () => {
    const ticket = await ticketOf(admin);
    assert.equal((await fetch(`${service.server.url}/api/domains?ticket=${ticket}`)).status, 401);
    const opened = await Promise.all(Array.from({ length: 6 }, () => open(`ticket=${ticket}`)));
    assert.deepEqual(opened.map(({ status }) => status).sort(), [200, ...Array(5).fill(401)]);
    for (const { body } of opened) await body?.cancel();
    const both = await service.server.call(
      'GET',
      `/api/events?ticket=${await ticketOf(admin)}`,
      undefined,
      service.token,
    );
    refused(both, 400, 400001);
    assert.equal((await open('ticket=')).status, 401);
    assert.equal((await open('ticket=a&ticket=b')).status, 401);
  });

  it('a ticket of a token ends with it, and so does its stream', async () => {
    const body = { name: 'page', allowed_services: ['records:read'] };
    const { tokenData, token } = made(await admin.post('/api/tokens', body));
    const client = service.server.as(token);
    const [first, second] = [await ticketOf(client), await ticketOf(client)];
    const stream = await open(`ticket=${first}`);
    assert.equal(stream.status, 200);
    done(await admin.delete(`/api/tokens/${tokenData.id}`));
    assert.equal((await open(`ticket=${second}`)).status, 401);
    // ends by itself
    await stream.text();
  });

  it('a ticket is over after 30 seconds', async () => {
    const ticket = await ticketOf(admin);
    const { db, close } = await openDatabase(service.databaseUrl, service.server.dataDir);
    const [row] = await db.rows<{ expires_at: string }>("SELECT expires_at FROM challenges WHERE kind = 'ticket'", []);
    const left = Date.parse(row?.expires_at ?? '') - Date.now();
    assert.ok(left > 0 && left <= 31_000, `${left} ms`);
    await db.run("UPDATE challenges SET expires_at = '2020-01-01T00:00:00.000Z' WHERE kind = 'ticket'", []);
    await close();
    assert.equal((await open(`ticket=${ticket}`)).status, 401);
  });

  it('a stream goes on behind an event that the query names', async () => {
    const stream = await EventStream.open(service.server.url, service.token);
    await stream.next('ready');
    const { last } = stream;
    stream.close();
    done(await admin.put('/api/settings', { site_name: 'Pages' }));
    const answer = await open(`ticket=${await ticketOf(admin)}&last_event_id=${last}`);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('settings.changed')) text += new TextDecoder().decode((await reader.read()).value);
    assert.doesNotMatch(text, /event: ready/);
    await reader.cancel();
  });
});
