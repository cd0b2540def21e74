import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { type Cloudflare, startCloudflare } from '../support/cloudflare.js';
import { assertSound, ConsoleBrowser } from '../support/console.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain } from '../support/world.js';

const ZONE = 'example.com';

describeUnless(noChromium)('tunnels in the console', () => {
  let service: Service;
  let cloudflare: Cloudflare;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    cloudflare = await startCloudflare(ZONE);
    service = await startService('sqlite');
    const account = await addAccount(service.admin, 'cloudflare', {
      api_token: 'token-of-tests',
      endpoint: cloudflare.url,
    });
    await addDomain(service.admin, account, ZONE);
    browser = await ConsoleBrowser.start(service.server.url);
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
    await cloudflare?.stop();
  });

  it('makes one, shows its run token once, changes its rules, and deletes it', async () => {
    const visit = await browser.openAs('/tunnels');
    const { page } = visit;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const cnames = () => (cloudflare.zones.get(ZONE) ?? []).map(({ name }) => name).toSorted();
    await button('Make tunnel').first().click();
    const dialog = page.getByRole('dialog', { name: 'Make a tunnel' });
    await dialog.getByRole('combobox', { name: 'Account' }).click();
    await page.getByRole('option', { name: /cloudflare/ }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('office');
    await dialog.getByLabel('First name that leads into it (optional)').fill(`wiki.${ZONE}`);
    await dialog.getByLabel('Its service (optional)').fill('http://localhost:8080');
    await dialog.getByRole('button', { name: 'Make tunnel' }).click();
    await page
      .getByRole('dialog', { name: 'Run token of office' })
      .getByText(/cloudflared tunnel run/)
      .waitFor();
    await assertSound(visit);
    await button('I have it').click();
    await page.getByText('Nothing runs it now.', { exact: false }).waitFor();
    // closed, it is nowhere any more
    assert.doesNotMatch(await page.content(), /tunnel run --token/);
    assert.deepEqual(cnames(), [`wiki.${ZONE}`]);
    await assertSound(visit);
    await button('Add rule').click();
    const rule = page.getByRole('group', { name: 'Rule 2' });
    await rule.getByLabel('Name').fill(`app.${ZONE}`);
    await rule.getByLabel('Service').fill('http://localhost:9090');
    await button('Save').click();
    await page.getByText('The rules are stored.').waitFor();
    assert.deepEqual(cnames(), [`app.${ZONE}`, `wiki.${ZONE}`]);
    await button('Delete').click();
    const asked = page.getByRole('dialog', { name: 'Delete the tunnel office?' });
    await asked.getByLabel('Type office to confirm').fill('office');
    await asked.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No tunnels').waitFor();
    assert.deepEqual(cnames(), []);
  });
});
