import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser } from '../support/console.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, until } from '../support/world.js';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

describeUnless(noChromium)('domains in the console', () => {
  let service: Service;
  let browser: ConsoleBrowser;
  let account: number;
  let harbour: number;
  beforeAll(async () => {
    service = await startService('sqlite');
    account = await addAccount(service.admin, 'zonefile', {});
    harbour = await addDomain(service.admin, account, 'harbour.example', true);
    done(await service.admin.put(`/api/domains/${harbour}`, { expires_at: inDays(3) }));
    await addDomain(service.admin, account, 'lighthouse.example', true);
    await addDomain(service.admin, account, 'quay.example', true);
    browser = await ConsoleBrowser.start(service.server.url);
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  it('that need attention stand first in the overview, with the way to where something can be done', async () => {
    const visit = await browser.openAs('/');
    const { page } = visit;
    const list = page.getByRole('list', { name: 'Needs attention' });
    await list.getByText(/The registration of harbour\.example ends in 3 days/).waitFor();
    await page.getByRole('figure', { name: 'Zone files: 3' }).waitFor();
    await assertSound(visit);
    await list.getByRole('link', { name: 'Registration ends' }).click();
    await page.getByRole('heading', { name: /harbour\.example/, level: 1 }).waitFor();
    assert.equal(await page.getByLabel(/^End of the registration/).inputValue(), inDays(3).slice(0, 10));
    await assertSound(visit);
  });

  it('have guards that are saved; who was overtaken by somebody loses nothing of what was typed', async () => {
    const { page } = await browser.openAs(`/domains/${harbour}/settings`);
    const guards = page.getByRole('form', { name: 'Guards' });
    await guards.getByRole('combobox', { name: 'Last MX' }).selectOption({ label: 'must be named' });
    await guards.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The settings of harbour.example were saved').first().waitFor();
    assert.deepEqual(done(await service.admin.get(`/api/domains/${harbour}`)).guards, { last_mx: 'force' });
    // another section goes on from what this one has saved
    const general = page.getByRole('form', { name: 'General' });
    // what changes in the zone is no change of its settings
    const isDomain = (url: string) => url.endsWith(`/api/domains/${harbour}`);
    const again = page.waitForResponse((answer) => isDomain(answer.url()) && answer.request().method() === 'GET');
    made(await service.admin.post(`/api/domains/${harbour}/records`, { host: 'pier', type: 'A', value: '192.0.2.7' }));
    await again;
    await general.getByLabel(/^Remark/).fill('<img src=x onerror=alert(1)>');
    assert.equal(await page.getByText('Somebody else has saved').count(), 0);
    await general.getByRole('button', { name: 'Save' }).click();
    await until('it is saved', async () => done(await service.admin.get(`/api/domains/${harbour}`)).remark !== '');
    done(await service.admin.put(`/api/domains/${harbour}`, { ttl_floor: 30 }));
    await guards.getByRole('combobox', { name: 'Tunnels' }).selectOption({ label: 'off' });
    await guards.getByRole('button', { name: 'Save' }).click();
    await guards
      .getByRole('alert')
      .getByText(/Not saved/)
      .waitFor();
    // both are shown, and none is lost
    await page.getByRole('status').getByText('ttl_floor').waitFor();
    assert.equal(await guards.getByRole('combobox', { name: 'Tunnels' }).inputValue(), 'off');
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await guards.getByRole('button', { name: 'Save' }).click();
    const saved = async () => done(await service.admin.get(`/api/domains/${harbour}`));
    await until('it is saved', async () => (await saved()).guards.tunnel === 'off');
    assert.equal((await saved()).ttl_floor, 30);
    done(await service.admin.put(`/api/domains/${harbour}`, { guards: { last_mx: 'force' }, ttl_floor: 60 }));
    await general.getByLabel(/^Remark/).fill('mine');
    await general.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Take theirs' }).click();
    await until('the other one is shown', async () => (await guards.getByLabel(/^Lowest TTL/).inputValue()) === '60');
    assert.equal(await guards.getByRole('combobox', { name: 'Tunnels' }).inputValue(), '');
  });

  it('go to the trash and come back', async () => {
    const { page } = await browser.openAs(`/domains/${harbour}/settings`);
    await page.getByRole('button', { name: 'Delete domain' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the domain harbour.example?' });
    await dialog.getByRole('button', { name: 'Delete domain' }).click();
    await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
    await page.getByText('2 entries').waitFor();
    await page.getByRole('button', { name: 'Trash' }).click();
    await page.getByRole('button', { name: 'Restore harbour.example' }).click();
    await page.getByText('The trash is empty').waitFor();
    await page.getByRole('link', { name: 'To the domains' }).click();
    await page.getByText('3 entries').waitFor();
    assert.deepEqual(done(await service.admin.get(`/api/domains/${harbour}`)).guards, { last_mx: 'force' });
  });

  it('are changed many at once, and a search is kept by its name', async () => {
    const visit = await browser.openAs('/domains?keyword=ha');
    const { page } = visit;
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.getByLabel('Name of the view').fill('Harbours');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page.getByText('3 entries').waitFor();
    await page.getByLabel('Choose all of this page').check();
    await page.getByRole('button', { name: 'Set a guard' }).click();
    await page.getByLabel('Guard', { exact: true }).selectOption({ label: 'Last SPF' });
    await assertSound(visit);
    await page.getByRole('button', { name: 'Set it' }).click();
    await page.getByText('3 of 3 done').waitFor();
    // what was set before stays
    assert.deepEqual(done(await service.admin.get(`/api/domains/${harbour}`)).guards, {
      last_mx: 'force',
      last_spf: 'force',
    });
    await page.reload();
    await page.getByRole('link', { name: 'Harbours' }).click();
    await page.getByText('1 entry').waitFor();
  });
});
