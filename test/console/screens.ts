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

/** All screens. A new one gets its line here. */
export const SHOWN: Shown[] = [
  { name: 'sign-in', path: () => '/sign-in', heading: 'Sign in', stranger: true },
  { name: 'reset', path: () => '/reset', heading: 'New password', stranger: true },
  { name: 'overview', path: () => '/', heading: 'Overview' },
  { name: 'domains', path: () => '/domains', heading: 'Domains' },
  { name: 'zone', path: ({ domain }) => `/domains/${domain}`, heading: 'example.com' },
  { name: 'history', path: ({ domain }) => `/domains/${domain}/history`, heading: 'example.com' },
  { name: 'plans', path: ({ domain }) => `/domains/${domain}/plans`, heading: 'example.com' },
  { name: 'failover', path: ({ domain }) => `/domains/${domain}/failover`, heading: 'example.com' },
  { name: 'health', path: ({ domain }) => `/domains/${domain}/health`, heading: 'example.com' },
  { name: 'domain-settings', path: ({ domain }) => `/domains/${domain}/settings`, heading: 'example.com' },
  { name: 'search', path: () => '/records', heading: 'Record search' },
  { name: 'accounts', path: () => '/accounts', heading: 'Accounts' },
  { name: 'account', path: ({ account }) => `/accounts/${account}`, heading: /./ },
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
