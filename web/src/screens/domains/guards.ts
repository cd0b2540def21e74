import type { components } from '~/api/schema';

export type Guards = components['schemas']['DomainGuards'];
export type GuardKey = keyof Guards;
/** empty: as usual */
export type GuardMode = '' | 'off' | 'warn' | 'force';

export const GUARDS: GuardKey[] = [
  'many_updates',
  'many_deletes',
  'apex_ns',
  'last_mx',
  'last_spf',
  'own_host',
  'failover',
  'tunnel',
  'ttl_floor',
  'dangling',
];
export const MODES: GuardMode[] = ['', 'off', 'warn', 'force'];
