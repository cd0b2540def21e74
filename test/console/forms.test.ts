import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser, type Visit } from '../support/console.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, until } from '../support/world.js';

describeUnless(noChromium)('forms and lists of the console', () => {
  let service: Service;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let page: Page;
  let domain: number;

  const go = (path: string) => page.goto(service.server.url + path);
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
});
