import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser } from '../support/console.js';
import { noPowerdns, type Powerdns, startPowerdns } from '../support/powerdns.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done } from '../support/world.js';

const WRONG = 'not-the-key-of-this-server';

/** What is said beside a field, such as its error. */
async function wordsBeside(page: Page, field: Locator): Promise<string> {
  const ids = (await field.getAttribute('aria-describedby')) ?? '';
  const texts = await Promise.all(
    ids
      .split(' ')
      .filter(Boolean)
      .map((id) => page.locator(`[id="${id}"]`).innerText()),
  );
  return texts.join(' ');
}

describeUnless(noChromium || noPowerdns)('accounts in the console', () => {
  let service: Service;
  let browser: ConsoleBrowser;
  let pdns: Powerdns;
  beforeAll(async () => {
    pdns = await startPowerdns();
    await Promise.all(['harbour.example', 'lighthouse.example'].map((zone) => pdns.createZone(zone)));
    service = await startService('sqlite');
    browser = await ConsoleBrowser.start(service.server.url);
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
    await pdns?.stop();
  });

  it('are connected from the empty overview: a wrong key is refused beside its field, the right one brings the zones', async () => {
    const visit = await browser.openAs('/');
    const { page } = visit;
    await page.getByText('Begin with an account').waitFor();
    await assertSound(visit);
    await page.getByRole('link', { name: 'Connect an account' }).click();
    await page.getByLabel('Provider', { exact: true }).fill('power');
    await page.keyboard.press('Enter');
    await page.getByLabel('URL', { exact: true }).fill(pdns.url);
    await page.getByLabel('API key', { exact: true }).fill(WRONG);
    await page.getByLabel('Name', { exact: true }).fill('Harbour servers');
    await page.getByRole('button', { name: 'Add account' }).click();
    await page.getByText('Unauthorized (HTTP 401)').waitFor();
    const key = page.getByLabel('API key', { exact: true });
    assert.match(await wordsBeside(page, key), /Unauthorized/);
    assert.equal(await key.getAttribute('aria-invalid'), 'true');
    await assertSound(visit);
    await key.fill(pdns.apiKey);
    await page.getByRole('button', { name: 'Add account', exact: true }).click();
    await page.getByRole('heading', { name: 'Harbour servers', level: 1 }).waitFor();
    await page.getByText('2 new domains').waitFor();
    await assertSound(visit);
    await page.getByRole('link', { name: '2 domains' }).click();
    await page.getByRole('searchbox', { name: 'Search by name' }).fill('light');
    await page.getByText('1 entry').waitFor();
    await page.getByRole('link', { name: 'lighthouse.example' }).click();
    await page.getByRole('heading', { name: /lighthouse\.example/, level: 1 }).waitFor();
  });

  it('never show the key that they have, and keep it until another one works', async () => {
    const [{ id }] = done(await service.admin.get('/api/accounts'));
    const visit = await browser.openAs(`/accounts/${id}`);
    const { page } = visit;
    const key = page.getByLabel('API key', { exact: true });
    assert.match(await wordsBeside(page, key), /One is stored/);
    assert.equal(await key.inputValue(), '');
    assert.equal((await page.content()).includes(pdns.apiKey), false);
    await key.fill(WRONG);
    await page.getByRole('button', { name: 'Try and save' }).click();
    await page.getByText('Unauthorized (HTTP 401)').waitFor();
    await page.getByRole('button', { name: 'Synchronise now' }).click();
    await page.getByText('2 known').waitFor();
    await key.fill(pdns.apiKey);
    await page.getByRole('button', { name: 'Try and save' }).click();
    await page.getByText('The credentials of Harbour servers were saved').waitFor();
    assert.equal(await key.inputValue(), '');
  });

  it('with domains are deleted only after their name was typed', async () => {
    const [{ id }] = done(await service.admin.get('/api/accounts'));
    const { page } = await browser.openAs(`/accounts/${id}`);
    await page.getByRole('button', { name: 'Delete account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the account Harbour servers?' });
    await dialog.getByText(/2 domains/).waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Delete account' }).isDisabled(), true);
    await dialog
      .getByLabel(/Harbour servers/)
      .last()
      .fill('Harbour servers');
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    await page.getByText('No account yet').waitFor();
    assert.deepEqual(done(await service.admin.get('/api/domains')), []);
  });
});
