import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { assertSound, assertSoundInBoth, ConsoleBrowser, goTo, signIn } from '../support/console.js';
import { ServerProcess, type Service, startProcess, startService } from '../support/server.js';
import { atEndOfTest, describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, until } from '../support/world.js';

const PASSWORD = 'violet-harbour-92';

describeUnless(noChromium)('the frame of the console', () => {
  let service: Service;
  let browser: ConsoleBrowser;
  let account: number;
  let domain: number;
  beforeAll(async () => {
    service = await startService('sqlite');
    account = await addAccount(service.admin, 'zonefile', {});
    domain = await addDomain(service.admin, account, 'harbour.example', true);
    browser = await ConsoleBrowser.start(service.server.url);
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  it('is sound with each of its parts open, in both schemes', async () => {
    const visit = await browser.openAs('/domains');
    const { page } = visit;
    await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
    await assertSoundInBoth(visit);
    await page.getByRole('button', { name: /your menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await assertSoundInBoth(visit);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('harbour');
    await page.getByRole('option', { name: /harbour\.example/ }).waitFor();
    await assertSoundInBoth(visit);
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Go to' }).waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await assertSoundInBoth(visit);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
    await page.keyboard.press('c');
    await page.getByRole('complementary', { name: 'API calls of this screen' }).waitFor();
    await assertSoundInBoth(visit);
  });

  it('is a drawer at 320 pixels, with all places in it', async () => {
    const visit = await browser.openAs('/teams', undefined, { width: 320 });
    const { page } = visit;
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
    await assertSound(visit);
    await page.getByRole('button', { name: 'Places' }).click();
    const drawer = page.getByRole('dialog', { name: 'Places' });
    await drawer.getByRole('link', { name: 'Accounts' }).waitFor();
    await assertSound(visit);
    await drawer.getByRole('link', { name: 'Accounts' }).click();
    await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
    await drawer.waitFor({ state: 'detached' });
  });

  it('goes anywhere by keys, and is silent while somebody types', async () => {
    const { page } = await browser.openAs('/teams');
    const at = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
    await at('Teams');
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await at('API tokens');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to' });
    await field.fill('harbour');
    await page.keyboard.type('g a?');
    assert.equal(await field.inputValue(), 'harbourg a?');
    await field.fill('harbour.ex');
    await page.getByRole('option', { name: /harbour\.example/ }).waitFor();
    await page.keyboard.press('Enter');
    await at('harbour.example');
    assert.equal(page.url(), `${service.server.url}/domains/${domain}`);
  });

  it('shows the calls of the screen as commands, without a secret', async () => {
    const { page } = await browser.openAs(`/domains/${domain}/history`);
    await page.getByRole('heading', { name: 'harbour.example', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'API calls of this screen' }).click();
    const panel = page.getByRole('complementary', { name: 'API calls of this screen' });
    const line = `curl '${service.server.url}/api/domains/${domain}' -H "Authorization: Bearer $TOKEN"`;
    await panel.getByText(line, { exact: true }).first().waitFor();
    await panel.getByText('answered with 200').first().waitFor();
    assert.doesNotMatch(await panel.innerText(), /harbour-92|eyJ/);
  });

  it('speaks the language and wears the scheme that the user chose, also in the next browser', async () => {
    made(await service.admin.post('/api/users', { username: 'lin', password: PASSWORD }));
    const lin = { username: 'lin', password: PASSWORD };
    const { page } = await browser.openAs('/', lin);
    await page.getByRole('button', { name: /your menu/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.getByRole('menuitemradio', { name: '简体中文' }).click();
    const client = service.server.as(await service.server.login(lin));
    await until('both are kept', async () => {
      const { language, theme } = done(await client.get('/api/security/profile'));
      return language === 'zh' && theme === 'dark';
    });
    await page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    const next = await browser.open('/');
    await signIn(next.page, lin);
    await next.page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    assert.equal(await next.page.evaluate('document.documentElement.lang'), 'zh-Hans');
    assert.equal(await next.page.evaluate('document.documentElement.dataset.mantineColorScheme'), 'dark');
    // loaded again, it is dark from the first moment
    await next.page.addInitScript(`window.worn = [];
      new MutationObserver(() => window.worn.push(document.documentElement.dataset.mantineColorScheme))
        .observe(document, { subtree: true, attributeFilter: ['data-mantine-color-scheme'] });`);
    await next.page.reload();
    await next.page.getByRole('heading', { name: '概览', level: 1 }).waitFor();
    const worn = (await next.page.evaluate('window.worn')) as string[];
    assert.deepEqual([...new Set(worn)], ['dark']);
    await next.page.context().close();
  });

  it('shows to users what is for them only', async () => {
    made(await service.admin.post('/api/users', { username: 'eve', password: PASSWORD }));
    const { page } = await browser.openAs('/teams', { username: 'eve', password: PASSWORD });
    const places = page.getByRole('navigation', { name: 'Places' });
    await places.getByRole('link', { name: 'Domains' }).waitFor();
    assert.deepEqual(await places.getByRole('link').allInnerTexts(), [
      'Overview',
      'Domains',
      'Record search',
      'API tokens',
      'Doors',
      'Teams',
    ]);
  });

  it('says so at an address that no screen has', async () => {
    const { page } = await browser.openAs('/no/such/screen');
    await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor();
  });

  it('is sound at 320 pixels, in Chinese, in the dark scheme, as are the screens of accounts and domains', async () => {
    // what needs attention is in the overview
    const expires_at = new Date(Date.now() + 3 * 86_400_000).toISOString();
    done(await service.admin.put(`/api/domains/${domain}`, { expires_at }));
    const visit = await browser.openAs('/', undefined, { scheme: 'dark', width: 320, language: 'zh' });
    const { page } = visit;
    // the profile of the administrator is in English; what was chosen in the browser stands above it
    await page.evaluate("localStorage.setItem('zoneward.language', 'zh')");
    const screens = [
      ['/', page.getByRole('list', { name: '需要关注' })],
      ['/accounts', page.getByText('1 条')],
      ['/accounts?add=choose', page.getByRole('link', { name: /PowerDNS/ })],
      ['/accounts?add=oci', page.getByLabel('Tenancy OCID')],
      [`/accounts/${account}`, page.getByRole('button', { name: '删除账户' })],
      ['/domains', page.getByText('1 条')],
      [`/domains/${domain}/settings`, page.getByRole('button', { name: '删除域名' })],
      ['/domains?trash=true', page.getByText('回收站是空的')],
    ] as const;
    await page.reload();
    for (const [path, shown] of screens) {
      await goTo(page, path);
      await shown.first().waitFor();
      await assertSound(visit);
    }
  });
});

describeUnless(noChromium)('the frame of the console over a service that goes away', () => {
  const afterTest = atEndOfTest();

  it('says so, and goes on by itself when it is there again', async () => {
    const service = await startProcess('sqlite');
    afterTest(() => service.stop());
    const browser = await ConsoleBrowser.start(service.server.url, [], true);
    afterTest(() => browser.stop());
    const { page } = await browser.openAs('/teams');
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
    // what is not loaded yet could not be opened
    const loaded = "performance.getEntriesByType('resource').some(({ name }) => /sign-in-dialog/.test(name))";
    await until('the rest is loaded', async () => Boolean(await page.evaluate(loaded)));
    await service.server.stop();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('some');
    const banner = page.getByText('The service cannot be reached.', { exact: false }).first();
    await banner.waitFor();
    const env = { DATABASE_URL: service.databaseUrl, PORT: new URL(service.server.url).port };
    const again = await ServerProcess.start(env, service.server.dataDir);
    afterTest(() => again.stop());
    await banner.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('combobox', { name: 'Go to' }).inputValue(), 'some');
  });
});
