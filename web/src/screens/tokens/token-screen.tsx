import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate, listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { ConfirmDestructive } from '~/components/confirm';
import { Dialog } from '~/components/dialog';
import { ErrorText } from '~/components/error-text';
import { ExplainForm } from '~/components/explain-form';
import { FormEnd, useApiForm } from '~/components/form';
import { Facts } from '~/components/rows';
import { Screen, Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Time } from '~/components/time';
import { EditToken } from './edit-token';
import { NewSecret } from './new-secret';
import { RuleWords } from './rule-words';
import type { Token } from './token-draft';
import { TokenState } from './token-state';
import { TokenUses } from './token-uses';

type Created = components['schemas']['TokenCreated'];
const MOST_DOMAINS = 500;

/** One token: what it may, its use, and what can be done with it. */
export function TokenScreen({ id }: { id: number }) {
  const { t } = useTranslation('tokens');
  const params = { params: { path: { id } } };
  const token = $api.useQuery('get', '/api/tokens/{id}', params);
  const [isEdited, setEdited] = useState(false);
  const crumbs = [{ label: t('title'), to: '/tokens' }];
  const domains = useQuery(listOptions('/api/tokens/domains', { query: { limit: MOST_DOMAINS } }));
  return (
    <Screen
      title={token.data?.name ?? t('one')}
      crumbs={crumbs}
      actions={token.data && !isEdited && <Actions token={token.data} onEdit={() => setEdited(true)} />}
    >
      <Loaded query={token}>
        {(data) =>
          isEdited ? (
            <EditToken id={id} known={domains.data?.rows ?? []} onClose={() => setEdited(false)} />
          ) : (
            <>
              <Section title={t('what')}>
                <Limits token={data} names={domains.data?.rows ?? []} />
              </Section>
              <Section title={t('uses.title')}>
                <TokenUses id={id} />
              </Section>
              <Section title={t('simulator')}>
                <Text fz="sm" c="dimmed" mb="sm" maw="70ch">
                  {t('simulatorText')}
                </Text>
                <ExplainForm
                  source="/api/tokens/domains"
                  explain={async (body) => {
                    const { data } = await client.POST('/api/tokens/{id}/explain', { ...params, body });
                    return data as components['schemas']['Explanation'];
                  }}
                />
              </Section>
              <EndOfUse token={data} />
            </>
          )
        }
      </Loaded>
    </Screen>
  );
}

function Limits({ token, names }: { token: Token; names: { id: number; name: string }[] }) {
  const { t } = useTranslation('tokens');
  const nameOf = (id: number) => names.find((domain) => domain.id === id)?.name ?? `#${id}`;
  return (
    <Facts
      of={[
        [t('stateOf'), <TokenState key="state" token={token} />],
        [
          t('scopes'),
          token.allowed_services.includes('*')
            ? t('scope.*')
            : token.allowed_services.map((scope) => t(`scope.${scope}`)).join('; '),
        ],
        [t('domains'), token.allowed_domains.length ? token.allowed_domains.map(nameOf).join(', ') : t('allDomains')],
        [t('rules'), token.rules ? <RuleWords key="rules" rules={token.rules} nameOf={nameOf} /> : t('noRules')],
        [t('networks'), token.allowed_cidrs.join(', ') || t('anyNetwork')],
        [t('startTime'), token.start_time && <Time iso={token.start_time} exact />],
        [t('endTime'), token.end_time ? <Time key="end" iso={token.end_time} exact /> : t('never')],
        [t('unusedDays'), token.max_unused_days],
        [t('role'), t(`common:role.${token.max_role}`)],
        [t('made'), <Time key="made" iso={token.created_at} exact />],
        [t('previous'), token.previous_until && <Time iso={token.previous_until} exact />],
      ]}
    />
  );
}

function Actions({ token, onEdit }: { token: Token; onEdit: () => void }) {
  const { t } = useTranslation('tokens');
  const [isRotating, setRotating] = useState(false);
  const [made, setMade] = useState<Created | null>(null);
  return (
    <>
      <Button variant="default" onClick={() => setRotating(true)}>
        {t('rotate')}
      </Button>
      <Button onClick={onEdit}>{t('change')}</Button>
      {isRotating && (
        <RotateDialog
          token={token}
          onClose={() => setRotating(false)}
          onMade={(created) => {
            setRotating(false);
            setMade(created);
          }}
        />
      )}
      {made && <NewSecret secret={made.token} name={token.name} onClose={() => setMade(null)} />}
    </>
  );
}

function EndOfUse({ token }: { token: Token }) {
  const { t } = useTranslation('tokens');
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const params = { path: { id: token.id } };
  const enable = async (is_active: boolean) => {
    setProblem(null);
    await client.PATCH('/api/tokens/{id}/status', { params, body: { is_active } }).catch(setProblem);
    await invalidate('/api/tokens');
  };
  return (
    <Section title={t('endOfUse')}>
      <Text fz="sm" c="dimmed" mb="sm">
        {t('disableText')}
      </Text>
      <ErrorText error={problem} />
      <Group gap="sm">
        <Button variant="default" onClick={() => void enable(!token.is_active)}>
          {token.is_active ? t('disable') : t('enable')}
        </Button>
        <Button variant="default" onClick={() => setDeleting(true)}>
          {t('delete')}
        </Button>
      </Group>
      <ConfirmDestructive
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title={t('deleteTitle', { name: token.name })}
        verb={t('delete')}
        onConfirm={async () => {
          await client.DELETE('/api/tokens/{id}', { params });
          await navigate({ to: '/tokens' });
          await invalidate('/api/tokens', '/api/bootstrap');
        }}
      >
        {t('deleteText')}
      </ConfirmDestructive>
    </Section>
  );
}

interface RotateProps {
  token: Token;
  onClose: () => void;
  onMade: (created: Created) => void;
}

function RotateDialog({ token, onClose, onMade }: RotateProps) {
  const { t } = useTranslation('tokens');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { overlap_minutes: 0 as number | string },
    save: async ({ overlap_minutes }) => {
      const body = { overlap_minutes: Number(overlap_minutes) };
      const { data } = await client.POST('/api/tokens/{id}/rotate', { params: { path: { id: token.id } }, body });
      await invalidate('/api/tokens');
      if (data) onMade(data);
    },
  });
  return (
    <Dialog opened title={t('rotateTitle', { name: token.name })} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <Text fz="sm">{t('rotateText')}</Text>
          <NumberInput
            label={t('overlap')}
            description={t('overlapHint')}
            min={0}
            max={1440}
            data-autofocus
            {...form.getInputProps('overlap_minutes')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('rotate')} />
        </Stack>
      </form>
    </Dialog>
  );
}
