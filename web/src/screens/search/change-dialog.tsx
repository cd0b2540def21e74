import { Checkbox, NativeSelect, NumberInput, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { type Found, MOST_GATHERED, planForAll, type RecordsSet, type Search } from './change';

const ACTIONS = ['value', 'ttl', 'disable', 'enable', 'remark', 'priority', 'weight', 'proxied', 'delete'] as const;
type Action = (typeof ACTIONS)[number];

interface Props {
  opened: boolean;
  onClose: () => void;
  search: Search;
  chosen: readonly Found[];
  /** how many records it is about */
  count: number;
}

/** What the records shall become. null: they are deleted. */
function setOf(action: Action, { text, number, isOn }: { text: string; number: number | string; isOn: boolean }) {
  const sets: Record<Action, RecordsSet | null> = {
    value: { value: text },
    remark: { remark: text },
    ttl: { ttl: Number(number) },
    priority: { priority: Number(number) },
    weight: { weight: Number(number) },
    proxied: { proxied: isOn },
    enable: { enabled: true },
    disable: { enabled: false },
    delete: null,
  };
  return sets[action];
}

/** Asks for the one change for all that was found, and shows what it would do. */
export function ChangeDialog({ opened, onClose, search, chosen, count }: Props) {
  const { t } = useTranslation('search');
  const navigate = useNavigate();
  const [isNothing, setNothing] = useState(false);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { action: 'value' as Action, text: '', number: '' as number | string, isOn: false, comment: '' },
    validate: {
      // a condition can say what all records become, not that they go
      action: (value) =>
        value === 'delete' && chosen.length === 0 && count > MOST_GATHERED
          ? t('change.tooMany', { count: MOST_GATHERED })
          : null,
      number: (value, { action }) =>
        ['ttl', 'priority', 'weight'].includes(action) && value === '' ? t('change.needed') : null,
      text: (value, { action }) => (action === 'value' && !value.trim() ? t('change.needed') : null),
    },
    renamed: Object.fromEntries(
      ['value', 'remark', 'ttl', 'priority', 'weight'].map((name) => [
        `set.${name}`,
        name === 'value' || name === 'remark' ? 'text' : 'number',
      ]),
    ),
    save: async ({ action, comment, ...values }) => {
      setNothing(false);
      const { id } = await planForAll({ search, chosen, set: setOf(action, values), comment });
      if (id === null) setNothing(true);
      else void navigate({ to: `/plans/${id}` as never });
    },
  });
  const { action } = form.getValues();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('change.title', { count })}>
      <form onSubmit={onSubmit}>
        <Stack gap="sm">
          <Text fz="sm">{t('change.about')}</Text>
          <NativeSelect
            label={t('change.action')}
            data={ACTIONS.map((one) => ({ value: one, label: t(`action.${one}`) }))}
            data-autofocus
            {...form.getInputProps('action')}
          />
          {action === 'value' && (
            <Textarea
              label={t('change.value')}
              description={t('change.valueHint')}
              autosize
              spellCheck={false}
              classNames={{ input: 'zw-mono' }}
              {...form.getInputProps('text')}
            />
          )}
          {action === 'remark' && <TextInput label={t('change.remark')} {...form.getInputProps('text')} />}
          {(action === 'ttl' || action === 'priority' || action === 'weight') && (
            <NumberInput
              label={t(`change.${action}`)}
              min={0}
              allowDecimal={false}
              hideControls
              {...form.getInputProps('number')}
            />
          )}
          {action === 'proxied' && (
            <Checkbox label={t('change.proxied')} {...form.getInputProps('isOn', { type: 'checkbox' })} />
          )}
          <TextInput
            label={t('change.comment')}
            description={t('change.commentHint')}
            maxLength={500}
            {...form.getInputProps('comment')}
          />
          {isNothing && (
            <Text fz="sm" role="status">
              {t('change.nothing')}
            </Text>
          )}
        </Stack>
        <FormEnd busy={busy} problem={problem} verb={t('change.verb')} />
      </form>
    </Dialog>
  );
}
