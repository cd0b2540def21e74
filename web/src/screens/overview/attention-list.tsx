import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { Role, useMay } from '~/session/session';
import classes from './overview.module.css';

type Attention = components['schemas']['Attention'];
type Item = components['schemas']['AttentionItem'];

const MEANINGS = { critical: 'bad', warning: 'warn', hint: 'off' } as const;

/** entries of each kind, until all are asked for */
const FIRST = 3;

interface Place {
  to: string;
  search?: Record<string, string>;
}

/** The screen where something can be done about it. */
export function placeOf({ kind, domain_id, account_id }: Item, mayAccounts: boolean): Place {
  if (kind === 'job_failing') return { to: '/jobs' };
  if (account_id !== null)
    return mayAccounts
      ? { to: `/accounts/${account_id}` }
      : { to: '/domains', search: { account_id: String(account_id) } };
  const tab = {
    registration_ending: '/settings',
    certificate_ending: '/health',
    delegation_broken: '/health',
    failover_held: '/failover',
    failover_backup: '/failover',
    change_in_doubt: '/history',
    change_held: '/history',
  }[kind as string];
  return { to: `/domains/${domain_id}${tab ?? ''}` };
}

/** What needs attention, the worst first, each with the way to where something can be done. */
export function AttentionList({ attention: { list, totals } }: { attention: Attention }) {
  const { t, i18n } = useTranslation('overview');
  const mayAccounts = useMay(Role.Admin);
  const [isWhole, setWhole] = useState(false);
  const of = (item: Item) => list.filter(({ kind }) => kind === item.kind);
  const shown = isWhole ? list : list.filter((item) => of(item).indexOf(item) < FIRST);
  const all = Object.values(totals).reduce<number>((sum, n) => sum + (n ?? 0), 0);
  if (list.length === 0)
    return (
      <p className={classes.calm}>
        <Status is="good">{t('attention.none')}</Status>
      </p>
    );
  return (
    <>
      <ul className={classes.attention} aria-label={t('attention.title')}>
        {shown.map((item) => {
          const { kind, severity, text, since, ends_at } = item;
          return (
            <li key={`${kind} ${text}`}>
              <Status is={MEANINGS[severity]}>
                <AppLink {...placeOf(item, mayAccounts)} fz="sm" fw={500} c="inherit" underline="always">
                  {t(`kind.${kind}`)}
                </AppLink>
              </Status>
              <span className={classes.words} {...(i18n.language !== 'en' && { lang: 'en' })}>
                {text}
              </span>
              <span className={classes.when}>{(ends_at ?? since) && <Time iso={ends_at ?? since} />}</span>
            </li>
          );
        })}
      </ul>
      {shown.length < list.length ? (
        <Button variant="subtle" size="compact-sm" mt={6} onClick={() => setWhole(true)}>
          {t('attention.all', { count: list.length })}
        </Button>
      ) : (
        all > list.length && (
          <Text fz="xs" c="dimmed" mt={6}>
            {t('attention.more', { count: all - list.length })}
          </Text>
        )
      )}
    </>
  );
}
