import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';

export type Guards = components['schemas']['DomainGuards'];
export type GuardKey = keyof Guards;
/** empty: as usual */
export type GuardMode = '' | NonNullable<Guards[GuardKey]>;

/** The modes that a domain can give a guard: `empty_document` is always `force`. */
export const modesOf = <T extends { value: GuardMode }>(key: GuardKey, modes: readonly T[]): T[] =>
  modes.filter(({ value }) => key !== 'empty_document' || !value || value === 'force');

/** The guards and modes that the service has. One that the words of the console do not know is told in its own. */
export function useGuards() {
  const { t } = useTranslation('domains');
  return $api.useQuery(
    'get',
    '/api/meta',
    {},
    {
      staleTime: Number.POSITIVE_INFINITY,
      select: ({ guards, guard_modes }) => ({
        guards: guards.map(({ name, meaning }) => ({
          key: name as GuardKey,
          label: t(`guards.${name as GuardKey}`, { defaultValue: name }),
          meets: t(`guards.meets.${name as GuardKey}`, { defaultValue: meaning }),
        })),
        modes: ['', ...guard_modes].map((mode) => ({
          value: mode as GuardMode,
          label: t(`guards.is.${(mode as GuardMode) || 'usual'}`, { defaultValue: mode }),
        })),
      }),
    },
  );
}
