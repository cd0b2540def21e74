import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import { ConfirmDestructive } from '~/components/confirm';
import { ErrorText } from '~/components/error-text';
import { Row, Rows } from '~/components/rows';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Time } from '~/components/time';
import { useFresh } from './fresh';

/** Sign-ins at OpenID and OAuth providers that open this account. */
export function IdentitiesSection() {
  const { t } = useTranslation('profile');
  const bound = $api.useQuery('get', '/api/security/bind-oauth');
  const ways = $api.useQuery('get', '/api/auth/oauth/status');
  const { fresh, dialog } = useFresh();
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [removed, setRemoved] = useState<string | null>(null);
  const bind = async (provider: string) => {
    setBusy(provider);
    setProblem(null);
    try {
      const answer = await fresh(() => client.POST('/api/security/bind-oauth', { body: { provider } }));
      if (answer?.data) location.assign(answer.data.auth_url);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(null);
    }
  };
  const nameOf = (key: string | null) => ways.data?.providers.find((way) => way.key === key)?.name ?? key;
  const free = (ways.data?.providers ?? []).filter(({ key }) => !bound.data?.some(({ provider }) => provider === key));
  if (bound.data?.length === 0 && ways.data?.providers.length === 0) return null;
  return (
    <Section title={t('identities.title')}>
      <Text fz="sm" c="dimmed" maw="70ch">
        {t('identities.about')}
      </Text>
      <ErrorText error={problem} />
      <Loaded query={bound} lines={2}>
        {(list) => (
          <Rows label={t('identities.title')}>
            {list.map(({ provider, name, created_at, last_used_at }) => (
              <Row
                key={provider}
                more={
                  <>
                    {t('identities.bound')} <Time iso={created_at} /> · {t('passkeys.used')}{' '}
                    {last_used_at ? <Time iso={last_used_at} /> : t('never')}
                  </>
                }
                actions={
                  <Button
                    variant="subtle"
                    aria-label={t('identities.removeOne', { name: nameOf(provider) })}
                    onClick={() => setRemoved(provider)}
                  >
                    {t('remove')}
                  </Button>
                }
              >
                {nameOf(provider)}: {name}
              </Row>
            ))}
            {free.map(({ key, name }) => (
              <Row
                key={key}
                actions={
                  <Button variant="default" loading={busy === key} onClick={() => void bind(key)}>
                    {t('identities.bind', { name })}
                  </Button>
                }
              >
                {name}
              </Row>
            ))}
          </Rows>
        )}
      </Loaded>
      <ConfirmDestructive
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('identities.removeTitle', { name: nameOf(removed) })}
        verb={t('remove')}
        onConfirm={async () => {
          const params = { path: { provider: removed ?? '' } };
          await client.DELETE('/api/security/bind-oauth/{provider}', { params });
          await invalidate('/api/security/bind-oauth');
        }}
      >
        {t('identities.removeText')}
      </ConfirmDestructive>
      {dialog}
    </Section>
  );
}
