import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { assertFits, assertSound, assertSoundInBoth, ConsoleBrowser, signIn } from '../support/console.js';
import { ADMIN, LocalServer, type Service, startService } from '../support/server.js';
import { atEndOfTest, describeUnless } from '../support/suites.js';
import { done, made } from '../support/world.js';

describeUnless(noChromium)('the set-up in the console', () => {
  const afterTest = atEndOfTest();

  it('leads from the first address to the overview, with a database in a file', async () => {
    const server = await LocalServer.start();
    afterTest(() => server.stop());
    const browser = await ConsoleBrowser.start(server.url);
    afterTest(() => browser.stop());
    const visit = await browser.open('/');
    const { page } = visit;
    await page.waitForURL(`${server.url}/setup`);
    await page.getByLabel('File name').fill('../outside.db');
    await page.getByRole('button', { name: 'Use this database' }).click();
    await page.getByText(/must be a free file name/).waitFor();
    await page.getByLabel('File name').fill('own.db');
    await page.getByRole('button', { name: 'Try the connection' }).click();
    await page.getByText('The connection works.').waitFor();
    await assertSound(visit);
    await page.getByRole('button', { name: 'Use this database' }).click();
    await page.getByLabel('User name').fill('ada');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Create and sign in' }).click();
    await page.getByText(/must have 10 to 128 characters/).waitFor();
    await assertSound(visit);
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    await page.getByRole('button', { name: 'Create and sign in' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    assert.equal(page.url(), `${server.url}/`);
    // the next visitor is not asked to set it up
    const next = await browser.open('/setup');
    await next.page.getByText('This installation is set up already.').waitFor();
  });

  it('asks for the code that the service was started with, once it was missed', async () => {
    const server = await LocalServer.start({ SETUP_CODE: 'harbour-4711' });
    afterTest(() => server.stop());
    const browser = await ConsoleBrowser.start(server.url);
    afterTest(() => browser.stop());
    const { page } = await browser.open('/');
    await page.getByRole('button', { name: 'Use this database' }).click();
    await page.getByLabel('Setup code').fill('harbour-4711');
    await page.getByRole('button', { name: 'Use this database' }).click();
    await page.getByLabel('User name').waitFor();
  });
});

describeUnless(noChromium)('the sign-in in the console', () => {
  let service: Service;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    service = await startService('sqlite');
    browser = await ConsoleBrowser.start(service.server.url);
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  it('refuses a wrong password in words, takes the right one, and goes back to where one came from', async () => {
    const { page } = await browser.open('/domains?keyword=example&sort=-name');
    await signIn(page, { ...ADMIN, password: 'not-the-password' });
    await page.getByRole('alert').getByText('Username or password is wrong').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
    assert.equal(page.url(), `${service.server.url}/domains?keyword=example&sort=-name`);
  });

  it('leads to no other site than this', async () => {
    const { page } = await browser.open('/sign-in?back=//evil.example/');
    await signIn(page);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    assert.equal(page.url(), `${service.server.url}/`);
  });

  it('leaves no token where a script could read it', async () => {
    const { page } = await browser.openAs('/teams');
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
    const kept = await page.evaluate(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])',
    );
    assert.doesNotMatch(String(kept), /eyJ/);
    const [cookie] = await page.context().cookies(`${service.server.url}/api/`);
    assert.match(cookie.value, /^eyJ/);
    assert.equal(cookie.httpOnly, true);
  });

  it('in another tab, or a reload, is not needed again; after the sign-out it is', async () => {
    const { page } = await browser.openAs('/teams');
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
    await page.getByRole('button', { name: /your menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    assert.deepEqual(await page.context().cookies(`${service.server.url}/api/`), []);
    await page.goto(`${service.server.url}/domains`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  });

  it('is asked for above the page when the session was ended elsewhere, and what was under way goes on', async () => {
    const username = 'grace';
    made(await service.admin.post('/api/users', { username, password: ADMIN.password }));
    const visit = await browser.openAs('/teams', { username, password: ADMIN.password });
    const { page } = visit;
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
    const grace = service.server.as(await service.server.login({ username, password: ADMIN.password }));
    done(await grace.delete('/api/auth/sessions/others'));
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('some.example');
    const dialog = page.getByRole('dialog', { name: 'Sign in to go on' });
    await dialog.getByLabel('Password', { exact: true }).fill('wrong-password');
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.getByText('Username or password is wrong').waitFor();
    await assertSound(visit);
    await dialog.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    const answered = page.waitForResponse((answer) => answer.url().includes('/api/domains?') && answer.ok());
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await answered;
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('combobox', { name: 'Go to' }).inputValue(), 'some.example');
  });

  for (const language of ['en', 'zh'] as const)
    it(`fits into 320 pixels${language === 'zh' ? ', and is sound there in both schemes' : ''}, in ${language}`, async () => {
      const visit = await browser.open('/health/live', { width: 320, language });
      for (const path of ['/sign-in', '/reset', '/reset#token=0', '/oauth/callback', '/setup']) {
        await visit.page.goto('about:blank');
        await visit.page.goto(service.server.url + path);
        await visit.page.getByRole('heading', { level: 1 }).waitFor();
        // words alone differ from one language to the other
        if (language === 'en') await assertFits(visit);
        else await assertSoundInBoth(visit);
      }
    });
});
