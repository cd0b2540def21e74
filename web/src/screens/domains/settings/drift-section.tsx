import { Button, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import { changed } from '~/components/changed';
import { DiffView, type RecordChange } from '~/components/diff-view';
import { ErrorText } from '~/components/error-text';
import { useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { Failure, Loading } from '~/components/state-block';
import { Time } from '~/components/time';
import classes from '../domains.module.css';
import type { Base } from './base';
import { SectionForm } from './section-form';

const MODES = ['adopt', 'report', 'revert'] as const;
const SHOWN = 50;

/** Words between commas or blanks. */
const wordsOf = (text: string): string[] => text.split(/[\s,，]+/).filter(Boolean);

/** What becomes of what somebody changes at the provider. */
export function DriftSection({ base, isOwner }: { base: Base; isOwner: boolean }) {
  const { t } = useTranslation('domains');
  const { drift, id, unicode_name: name, permission } = base.domain;
  const ignore = drift.ignore.map(({ hosts, types }) => ({
    hosts: hosts?.join(', ') ?? '',
    types: types?.join(', ') ?? '',
  }));
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { drift: { mode: drift.mode, ignore } },
    save: async (values, filled) => {
      const bodyOf = ({ drift: { mode, ignore: typed } }: typeof values) => {
        const rules = typed.map(({ hosts, types }) => ({
          ...(hosts.trim() && { hosts: wordsOf(hosts) }),
          ...(types.trim() && { types: wordsOf(types) }),
        }));
        return { drift: { mode, ignore: rules } };
      };
      await base.save(changed(bodyOf(values), bodyOf(filled)));
      await invalidate('/api/domains/{domain_id}/drift');
      notifyDone(t('settings.saved', { name }));
    },
  });
  return (
    <>
      <SectionForm title={t('drift.title')} onSubmit={onSubmit} busy={busy} problem={problem} maySave={isOwner}>
        <Radio.Group label={t('drift.mode')} {...form.getInputProps('drift.mode')}>
          <Stack gap={6} mt={4}>
            {MODES.map((mode) => (
              <Radio
                key={mode}
                size="xs"
                value={mode}
                label={t(`drift.${mode}`)}
                description={t(`drift.hint.${mode}`)}
              />
            ))}
          </Stack>
        </Radio.Group>
        {form.values.drift.mode !== 'adopt' && (
          <>
            <Text fz="sm">{t('drift.ignoreAbout')}</Text>
            {form.values.drift.ignore.map((_, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a rule has no name
              <fieldset key={i} className={classes.row} aria-label={t('drift.rule', { number: i + 1 })}>
                <TextInput
                  size="xs"
                  label={t('drift.hosts')}
                  placeholder="*.k8s, _acme-challenge.**"
                  classNames={{ input: 'zw-mono' }}
                  error={form.errors[`drift.ignore.${i}`]}
                  {...form.getInputProps(`drift.ignore.${i}.hosts`, { withError: false })}
                />
                <TextInput
                  size="xs"
                  label={t('drift.types')}
                  placeholder="TXT"
                  classNames={{ input: 'zw-mono' }}
                  {...form.getInputProps(`drift.ignore.${i}.types`)}
                />
                <Button variant="subtle" onClick={() => form.removeListItem('drift.ignore', i)}>
                  {t('windows.remove')}
                </Button>
              </fieldset>
            ))}
            {isOwner && (
              <Group>
                <Button variant="default" onClick={() => form.insertListItem('drift.ignore', { hosts: '', types: '' })}>
                  {t('drift.addRule')}
                </Button>
              </Group>
            )}
          </>
        )}
      </SectionForm>
      {drift.mode !== 'adopt' && <Differences id={id} mayWrite={permission === 'write'} />}
    </>
  );
}

/** What differs now: it can be accepted, or taken back by a plan. */
function Differences({ id, mayWrite }: { id: number; mayWrite: boolean }) {
  const { t } = useTranslation('domains');
  const navigate = useNavigate();
  const [busy, setBusy] = useState<'accept' | 'revert' | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const path = { domain_id: String(id) };
  const [isNothing, setNothing] = useState(false);
  const { data, error, refetch } = $api.useQuery('get', '/api/domains/{domain_id}/drift', {
    params: { path, query: { page: 1, limit: SHOWN } },
  });
  if (!data) return error ? <Failure error={error} retry={refetch} /> : <Loading lines={2} />;
  if (data.total === 0) return <Text fz="sm">{t('drift.same')}</Text>;
  const run = async (what: 'accept' | 'revert') => {
    setBusy(what);
    setProblem(null);
    setNothing(false);
    try {
      if (what === 'accept') {
        await client.DELETE('/api/domains/{domain_id}/drift', { params: { path } });
        await invalidate('/api/domains', '/api/dashboard');
      } else {
        const { data: plan } = await client.POST('/api/domains/{domain_id}/plans', {
          params: { path },
          body: { drift: true },
        });
        if (plan?.id) await navigate({ to: `/plans/${plan.id}` as never });
        else setNothing(true);
      }
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(null);
    }
  };
  const changes: RecordChange[] = data.differences.flatMap(({ host, type, wanted, found }) =>
    Array.from({ length: Math.max(wanted.length, found.length) }, (_, i) => {
      const [before, after] = [wanted[i] ?? null, found[i] ?? null];
      return { op: before ? 'delete' : 'create', host, type, before, after };
    }),
  );
  return (
    <div>
      <Text fz="sm" mt="md" mb={6}>
        {t('drift.found', { count: data.total })} <Time iso={data.compared_at} />
      </Text>
      <DiffView changes={changes} label={t('drift.differences')} />
      {data.hold_reason && (
        <Text fz="sm" c="var(--zw-warn)" mt={4}>
          {data.hold_reason}
        </Text>
      )}
      <ErrorText error={problem} />
      {isNothing && (
        <Text fz="sm" role="status">
          {t('drift.nothing')}
        </Text>
      )}
      {mayWrite && (
        <Group gap="sm" mt="sm" justify="flex-end">
          <Button variant="default" loading={busy === 'accept'} onClick={() => run('accept')}>
            {t('drift.accept')}
          </Button>
          <Button loading={busy === 'revert'} onClick={() => run('revert')}>
            {t('drift.takeBack')}
          </Button>
        </Group>
      )}
    </div>
  );
}
