import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Authenticator, noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser, signIn } from '../support/console.js';
import { ADMIN, type Service, startService } from '../support/server.js';
import { atEndOfTest, describeUnless } from '../support/suites.js';
import { codeOf } from '../support/totp.js';
import { done, made } from '../support/world.js';

describeUnless(noChromium)('the own profile in the console', () => {
  const afterTest = atEndOfTest();
  let service: Service;
  let browser: ConsoleBrowser;
  const { password } = ADMIN;
  const user = async (username: string) => {
    made(await service.admin.post('/api/users', { username, password }));
    return { username, password };
  };
  const signOut = async (page: Page) => {
    await page.getByRole('button', { name: /your menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  };

  beforeAll(async () => {
    service = await startService('sqlite');
    // passkeys need a name, and localhost is one that browsers trust without https
    const url = service.server.url.replace('127.0.0.1', 'localhost');
    done(await service.admin.put('/api/settings', { base_url: url }));
    browser = await ConsoleBrowser.start(url);
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  it('turns an authenticator app on, shows its recovery codes once, and a sign-in then asks for a code', async () => {
    const ada = await user('ada');
    const visit = await browser.openAs('/profile', ada);
    const { page } = visit;
    await page.getByRole('button', { name: 'Set up app' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set up app' });
    await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    const secret = await dialog.locator('code').innerText();
    await dialog.getByLabel('Code that the app shows').fill('000000');
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByText(/The code is wrong/).waitFor();
    await assertSound(visit);
    await dialog.getByLabel('Code that the app shows').fill(await codeOf(secret, -1));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    const codes = page.getByRole('dialog', { name: 'Recovery codes' });
    await codes.waitFor();
    const shown = await codes.getByRole('listitem').allInnerTexts();
    assert.equal(new Set(shown).size, 10);
    await assertSound(visit);
    await codes.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('button', { name: 'Turn off app' }).waitFor();
    assert.equal((await page.content()).includes(String(shown[0])), false);
    await signOut(page);
    await signIn(page, ada);
    await page.getByLabel('Code').fill(await codeOf(secret));
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  it('adds a passkey with a name, and signs in by it', async () => {
    const grace = await user('grace');
    const visit = await browser.openAs('/profile', grace);
    const { page } = visit;
    afterTest(() => page.context().close());
    await Authenticator.plugIn(page, true);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    const naming = page.getByRole('dialog', { name: 'Name the passkey' });
    await naming.getByLabel('Name').fill('Laptop in Kiel');
    await naming.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Laptop in Kiel' }).getByText('last used never').waitFor();
    await assertSound(visit);
    // the authenticator answers what waits in the list of the name field at once
    await page.getByRole('button', { name: /your menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.goto(`${browser.url}/profile`);
    const passkeys = page.getByRole('list', { name: 'Passkeys' });
    await passkeys.getByText('last used now').waitFor();
    await passkeys.getByRole('button', { name: 'Remove Laptop in Kiel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await passkeys.getByText('Laptop in Kiel').waitFor({ state: 'detached' });
  });

  it('ends a session that was begun elsewhere', async () => {
    const linus = await user('linus');
    const elsewhere = service.server.as(await service.server.login(linus));
    const { page } = await browser.openAs('/profile', linus);
    const sessions = page.getByRole('list', { name: 'Sessions' });
    await sessions.getByText('this one').waitFor();
    await sessions.getByRole('button', { name: /^End the session of node/ }).click();
    await sessions.getByText('node').waitFor({ state: 'detached' });
    assert.equal((await elsewhere.get('/api/auth/me')).status, 401);
    await page.reload();
    await page.getByRole('heading', { name: 'Your profile', level: 1 }).waitFor();
  });
});
