import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { Box } from '~/components/box';
import { ConfirmDestructive } from '~/components/confirm';
import { DiffView, type RecordChange } from '~/components/diff-view';
import { ErrorText } from '~/components/error-text';
import { notifyDone } from '~/components/notify';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { useDomainId } from '~/screens/domains/domain-frame';
import { recordsChanged } from '~/screens/plans/plan';
import classes from './history.module.css';
import { usePlanning } from './version';

type Set = components['schemas']['DriftDifference'];

/** sets that are shown at once: what is to be done with more of them is done with all */
const SHOWN = 50;

/** The records of a set before and after, paired by their values: what stays is not told. */
function changesOf({ host, type, wanted, found }: Set): RecordChange[] {
  const same = (a: Set['found'][number], b: Set['found'][number]) => a.value === b.value && a.line === b.line;
  const gone = wanted.filter((one) => !found.some((other) => same(one, other)));
  const come = found.filter((one) => !wanted.some((other) => same(one, other)));
  const pairs = Array.from({ length: Math.max(gone.length, come.length) }, (_, i) => [gone[i], come[i]] as const);
  const kept = wanted.flatMap((one) => {
    const other = found.find((candidate) => same(one, candidate));
    return other && JSON.stringify(one) !== JSON.stringify(other) ? [[one, other] as const] : [];
  });
  return [...pairs, ...kept].map(([before = null, after = null]) => ({
    ...{ host, type, before, after },
    op: !before ? 'create' : after ? 'update' : 'delete',
  }));
}

/** What somebody changed at the provider: it can be accepted, or taken back by a plan. */
export function Drift() {
  const { t } = useTranslation('history');
  const domain = useDomainId();
  const path = { domain_id: String(domain) };
  const query = $api.useQuery('get', '/api/domains/{domain_id}/drift', {
    params: { path, query: { page: 1, limit: SHOWN } },
  });
  const { plan, mayWrite, busy, error, isNothing } = usePlanning();
  const [accepting, setAccepting] = useState<Set | 'all' | null>(null);
  const revert = (set?: Set) =>
    plan(
      { drift: true, comment: t('drift.comment'), ...(set && { hosts: [set.host], types: [set.type] }) },
      { drift: '1', ...(set && { host: set.host, type: set.type }) },
    );
  const accept = async (set: Set | 'all') => {
    const filter = set === 'all' ? {} : { host: set.host, type: set.type };
    const { data } = await client.DELETE('/api/domains/{domain_id}/drift', { params: { path, query: filter } });
    await recordsChanged();
    notifyDone(t('drift.accepted', { count: data?.accepted ?? 0 }));
  };
  return (
    <Section
      title={t('drift.title')}
      actions={
        mayWrite &&
        (query.data?.total ?? 0) > 0 && (
          <>
            <Button variant="default" onClick={() => setAccepting('all')}>
              {t('drift.acceptAll')}
            </Button>
            <Button loading={busy} onClick={() => revert()}>
              {t('drift.revertAll')}
            </Button>
          </>
        )
      }
    >
      <ErrorText error={error} />
      {isNothing && (
        <Text fz="sm" role="status">
          {t('drift.nothing')}
        </Text>
      )}
      <Loaded query={query} lines={3}>
        {({ differences, total, hidden, hold_reason: hold, plan_id: waiting, compared_at: at, mode }) => (
          <>
            {hold && <Box is="warn">{hold}</Box>}
            {waiting !== null && (
              <Text fz="sm" mb="xs">
                <AppLink to={`/plans/${waiting}`}>{t('drift.plan', { id: waiting })}</AppLink>
              </Text>
            )}
            {total === 0 ? (
              <Text fz="sm" component="div">
                <Status is="good">{t('drift.none')}</Status>{' '}
                {at && (
                  <Text span fz="sm" c="dimmed">
                    {t('drift.compared')} <Time iso={at} />
                  </Text>
                )}
              </Text>
            ) : (
              <Text fz="sm" c="dimmed" mb="xs">
                {t(`drift.about.${mode}`)}
              </Text>
            )}
            {differences.map((set) => (
              <div key={`${set.host} ${set.type}`} className={classes.set}>
                <div className={classes.setHead}>
                  <span className={classes.name}>
                    {set.host} <b>{set.type}</b>
                  </span>
                  <Text span fz="sm" c="dimmed">
                    {t('drift.found')} <Time iso={set.found_at} />
                  </Text>
                  {mayWrite && (
                    <Group gap={4}>
                      <Button
                        variant="subtle"
                        size="compact-xs"
                        aria-label={t('drift.acceptOne', { name: `${set.host} ${set.type}` })}
                        onClick={() => setAccepting(set)}
                      >
                        {t('drift.accept')}
                      </Button>
                      <Button
                        variant="subtle"
                        size="compact-xs"
                        aria-label={t('drift.revertOne', { name: `${set.host} ${set.type}` })}
                        onClick={() => revert(set)}
                      >
                        {t('drift.revert')}
                      </Button>
                    </Group>
                  )}
                </div>
                {set.hold_reason && <Box is="warn">{set.hold_reason}</Box>}
                <DiffView label={`${set.host} ${set.type}`} changes={changesOf(set)} />
              </div>
            ))}
            {total > differences.length && (
              <Text fz="sm" c="dimmed">
                {t('drift.more', { count: total - differences.length })}
              </Text>
            )}
            {hidden > 0 && (
              <Text fz="sm" c="dimmed">
                {t('drift.hidden', { count: hidden })}
              </Text>
            )}
          </>
        )}
      </Loaded>
      <ConfirmDestructive
        opened={accepting !== null}
        onClose={() => setAccepting(null)}
        title={
          accepting === 'all' || !accepting
            ? t('drift.askAll')
            : t('drift.ask', { name: `${accepting.host} ${accepting.type}` })
        }
        verb={t('drift.accept')}
        onConfirm={() => accept(accepting ?? 'all')}
      >
        {t('drift.askText')}
      </ConfirmDestructive>
    </Section>
  );
}
