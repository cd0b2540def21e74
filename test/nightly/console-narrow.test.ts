import { afterAll, beforeAll, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser, goTo } from '../support/console.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain } from '../support/world.js';

describeUnless(noChromium)('screens of accounts and domains', () => {
  let service: Service;
  let browser: ConsoleBrowser;
  let account: number;
  let harbour: number;
  beforeAll(async () => {
    service = await startService('sqlite');
    account = await addAccount(service.admin, 'zonefile', {});
    harbour = await addDomain(service.admin, account, 'harbour.example', true);
    browser = await ConsoleBrowser.start(service.server.url);
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  it('are sound at 320 pixels, in Chinese, in the dark scheme', async () => {
    const visit = await browser.openAs('/', undefined, { scheme: 'dark', width: 320, language: 'zh' });
    const { page } = visit;
    // the profile of the administrator is in English; what was chosen in the browser stands above it
    await page.evaluate("localStorage.setItem('zoneward.language', 'zh')");
    const screens = [
      ['/', page.getByRole('heading', { level: 1 })],
      ['/accounts', page.getByText('1 条')],
      ['/accounts?add=choose', page.getByRole('link', { name: /PowerDNS/ })],
      ['/accounts?add=oci', page.getByLabel('Tenancy OCID')],
      [`/accounts/${account}`, page.getByRole('button', { name: '删除账户' })],
      ['/domains', page.getByText('1 条')],
      [`/domains/${harbour}/settings`, page.getByRole('button', { name: '删除域名' })],
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
