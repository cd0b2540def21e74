import {
  IconActivity,
  IconArrowsShuffle,
  IconDoor,
  IconHistory,
  IconHome,
  IconKey,
  IconListSearch,
  IconPlayerTrackNext,
  IconPlug,
  IconSettings,
  IconUser,
  IconUsers,
  IconUsersGroup,
  IconWorld,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { Role } from '~/session/session';

export interface Place {
  /** its name is `shell:place.<key>` */
  key: string;
  to: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  /** the least role that it is of use for */
  role: number;
  /** the key that opens it after `g` */
  letter?: string;
}

/** The places of the navigation, in groups. */
export const GROUPS: { key: string; places: Place[] }[] = [
  {
    key: 'zones',
    places: [
      { key: 'overview', to: '/', icon: IconHome, role: Role.User, letter: 'o' },
      { key: 'domains', to: '/domains', icon: IconWorld, role: Role.User, letter: 'd' },
      { key: 'records', to: '/records', icon: IconListSearch, role: Role.User, letter: 'r' },
      { key: 'tunnels', to: '/tunnels', icon: IconArrowsShuffle, role: Role.Admin },
    ],
  },
  {
    key: 'access',
    places: [
      { key: 'accounts', to: '/accounts', icon: IconPlug, role: Role.Admin, letter: 'a' },
      { key: 'tokens', to: '/tokens', icon: IconKey, role: Role.User, letter: 't' },
      { key: 'doors', to: '/doors', icon: IconDoor, role: Role.User },
      { key: 'teams', to: '/teams', icon: IconUsersGroup, role: Role.User },
      { key: 'users', to: '/users', icon: IconUsers, role: Role.Admin, letter: 'u' },
    ],
  },
  {
    key: 'operation',
    places: [
      { key: 'audit', to: '/audit', icon: IconHistory, role: Role.Admin, letter: 'l' },
      { key: 'jobs', to: '/jobs', icon: IconPlayerTrackNext, role: Role.Super, letter: 'j' },
      { key: 'system', to: '/system', icon: IconActivity, role: Role.Super },
      { key: 'settings', to: '/settings/general', icon: IconSettings, role: Role.Admin, letter: 's' },
    ],
  },
];

/** Places that the menu of the user has. */
export const OWN: Place[] = [{ key: 'profile', to: '/profile', icon: IconUser, role: Role.User, letter: 'p' }];

export const PLACES: Place[] = [...GROUPS.flatMap(({ places }) => places), ...OWN];
