import { Checkbox, NativeSelect, NumberInput, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { changed } from '~/components/changed';
import { useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { Loaded } from '~/components/state-block';
import classes from '../domains.module.css';
import { type GuardKey, type GuardMode, type Guards, modesOf, useGuards } from '../guards';
import type { Base } from './base';
import { SectionForm } from './section-form';

const SHORT = { wrapper: { maxWidth: 220 } };

interface Props {
  base: Base;
  isOwner: boolean;
}

/** What becomes of changes that are dangerous. */
export function GuardsSection(props: Props) {
  return <Loaded query={useGuards()}>{(known) => <GuardsForm {...props} {...known} />}</Loaded>;
}

type Known = NonNullable<ReturnType<typeof useGuards>['data']>;

function GuardsForm({ base, isOwner, guards: known, modes }: Props & Known) {
  const { t } = useTranslation('domains');
  const { guards, ttl_floor, require_if_match, unicode_name: name } = base.domain;
  const set = Object.fromEntries(known.map(({ key }) => [key, guards[key] ?? ''])) as Record<GuardKey, GuardMode>;
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { guards: set, ttl_floor: (ttl_floor ?? '') as number | '', require_if_match },
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
    <SectionForm title={t('guards.title')} onSubmit={onSubmit} busy={busy} problem={problem} maySave={isOwner}>
      <Text fz="sm">{t('guards.about')}</Text>
      <table className={classes.guards}>
        <tbody>
          {known.map(({ key, label, meets }) => (
            <tr key={key}>
              <th scope="row">
                {label}
                <small>{meets}</small>
              </th>
              <td>
                <NativeSelect
                  size="xs"
                  aria-label={label}
                  data={modesOf(key, modes)}
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
