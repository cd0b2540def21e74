import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { freePort } from '../support/bind.js';
import { noChromium } from '../support/chromium.js';
import { ConsoleBrowser, signIn } from '../support/console.js';
import { documented, noNginx } from '../support/nginx.js';
import { noPowerdns } from '../support/powerdns.js';
import { startService } from '../support/server.js';
import { atEndOfTest, describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, powerdnsLines, startWorld, until, type World } from '../support/world.js';

const LATENCY_MS = 400;

describeUnless(noChromium || noPowerdns)('the console in hardship', () => {
  const afterTest = atEndOfTest();
  let world: World;
  let browser: ConsoleBrowser;
  const open = async (path: string) => {
    const { page } = await browser.openAs(path);
    page.setDefaultTimeout(20_000);
    return page;
  };
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const held = async (host: string) =>
    powerdnsLines(await world.pdns.zone(world.zone)).filter((line) => line.startsWith(`${host} `));
  /** Puts a new address into the tray. */
  const add = async (page: Page, host: string, value: string) => {
    await page.getByRole('grid').waitFor();
    await page.keyboard.press('n');
    const form = page.getByRole('form', { name: 'New record' });
    await form.getByLabel('Name', { exact: true }).fill(host);
    await form.getByLabel('Address', { exact: true }).fill(value);
    await page.keyboard.press('Enter');
    await form.waitFor({ state: 'detached' });
  };

  beforeAll(async () => {
    // a provider that hangs is given up after 2 s, and may apply what it was sent for 4 s
    world = await startWorld('sqlite', { PROVIDER_TIMEOUT_MS: '2000', UNCLEAR_AFTER_MS: '4000' });
    made(await world.admin.post(world.records, { host: 'www', type: 'A', value: '192.0.2.10' }));
    browser = await ConsoleBrowser.start(world.server.url);
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await world?.stop();
  });

  it('over a slow network a zone is edited and published once, however often one clicks, and each wait is shown', async () => {
    const page = await open('/domains');
    await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
    afterTest(() => page.context().close());
    const devtools = await page.context().newCDPSession(page);
    const slow = { offline: false, latency: LATENCY_MS, downloadThroughput: -1, uploadThroughput: -1 };
    await devtools.send('Network.enable');
    await devtools.send('Network.emulateNetworkConditions', slow);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    await page.getByRole('link', { name: world.zone }).click();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor();
    await add(page, 'slow', '192.0.2.77');
    await button(page, 'See the difference').dblclick();
    await page.getByText('The zone is read at the provider, and compared.').waitFor();
    await button(page, 'Publish 1 change').dblclick();
    await page.getByText('The changes are sent to the provider.').waitFor();
    await page.getByRole('progressbar', { name: 'Publishing' }).waitFor();
    await page.getByText('Published: 1 change').waitFor();
    assert.deepEqual(await held('slow'), ['slow A - 192.0.2.77 600 on']);
    const of = (path: RegExp) => sent.filter((one) => path.test(one)).length;
    assert.deepEqual([of(/POST .*\/domains\/\d+\/plans$/), of(/POST .*\/apply$/)], [1, 1], sent.join('\n'));
    // two impatient clicks on what makes something make one
    await page.goto(`${world.server.url}/teams`);
    await button(page, 'New team').first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('impatient');
    await page.getByRole('dialog').getByRole('button', { name: 'New team' }).dblclick();
    await page
      .getByRole('heading', { name: 'impatient', level: 1 })
      .or(page.getByRole('link', { name: 'impatient' }))
      .first()
      .waitFor();
    assert.equal(of(/POST .*\/api\/teams$/), 1);
  });

  it('with the provider down it says what failed and what to do, and keeps what was not published', async () => {
    const page = await open(`/domains/${world.domain}`);
    await add(page, 'down', '192.0.2.78');
    await world.proxy.down();
    await button(page, 'See the difference').click();
    await page.getByText('There is no difference to show yet; nothing was changed.').waitFor();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await button(page, 'Back to the records').click();
    await page.getByText('1 change to publish').waitFor();
    await page.reload();
    await page.getByText('1 change to publish').waitFor();
    await world.proxy.up();
    await button(page, 'See the difference').click();
    await button(page, 'Publish 1 change').waitFor();
    // it answers reads, and refuses to write
    world.proxy.fault = async ({ method }, forward) =>
      method === 'PATCH' ? { status: 422, body: '{"error": "the disk of the provider is full"}' } : forward();
    await button(page, 'Publish 1 change').click();
    await page.getByText('0 published, 1 not').waitFor();
    await page.getByText(/the disk of the provider is full/).waitFor();
    await page.getByText('What was not published stays in your changes.').waitFor();
    await button(page, 'Done').click();
    await page.getByText('1 change to publish').waitFor();
    assert.deepEqual(await held('down'), []);
    world.proxy.fault = null;
    await button(page, 'See the difference').click();
    await button(page, 'Publish 1 change').click();
    await page.getByText('Published: 1 change').waitFor();
    assert.deepEqual(await held('down'), ['down A - 192.0.2.78 600 on']);
  });

  it('with a provider that neither refuses nor answers it says so in time, and nothing is lost or made twice', async () => {
    const { pid } = world.pdns;
    afterTest(() => process.kill(pid, 'SIGCONT'));
    const page = await open(`/domains/${world.domain}`);
    await add(page, 'hangs', '192.0.2.79');
    process.kill(pid, 'SIGSTOP');
    await button(page, 'See the difference').click();
    await page.getByText('There is no difference to show yet; nothing was changed.').waitFor();
    await page
      .getByRole('dialog')
      .getByText(/did not answer within 2 s/)
      .waitFor();
    await button(page, 'Back to the records').click();
    await page.getByText('1 change to publish').waitFor();
    process.kill(pid, 'SIGCONT');
    await button(page, 'See the difference').click();
    await button(page, 'Publish 1 change').waitFor();
    // it stops with the change in hand
    world.proxy.fault = async ({ method }, forward) => {
      if (method === 'PATCH') process.kill(pid, 'SIGSTOP');
      return forward();
    };
    await button(page, 'Publish 1 change').click();
    await page.getByText(/^The provider has not answered what it was sent/).waitFor();
    await page.reload();
    await button(page, 'See how it goes').waitFor();
    world.proxy.fault = null;
    process.kill(pid, 'SIGCONT');
    await until('the provider has it', async () => (await held('hangs')).length > 0);
    // it is found when the service reads the zone, which it does by itself within some 20 s
    done(await world.admin.get(`${world.records}?refresh=true`));
    await page.getByText('Published: 1 change').waitFor();
    assert.deepEqual(await held('hangs'), ['hangs A - 192.0.2.79 600 on']);
    await button(page, 'Done').click();
    assert.equal(await page.getByText('to publish').count(), 0);
  });

  it('opened again and again it renews its session only when half of its life is over', async () => {
    const renewals = async () => done(await world.admin.get('/api/audit/logs?action=auth.refresh&limit=100')).total;
    const before = await renewals();
    const page = await open('/teams');
    for (let i = 0; i < 2; i++) {
      await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
      await page.reload();
    }
    // a clock that is off renews nothing: the life of a session is by that of the service
    afterTest(() => page.context().close());
    await page.clock.install({ time: Date.now() + 7 * 3_600_000 });
    await page.reload();
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
    assert.equal(await renewals(), before);
    await page.clock.fastForward('07:00:00');
    await until('it is renewed', async () => (await renewals()) === before + 1);
  });

  it('shows guards that it has no words for in those of the service', async () => {
    const page = await open('/teams');
    await page.route('**/api/meta', async (route) => {
      const answer = await (await route.fetch()).json();
      answer.data.guards.push({ name: 'newest', meaning: 'What a later version guards' });
      await route.fulfill({ json: answer });
    });
    await page.goto(`${world.server.url}/domains/${world.domain}/settings`);
    await page.getByRole('combobox', { name: 'newest' }).waitFor();
    await page.getByText('What a later version guards').waitFor();
    await page.getByRole('combobox', { name: 'Last MX' }).selectOption({ label: 'must be named' });
    await page.getByRole('form', { name: 'Guards' }).getByRole('button', { name: 'Save' }).click();
    await until(
      'it is set',
      async () => done(await world.admin.get(`/api/domains/${world.domain}`)).guards.last_mx === 'force',
    );
  });

  it('looks at the health of a zone, says what is wrong and what to do, and looks again', async () => {
    const page = await open(`/domains/${world.domain}/health`);
    const found = page.getByRole('region', { name: 'What was found' });
    await found.getByText('critical').first().waitFor();
    const looked = page.waitForResponse((answer) => answer.url().includes('/health') && answer.ok());
    await button(page, 'Look again').click();
    await looked;
    await page.getByRole('region', { name: 'Delegation' }).getByText('Parent zone').waitFor();
    await page.getByRole('region', { name: 'Name servers' }).waitFor();
    await page.getByRole('region', { name: 'Registration' }).waitFor();
  });
});

