import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { assertFits, assertSound, ConsoleBrowser, type Visit } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { made, startWorld, type World } from '../support/world.js';
import { SHOWN, type Shown } from './screens.js';

/** A folder for pictures; else none are taken. */
const PICTURES = process.env.SCREENS;
const NARROW = 320;
const WIDE = 1280;

describeUnless(noChromium || noPowerdns)('every screen', () => {
  let world: World;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    world = await startWorld();
    for (const [host, type, value] of [
      ['www', 'A', '192.0.2.10'],
      ['www', 'AAAA', '2001:db8::10'],
      ['mail', 'A', '192.0.2.25'],
      ['@', 'TXT', 'v=spf1 mx -all'],
    ])
      made(await world.admin.post(world.records, { host, type, value }));
    browser = await ConsoleBrowser.start(world.server.url);
    if (PICTURES) mkdirSync(PICTURES, { recursive: true });
  });
  afterAll(async () => {
    await browser?.stop();
    await world?.stop();
  });

  const look = async ({ page, complaints }: Visit, { name, path, heading, before }: Shown, scheme: string) => {
    await page.setViewportSize({ width: WIDE, height: 800 });
    await page.goto(world.server.url + path(world));
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    await before?.(page, world);
    if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}-${scheme}.png`) });
    await assertSound({ page, complaints });
    await page.setViewportSize({ width: NARROW, height: 800 });
    await assertFits({ page, complaints });
    if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}-${scheme}-narrow.png`) });
  };

  for (const scheme of ['light', 'dark'] as const)
    describe(`in the ${scheme} scheme`, () => {
      let stranger: Visit;
      let signedIn: Visit;
      beforeAll(async () => {
        stranger = await browser.open('/sign-in', { scheme });
        signedIn = await browser.openAs('/', undefined, { scheme });
      });
      for (const shown of SHOWN)
        it(`is sound, wide and narrow: ${shown.name}`, () => look(shown.stranger ? stranger : signedIn, shown, scheme));
    });
});
