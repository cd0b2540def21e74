import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser, goTo, type Visit } from '../support/console.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, until } from '../support/world.js';

const MANIFEST = join(__dirname, '../../web/dist/.vite/manifest.json');

describeUnless(noChromium)('forms and lists of the console', () => {
  let service: Service;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let page: Page;
  let domain: number;

  const go = (path: string) => goTo(page, path);
  const button = (name: string | RegExp, within: Page | Locator = page) =>
    within.getByRole('button', { name, exact: true });
  const notSaved = () => page.getByText('Not saved: somebody else was first.', { exact: false }).waitFor();
  const keepMine = async () => {
    await button('Keep mine, save over it').click();
    await button('Keep mine, save over it').waitFor({ state: 'detached' });
  };

  beforeAll(async () => {
    service = await startService('sqlite', { OUTBOUND_ALLOW: '127.0.0.0/8' });
    domain = await addDomain(service.admin, await addAccount(service.admin, 'zonefile', {}), 'harbour.example', true);
    browser = await ConsoleBrowser.start(service.server.url);
    visit = await browser.open('/sign-in');
    ({ page } = visit);
    const session = { name: 'zoneward_session', value: await service.server.login(), path: '/api' };
    await page.context().addCookies([{ ...session, domain: new URL(service.server.url).hostname, httpOnly: true }]);
    await page.goto(`${service.server.url}/teams`);
    await page.getByRole('navigation', { name: 'Places' }).waitFor();
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  it('do not undo that somebody has narrowed a token meanwhile', async () => {
    const { id } = made(await service.admin.post('/api/tokens', { name: 'deploy' })).tokenData;
    await go(`/tokens?token=${id}`);
    await button('Change').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('deploy of web-1');
    done(await service.admin.put(`/api/tokens/${id}`, { allowed_cidrs: ['192.0.2.0/24'] }));
    await button('Save').click();
    await notSaved();
    await page.getByRole('status').getByText('192.0.2.0/24').waitFor();
    await assertSound(visit);
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'deploy of web-1');
    await keepMine();
    await button('Save').click();
    await page.getByRole('heading', { name: 'deploy of web-1', level: 1 }).waitFor();
    const { name, allowed_cidrs } = done(await service.admin.get(`/api/tokens/${id}`));
    assert.deepEqual([name, allowed_cidrs], ['deploy of web-1', ['192.0.2.0/24']]);
  });

  it('do not undo that somebody has demoted a user meanwhile', async () => {
    const grace = { username: 'grace', password: 'violet-harbour-92', role: 2 as const };
    const { id } = made(await service.admin.post('/api/users', grace));
    await go(`/users?user=${id}`);
    await page.getByRole('textbox', { name: 'Shown name' }).fill('Grace H.');
    done(await service.admin.put(`/api/users/${id}`, { role: 1 }));
    await button('Save').click();
    await until('the name is saved', async () => {
      const { nickname } = done(await service.admin.get(`/api/users/${id}`));
      return nickname === 'Grace H.';
    });
    assert.equal(done(await service.admin.get(`/api/users/${id}`)).role, 1);
  });

  it('keep what was typed of settings that somebody else saves, and what the other one has saved', async () => {
    await go('/settings/general');
    const name = page.getByRole('textbox', { name: 'Name of the installation' });
    await name.fill('Harbour DNS');
    done(await service.admin.put('/api/settings', { default_ttl: 777 }));
    await button('Save').click();
    await notSaved();
    await page.getByRole('status').getByText('777').waitFor();
    assert.equal(await name.inputValue(), 'Harbour DNS');
    await keepMine();
    await button('Save').click();
    await page.getByText('Saved').first().waitFor();
    const { site_name, default_ttl } = done(await service.admin.get('/api/settings'));
    assert.deepEqual([site_name, default_ttl], ['Harbour DNS', 777]);
  });

  it('keep a rule of failover that somebody else deletes while it is changed', async () => {
    const check = { kind: 'tcp' as const, port: 443 };
    const rule = { host: 'www', type: 'A' as const, primary: ['127.0.2.1'], backup: ['127.0.2.2'], check };
    const path = `/api/domains/${domain}/failover` as const;
    const { rules } = done(await service.admin.post(path, { enabled: false, rules: [rule] }));
    await go(`/domains/${domain}/failover?rule=${rules[0]?.id}`);
    const backup = page.getByRole('textbox', { name: 'Backup' });
    await backup.fill('127.0.2.3');
    done(await service.admin.post(path, { enabled: false, rules: [] }));
    await button('Save').click();
    await notSaved();
    assert.equal(await backup.inputValue(), '127.0.2.3');
    await keepMine();
    await button('Save').click();
    await page.getByRole('article', { name: 'www A' }).waitFor();
    assert.deepEqual(done(await service.admin.get(path)).rules[0]?.backup, ['127.0.2.3']);
  });

  it('show what is wrong with a filter below it, and go on where it is right again', async () => {
    await go('/audit');
    const ip = page.getByRole('textbox', { name: 'Address' });
    await ip.pressSequentially('192.0.');
    await page.getByRole('alert').getByText(/ip/i).waitFor();
    assert.equal(await ip.inputValue(), '192.0.');
    await ip.pressSequentially('2.1');
    await page.getByText('Nothing found').waitFor();
    assert.equal(await ip.inputValue(), '192.0.2.1');
    await button('All entries').click();
    await page.getByRole('table').waitFor();
    assert.equal(await ip.inputValue(), '');
  });

  it('keep a blank that is typed before a pause, and follow the address', async () => {
    await go('/domains');
    const search = page.getByRole('searchbox');
    await search.pressSequentially('harbour ');
    await page.waitForURL(/keyword=harbour/);
    assert.equal(await search.inputValue(), 'harbour ');
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await until('the field is empty', async () => (await search.inputValue()) === '');
  });

  it('go to the last page where the address names one beyond it', async () => {
    await go('/domains?page=9');
    await page.getByText('harbour.example').waitFor();
    assert.doesNotMatch(page.url(), /page=/);
  });

  it('do not delete a part of what was found, where it is too much', async () => {
    const data = { total: 6001, list: [] };
    await page.route('**/api/records?*', (route) => route.fulfill({ json: { code: 0, data, msg: '' } }));
    const plans: string[] = [];
    page.on('request', (request) => request.url().endsWith('/api/plans') && plans.push(request.method()));
    await go('/records?type=A');
    await button(/^Change all/).click();
    await page.getByRole('combobox', { name: 'What to do' }).selectOption('delete');
    await button('Show what it does').click();
    await page.getByText(/cannot be deleted at once/).waitFor();
    assert.deepEqual(plans, []);
    await page.unroute('**/api/records?*');
  });

  it('say that nothing is to be taken back, instead of opening a plan that is none', async () => {
    const path = `/api/domains/${domain}`;
    done(await service.admin.put(`/api/domains/${domain}`, { drift: { mode: 'report', ignore: [] } }));
    const found = { value: '192.0.2.9', ttl: 300 };
    const differences = [{ host: 'www', type: 'A', wanted: [], found: [found], found_at: new Date().toISOString() }];
    const drift = { total: 1, differences, hidden: 0, hold_reason: null, plan_id: null, mode: 'report' };
    const answer = (data: object) => ({ json: { code: 0, data, msg: '' } });
    await page.route(`**${path}/drift?*`, (route) => route.fulfill(answer(drift)));
    await page.route(`**${path}/plans`, (route) => route.fulfill(answer({ id: null })));
    await go(`/domains/${domain}/settings`);
    await button('Take back by a plan').click();
    await page.getByText('There is nothing to take back any more.').waitFor();
    assert.match(page.url(), /settings$/);
    await page.unroute(`**${path}/drift?*`);
    await page.unroute(`**${path}/plans`);
  });

  it('show their words also where those could not be loaded at first', async () => {
    const { page: fresh } = await browser.open('/sign-in');
    await fresh.context().addCookies(await page.context().cookies());
    const words = JSON.parse(await readFile(MANIFEST, 'utf8'))['src/locales/en/teams.json'].file;
    let failures = 0;
    await fresh.route(`**/${words}`, (route) => (failures++ ? route.continue() : route.abort()));
    await fresh.goto(`${service.server.url}/teams`);
    await fresh.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
    assert.ok(failures > 1);
    assert.match(await fresh.title(), /^Teams · Harbour DNS$/);
    await fresh.context().close();
  });
});
