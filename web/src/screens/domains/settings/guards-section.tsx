import { Checkbox, NativeSelect, NumberInput, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { changed } from '~/components/changed';
import { useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import classes from '../domains.module.css';
import { GUARDS, type GuardKey, type GuardMode, type Guards, MODES } from '../guards';
import type { Base } from './base';
import { SectionForm } from './section-form';

const SHORT = { wrapper: { maxWidth: 220 } };

/** What becomes of changes that are dangerous. */
export function GuardsSection({ base, mayWrite }: { base: Base; mayWrite: boolean }) {
  const { t } = useTranslation('domains');
  const { guards, ttl_floor, require_if_match, unicode_name: name } = base.domain;
  const modes = Object.fromEntries(GUARDS.map((key) => [key, guards[key] ?? ''])) as Record<GuardKey, GuardMode>;
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { guards: modes, ttl_floor: (ttl_floor ?? '') as number | '', require_if_match },
    save: async (
      { guards: typed, ttl_floor: floor, ...rest },
      { guards: before, ttl_floor: floorBefore, ...filled },
    ) => {
      const mine = changed(typed, before);
      const all = Object.entries({ ...guards, ...mine }).filter(([, mode]) => mode);
      await base.save({
        ...changed(rest, filled),
        ...(Object.keys(mine).length > 0 && { guards: Object.fromEntries(all) as Guards }),
        ...(floor !== floorBefore && { ttl_floor: floor === '' ? null : floor }),
      });
      notifyDone(t('settings.saved', { name }));
    },
  });
  return (
    <SectionForm title={t('guards.title')} onSubmit={onSubmit} busy={busy} problem={problem} maySave={mayWrite}>
      <Text fz="sm">{t('guards.about')}</Text>
      <table className={classes.guards}>
        <tbody>
          {GUARDS.map((key) => (
            <tr key={key}>
              <th scope="row">
                {t(`guards.${key}`)}
                <small>{t(`guards.meets.${key}`)}</small>
              </th>
              <td>
                <NativeSelect
                  size="xs"
                  aria-label={t(`guards.${key}`)}
                  data={MODES.map((mode) => ({ value: mode, label: t(`guards.is.${mode || 'usual'}`) }))}
                  {...form.getInputProps(`guards.${key}`)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <NumberInput
        label={t('optional', { label: t('guards.floor') })}
        description={t('guards.floorHint')}
        min={0}
        styles={SHORT}
        hideControls
        {...form.getInputProps('ttl_floor')}
      />
      <Checkbox
        size="xs"
        label={t('guards.ifMatch')}
        description={t('guards.ifMatchHint')}
        {...form.getInputProps('require_if_match', { type: 'checkbox' })}
      />
    </SectionForm>
  );
}
