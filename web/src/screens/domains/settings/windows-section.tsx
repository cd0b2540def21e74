import { Button, Chip, Group, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { changed } from '~/components/changed';
import { ErrorText } from '~/components/error-text';
import { useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { useTimeZone } from '~/components/time';
import classes from '../domains.module.css';
import type { Base } from './base';
import { SectionForm } from './section-form';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** Times in which changes are made. */
export function WindowsSection({ base, isOwner }: { base: Base; isOwner: boolean }) {
  const { t } = useTranslation('domains');
  const timezone = useTimeZone() ?? 'UTC';
  const { windows, unicode_name: name } = base.domain;
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { windows },
    save: async (values, filled) => {
      await base.save(changed(values, filled));
      notifyDone(t('settings.saved', { name }));
    },
  });
  const add = () => form.insertListItem('windows', { days: [], from: '22:00', until: '02:00', timezone });
  return (
    <SectionForm title={t('windows.title')} onSubmit={onSubmit} busy={busy} problem={problem} maySave={isOwner}>
      <Text fz="sm">{t('windows.about')}</Text>
      {form.values.windows.map(({ days }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a window has no name
        <fieldset key={i} className={classes.row} aria-label={t('windows.one', { number: i + 1 })}>
          <div>
            <Chip.Group
              multiple
              value={days}
              onChange={(chosen) => form.setFieldValue(`windows.${i}.days`, chosen as never)}
            >
              <Group gap={4}>
                {DAYS.map((day) => (
                  <Chip key={day} value={day} size="xs" radius={3} variant="light">
                    {t(`windows.${day}`)}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
            {form.errors[`windows.${i}.days`] && (
              <ErrorText error={new Error(String(form.errors[`windows.${i}.days`]))} />
            )}
          </div>
          <TextInput size="xs" type="time" label={t('windows.from')} {...form.getInputProps(`windows.${i}.from`)} />
          <TextInput size="xs" type="time" label={t('windows.until')} {...form.getInputProps(`windows.${i}.until`)} />
          <TextInput size="xs" w={150} label={t('windows.zone')} {...form.getInputProps(`windows.${i}.timezone`)} />
          <Button variant="subtle" onClick={() => form.removeListItem('windows', i)}>
            {t('windows.remove')}
          </Button>
        </fieldset>
      ))}
      {isOwner && (
        <Group>
          <Button variant="default" onClick={add}>
            {t('windows.add')}
          </Button>
        </Group>
      )}
    </SectionForm>
  );
}