describeUnless(noChromium || noNginx)('the console below a path of another site', () => {
  const afterTest = atEndOfTest();

  it('is signed in to, opened at a deep address, and told of changes', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/dns`;
    const service = await startService('sqlite', { BASE_URL: url });
    afterTest(() => service.stop());
    const domain = await addDomain(
      service.admin,
      await addAccount(service.admin, 'zonefile', {}),
      'path.example',
      true,
    );
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-path-'));
    afterTest(() => rmSync(folder, { recursive: true, force: true }));
    const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((n) => `${n}_temp_path ${folder}/${n};`);
    const location = documented('location /').replace('http://zoneward', service.server.url);
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; user root; events {}
http { access_log off; ${temp.join(' ')}
  server { listen 127.0.0.1:${port}; location /dns/ { ${location.replace('$host', '$http_host')} } } }`,
    );
    const nginx = spawn('/usr/sbin/nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')]);
    afterTest(async () => {
      nginx.kill('SIGTERM');
      await once(nginx, 'exit');
    });
    await until('nginx listens', async () => (await fetch(`${url}/health/live`).catch(() => null))?.ok ?? false);
    const browser = await ConsoleBrowser.start(url);
    afterTest(() => browser.stop());
    const elsewhere: string[] = [];
    const { page, complaints } = await browser.open('/sign-in');
    page.setDefaultTimeout(15_000);
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) elsewhere.push(request.url());
    });
    await page.goto(`${url}/domains/${domain}/settings`);
    await signIn(page);
    await page.getByRole('heading', { name: 'path.example', level: 1 }).waitFor();
    assert.equal(page.url(), `${url}/domains/${domain}/settings`);
    const [cookie] = await page.context().cookies(`${url}/api/`);
    assert.match(cookie.path, /^\/dns\/api/);
    assert.deepEqual(await page.context().cookies(`http://127.0.0.1:${port}/`), []);
    await page.reload();
    await page.getByRole('heading', { name: 'path.example', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Records', exact: true }).click();
    await page.waitForURL(`${url}/domains/${domain}`);
    await page.getByRole('button', { name: 'Add record' }).first().waitFor();
    // what another client does arrives by the stream of events
    await page.waitForLoadState();
    const record = { host: 'told', type: 'A', value: '192.0.2.5' };
    made(await service.admin.post(`/api/domains/${domain}/records`, record));
    await page.getByRole('row', { name: /told A 192\.0\.2\.5/ }).waitFor();
    assert.deepEqual(elsewhere, []);
    assert.deepEqual(complaints, []);
  });
});
