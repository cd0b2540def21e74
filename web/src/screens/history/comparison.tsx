import { Button, Group, NumberInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { ErrorText } from '~/components/error-text';
import { Section } from '~/components/screen';
import { Empty, Loaded } from '~/components/state-block';
import { useDomainId } from '~/screens/domains/domain-frame';
import { Changes } from '~/screens/plans/changes';
import { BackLink } from './back-link';
import { diffText, usePlanning } from './version';

/** What became of each record between two versions. */
export function VersionDiff({ from, to }: { from: number; to: number }) {
  const { t } = useTranslation('history');
  const domain = useDomainId();
  const path = { domain_id: String(domain), version: from, other: to };
  const query = $api.useQuery('get', '/api/domains/{domain_id}/versions/{version}/diff/{other}', { params: { path } });
  return (
    <Loaded query={query}>
      {({ changes, hidden }) =>
        changes.length + hidden === 0 ? (
          <Empty title={t('same.title')} text={t('same.text', { from, to })} />
        ) : (
          <Changes
            label={t('between', { from, to })}
            changes={changes}
            hidden={hidden}
            text={{
              queryKey: ['get', '/api/domains/{domain_id}/versions/{version}/diff/{other}', path, 'text'],
              read: () => diffText(domain, from, to),
            }}
          />
        )
      }
    </Loaded>
  );
}

/** Two versions beside each other, and the way back to the older one. */
export function Comparison({ from, to }: { from: number; to: number }) {
  const { t } = useTranslation('history');
  const domain = useDomainId();
  const navigate = useNavigate();
  const [a, setA] = useState<number | string>(from);
  const [b, setB] = useState<number | string>(to);
  const { plan, mayWrite, busy, error, isNothing } = usePlanning();
  const show = (one: number | string, other: number | string) =>
    void navigate({
      to: `/domains/${domain}/history` as never,
      search: { from: String(one), to: String(other) } as never,
    });
  return (
    <>
      <BackLink />
      <Section
        title={t('between', { from, to })}
        actions={
          mayWrite && (
            <Button
              variant="default"
              loading={busy}
              onClick={() =>
                plan({ version: from, comment: t('restoreComment', { version: from }) }, { version: String(from) })
              }
            >
              {t('restore', { version: from })}
            </Button>
          )
        }
      >
        <ErrorText error={error} />
        {isNothing && <p role="status">{t('asItIs', { version: from })}</p>}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            show(a, b);
          }}
        >
          <Group gap="xs" align="flex-end" mb="md">
            <NumberInput size="xs" w={100} label={t('from')} min={1} value={a} onChange={setA} hideControls />
            <NumberInput size="xs" w={100} label={t('to')} min={1} value={b} onChange={setB} hideControls />
            <Button type="submit" variant="default">
              {t('show')}
            </Button>
            <Button variant="subtle" onClick={() => show(to, from)}>
              {t('swap')}
            </Button>
          </Group>
        </form>
        <VersionDiff from={from} to={to} />
      </Section>
    </>
  );
}
