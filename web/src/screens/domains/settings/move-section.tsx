import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { $api, invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { ConfirmDestructive } from '~/components/confirm';
import { ErrorText } from '~/components/error-text';
import { FormEnd, useApiForm } from '~/components/form';
import { RemoteSelect } from '~/components/remote-select';
import { Section } from '~/components/screen';
import { Failure, Loading } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { Role, useMay } from '~/session/session';
import type { DomainDetail } from '../domains';
import classes from '../domains.module.css';

type Move = components['schemas']['MoveView'];
type Step = 'copy' | 'follow' | 'switch' | 'finish' | 'cancel';

const STATES = ['planned', 'copied', 'following', 'switched', 'done'] as const;
/** the step that leads on from a state */
const NEXT: Partial<Record<Move['state'], Step>> = {
  planned: 'copy',
  copied: 'follow',
  following: 'switch',
  switched: 'finish',
};

/** Moves the domain to another account, step by step. */
export function MoveSection({ domain }: { domain: DomainDetail }) {
  const { t } = useTranslation('domains');
  const isAdmin = useMay(Role.Admin);
  const path = { domain_id: String(domain.id) };
  const move = $api.useQuery('get', '/api/domains/{domain_id}/migration', { params: { path } }, { retry: false });
  const isNone = move.error instanceof ApiError && (move.error as ApiError).status === 404;
  const goesOn = move.data && !['done', 'cancelled'].includes(move.data.state);
  if (!isAdmin && !goesOn) return null;
  return (
    <Section title={t('move.title')}>
      {goesOn && move.data ? (
        <Steps domain={domain} move={move.data} />
      ) : move.data || isNone ? (
        <Begin domain={domain} />
      ) : move.error ? (
        <Failure error={move.error} retry={move.refetch} />
      ) : (
        <Loading lines={2} />
      )}
    </Section>
  );
}

function Begin({ domain }: { domain: DomainDetail }) {
  const { t } = useTranslation('domains');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { account_id: null as number | null, create: false },
    validate: { account_id: (id) => (id === null ? t('add.chooseAccount') : null) },
    save: async ({ account_id, create }) => {
      const params = { path: { domain_id: String(domain.id) } };
      await client.POST('/api/domains/{domain_id}/migration', {
        params,
        body: { account_id: account_id ?? 0, create },
      });
      await invalidate('/api/domains');
    },
  });
  return (
    <form onSubmit={onSubmit} aria-label={t('move.title')} noValidate>
      <Stack gap="sm">
        <Text fz="sm">{t('move.about')}</Text>
        <RemoteSelect
          of="/api/accounts"
          label={t('move.account')}
          value={form.values.account_id}
          onChange={(id) => form.setFieldValue('account_id', id)}
          error={form.errors.account_id}
        />
        <Checkbox size="xs" label={t('add.create')} {...form.getInputProps('create', { type: 'checkbox' })} />
      </Stack>
      <FormEnd busy={busy} problem={problem} verb={t('move.begin')} />
    </form>
  );
}

function Steps({ domain, move }: { domain: DomainDetail; move: Move }) {
  const { t } = useTranslation('domains');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [asks, setAsks] = useState<'switch' | 'cancel' | 'replace' | null>(null);
  const { state, behind, behind_since, error, checks, target_domain_id } = move;
  const next = NEXT[state];
  const params = { path: { domain_id: String(domain.id) } };
  const take = async (step: Step, replace = false) => {
    const base = '/api/domains/{domain_id}/migration';
    if (step === 'copy') await client.POST(`${base}/copy`, { params, body: { replace } });
    else await client.POST(`${base}/${step}`, { params });
    await invalidate('/api/domains', '/api/dashboard');
  };
  const go = async (step: Step) => {
    setBusy(true);
    setProblem(null);
    await take(step).catch(setProblem);
    setBusy(false);
  };
  const stands = problem instanceof ApiError && problem.status === 409 && state === 'planned';
  return (
    <>
      <ol className={classes.steps} aria-label={t('move.steps')}>
        {STATES.map((one, i) => {
          const at = STATES.indexOf(state as (typeof STATES)[number]);
          return (
            <li key={one} aria-current={one === state ? 'step' : undefined}>
              <Status is={i < at ? 'good' : i === at ? 'busy' : 'off'}>{t(`move.state.${one}`)}</Status>
            </li>
          );
        })}
      </ol>
      <Report move={move} />
      <ul className={classes.list} aria-label={t('move.checks')}>
        {checks.map(({ key, ok, text }) => (
          <li key={key}>
            <Status is={ok ? 'good' : 'warn'}>{t(`move.check.${key}`)}</Status> <small>{text}</small>
          </li>
        ))}
      </ul>
      {behind > 0 && (
        <Text fz="sm" mt="sm" c="var(--zw-warn)">
          {t('move.behind', { count: behind })} <Time iso={behind_since} /> {error}
        </Text>
      )}
      {target_domain_id !== null && (
        <Text fz="sm" mt="sm">
          <AppLink to={`/domains/${target_domain_id}`} fz="sm">
            {t(state === 'switched' ? 'move.oldZone' : 'move.newZone')}
          </AppLink>
        </Text>
      )}
      <Text fz="sm" mt="sm">
        {next && t(`move.next.${next}`)}
      </Text>
      <ErrorText error={problem} />
      <Group gap="sm" mt="sm" justify="flex-end">
        <Button variant="default" onClick={() => setAsks('cancel')}>
          {t('move.step.cancel')}
        </Button>
        {stands && (
          <Button variant="default" onClick={() => setAsks('replace')}>
            {t('move.replace')}
          </Button>
        )}
        {next && (
          <Button loading={busy} onClick={() => (next === 'switch' ? setAsks('switch') : go(next))}>
            {t(`move.step.${next}`)}
          </Button>
        )}
      </Group>
      <ConfirmDestructive
        opened={asks !== null}
        onClose={() => setAsks(null)}
        title={t(`move.asks.${asks ?? 'switch'}`, { name: domain.unicode_name })}
        verb={asks === 'replace' ? t('move.replace') : t(`move.step.${asks ?? 'switch'}`)}
        onConfirm={() => (asks === 'replace' ? take('copy', true) : take(asks ?? 'switch'))}
      >
        {t(`move.text.${asks ?? 'switch'}`)}
      </ConfirmDestructive>
    </>
  );
}

/** What the new provider cannot hold as it is. */
function Report({ move: { report } }: { move: Move }) {
  const { t } = useTranslation('domains');
  return (['lost', 'changed'] as const).map((kind) => {
    const [count, rows] = [report[`${kind}_count`], report[kind]];
    if (count === 0) return null;
    return (
      <div key={kind} className="zw-notice" {...(kind === 'lost' && { 'data-is': 'warn' })}>
        <b>{t(`move.${kind}`, { count })}</b>
        <ul className={classes.list}>
          {rows.map(({ host, type, what, why }) => (
            <li key={`${host} ${type} ${what}`}>
              <span className="zw-mono">
                {host} {type} {what}
              </span>{' '}
              <small>{why}</small>
            </li>
          ))}
        </ul>
      </div>
    );
  });
}
