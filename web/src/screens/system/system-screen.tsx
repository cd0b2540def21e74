import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { ConfirmDestructive } from '~/components/confirm';
import { ErrorText } from '~/components/error-text';
import { JobProgress } from '~/components/job-progress';
import { RoleGate } from '~/components/role-gate';
import { Facts, Row, Rows } from '~/components/rows';
import { Screen, Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { Role } from '~/session/session';
import { Backups } from './backups';
import { useBytes } from './bytes';

type Schemas = components['schemas'];

/** The state of the service, its database, its backups. */
export function SystemScreen() {
  const { t } = useTranslation('system');
  return (
    <Screen title={t('title')} about={t('about')}>
      <RoleGate role={Role.Super}>
        <ServiceSection />
        <DatabaseSection />
        <Backups />
        <CacheSection />
        <SignInsSection />
      </RoleGate>
    </Screen>
  );
}

const REDIS = { up: 'good', away: 'bad', none: 'off' } as const;
const DAY_S = 86_400;
const HOUR_S = 3600;
const CLOCK_MATTERS_S = 2;

function ServiceSection() {
  const { t } = useTranslation('system');
  const bytes = useBytes();
  const status = $api.useQuery('get', '/api/system/status', {}, { refetchInterval: 15_000 });
  return (
    <Section title={t('service')}>
      <Loaded query={status}>
        {(data) => (
          <>
            {data.paused && <Paused pause={data.paused} />}
            <Facts
              of={[
                [t('version'), `Zoneward ${data.version}, Node.js ${data.node}`],
                [t('replica'), `${data.replica} (${data.pid})`],
                [
                  t('uptime'),
                  data.uptime >= DAY_S
                    ? t('days', { count: Math.floor(data.uptime / DAY_S) })
                    : data.uptime >= HOUR_S
                      ? t('hours', { count: Math.floor(data.uptime / HOUR_S) })
                      : t('minutes', { count: Math.floor(data.uptime / 60) }),
                ],
                [t('memory'), bytes(data.memory.rss)],
                [
                  'Redis',
                  <Status key="redis" is={REDIS[data.redis]}>
                    {t(`redis.${data.redis}`)}
                  </Status>,
                ],
                [
                  t('jobs'),
                  <Status key="jobs" is={data.jobs.failing ? 'bad' : 'good'}>
                    {data.jobs.failing ? t('failing', { count: data.jobs.failing }) : t('noneFails')}
                  </Status>,
                ],
                [
                  t('clock'),
                  <Status key="clock" is={Math.abs(data.clock_offset_seconds) > CLOCK_MATTERS_S ? 'warn' : 'good'}>
                    {t('offset', { count: Math.round(data.clock_offset_seconds) })}
                  </Status>,
                ],
              ]}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}

/** A database that was restored or copied: nothing is done until somebody says so. */
function Paused({ pause }: { pause: NonNullable<Schemas['SystemStatus']['paused']> }) {
  const { t } = useTranslation('system');
  const [isAsked, setAsked] = useState(false);
  return (
    <div role="alert">
      <Status is="warn">{t('paused')}</Status>
      <Text fz="sm" maw="70ch">
        {pause.reason} <Time iso={pause.since} />
      </Text>
      <Button my="sm" onClick={() => setAsked(true)}>
        {t('resume')}
      </Button>
      <ConfirmDestructive
        opened={isAsked}
        onClose={() => setAsked(false)}
        title={t('resumeAsk')}
        verb={t('resume')}
        onConfirm={async () => {
          await client.POST('/api/system/resume');
          await invalidate('/api/system');
        }}
      >
        {t('resumeText')}
      </ConfirmDestructive>
    </div>
  );
}

function DatabaseSection() {
  const { t, i18n } = useTranslation('system');
  const bytes = useBytes();
  const database = $api.useQuery('get', '/api/system/database');
  const number = new Intl.NumberFormat(i18n.language);
  const most = (tables: Schemas['TableRows'][]) => tables.toSorted((a, b) => b.rows - a.rows).slice(0, 5);
  return (
    <Section title={t('database')}>
      <Loaded query={database}>
        {(data) => (
          <Facts
            of={[
              [t('kind'), `${t(`kinds.${data.type}`)} ${data.version}`],
              [t('size'), bytes(data.size_bytes)],
              [t('latency'), `${number.format(data.latency_ms)} ms`],
              [t('migrations'), number.format(data.migrations.length)],
              [
                t('tables'),
                most(data.tables)
                  .map(({ name, rows }) => `${name} ${number.format(rows)}`)
                  .join(', '),
              ],
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function CacheSection() {
  const { t } = useTranslation('system');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [cleared, setCleared] = useState<Schemas['CacheCleared'] | null>(null);
  const clear = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const { data } = await client.POST('/api/system/clear-cache');
      setCleared(data ?? null);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section
      title={t('cache')}
      actions={
        <Button variant="default" loading={busy} onClick={() => void clear()}>
          {t('clearCache')}
        </Button>
      }
    >
      <Text fz="sm" c="dimmed" maw="70ch">
        {t('cacheText')}
      </Text>
      <ErrorText error={problem} />
      {cleared && <JobProgress id={cleared.job_id} label={t('compared', { count: cleared.records })} />}
    </Section>
  );
}

function SignInsSection() {
  const { t } = useTranslation('system');
  const stats = $api.useQuery('get', '/api/system/login-stats');
  const [problem, setProblem] = useState<unknown>(null);
  const unlock = async (username: string) => {
    setProblem(null);
    await client.POST('/api/system/unlock-account', { body: { username } }).catch(setProblem);
    await invalidate('/api/system/login-stats');
  };
  return (
    <Section title={t('signIns')}>
      <ErrorText error={problem} />
      <Loaded query={stats}>
        {({ last_24h, locked, top_networks }) => (
          <>
            <Facts
              of={[
                [t('lastDay'), t('okAndFailed', { ok: last_24h.ok, failed: last_24h.failed })],
                [
                  t('networks'),
                  top_networks.length > 0 && (
                    <span className="zw-mono">
                      {top_networks.map(({ network, failed }) => `${network} (${failed})`).join(', ')}
                    </span>
                  ),
                ],
              ].map(([name, value]) => [name as string, value || null])}
            />
            <Rows label={t('locked')}>
              {locked.map(({ username, network, locked_until }) => (
                <Row
                  key={`${username} ${network}`}
                  more={
                    <>
                      <span className="zw-mono">{network}</span> · {t('lockedUntil')} <Time iso={locked_until} />
                    </>
                  }
                  actions={
                    <Button
                      variant="default"
                      aria-label={t('unlockOne', { name: username })}
                      onClick={() => void unlock(username)}
                    >
                      {t('unlock')}
                    </Button>
                  }
                >
                  {username}
                </Row>
              ))}
            </Rows>
          </>
        )}
      </Loaded>
    </Section>
  );
}
