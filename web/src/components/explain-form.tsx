import { Autocomplete, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import type { DomainSource } from './domain-picker';
import classes from './explain-form.module.css';
import { FormEnd, useApiForm } from './form';
import { mono } from './mono';
import { RemoteSelect } from './remote-select';
import { Status } from './status';

type Schemas = components['schemas'];
type Action = Schemas['ExplainInput']['action'];

const ACTIONS: Action[] = ['read', 'create', 'update', 'delete'];

interface Props {
  source: DomainSource;
  explain: (body: Schemas['ExplainInput']) => Promise<Schemas['Explanation']>;
}

/** Asks whether somebody may do something with a record, and says which limit or rule decides. Nothing is done. */
export function ExplainForm({ source, explain }: Props) {
  const { t } = useTranslation('explain');
  const meta = $api.useQuery('get', '/api/meta', {}, { staleTime: Number.POSITIVE_INFINITY });
  const [answer, setAnswer] = useState<Schemas['Explanation'] | null>(null);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      domain_id: null as number | null,
      action: 'create' as Action,
      host: '',
      type: 'A',
      value: '',
      ip: '',
    },
    save: async ({ domain_id, value, ip, ...rest }) => {
      setAnswer(null);
      const more = { ...(value && { value }), ...(ip && { ip }) };
      setAnswer(await explain({ ...rest, domain_id: Number(domain_id), ...more }));
    },
    validate: { domain_id: (id) => (id ? null : t('chooseDomain')) },
  });
  return (
    <form onSubmit={onSubmit} className={classes.form}>
      <Stack gap="md">
        <div className={classes.fields}>
          <RemoteSelect
            label={t('domain')}
            of={source}
            value={form.values.domain_id}
            onChange={(id) => form.setFieldValue('domain_id', id)}
            error={form.errors.domain_id}
          />
          <Select
            label={t('action')}
            data={ACTIONS.map((value) => ({ value, label: t(`actions.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps('action')}
          />
          <TextInput
            label={t('host')}
            placeholder="@"
            styles={mono}
            spellCheck={false}
            {...form.getInputProps('host')}
          />
          <Autocomplete
            label={t('type')}
            data={meta.data?.records.types.map(({ type }) => type) ?? []}
            limit={40}
            {...form.getInputProps('type')}
          />
          <TextInput label={t('value')} styles={mono} spellCheck={false} {...form.getInputProps('value')} />
          <TextInput label={t('ip')} styles={mono} spellCheck={false} {...form.getInputProps('ip')} />
        </div>
        <div role="status">
          {answer && (
            <div className={classes.answer} data-allowed={answer.allowed}>
              <Status is={answer.allowed ? 'good' : 'bad'}>{answer.allowed ? t('yes') : t('no')}</Status>
              <Text fz="sm">{answer.reason}</Text>
              <Text fz="xs" c="dimmed">
                {t('decidedBy', { what: t(`source.${answer.source}`) })}
                {answer.rule !== null && ` · ${t('rule', { number: answer.rule + 1 })}`}
              </Text>
            </div>
          )}
        </div>
        <FormEnd busy={busy} problem={problem} verb={t('ask')} />
      </Stack>
    </form>
  );
}
