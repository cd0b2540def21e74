import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { ADMIN } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, startWorld, type World } from '../support/world.js';

describeUnless(noChromium || noPowerdns)('the administration in the console', () => {
  let world: World;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    world = await startWorld();
    browser = await ConsoleBrowser.start(world.server.url);
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await world?.stop();
  });

  it('makes a token by a preset, shows its secret once, and says what it may do', async () => {
    const visit = await browser.openAs('/tokens');
    const { page } = visit;
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('certbot at web-1');
    await page.getByRole('textbox', { name: 'Host (optional)' }).fill('www');
    await assertSound(visit);
    await page.getByRole('button', { name: 'Make token' }).click();
    const dialog = page.getByRole('dialog', { name: 'The secret of certbot at web-1' });
    const secret = await dialog.getByLabel('Secret', { exact: true }).innerText();
    assert.match(secret, /^svc_[0-9a-f]{64}$/);
    await assertSound(visit);
    const self = done(await world.server.as(secret).get('/api/tokens/self'));
    assert.deepEqual(
      self.rules?.map(({ hosts, types }) => [hosts, types]),
      [[['_acme-challenge.www'], ['TXT']]],
    );
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('heading', { name: 'certbot at web-1', level: 1 }).waitFor();
    assert.equal((await page.content()).includes(secret), false);
    await page.getByRole('combobox', { name: 'Domain' }).click();
    await page.getByRole('option', { name: world.zone }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('www');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByText('It may not').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('_acme-challenge.www');
    await page.getByRole('combobox', { name: 'Type' }).fill('TXT');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByText('It may', { exact: true }).waitFor();
    await page.getByText('Decided by the token · rule 1').waitFor();
    await assertSound(visit);
  });

  it('says what of a change lets a token do more, and where a rule is wrong', async () => {
    const rules = [{ effect: 'allow' as const, hosts: ['www'], types: ['A'] }];
    const { tokenData } = made(
      await world.admin.post('/api/tokens', { name: 'deploy', rules, allowed_cidrs: ['192.0.2.0/24'] }),
    );
    const { page } = await browser.openAs(`/tokens?token=${tokenData.id}`);
    await page.getByRole('button', { name: 'Change' }).click();
    const rule = page.getByRole('listitem', { name: 'Rule 1' });
    await rule.getByLabel('Hosts', { exact: true }).fill('no host at all');
    await page.keyboard.press('Enter');
    await page.getByText('This lets the token do more than before:').waitFor();
    await page.getByText('other rules, which may allow more').waitFor();
    assert.equal(await page.getByText('more networks').count(), 0);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await rule.getByText(/must be/).waitFor();
    await rule.getByLabel('Hosts', { exact: true }).press('Backspace');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'New secret' }).waitFor();
    assert.deepEqual(done(await world.admin.get(`/api/tokens/${tokenData.id}`)).rules, rules);
  });

  it('shows an entry of the audit log with what was before and after, verifies the chain, and exports it', async () => {
    const { id } = made(await world.admin.post('/api/users', { username: 'grace', password: ADMIN.password }));
    done(await world.admin.put(`/api/users/${id}`, { nickname: '<b>Grace</b>' }));
    const visit = await browser.openAs('/audit?action=user.update');
    const { page } = visit;
    await page.getByRole('table', { name: 'Audit log' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'user.update', level: 1 }).waitFor();
    const row = page.getByRole('row', { name: /^nickname/ });
    await row.waitFor();
    assert.deepEqual(await row.getByRole('cell').allInnerTexts(), ['grace', '<b>Grace</b>']);
    await assertSound(visit);
    await page.goBack();
    await page.getByRole('button', { name: 'Verify chain' }).click();
    await page.getByText('The chain is whole').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Export' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const lines = (await readFile(await (await saved).path(), 'utf8')).trim().split('\n');
    assert.equal(lines.length, 2);
    assert.match(lines[1] as string, /user\.update/);
  });

  it('keeps what was typed in the settings, with the error beside its field, and saves what is right', async () => {
    const visit = await browser.openAs('/settings/general');
    const { page } = visit;
    await page.getByRole('textbox', { name: 'Name of the installation' }).fill('Harbour DNS');
    await page.getByRole('textbox', { name: 'TTL of new records, seconds' }).fill('0');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const ttl = page.getByRole('textbox', { name: 'TTL of new records, seconds' });
    await page.getByText('must not be less than 1').waitFor();
    assert.equal(await ttl.getAttribute('aria-invalid'), 'true');
    await assertSound(visit);
    await ttl.fill('900');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The settings are saved.').waitFor();
    const { site_name, default_ttl } = done(await world.admin.get('/api/settings'));
    assert.deepEqual([site_name, default_ttl], ['Harbour DNS', 900]);
  });

  it('keeps what is being typed in the settings while somebody else saves, and says so', async () => {
    const { page } = await browser.openAs('/settings/general');
    const name = page.getByRole('textbox', { name: 'Name of the installation' });
    await name.fill('Mine');
    done(await world.admin.put('/api/settings', { site_name: 'Theirs' }));
    await page.getByText(/Somebody else has saved meanwhile/).waitFor();
    assert.equal(await name.inputValue(), 'Mine');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('Not saved: somebody else was first.').waitFor();
    await page.getByRole('button', { name: 'Take theirs' }).click();
    assert.equal(await name.inputValue(), 'Theirs');
  });

  it('lists the doors that the service has, and opens and closes them for administrators', async () => {
    const visit = await browser.openAs('/doors');
    const { page } = visit;
    const doors = done(await world.admin.get('/api/doors'));
    for (const { key, url } of doors)
      await page.getByRole('region', { name: key, exact: true }).getByText(url, { exact: true }).waitFor();
    const door = page.getByRole('region', { name: 'dyndns2', exact: true });
    const isOpen = async () => done(await world.admin.get('/api/settings/doors')).dyndns2.enabled;
    await door.getByRole('switch', { name: 'Open: dyndns2' }).press('Space');
    await door.getByText('closed: nothing answers there').waitFor();
    assert.equal(await isOpen(), false);
    await door.getByRole('group').first().click();
    await door.getByText('$ZONEWARD_TOKEN').first().waitFor();
    await assertSound(visit);
    // what another one does is seen
    done(await world.admin.put('/api/settings/doors', { dyndns2: { enabled: true } }));
    await door.getByText('open', { exact: true }).waitFor();
    // a door of a later version, and a service that refuses
    await page.route('**/api/settings/doors', (route) =>
      route.fulfill({ status: 503, json: { code: 503001, msg: 'not now' } }),
    );
    await page.route('**/api/doors', async (route) => {
      const answer = await (await route.fetch()).json();
      answer.data.push({ ...doors[0], key: 'newest' });
      await route.fulfill({ json: answer });
    });
    await page.reload();
    const newest = page.getByRole('region', { name: 'newest', exact: true });
    await newest.getByRole('switch', { name: 'Open: newest' }).press('Space');
    await newest.getByRole('alert').getByText('not now').waitFor();
    assert.equal(await newest.getByRole('switch').isChecked(), true);
    const eve = { username: 'eve', password: ADMIN.password };
    made(await world.admin.post('/api/users', eve));
    const { page: hers } = await browser.openAs('/doors', eve);
    await hers.getByRole('region', { name: 'dyndns2', exact: true }).getByText('open', { exact: true }).waitFor();
    assert.equal(await hers.getByRole('switch').count(), 0);
  });
});
