import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { makeRecords } from '../console/screens.js';
import { noChromium } from '../support/chromium.js';
import { ConsoleBrowser, goTo } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { powerdnsLines, startWorld, until, type World } from '../support/world.js';

const isFocused = async (target: Locator) => (await target.and(target.page().locator(':focus')).count()) > 0;

/** Presses Tab until this has the focus. */
async function tabTo(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let i = 0; i < 120; i++) {
    if (await isFocused(target)) return;
    await page.keyboard.press(key);
  }
  assert.fail(`Tab does not reach ${target}`);
}

describeUnless(noChromium || noPowerdns)('the console without a mouse', () => {
  let world: World;
  let browser: ConsoleBrowser;
  let page: Page;
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const go = async (path: string, heading: string | RegExp) => {
    await goTo(page, path);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
  };

  beforeAll(async () => {
    world = await startWorld();
    await makeRecords(world);
    browser = await ConsoleBrowser.start(world.server.url);
    ({ page } = await browser.openAs('/teams'));
    page.setDefaultTimeout(15_000);
  });
  afterAll(async () => {
    await browser?.stop();
    await world?.stop();
  });

  it('Escape leaves menus, dialogs and the palette, and the focus is where it was', async () => {
    await go('/domains', 'Domains');
    const opens: [Locator, string, Locator][] = [
      [button('admin: your menu'), 'Enter', page.getByRole('menuitem', { name: 'Sign out' })],
      [button('Keys'), 'Enter', page.getByRole('dialog', { name: 'Keys' })],
      [button(/^Go to/), 'Enter', page.getByRole('combobox', { name: 'Go to' })],
      [button(/^Go to/), 'Control+k', page.getByRole('combobox', { name: 'Go to' })],
      [button('Add domain').first(), 'Space', page.getByRole('dialog')],
    ];
    for (const [opener, key, opened] of opens) {
      await opener.focus();
      await page.keyboard.press(key);
      await opened.waitFor();
      await page.keyboard.press('Escape');
      await opened.waitFor({ state: 'detached' });
      await until(`the focus is back on ${opener}`, () => isFocused(opener));
    }
  });

  it('arrows move in menus and tables, and Enter opens', async () => {
    await go('/domains', 'Domains');
    await tabTo(page, button('admin: your menu'));
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Your profile' }).waitFor();
    // the menu takes the focus a moment after it is shown
    await until('the focus is in the menu', async () => !(await isFocused(button('admin: your menu'))));
    await page.keyboard.press('ArrowUp');
    await until('the last one', () => isFocused(page.getByRole('menuitem', { name: 'Sign out' })));
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your profile', level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
    const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row');
    await tabTo(page, rows.nth(1));
    await page.keyboard.press('End');
    await until('the last row', () => isFocused(rows.last()));
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await until('the second row', () => isFocused(rows.nth(2)));
    await page.keyboard.press('Enter');
    await page.waitForURL(/entry=\d+/);
  });

  it('finds a record, edits it, sees the difference, publishes it, and takes it back', async () => {
    const held = async () => powerdnsLines(await world.pdns.zone(world.zone)).find((line) => line.startsWith('mail A'));
    // what was looked at above left a change to publish in the other profile
    ({ page } = await browser.openAs('/teams'));
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor();
    await tabTo(page, page.getByRole('table', { name: 'Domains' }).getByRole('row').nth(1));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'example.com', level: 1 }).waitFor();
    const grid = page.getByRole('grid');
    const rows = grid.locator('[data-index]');
    await tabTo(page, rows.first());
    await page.keyboard.press('ArrowDown');
    await until('the second row', () => isFocused(rows.nth(1)));
    await page.keyboard.press('/');
    await page.keyboard.type('mail');
    await page.getByText('1 record', { exact: true }).waitFor();
    const row = grid.getByRole('row', { name: /mail A/ });
    await row.waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const form = page.getByRole('form', { name: /^Edit/ });
    await form.waitFor();
    // Escape leaves the form, and the row has the focus
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await until('the row has the focus', () => isFocused(row));
    await page.keyboard.press('Enter');
    await tabTo(page, form.getByLabel('Address', { exact: true }));
    await page.keyboard.press('Control+a');
    await page.keyboard.type('198.51.100.25');
    await page.keyboard.press('Enter');
    await page.getByText('1 change to publish').waitFor();
    await until('the row has the focus', () => isFocused(row));
    const review = button('See the difference');
    await tabTo(page, review);
    await page.keyboard.press('Enter');
    await button('Publish 1 change').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until('the focus is back', () => isFocused(review));
    await page.keyboard.press('Enter');
    await tabTo(page, button('Publish 1 change'));
    await page.keyboard.press('Enter');
    await page.getByText('Published: 1 change').waitFor();
    assert.equal(await held(), 'mail A - 198.51.100.25 600 on');
    await until('the button has the focus', () => isFocused(button('Done')));
    await tabTo(page, button('Undo'), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await tabTo(page, button('Publish 1 change'));
    await page.keyboard.press('Enter');
    await page.getByText('Published: 1 change').waitFor();
    assert.equal(await held(), 'mail A - 192.0.2.25 600 on');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // with the tray gone, what opened the dialog is gone: the focus is not lost
    const isSomewhere = () => page.evaluate<boolean>('document.activeElement !== document.body');
    await until('the focus is somewhere', isSomewhere);
  });
});
