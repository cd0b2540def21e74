import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { noChromium } from '../support/chromium.js';
import { assertFits, assertSound, ConsoleBrowser, type Visit } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { assertTabOrder } from '../support/tab-order.js';
import { startWorld, type World } from '../support/world.js';
import { makeRecords, SHOWN, type Shown } from './screens.js';

/** A folder for pictures; else none are taken. */
const PICTURES = process.env.SCREENS;
const NARROW = 320;
const WIDE = 1280;

describeUnless(noChromium || noPowerdns)('every screen', () => {
  let world: World;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    world = await startWorld();
    await makeRecords(world);
    browser = await ConsoleBrowser.start(world.server.url);
    if (PICTURES) mkdirSync(join(PICTURES, 'narrow'), { recursive: true });
  });
  afterAll(async () => {
    await browser?.stop();
    await world?.stop();
  });

  /** Wears another scheme, as when that of the system changes. */
  const wear = async (page: Page, scheme: 'light' | 'dark') => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor();
    // colours that are on their way are no contrast yet
    await page.evaluate(`Promise.all(document.getAnimations().map((one) =>
      one.effect.getComputedTiming().endTime < Infinity ? one.finished.catch(() => undefined) : undefined)).then(() => undefined)`);
  };
  const look = async (visit: Visit, { name, path, heading, before }: Shown) => {
    const { page } = visit;
    await page.setViewportSize({ width: WIDE, height: 800 });
    await page.goto(world.server.url + path(world));
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    await before?.(page, world);
    for (const scheme of ['light', 'dark'] as const) {
      await wear(page, scheme);
      if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}-${scheme}.png`) });
      await assertSound(visit);
    }
    await assertTabOrder(page);
    await page.setViewportSize({ width: NARROW, height: 800 });
    for (const scheme of PICTURES ? (['dark', 'light'] as const) : []) {
      await wear(page, scheme);
      await page.screenshot({ path: join(PICTURES as string, 'narrow', `${name}-${scheme}.png`) });
    }
    await assertFits(visit);
  };

  let stranger: Visit;
  let signedIn: Visit;
  beforeAll(async () => {
    stranger = await browser.open('/sign-in');
    signedIn = await browser.openAs('/');
  });
  for (const shown of SHOWN)
    it(`is sound in both schemes, used by keyboard alone, and no wider than a narrow window: ${shown.name}`, () =>
      look(shown.stranger ? stranger : signedIn, shown));
});
