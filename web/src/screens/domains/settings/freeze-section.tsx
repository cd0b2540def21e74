import { Checkbox, Group, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { changed } from '~/components/changed';
import { DateTimeField } from '~/components/date-time-field';
import { useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import type { Base } from './base';
import { SectionForm } from './section-form';

/** A time in which nothing is changed. */
export function FreezeSection({ base, isOwner }: { base: Base; isOwner: boolean }) {
  const { t } = useTranslation('domains');
  const { freeze, unicode_name: name } = base.domain;
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      on: freeze !== null,
      freeze: {
        from: freeze?.from ?? '',
        until: freeze?.until ?? '',
        reason: freeze?.reason ?? '',
        acme: freeze?.acme ?? false,
      },
    },
    save: async (values, filled) => {
      const bodyOf = ({ on, freeze: typed }: typeof values) => ({ freeze: on ? typed : null });
      await base.save(changed(bodyOf(values), bodyOf(filled)));
      notifyDone(t('settings.saved', { name }));
    },
  });
  return (
    <SectionForm title={t('freeze.title')} onSubmit={onSubmit} busy={busy} problem={problem} maySave={isOwner}>
      <Checkbox
        size="xs"
        label={t('freeze.on')}
        description={t('freeze.about')}
        {...form.getInputProps('on', { type: 'checkbox' })}
      />
      {form.values.on && (
        <>
          <Group gap="md" align="flex-start">
            <DateTimeField label={t('freeze.from')} {...form.getInputProps('freeze.from')} />
            <DateTimeField label={t('freeze.until')} {...form.getInputProps('freeze.until')} />
          </Group>
          <TextInput
            label={t('freeze.reason')}
            description={t('freeze.reasonHint')}
            {...form.getInputProps('freeze.reason')}
          />
          <Checkbox
            size="xs"
            label={t('freeze.acme')}
            description={t('freeze.acmeHint')}
            {...form.getInputProps('freeze.acme', { type: 'checkbox' })}
          />
        </>
      )}
    </SectionForm>
  );
}
