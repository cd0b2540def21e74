import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { RemoteSelect } from '~/components/remote-select';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { type Meaning, Status } from '~/components/status';
import { Time } from '~/components/time';
import { useDomainId } from '~/screens/domains/domain-frame';
import classes from './health.module.css';

type Schemas = components['schemas'];

const VERDICTS: Record<Schemas['PropagationView']['verdict'], Meaning> = {
  published: 'good',
  partial: 'warn',
  unpublished: 'bad',
  unreachable: 'bad',
};
const SERVERS: Record<Schemas['ServerView']['status'], Meaning> = {
  published: 'good',
  stale: 'warn',
  missing: 'bad',
  unreachable: 'bad',
};

/** of a value in the list */
const LONGEST = 60;

/** Whether a record is live: what each name server and each resolver answers for its set. */
export function Propagation() {
  const { t } = useTranslation('health');
  const domain = useDomainId();
  const path = { domain_id: String(domain) };
  const [record, setRecord] = useState<number | null>(null);
  const live = $api.useQuery(
    'get',
    '/api/domains/{domain_id}/records/{record_id}/propagation',
    { params: { path: { ...path, record_id: record ?? 0 } } },
    { enabled: record !== null, staleTime: 0, refetchOnWindowFocus: false },
  );
  return (
    <Section title={t('propagation.title')}>
      <Group gap="xs" align="flex-end" mb="sm">
        <RemoteSelect
          of="/api/domains/{domain_id}/records"
          path={path}
          label={t('propagation.record')}
          labelOf={({ unicode_host: host, type, value }) =>
            `${host} ${type} ${value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value}`
          }
          w={420}
          maw="100%"
          size="sm"
          value={record}
          onChange={setRecord}
          comboboxProps={{ withinPortal: false }}
        />
        {record !== null && (
          <Button variant="default" h={36} loading={live.isFetching} onClick={() => void live.refetch()}>
            {t('lookAgain')}
          </Button>
        )}
      </Group>
      {record !== null && (
        <Loaded query={live} lines={3}>
          {({ verdict, servers, checked_at: at }) => (
            <div role="status">
              <Status is={VERDICTS[verdict]}>{t(`verdict.${verdict}`)}</Status>
              <Text span fz="xs" c="dimmed" ml="sm">
                {t('looked')} <Time iso={at} />
              </Text>
              <div className={classes.scroll}>
                <table className={classes.table} aria-label={t('propagation.title')}>
                  <thead>
                    <tr>
                      <th scope="col">{t('server.name')}</th>
                      <th scope="col">{t('server.state')}</th>
                      <th scope="col">{t('server.ttl')}</th>
                      <th scope="col">{t('server.serial')}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {servers.map(({ role, name, address, status, ttl, serial, error }) => (
                      <tr key={`${role} ${name} ${address}`}>
                        <td>
                          <span className={classes.name}>{name}</span>{' '}
                          <span className={classes.dim}>
                            {address} {t(`role.${role}`)}
                          </span>
                        </td>
                        <td>
                          <Status is={SERVERS[status]}>{t(`answer.${status}`)}</Status>
                          {error && <div className={classes.dim}>{error}</div>}
                        </td>
                        <td data-label={t('server.ttl')}>{ttl ?? '–'}</td>
                        <td data-label={t('server.serial')}>{serial ?? '–'}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </div>
          )}
        </Loaded>
      )}
    </Section>
  );
}
