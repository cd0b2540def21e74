import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { ErrorText } from '~/components/error-text';
import { Facts } from '~/components/rows';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Time } from '~/components/time';
import { useDomainId } from '~/screens/domains/domain-frame';
import { ChangeSet } from '~/screens/plans/change-set';
import { CountsText, TextForm } from '~/screens/plans/changes';
import { useDoor, Who } from '~/screens/plans/who';
import { BackLink } from './back-link';
import { VersionDiff } from './comparison';
import { usePlanning, type Version, zoneFile } from './version';

/** versions that are read to find one: those beside it are in the same order, without gaps */
const PAGE = 50;

/** One version: what led to it, and the way back to it. */
export function VersionDetail({ version }: { version: number }) {
  const { t } = useTranslation('history');
  const domain = useDomainId();
  const path = { domain_id: String(domain) };
  const newest = useQuery(listOptions('/api/domains/{domain_id}/versions', { path, query: { page: 1, limit: 1 } }));
  const last = newest.data?.rows[0]?.version;
  const page = last === undefined ? 1 : Math.max(1, Math.ceil((last - version + 1) / PAGE));
  const query = useQuery({
    ...listOptions('/api/domains/{domain_id}/versions', { path, query: { page, limit: PAGE } }),
    enabled: last !== undefined,
  });
  const { plan, mayWrite, busy, error, isNothing } = usePlanning();
  const [isFile, setFile] = useState(false);
  const restore = () => plan({ version, comment: t('restoreComment', { version }) }, { version: String(version) });
  return (
    <>
      <BackLink />
      <Section
        title={t('title.version', { version })}
        actions={
          mayWrite &&
          version !== last && (
            <Button loading={busy} onClick={restore}>
              {t('restore', { version })}
            </Button>
          )
        }
      >
        <ErrorText error={error} />
        {isNothing && (
          <Text fz="sm" role="status" mb="xs">
            {t('asItIs', { version })}
          </Text>
        )}
        <Loaded query={newest} lines={4}>
          {() =>
            last === undefined ? (
              <Head row={undefined} last={last} />
            ) : (
              <Loaded query={query} lines={4}>
                {({ rows }) => <Head row={rows.find((row) => row.version === version)} last={last} />}
              </Loaded>
            )
          }
        </Loaded>
      </Section>
      <Section
        title={version > 1 ? t('sinceBefore', { before: version - 1 }) : t('records')}
        actions={
          <Button variant="default" aria-pressed={isFile} onClick={() => setFile(!isFile)}>
            {isFile ? t('difference') : t('zoneFile')}
          </Button>
        }
      >
        {isFile || version === 1 ? (
          <TextForm
            label={t('zoneFileOf', { version })}
            queryKey={['get', '/api/domains/{domain_id}/versions/{version}', { domain, version }, 'text']}
            read={() => zoneFile(domain, version)}
          />
        ) : (
          <VersionDiff from={version - 1} to={version} />
        )}
      </Section>
      {query.data?.rows
        .filter((row) => row.version === version && row.change_set_id !== null)
        .map((row) => (
          <ChangeSet key={row.version} domain={domain} id={row.change_set_id as number} brief />
        ))}
    </>
  );
}

function Head({ row, last }: { row: Version | undefined; last: number | undefined }) {
  const { t } = useTranslation(['history', 'plans']);
  const door = useDoor();
  const domain = useDomainId();
  if (!row) return <Text fz="sm">{t('notKept')}</Text>;
  return (
    <>
      <Facts
        of={[
          [t('plans:facts.by'), <Who key="by" of={row.actor} />],
          [t('plans:facts.door'), door(row.door)],
          [t('plans:facts.comment'), row.comment],
          [t('plans:facts.made'), <Time key="made" iso={row.created_at} exact />],
          [t('plans:facts.changes'), row.counts && <CountsText key="counts" counts={row.counts} />],
        ]}
      />
      {last !== undefined && last !== row.version && (
        <AppLink fz="sm" to={`/domains/${domain}/history`} search={{ from: String(row.version), to: String(last) }}>
          {t('compareNewest', { version: last })}
        </AppLink>
      )}
    </>
  );
}
