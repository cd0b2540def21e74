import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { assertFits, assertSoundInBoth, ConsoleBrowser, goTo, type Visit, wear } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { LocalServer } from '../support/server.js';
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

  const look = async (visit: Visit, { name, path, heading, before, stranger }: Shown) => {
    const { page } = visit;
    await page.setViewportSize({ width: WIDE, height: 800 });
    await wear(page, 'light');
    if (stranger) await page.goto(new URL(path(world), page.url()).href);
    else await goTo(page, path(world));
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    await before?.(page, world);
    await assertSoundInBoth(visit, async (scheme) => {
      if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}-${scheme}.png`) });
    });
    await assertTabOrder(page, stranger || name === 'overview' ? 'document' : '#main');
    await page.setViewportSize({ width: NARROW, height: 800 });
    // as it is when it is opened
    if (PICTURES) await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)');
    for (const scheme of PICTURES ? (['dark', 'light'] as const) : []) {
      await wear(page, scheme);
      await page.screenshot({ path: join(PICTURES as string, 'narrow', `${name}-${scheme}.png`) });
    }
    await assertFits(visit);
  };

  let signedOut: Visit;
  let signedIn: Visit;
  beforeAll(async () => {
    signedOut = await browser.open('/sign-in');
    signedIn = await browser.openAs('/');
  });
  for (const shown of SHOWN)
    it(`is sound in both schemes, used by keyboard alone, and no wider than a narrow window: ${shown.name}`, () =>
      look(shown.stranger ? signedOut : signedIn, shown));

  // last: two services in one process share what knows sessions
  it('is sound in both schemes, used by keyboard alone, and no wider than a narrow window: setup', async () => {
    const server = await LocalServer.start();
    const fresh = await ConsoleBrowser.start(server.url);
    try {
      const visit = await fresh.open('/');
      await look(visit, { name: 'setup', path: () => '/setup', heading: 'Set up Zoneward', stranger: true });
    } finally {
      await fresh.stop();
      await server.stop();
    }
  });
});
