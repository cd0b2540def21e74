import type { Page } from 'playwright-core';
import { done, made, type World } from '../support/world.js';

/** A screen, as it is looked at: by axe in both schemes, and by people as a picture (`npm run screens`). */
export interface Shown {
  /** of its picture: `docs/screens/<name>-light.png` */
  name: string;
  path: (world: World) => string;
  /** its heading, or whatever tells that it is drawn */
  heading: string | RegExp;
  /** what is opened or typed before it is looked at */
  before?: (page: Page, world: World) => Promise<void>;
  /** not signed in */
  stranger?: true;
}

const zoneText = async (page: Page) => page.getByRole('textbox', { name: 'Zone file of example.com' }).waitFor();

async function difference(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add record' }).first().click();
  const form = page.getByRole('form', { name: 'New record' });
  await form.getByLabel('Name', { exact: true }).fill('www');
  await form.getByLabel('Address', { exact: true }).fill('192.0.2.80');
  await form.getByRole('button', { name: 'Add to changes' }).click();
  await page.getByRole('button', { name: 'See the difference' }).click();
  await page.getByRole('button', { name: 'Publish 1 change' }).waitFor();
}

/** Opens the first entry of the list. @param part a heading of what is opened */
const firstOne = (part: string) => async (page: Page) => {
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByRole('heading', { name: part, level: 2 }).waitFor();
};

/** Opens one of these, which is made where there is none. */
const oneOf =
  (path: '/api/tokens' | '/api/teams', part: string) =>
  async (page: Page, { admin }: World): Promise<void> => {
    if (!done(await admin.get(path)).length) {
      made(await admin.post(path, { name: 'harbour' }));
      await page.reload();
    }
    await firstOne(part)(page);
  };

/** A section of the settings is there when this can be clicked. */
const settings = (section: string, verb: string): Shown => ({
  name: `settings-${section}`,
  path: () => `/settings/${section}`,
  heading: 'Settings',
  before: (page) => page.getByRole('button', { name: verb }).first().waitFor(),
});

/** All screens. A new one gets its line here. */
export const SHOWN: Shown[] = [
  { name: 'sign-in', path: () => '/sign-in', heading: 'Sign in', stranger: true },
  { name: 'reset', path: () => '/reset', heading: 'New password', stranger: true },
  { name: 'overview', path: () => '/', heading: 'Overview' },
  { name: 'domains', path: () => '/domains', heading: 'Domains' },
  { name: 'trash', path: () => '/domains?trash=true', heading: 'Trash' },
  { name: 'zone', path: ({ domain }) => `/domains/${domain}`, heading: 'example.com' },
  { name: 'zone-text', path: ({ domain }) => `/domains/${domain}?view=text`, heading: 'example.com', before: zoneText },
  { name: 'zone-difference', path: ({ domain }) => `/domains/${domain}`, heading: 'example.com', before: difference },
  { name: 'history', path: ({ domain }) => `/domains/${domain}/history`, heading: 'example.com' },
  { name: 'version', path: ({ domain }) => `/domains/${domain}/history?version=2`, heading: 'example.com' },
  {
    name: 'plan',
    path: ({ domain }) => `/domains/${domain}/history?version=2`,
    heading: 'example.com',
    before: async (page) => {
      await page.getByRole('button', { name: 'Restore version 2' }).click();
      await page.getByRole('button', { name: /^(Apply|Confirm)/ }).waitFor();
    },
  },
  { name: 'plans', path: ({ domain }) => `/domains/${domain}/plans`, heading: 'example.com' },
  { name: 'failover', path: ({ domain }) => `/domains/${domain}/failover`, heading: 'example.com' },
  { name: 'failover-rule', path: ({ domain }) => `/domains/${domain}/failover?rule=new`, heading: 'example.com' },
  { name: 'health', path: ({ domain }) => `/domains/${domain}/health`, heading: 'example.com' },
  { name: 'domain-settings', path: ({ domain }) => `/domains/${domain}/settings`, heading: 'example.com' },
  { name: 'search', path: () => '/records', heading: 'Record search' },
  {
    name: 'plan-many',
    path: () => '/records?type=A',
    heading: 'Record search',
    before: async (page) => {
      await page.getByRole('button', { name: /^Change all/ }).click();
      await page.getByLabel('New value').fill('192.0.2.99');
      await page.getByRole('button', { name: 'Show what it does' }).click();
      await page.getByRole('button', { name: /^Show the changes/ }).click();
    },
  },
  { name: 'accounts', path: () => '/accounts', heading: 'Accounts' },
  { name: 'account', path: ({ account }) => `/accounts/${account}`, heading: /./ },
  { name: 'account-add', path: () => '/accounts?add=powerdns', heading: 'Add an account' },
  { name: 'tunnels', path: () => '/tunnels', heading: 'Tunnels' },
  { name: 'tokens', path: () => '/tokens', heading: 'API tokens' },
  { name: 'token', path: () => '/tokens', heading: 'API tokens', before: oneOf('/api/tokens', 'May it?') },
  { name: 'token-new', path: () => '/tokens?token=new', heading: 'New token' },
  { name: 'teams', path: () => '/teams', heading: 'Teams' },
  { name: 'team', path: () => '/teams', heading: 'Teams', before: oneOf('/api/teams', 'Members') },
  { name: 'users', path: () => '/users', heading: 'Users' },
  { name: 'user', path: () => '/users', heading: 'Users', before: firstOne('Person and role') },
  { name: 'audit', path: () => '/audit', heading: 'Audit log' },
  { name: 'audit-entry', path: () => '/audit', heading: 'Audit log', before: firstOne('Place in the chain') },
  { name: 'jobs', path: () => '/jobs', heading: 'Jobs' },
  { name: 'job', path: () => '/jobs', heading: 'Jobs', before: firstOne('State') },
  { name: 'settings', path: () => '/settings/general', heading: 'Settings' },
  settings('security', 'Save'),
  settings('smtp', 'Save'),
  settings('notifications', 'Add channel'),
  settings('oauth', 'Add provider'),
  settings('audit-rules', 'Add rule'),
  { name: 'system', path: () => '/system', heading: 'System' },
  { name: 'profile', path: () => '/profile', heading: 'Your profile' },
  { name: 'doors', path: () => '/doors', heading: 'Doors' },
];

/** The records of the zone that is looked at. */
export async function makeRecords({ admin, records }: World): Promise<void> {
  for (const [host, type, value] of [
    ['www', 'A', '192.0.2.10'],
    ['www', 'AAAA', '2001:db8::10'],
    ['mail', 'A', '192.0.2.25'],
    ['@', 'TXT', 'v=spf1 mx -all'],
  ])
    made(await admin.post(records, { host, type, value }));
}
