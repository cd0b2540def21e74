import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { noChromium } from '../support/chromium.js';
import { assertSound, ConsoleBrowser, goTo, type Visit } from '../support/console.js';
import { noPowerdns } from '../support/powerdns.js';
import { ADMIN } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addDomain, done, ended, made, startWorld, until, type World } from '../support/world.js';

const a = (host: string, value: string) => ({ op: 'create', host, type: 'A', value, ttl: 300 });
const GRACE = { username: 'grace', password: 'violet-harbour-92' };

describeUnless(noChromium || noPowerdns)('changes that can be looked at before, in the console', () => {
  let world: World;
  let browser: ConsoleBrowser;
  let visit: Visit;
  let page: Page;

  const addZone = async (name: string) => {
    await world.pdns.createZone(name);
    return addDomain(world.admin, world.account, name);
  };
  const change = async (domain: number, ...changes: object[]) =>
    ended(await world.admin.post(`/api/domains/${domain}/records/batch`, { changes }));
  const recordOf = async (domain: number, host: string, type = 'A') => {
    const { list } = done(await world.admin.get(`/api/domains/${domain}/records`));
    return list.find((record) => record.host === host && record.type === type)?.id as number;
  };
  /** The values of a record set at PowerDNS. */
  const heldAt = async (zone: string, name: string, type = 'A') => {
    const { rrsets } = await world.pdns.zone(zone);
    const set = rrsets.find((one) => one.name === `${name}.` && one.type === type);
    return set?.records.map(({ content }) => content) ?? [];
  };
  const go = (path: string) => goTo(page, path);
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const sound = () => assertSound(visit);

  beforeAll(async () => {
    world = await startWorld();
    browser = await ConsoleBrowser.start(world.server.url);
    visit = await browser.openAs('/teams');
    ({ page } = visit);
  });
  afterAll(async () => {
    await browser?.stop();
    await world?.stop();
  });

  it('restores an older version, and takes that back', async () => {
    const { domain, zone } = world;
    await change(domain, a('www', '192.0.2.1'), { op: 'create', host: '@', type: 'MX', value: 'mail.example.net' });
    const record_id = await recordOf(domain, 'www');
    await change(domain, { op: 'update', record_id, value: '192.0.2.2' });
    await go(`/domains/${domain}/history`);
    await page.getByRole('link', { name: '2', exact: true }).click();
    await page.getByRole('list', { name: 'From version 1 to 2' }).waitFor();
    await button('Restore version 2').click();
    const difference = page.getByRole('list', { name: `Changes of ${zone}` });
    await difference.getByText('192.0.2.1', { exact: true }).waitFor();
    assert.deepEqual(await heldAt(zone, `www.${zone}`), ['192.0.2.2']);
    await button('Apply 1 change').click();
    await page.getByText('1 of 1 applied').waitFor();
    assert.deepEqual(await heldAt(zone, `www.${zone}`), ['192.0.2.1']);
    await button('Undo').click();
    await button('Apply 1 change').click();
    await page.getByText('1 of 1 applied').waitFor();
    assert.deepEqual(await heldAt(zone, `www.${zone}`), ['192.0.2.2']);
  });

  it('shows two versions as a list and as text', async () => {
    await go(`/domains/${world.domain}/history`);
    const rows = page.getByRole('table', { name: 'Versions' }).getByRole('row');
    await rows
      .filter({ has: page.getByRole('link', { name: '1', exact: true }) })
      .getByRole('checkbox')
      .check();
    await rows
      .filter({ has: page.getByRole('link', { name: '3', exact: true }) })
      .getByRole('checkbox')
      .check();
    await button('Compare 1 with 3').click();
    await page.getByRole('list', { name: 'From version 1 to 3' }).getByText('192.0.2.2').waitFor();
    await page.getByText('Text', { exact: true }).click();
    await page.getByText(/^\+www.*192\.0\.2\.2/m).waitFor();
    await sound();
  });

  it('asks for the guards that a plan meets, one by one', async () => {
    const { domain, zone } = world;
    await go(`/domains/${domain}/history?version=1`);
    await button('Restore version 1').click();
    await button('Confirm 2 warnings first').waitFor();
    assert.equal(await button('Confirm 2 warnings first').isDisabled(), true);
    await sound();
    await page.getByRole('checkbox', { name: /Nothing but SOA and NS would be left/ }).check();
    await button('Confirm 1 warning first').waitFor();
    await page.getByRole('checkbox', { name: /The last MX goes/ }).check();
    await button('Apply 2 changes').click();
    await page.getByText('2 of 2 applied').waitFor();
    assert.deepEqual(await heldAt(zone, zone, 'MX'), []);
  });

  it('names what else stands there when a plan is stale, and plans again', async () => {
    const zone = 'stale.example';
    const domain = await addZone(zone);
    await change(domain, a('www', '192.0.2.1'));
    const record_id = await recordOf(domain, 'www');
    await change(domain, { op: 'update', record_id, value: '192.0.2.2' });
    await go(`/domains/${domain}/history?version=2`);
    await button('Restore version 2').click();
    await button('Apply 1 change').waitFor();
    const records = [{ content: '203.0.113.9', disabled: false }];
    const rrsets = [{ name: `www.${zone}.`, type: 'A', ttl: 300, changetype: 'REPLACE', records }];
    await world.pdns.api('PATCH', `/zones/${zone}.`, { rrsets });
    await button('Apply 1 change').click();
    const told = page.getByRole('alert').filter({ hasText: 'This plan does not fit any more' });
    await told.getByText('203.0.113.9').waitFor();
    await sound();
    assert.deepEqual(await heldAt(zone, `www.${zone}`), ['203.0.113.9']);
    await button('Plan again').click();
    await button(/^Apply \d change/).click();
    await page
      .getByText(/applied$/)
      .first()
      .waitFor();
    await until('the older value', async () => String(await heldAt(zone, `www.${zone}`)) === '192.0.2.1');
  });

  it('has a change approved by somebody else, with words', async () => {
    const zone = 'approval.example';
    const domain = await addZone(zone);
    const { admin } = world;
    const { id: user_id } = made(await admin.post('/api/users', GRACE));
    const team = made(await admin.post('/api/teams', { name: 'operations' })).id;
    made(await admin.post(`/api/teams/${team}/permissions`, { domain_id: domain, permission: 'write' }));
    made(await admin.post(`/api/teams/${team}/members`, { user_id }));
    done(await admin.put(`/api/domains/${domain}`, { approval: { for: 'all', by: { role: 2 }, own: false } }));
    const grace = world.server.as(await world.server.login(GRACE));
    const changes = [a('checkout', '192.0.2.44')];
    const asked = await grace.post(`/api/domains/${domain}/records/batch`, { changes, comment: 'the new checkout' });
    assert.equal(asked.status, 202);
    const { page: hers } = await browser.openAs(`/domains/${domain}/plans?state=waiting`, GRACE);
    await hers.getByRole('link', { name: 'the new checkout' }).click();
    await hers.getByText('You asked for this. Somebody else has to approve it.').waitFor();
    assert.equal(await hers.getByRole('button', { name: 'Approve and apply' }).count(), 0);
    await go(`/domains/${domain}/plans`);
    await page.getByRole('link', { name: 'the new checkout' }).click();
    await page.getByLabel('Comment').fill('fits the calendar');
    await sound();
    assert.deepEqual(await heldAt(zone, `checkout.${zone}`), []);
    await button('Approve and apply').click();
    await page.getByText('1 of 1 applied').waitFor();
    assert.deepEqual(await heldAt(zone, `checkout.${zone}`), ['192.0.2.44']);
    await hers.reload();
    await hers.getByText('fits the calendar').waitFor();
    await hers.getByText(ADMIN.username, { exact: true }).first().waitFor();
    await hers.context().close();
  });

  it('finds records of all domains, and changes all of them at once', async () => {
    const zones = ['one.example', 'two.example'];
    for (const zone of zones) await change(await addZone(zone), a('@', '198.51.100.7'), a('www', '198.51.100.7'));
    await go('/records');
    await page.getByLabel('Whole value').fill('198.51.100.7');
    await page.getByText('4 entries').waitFor();
    await button('Change all 4 found').click();
    await page.getByLabel('New value').fill('not an address');
    await button('Show what it does').click();
    await page.getByRole('dialog').getByText(/IPv4/).first().waitFor();
    await page.getByLabel('New value').fill('198.51.100.8');
    await button('Show what it does').click();
    await button('Show the changes of one.example').click();
    await page.getByRole('list', { name: 'Changes of one.example' }).getByText('198.51.100.8').first().waitFor();
    assert.deepEqual(await heldAt('one.example', 'www.one.example'), ['198.51.100.7']);
    await button('Apply 4 changes').click();
    await page.getByText('2 of 2 domains applied').waitFor();
    for (const zone of zones)
      for (const name of [zone, `www.${zone}`]) assert.deepEqual(await heldAt(zone, name), ['198.51.100.8']);
  });
});
