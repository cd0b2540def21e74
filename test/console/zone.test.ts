import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { ServerProcess, startProcess } from '../support/server.js';
import { atEndOfTest, describeUnless } from '../support/suites.js';
import { done, made, powerdnsLines, startWorld, until, type World } from '../support/world.js';

const BOB = { username: 'bob', password: 'violet-harbour-92' };

const row = (page: Page, name: RegExp) => page.getByRole('row', { name });
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

/** Edits a record in its row: what the field of this name becomes. */
async function edit(page: Page, name: RegExp, field: string, value: string): Promise<void> {
  await row(page, name).press('Enter');
  const form = page.getByRole('form', { name: /^Edit/ });
  await form.getByLabel(field, { exact: true }).fill(value);
  await page.keyboard.press('Enter');
  await form.waitFor({ state: 'detached' });
}

/** Publishes what lies in the tray, up to what became of it. */
async function publish(page: Page, count: number): Promise<void> {
  const words = count === 1 ? '1 change' : `${count} changes`;
  await button(page, 'See the difference').click();
  await button(page, `Publish ${words}`).click();
  await page.getByText(`Published: ${words}`).waitFor();
}

describeUnless(noChromium || noPowerdns)('the records of a zone', () => {
  let world: World;
  let browser: ConsoleBrowser;
  let screen: string;
  const lines = async () => powerdnsLines(await world.pdns.zone(world.zone)).filter((line) => !/^@ NS/.test(line));
  beforeAll(async () => {
    world = await startWorld();
    screen = `/domains/${world.domain}`;
    const changes = [
      ...Array.from({ length: 30 }, (_, i) => ({ host: `web-${i}`, type: 'A', value: `192.0.2.${i}`, ttl: 300 })),
      { host: '_sip._tcp', type: 'SRV', value: '5 5060 web-1.example.com', priority: 10, ttl: 300 },
    ].map((record) => ({ op: 'create', ...record }));
    done(await world.admin.post(`${world.records}/batch`, { changes }));
    made(await world.admin.post('/api/users', { ...BOB, role: 3 }));
    browser = await ConsoleBrowser.start(world.server.url);
  });
  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.stop();
    await world?.stop();
  });

  it('are found, edited in their parts, published together, watched, and taken back', async () => {
    const visit = await browser.openAs(screen);
    const { page } = visit;
    const before = await lines();
    await page.getByRole('searchbox', { name: 'Filter the records' }).fill('web-2');
    await page.getByText('11 records').waitFor();
    await page.keyboard.press('ArrowDown');
    // a mistake stands beside its field, and nothing is lost by it
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Address' }).fill('192.0.2.256');
    await page.keyboard.press('Enter');
    await page.getByText('Must be an IPv4 address').waitFor();
    await assertSound(visit);
    await page.getByRole('textbox', { name: 'Address' }).fill('198.51.100.2');
    await page.keyboard.press('Enter');
    // the focus is on the row again: the next one goes
    await page.getByText('1 change to publish').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('d');
    await page.getByRole('searchbox').fill('SRV');
    await row(page, /_sip\._tcp/).waitFor();
    await edit(page, /_sip\._tcp/, 'Port', '5061');
    await page.getByText('3 changes to publish').waitFor();
    await assertSound(visit);
    assert.deepEqual(await lines(), before);
    await button(page, 'See the difference').click();
    const changes = page.getByRole('list', { name: 'Changes' });
    await changes.getByText('198.51.100.2').waitFor();
    assert.equal(await changes.getByRole('listitem').count(), 3);
    await assertSound(visit);
    await button(page, 'Publish 3 changes').click();
    await page.getByText('Published: 3 changes').waitFor();
    await page.getByRole('region', { name: 'Live at the name servers' }).getByText('web-2 A').waitFor();
    await assertSound(visit);
    const after = await lines();
    assert.ok(after.includes('web-2 A - 198.51.100.2 300 on'));
    assert.ok(after.includes('_sip._tcp SRV 10 5 5061 web-1.example.com 300 on'));
    assert.equal(after.filter((line) => line.startsWith('web-20 ')).length, 0);
    await button(page, 'Undo').click();
    await button(page, 'Publish 3 changes').click();
    await until('all is as it was', async () => (await lines()).join() === before.join());
    await page.getByText('Published: 3 changes').waitFor();
    await button(page, 'Done').click();
    assert.equal(await page.getByRole('region', { name: 'Changes to publish' }).count(), 0);
  });

  it('are edited in full sight, also in the last row that is seen', async () => {
    const { page } = await browser.openAs(screen);
    await page.setViewportSize({ width: 1000, height: 640 });
    const grid = page.getByRole('grid');
    await grid.getByRole('row', { name: /web-1 A/ }).waitFor();
    const edges = async (of: Locator) => {
      const { y = 0, height = 0 } = (await of.boundingBox()) ?? {};
      return { top: y, bottom: y + height };
    };
    const seen = await edges(grid);
    const rows = await grid.locator('[data-index]').all();
    const places = await Promise.all(rows.map(edges));
    // some rows below the edge are drawn ahead
    const last = places.findLastIndex(({ top }) => top < seen.bottom);
    assert.ok(last < rows.length - 1);
    await rows[last]?.press('Enter');
    const form = page.getByRole('form', { name: /^Edit/ });
    const isSeen = () =>
      until(
        'all of the form is in sight',
        async () => {
          const { top, bottom } = await edges(form);
          return top >= seen.top + 32 && bottom <= Math.min(seen.bottom, 640);
        },
        5000,
      );
    await isSeen();
    // what is said beside a field makes it higher
    await form.getByLabel('Address', { exact: true }).fill('192.0.2.256');
    await page.keyboard.press('Enter');
    await form.getByText('Must be an IPv4 address').waitFor();
    await isSeen();
  });

  it('say what the service says of a record that does not fit, beside its field', async () => {
    const { page } = await browser.openAs(screen);
    await page.getByRole('grid').waitFor();
    await page.keyboard.press('n');
    const form = page.getByRole('form', { name: 'New record' });
    await form.getByLabel('Name', { exact: true }).fill('web-3');
    await form.getByLabel('Type', { exact: true }).selectOption('CNAME');
    await form.getByLabel('Target', { exact: true }).fill('no name at all');
    await page.keyboard.press('Enter');
    await form.locator('[aria-invalid=true]').waitFor();
    await form.getByText(/^label "no name at all" is not allowed/).waitFor();
    await form.getByLabel('Target', { exact: true }).fill('web-1.example.com.');
    await page.keyboard.press('Enter');
    await form.getByText(/^a CNAME allows no other record at its name/).waitFor();
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
  });

  it('keep what is not published, over a reload and a session that ended elsewhere', async () => {
    const { page } = await browser.openAs(screen, BOB);
    await page.getByRole('searchbox').fill('web-4');
    await page.getByText('1 record', { exact: true }).waitFor();
    await edit(page, /web-4/, 'TTL', '1h');
    await page.reload();
    await page.getByText('1 change to publish').waitFor();
    await page.getByRole('searchbox').fill('web-4');
    await row(page, /web-4.*1h/).waitFor();
    const bob = world.server.as(await world.server.login(BOB));
    done(await bob.delete('/api/auth/sessions/others'));
    // by no mouse, for the dialog to sign in may come by itself first
    await button(page, 'See the difference').dispatchEvent('click');
    await page.getByLabel('Password', { exact: true }).fill(BOB.password);
    await button(page, 'Sign in').click();
    await page.getByLabel('Password', { exact: true }).waitFor({ state: 'detached' });
    // what was asked for before the sign-in is read once more, and drawn anew
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    await button(page, 'Publish 1 change').dispatchEvent('click');
    await page.getByText('Published: 1 change').waitFor();
    assert.ok((await lines()).includes('web-4 A - 192.0.2.4 3600 on'));
    const kept = (await page.evaluate('JSON.stringify(localStorage)')) as string;
    assert.doesNotMatch(kept, /web-4|violet/);
  });

  it('show a second editor what the first one did meanwhile, and lose nothing', async () => {
    const [first, second] = [await browser.openAs(screen, BOB), await browser.openAs(screen)];
    await edit(first.page, /web-1 A/, 'Address', '203.0.113.1');
    await edit(second.page, /web-1 A/, 'TTL', '2h');
    await button(second.page, 'See the difference').click();
    await button(second.page, 'Publish 1 change').waitFor();
    await publish(first.page, 1);
    await button(second.page, 'Publish 1 change').click();
    const dialog = second.page.getByRole('dialog', { name: 'Somebody else was faster' });
    await dialog.getByText('Last changed by bob').waitFor();
    await dialog.getByText('203.0.113.1').waitFor();
    await assertSound(second);
    await dialog.getByRole('button', { name: 'See the difference again' }).click();
    await second.page.getByText('changed by somebody else since you edited it').waitFor();
    assert.ok(await button(second.page, 'Publish 1 change').isDisabled());
    await second.page.getByLabel('I have seen what somebody else changed in 1 record').check();
    await button(second.page, 'Publish 1 change').click();
    await second.page.getByText('Published: 1 change').waitFor();
    assert.ok((await lines()).includes('web-1 A - 203.0.113.1 7200 on'));
  });

  it('are edited as text with the same difference, and show mistakes by their lines', async () => {
    const visit = await browser.openAs(screen);
    const { page } = visit;
    await button(page, 'As text').click();
    await page.getByRole('textbox', { name: `Zone file of ${world.zone}` }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('text 60 A 192.0.2\n');
    await assertSound(visit);
    await button(page, 'See the difference').click();
    await page.getByText(/^Line \d+: .*IPv4/).waitFor();
    await button(page, 'Back to the records').click();
    await page.getByRole('textbox', { name: `Zone file of ${world.zone}` }).press('Control+End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('.200');
    await publish(page, 1);
    assert.ok((await lines()).includes('text A - 192.0.2.200 60 on'));
  });

  it('wait for an approval, or for the end of a freeze, and say so', async () => {
    const { page } = await browser.openAs(screen);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const freeze = { from: new Date(0).toISOString(), until, reason: 'the sale' };
    await page.getByRole('searchbox').fill('web-5');
    await edit(page, /web-5 A/, 'TTL', '1d');
    done(await world.admin.put(`/api/domains/${world.domain}`, { freeze }));
    await button(page, 'See the difference').click();
    await button(page, 'Publish 1 change').click();
    await page
      .getByRole('alert')
      .getByText(/the sale/)
      .waitFor();
    await page.getByLabel('Publish in spite of the freeze, because').waitFor();
    const approval = { for: 'all', by: { role: 2 }, own: false };
    done(await world.admin.put(`/api/domains/${world.domain}`, { freeze: null, approval }));
    await button(page, 'Back to the records').click();
    await button(page, 'See the difference').click();
    await button(page, 'Publish 1 change').click();
    await page.getByRole('dialog', { name: 'Waits for an approval' }).waitFor();
    await page.reload();
    await button(page, 'See how it goes').click();
    await button(page, 'Take it back').click();
    await page.getByText('1 change to publish').waitFor();
    done(await world.admin.put(`/api/domains/${world.domain}`, { approval: { for: 'none' } }));
    await publish(page, 1);
  });
});

