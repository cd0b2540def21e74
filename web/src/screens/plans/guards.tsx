import { Checkbox, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import { Status } from '~/components/status';

export type Guard = components['schemas']['GuardView'] & { domain?: string };

/** The guards that have to be named before a plan is applied, each once. */
export const keysToName = (guards: readonly Guard[]): string[] => [
  ...new Set(guards.filter(({ mode }) => mode === 'force').map(({ key }) => key)),
];

interface Props {
  guards: readonly Guard[];
  named: ReadonlySet<string>;
  onName: (named: Set<string>) => void;
  /** it can still be applied; else they are only told */
  asks: boolean;
}

/** What may be a mistake. Those with the mode `force` are to be named, one by one. */
export function Guards({ guards, named, onName, asks }: Props) {
  const { t } = useTranslation('plans');
  const keys = keysToName(guards);
  const textsOf = (key: string) => guards.filter((guard) => guard.key === key);
  const warns = guards.filter(({ key }) => !keys.includes(key));
  const words = ({ domain, text }: Guard) => (domain ? `${domain}: ${text}` : text);
  return (
    <Stack gap="xs">
      {warns.map((guard) => (
        <Text key={`${guard.domain} ${guard.key} ${guard.text}`} fz="sm" component="div">
          <Status is="warn">{t(`guard.${guard.key}`)}</Status> {words(guard)}
        </Text>
      ))}
      {keys.map((key) =>
        asks ? (
          <Checkbox
            key={key}
            size="xs"
            label={t('guards.meant', { guard: t(`guard.${key}`) })}
            description={textsOf(key).map(words).join(' · ')}
            checked={named.has(key)}
            onChange={({ currentTarget }) => {
              const next = new Set(named);
              if (currentTarget.checked) next.add(key);
              else next.delete(key);
              onName(next);
            }}
          />
        ) : (
          <Text key={key} fz="sm" component="div">
            <Status is="warn">{t(`guard.${key}`)}</Status> {textsOf(key).map(words).join(' · ')}
          </Text>
        ),
      )}
    </Stack>
  );
}
