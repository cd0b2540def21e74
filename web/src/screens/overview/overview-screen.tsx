import { Button, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { Screen, Section } from '~/components/screen';
import { Empty, Loaded, Loading } from '~/components/state-block';
import { Status } from '~/components/status';
import { Role, useMay } from '~/session/session';
import { AttentionList } from './attention-list';
import { LastChanges } from './last-changes';
import classes from './overview.module.css';

type Dashboard = components['schemas']['DashboardView'];

const Charts = lazy(() => import('./charts'));
/** entries of each kind */
const SHOWN = 10;

/** What needs attention first, then what was changed last. */
export function OverviewScreen() {
  const { t } = useTranslation('overview');
  const dashboard = $api.useQuery('get', '/api/dashboard', { params: { query: { limit: SHOWN } } });
  return (
    <Screen title={t('title')}>
      <Loaded query={dashboard}>{(data) => (isFresh(data) ? <Fresh /> : <Filled dashboard={data} />)}</Loaded>
    </Screen>
  );
}

const isFresh = ({ counts }: Dashboard) => counts.domains === 0 && !counts.accounts;

/** Nothing is connected yet: how to begin. */
function Fresh() {
  const { t } = useTranslation('overview');
  const isAdmin = useMay(Role.Admin);
  if (!isAdmin) return <Empty title={t('fresh.userTitle')} text={t('fresh.user')} />;
  return (
    <>
      <Empty
        title={t('fresh.title')}
        text={t('fresh.text')}
        action={
          <Button renderRoot={(props) => <Link to="/accounts" search={{ add: 'choose' } as never} {...props} />}>
            {t('fresh.connect')}
          </Button>
        }
      />
      <ol className={classes.steps}>
        {(['connect', 'find', 'publish'] as const).map((step) => (
          <li key={step}>
            <b>{t(`fresh.step.${step}`)}</b>
            <span>{t(`fresh.about.${step}`)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

const HEALTH = { missing: 'bad', sync_failed: 'bad', paused: 'warn', never_synced: 'off', ok: 'good' } as const;

function Filled({ dashboard: { counts, domains, attention, changes } }: { dashboard: Dashboard }) {
  const { t } = useTranslation('overview');
  const states = (Object.keys(HEALTH) as (keyof typeof HEALTH)[]).filter((key) => domains[key] > 0);
  return (
    <>
      <p className={classes.counts}>
        <span>{t('counts.domains', { count: counts.domains })}</span>
        {counts.records !== null && <span>{t('counts.records', { count: counts.records })}</span>}
        {counts.accounts !== null && <span>{t('counts.accounts', { count: counts.accounts })}</span>}
        {states.map((key) => (
          <Status key={key} is={HEALTH[key]}>
            {t(`health.${key}`, { count: domains[key] })}
          </Status>
        ))}
      </p>
      <Section title={t('attention.title')}>
        <AttentionList attention={attention} />
      </Section>
      <div className={classes.columns}>
        <Section title={t('changes.title')}>
          {changes === null ? (
            <Text fz="sm" c="dimmed">
              {t('changes.noRight')}
            </Text>
          ) : (
            <LastChanges changes={changes} />
          )}
        </Section>
        <div>
          <Suspense fallback={<Loading lines={6} />}>
            <Charts providers={counts.by_provider} mayReadChanges={changes !== null} />
          </Suspense>
        </div>
      </div>
    </>
  );
}