describeUnless(noChromium || noPowerdns)('a service that is started again while it publishes', () => {
  const afterTest = atEndOfTest();

  it('is asked what became of it, and nothing is made twice', async () => {
    const world = await startWorld('sqlite', {}, 'sqlite', startProcess);
    afterTest(() => world.stop());
    const browser = await ConsoleBrowser.start(world.server.url);
    afterTest(() => browser.stop());
    const { page } = await browser.openAs(`/domains/${world.domain}`);
    await page.getByRole('grid').waitFor();
    await page.keyboard.press('n');
    await page.getByLabel('Name', { exact: true }).fill('www');
    await page.getByLabel('Address', { exact: true }).fill('192.0.2.80');
    await page.keyboard.press('Enter');
    await page.getByText('1 change to publish').waitFor();
    let died: Promise<unknown> | undefined;
    world.proxy.fault = async ({ method }, forward) => {
      if (method !== 'PATCH' || died) return forward();
      // the provider has it, and nobody hears of it
      died = world.server.kill();
      await forward();
      return 'close';
    };
    await button(page, 'See the difference').click();
    await button(page, 'Publish 1 change').click();
    await page.getByText('The service does not answer.', { exact: false }).waitFor();
    await died;
    const env = { DATABASE_URL: world.databaseUrl, PORT: new URL(world.server.url).port };
    const again = await ServerProcess.start(env, world.server.dataDir);
    afterTest(() => again.stop());
    await page.getByText('Published: 1 change').waitFor();
    await button(page, 'Done').click();
    await row(page, /www A 192\.0\.2\.80/).waitFor();
    assert.equal(await page.getByRole('region', { name: 'Changes to publish' }).count(), 0);
    const published = powerdnsLines(await world.pdns.zone(world.zone)).filter((line) => line.startsWith('www '));
    assert.equal(published.length, 1);
  });
});
