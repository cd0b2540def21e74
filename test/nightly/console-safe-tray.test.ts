import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { noChromium } from '../support/chromium.js';
import { ConsoleBrowser } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { ADMIN } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, powerdnsLines, startWorld, until, type World } from '../support/world.js';

const BOB = { username: 'bob', password: 'violet-harbour-92' };

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const count = (page: Page, words: string) => page.getByText(`${words} to publish`).waitFor();

describeUnless(noChromium || noPowerdns)('what waits to be published', () => {
  let world: World;
  let browser: ConsoleBrowser;
  let screen: string;
  let tokens: Record<string, string>;
  const lines = async () => powerdnsLines(await world.pdns.zone(world.zone));
  beforeAll(async () => {
    world = await startWorld();
    screen = `/domains/${world.domain}`;
    const changes = ['a', 'b', 'c'].map((host, i) => ({
      ...{ op: 'create', host, type: 'A', value: `192.0.2.${i + 1}`, ttl: 300 },
    }));
    done(await world.admin.post(`${world.records}/batch`, { changes }));
    made(await world.admin.post('/api/users', { ...BOB, role: 3 }));
    tokens = { admin: await world.server.login(), bob: await world.server.login(BOB) };
    browser = await ConsoleBrowser.start(world.server.url);
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await world?.stop();
  });

  /** The browser of a page has the session of this user from now on. */
  const become = (page: Page, user: string) =>
    page
      .context()
      .addCookies([
        { name: 'zoneward_session', value: tokens[user] as string, domain: '127.0.0.1', path: '/api', httpOnly: true },
      ]);
  const open = async (user: string, path = screen) => {
    const { page } = await browser.open('/api/site');
    await become(page, user);
    await page.goto(world.server.url + path);
    return page;
  };
  const row = (page: Page, name: string) => page.getByRole('row', { name });
  const addRecord = async (page: Page, host: string) => {
    await page.getByRole('grid').waitFor();
    await page.keyboard.press('n');
    await page.getByLabel('Name', { exact: true }).fill(host);
    await page.getByLabel('Address', { exact: true }).fill('192.0.2.80');
    await page.keyboard.press('Enter');
    await row(page, host).waitFor();
  };
  const user = (page: Page, name: string) => button(page, `${name}: your menu`).waitFor();

  it('is of one user, whoever has signed in in another tab since', async () => {
    const first = await open('admin');
    await addRecord(first, 'of-admin');
    const before = await lines();
    const second = await first.context().newPage();
    await second.goto(world.server.url);
    await button(second, 'admin: your menu').click();
    // a sign-out that failed says so
    await second.route('**/api/auth/logout', (route) =>
      route.fulfill({ status: 503, json: { code: 503001, msg: 'not now' } }),
    );
    await second.getByRole('menuitem', { name: 'Sign out' }).click();
    await second.getByText('You are still signed in').waitFor();
    await second.unroute('**/api/auth/logout');
    // the other tab has ended it: there is none any more, and both go to the sign-in
    await world.server.as(tokens.admin as string).post('/api/auth/logout');
    await button(second, 'admin: your menu').click();
    await second.getByRole('menuitem', { name: 'Sign out' }).click();
    for (const page of [first, second]) {
      await page.waitForURL(/sign-in/);
      await page.getByLabel('User name').waitFor();
    }
    tokens.admin = await world.server.login(ADMIN);

    // a tab that heard of nothing
    await become(first, 'admin');
    await first.goto(world.server.url + screen);
    await count(first, '1 change');
    await become(first, 'bob');
    await button(first, 'See the difference').click();
    await user(first, 'bob');
    await row(first, 'a A').waitFor();
    assert.equal(await first.getByRole('region', { name: 'Changes to publish' }).count(), 0);
    await addRecord(first, 'of-bob');
    await become(first, 'admin');
    await first.reload();
    await row(first, 'of-admin').waitFor();
    assert.equal(await row(first, 'of-bob').count(), 0);
    assert.deepEqual(await lines(), before);
    assert.equal(done(await world.admin.get(`/api/domains/${world.domain}/plans`)).total, 0);
  });

  it('leaves nothing of one user to the next, and cannot be typed by who may only read', async () => {
    const carol = { username: 'carol', password: 'copper-meadow-31' };
    const { id } = made(await world.admin.post('/api/users', { ...carol, role: 1 }));
    const team = made(await world.admin.post('/api/teams', { name: 'readers' })).id;
    made(await world.admin.post(`/api/teams/${team}/members`, { user_id: id }));
    made(await world.admin.post(`/api/teams/${team}/permissions`, { domain_id: world.domain, permission: 'read' }));
    const own = await world.server.login(carol);
    tokens.carol = own;
    done(await world.server.as(own).put('/api/security/profile', { theme: 'dark' }));
    const page = await open('admin', '/domains?keyword=exa');
    await button(page, 'Save this view').click();
    await page.getByLabel('Name of the view').fill('of admin');
    await button(page, 'Save').click();
    await page.getByRole('link', { name: 'of admin' }).waitFor();
    await become(page, 'carol');
    await page.goto(`${world.server.url}/domains?keyword=exa`);
    await user(page, 'carol');
    await button(page, 'Save this view').waitFor();
    assert.equal(await page.getByRole('link', { name: 'of admin' }).count(), 0);
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    await until('it is dark, as in the profile', async () => (await scheme()) === 'dark');
    await page.goto(`${world.server.url}${screen}?view=text`);
    const text = page.getByRole('textbox', { name: `Zone file of ${world.zone}` });
    const before = await text.innerText();
    await text.click();
    await page.keyboard.type('mine 60 A 192.0.2.50');
    assert.equal(await text.innerText(), before);
    await become(page, 'admin');
    await page.reload();
    await user(page, 'admin');
    assert.equal(await scheme(), 'light');
  });

  it('is not sent because a page is opened, and can be published where the service died before', async () => {
    const page = await open('admin');
    await addRecord(page, 'late');
    await button(page, 'See the difference').click();
    // it never arrives, and the tab is closed
    await page.route('**/apply', (route) => route.abort());
    await button(page, 'Publish 1 change').click();
    await page
      .getByText('The service does not answer.', { exact: false })
      .or(page.getByText('The changes are sent'))
      .waitFor();
    const before = await lines();
    await page.goto(`${world.server.url}/api/site`);
    await page.unroute('**/apply');
    let sent = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/apply')) sent++;
    });
    await page.goto(world.server.url + screen);
    const dialog = page.getByRole('dialog', { name: 'It was not published' });
    await dialog.waitFor();
    assert.equal(sent, 0);
    // the service took it, and died
    await page.route('**/apply', (route) =>
      route.fulfill({ status: 409, json: { code: 409001, msg: '', data: { reason: 'outcome_unknown' } } }),
    );
    await button(page, 'Publish 1 change').click();
    await dialog.getByText('Nothing was changed', { exact: false }).waitFor();
    assert.equal(sent, 1);
    await page.reload();
    await count(page, '1 change');
    assert.deepEqual(await lines(), before);
    await page.unroute('**/apply');
    await button(page, 'See the difference').click();
    await button(page, 'Publish 1 change').click();
    await page.getByText('Published: 1 change').waitFor();
    assert.ok((await lines()).some((line) => line.startsWith('late A - 192.0.2.80 ')));
  });

  it('goes no other way than by its own key, its own form, and comes back', async () => {
    const page = await open('admin');
    await row(page, 'a A').focus();
    await page.keyboard.press('d');
    await count(page, '1 change');
    await page.keyboard.press('u');
    await button(page, 'Undo').click();
    await count(page, '1 change');
    await button(page, 'Discard').click();
    await button(page, 'Undo').waitFor();
    // a chord is that of the page, on a row, too
    await row(page, 'a A').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.waitForURL(/\/domains$/);
    await page.goBack();
    assert.equal(await page.getByRole('region', { name: 'Changes to publish' }).count(), 0);
    // what was typed is not put away by another form
    await row(page, 'b A').press('Enter');
    await page.getByLabel('TTL', { exact: true }).fill('');
    await page.keyboard.press('Enter');
    await page.getByText('Must be given: a record that is there has one').waitFor();
    await page.getByLabel('TTL', { exact: true }).fill('1h');
    await button(page, 'Add record').click();
    await page.getByRole('dialog', { name: 'Leave what you typed?' }).waitFor();
    await button(page, 'Go on typing').click();
    assert.equal(await page.getByLabel('TTL', { exact: true }).inputValue(), '1h');
    // a form that was left while it was checked puts nothing into the tray
    let go = () => undefined as unknown;
    const held = new Promise<unknown>((resolve) => {
      go = () => resolve(null);
    });
    await page.route('**/records/batch*', async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await page.keyboard.press('Control+Enter');
    await page.getByLabel('TTL', { exact: true }).press('Escape');
    go();
    await page.unroute('**/records/batch*');
    await button(page, 'Import').click();
    await page.getByLabel('Text', { exact: true }).fill('d 300 IN A 192.0.2\n');
    await button(page, 'See the difference').click();
    await page.getByText(/^Line 1: /).waitFor();
    await button(page, 'Back to the records').click();
    await page.getByLabel('Text', { exact: true }).fill('d 300 IN A 192.0.2.4\n');
    await button(page, 'See the difference').click();
    await button(page, 'Publish 1 change').waitFor();
    assert.equal(await page.getByRole('region', { name: 'Changes to publish' }).count(), 0);
  });

  it('as text never takes back what others added, and begins anew with what was published', async () => {
    const page = await open('admin', `${screen}?view=text`);
    const text = page.getByRole('textbox', { name: `Zone file of ${world.zone}` });
    const type = async (line: string) => {
      await text.click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(line);
    };
    await type('mine 60 A 192.0.2.50\n');
    // within the pause in which nothing is kept yet
    await button(page, 'Back to the table').click();
    done(
      await world.admin.post(`${world.records}/batch`, {
        changes: [{ op: 'create', host: 'theirs', type: 'A', value: '192.0.2.60', ttl: 300 }],
      }),
    );
    await button(page, 'As text').click();
    await page.getByText('The zone was changed meanwhile', { exact: false }).waitFor();
    assert.ok(await button(page, 'See the difference').isDisabled());
    await button(page, 'Take it in').click();
    await button(page, 'See the difference').click();
    await button(page, 'Publish 1 change').click();
    await page.getByText('Published: 1 change').waitFor();
    await button(page, 'Done').click();
    const hosts = (await lines()).map((line) => line.split(' ')[0]);
    for (const host of ['mine', 'theirs']) assert.ok(hosts.includes(host), host);
    // what was published is what the next text begins with, and is what it goes back to
    await until('the button is off', () => button(page, 'See the difference').isDisabled());
    await type('more 60 A 192.0.2.51\n');
    await button(page, 'Start over').click();
    await until('the line is gone', async () => !(await text.innerText()).includes('more'));
    assert.match(await text.innerText(), /mine/);
    assert.equal(await page.getByText('The zone was changed meanwhile', { exact: false }).count(), 0);
  });
});
