import type { Page } from 'playwright-core';
import type { World } from '../support/world.js';

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
  { name: 'teams', path: () => '/teams', heading: 'Teams' },
  { name: 'users', path: () => '/users', heading: 'Users' },
  { name: 'audit', path: () => '/audit', heading: 'Audit log' },
  { name: 'jobs', path: () => '/jobs', heading: 'Jobs' },
  { name: 'settings', path: () => '/settings/general', heading: 'Settings' },
  { name: 'system', path: () => '/system', heading: 'System' },
  { name: 'profile', path: () => '/profile', heading: 'Your profile' },
  { name: 'doors', path: () => '/doors', heading: 'Doors' },
];
