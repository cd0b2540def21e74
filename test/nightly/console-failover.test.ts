import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { describeUnless } from '../support/suites.js';
import { startTargets, type Targets } from '../support/targets.js';
import { ended, startWorld, type World } from '../support/world.js';

const [PRIMARY, BACKUP] = ['127.0.2.1', '127.0.3.1'] as const;

describeUnless(noChromium || noPowerdns)('failover in the console', () => {
  let world: World;
  let targets: Targets;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    world = await startWorld('sqlite', { OUTBOUND_ALLOW: '127.0.0.0/8' });
    targets = await startTargets();
    await targets.up(PRIMARY, BACKUP);
    browser = await ConsoleBrowser.start(world.server.url);
  });
  afterAll(async () => {
    await browser?.stop();
    await targets?.stop();
    await world?.stop();
  });

  it('makes a rule, rehearses a switch, switches by hand, and holds', async () => {
    const { domain, zone } = world;
    const changes = [{ op: 'create', host: 'www', type: 'A', value: PRIMARY, ttl: 300 }];
    ended(await world.admin.post(`${world.records}/batch`, { changes }));
    const held = async () => {
      const { rrsets } = await world.pdns.zone(zone);
      return rrsets.find(({ name }) => name === `www.${zone}.`)?.records.map(({ content }) => content);
    };
    const visit = await browser.openAs(`/domains/${domain}/failover`);
    const { page } = visit;
    const field = (name: string) => page.getByLabel(name, { exact: true });
    await page.getByRole('button', { name: 'Add rule' }).click();
    await field('Name').fill('www');
    await field('Primary').fill(PRIMARY);
    await field('Backup').fill('not an address');
    await field('Check').selectOption('tcp');
    await field('Port').fill(String(targets.port));
    await field('Seconds between checks').fill('1');
    await field('Seconds for an answer').fill('1');
    await page.getByRole('button', { name: 'Add rule' }).click();
    // what the server says of a value stands beside the field, and nothing that was typed is lost
    await page.locator('[aria-invalid=true]').waitFor();
    assert.equal(await field('Backup').getAttribute('aria-invalid'), 'true');
    await assertSound(visit);
    await field('Backup').fill(BACKUP);
    await page.getByRole('button', { name: 'Add rule' }).click();
    const rule = page.getByRole('article', { name: 'www A' });
    await rule.getByText('primary works').waitFor();
    await assertSound(visit);
    await rule.getByRole('button', { name: 'Switch' }).click();
    const dialog = page.getByRole('dialog', { name: 'Switch www A by hand' });
    await dialog.getByRole('button', { name: 'Rehearse' }).click();
    await dialog.getByRole('status', { name: 'Rehearsal: nothing was written' }).getByText(BACKUP).waitFor();
    await assertSound(visit);
    assert.deepEqual(await held(), [PRIMARY]);
    await dialog.getByRole('button', { name: 'Switch to Backup' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(await held(), [BACKUP]);
    // it would have switched back at once
    await rule.getByText('On hold: switched to backup by hand').waitFor();
    await page.getByRole('table', { name: 'Switches' }).getByRole('link').first().waitFor();
    await rule.getByRole('button', { name: 'Release' }).click();
    await rule.getByText('primary works').waitFor();
    assert.deepEqual(await held(), [PRIMARY]);
  });
});
