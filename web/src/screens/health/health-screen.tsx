import { Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { Facts } from '~/components/rows';
import { Section } from '~/components/screen';
import { Empty, Loaded } from '~/components/state-block';
import { type Meaning, Status } from '~/components/status';
import { Time } from '~/components/time';
import { DomainFrame, useDomainId } from '~/screens/domains/domain-frame';
import { Certificates } from './certificates';
import { Expiry } from './expiry';
import classes from './health.module.css';
import { Propagation } from './propagation';

type Health = components['schemas']['ZoneHealthView'];

const SEVERITIES: Record<Health['issues'][number]['severity'], Meaning> = {
  critical: 'bad',
  warning: 'warn',
  hint: 'off',
};

/** Whether the domain is in order, seen from outside: what is wrong comes first. */
export function HealthScreen() {
  const { t } = useTranslation('health');
  const domain = useDomainId();
  const query = $api.useQuery(
    'get',
    '/api/domains/{domain_id}/health',
    { params: { path: { domain_id: String(domain) } } },
    // servers out there are asked: not at each return to the page
    { staleTime: 60_000, refetchOnWindowFocus: false },
  );
  return (
    <DomainFrame>
      {(detail) =>
        detail.private ? (
          <Empty title={t('private.title')} text={t('private.text')} />
        ) : (
          <>
            <Section
              title={t('found')}
              actions={
                <Button variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
                  {t('lookAgain')}
                </Button>
              }
            >
              <Loaded query={query} lines={4}>
                {(health) => <Issues health={health} />}
              </Loaded>
            </Section>
            <Expiry domain={detail} />
            {query.data && <Delegation health={query.data} />}
            <Propagation />
            <Certificates domain={detail} />
          </>
        )
      }
    </DomainFrame>
  );
}

function Issues({ health }: { health: Health }) {
  const { t } = useTranslation('health');
  const { issues } = health;
  return (
    <>
      {issues.length === 0 ? (
        <Status is="good">{t('allGood')}</Status>
      ) : (
        <ul className={classes.issues}>
          {issues.map(({ code, severity, text, advice }) => (
            <li key={`${code} ${text}`} data-severity={severity}>
              <Status is={SEVERITIES[severity]}>{t(`severity.${severity}`)}</Status>
              <div>
                <b>{text}</b>
                <br />
                {advice}
              </div>
            </li>
          ))}
        </ul>
      )}
      <Text fz="xs" c="dimmed" mt="xs">
        {t('looked')} <Time iso={health.checked_at} />
      </Text>
    </>
  );
}

function Delegation({ health }: { health: Health }) {
  const { t } = useTranslation('health');
  const { ns, servers, ds, parent } = health;
  const serials = new Set(servers.flatMap(({ serial }) => (serial === null ? [] : [serial])));
  const names = (list: readonly string[] | null) => (list?.length ? list.join(', ') : null);
  return (
    <>
      <Section title={t('delegation')}>
        <Facts
          of={[
            [t('parent'), parent ?? t('parentUnknown')],
            [t('nsParent'), names(ns.parent) ?? t('notDelegated')],
            [t('nsZone'), names(ns.zone as string[] | null) ?? t('noAnswer')],
            [t('soa'), serials.size > 1 ? [...serials].join(', ') : (serials.values().next().value ?? t('noAnswer'))],
            [
              t('dnssec'),
              ds === null ? (
                t('noAnswer')
              ) : (ds as unknown[]).length ? (
                <Status key="ds" is="good">
                  {t('ds', { count: (ds as unknown[]).length })}
                </Status>
              ) : (
                <Status key="no" is="off">
                  {t('noDs')}
                </Status>
              ),
            ],
          ]}
        />
      </Section>
      <Section title={t('servers')}>
        {servers.length === 0 ? (
          <Text fz="sm" c="dimmed">
            {t('noServers')}
          </Text>
        ) : (
          <div className={classes.scroll}>
            <table className={classes.table}>
              <thead>
                <tr>
                  <th scope="col">{t('server.name')}</th>
                  <th scope="col">{t('server.state')}</th>
                  <th scope="col">{t('server.serial')}</th>
                  <th scope="col">{t('server.latency')}</th>
                </tr>
              </thead>
              <tbody>
                {servers
                  .toSorted((a, b) => Number(a.ok) - Number(b.ok))
                  .map(({ name, address, ok, lame, serial, latency_ms: ms, error }) => (
                    <tr key={`${name} ${address}`}>
                      <td>
                        <span className={classes.name}>{name}</span> <span className={classes.dim}>{address}</span>
                      </td>
                      <td>
                        <Status is={ok ? 'good' : 'bad'}>{t(`server.${ok ? 'ok' : lame ? 'lame' : 'silent'}`)}</Status>
                        {error && <div className={classes.dim}>{error}</div>}
                      </td>
                      <td data-label={t('server.serial')}>{serial ?? '–'}</td>
                      <td data-label={t('server.latency')}>{ms === null ? '–' : t('ms', { ms })}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </div>
        )}
      </Section>
    </>
  );
}
