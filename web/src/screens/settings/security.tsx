import { NumberInput, Select, TagsInput, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import { changed } from '~/components/changed';
import { FormEnd, useApiForm } from '~/components/form';
import { errorOf } from './general';
import { type Given, keyOf, SettingsSection } from './section';
import classes from './settings.module.css';

type Security = components['schemas']['SecurityView'];

/** Groups of numbers, each with its fields, as the API has them. */
const NUMBERS = {
  login_limit: ['max_failures', 'window_minutes', 'lock_minutes', 'max_lock_minutes', 'network_failures'],
  rate_limits: ['login', 'public', 'user', 'token'],
  session: ['token_minutes', 'idle_minutes', 'absolute_days'],
  password_policy: ['min_length', 'min_score'],
} as const;

/** Limits, sessions, passwords, second factor, networks. */
export function SecuritySettings() {
  return (
    <SettingsSection path="/api/settings/security">
      {(given) => <SecurityForm key={keyOf(given.tagged)} {...given} />}
    </SettingsSection>
  );
}

function SecurityForm({ value, save }: Given<Security>) {
  const { t } = useTranslation('settings');
  const { login_limit, rate_limits, session, password_policy } = value;
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      require_2fa_role: String(value.require_2fa_role ?? ''),
      allowed_cidrs: value.allowed_cidrs,
      ...structuredClone({ login_limit, rate_limits, session, password_policy }),
    },
    save: ({ require_2fa_role: role, ...rest }, { require_2fa_role: before, ...filled }) =>
      save({ ...changed(rest, filled), ...(role !== before && { require_2fa_role: role ? Number(role) : null }) }),
  });
  return (
    <form onSubmit={onSubmit} className={classes.form}>
      {value.waiting.length > 0 && (
        <div className={classes.other}>
          <Text fz="sm">{t('security.waiting', { fields: value.waiting.join(', ') })}</Text>
        </div>
      )}
      <Select
        label={t('security.require_2fa_role')}
        description={t('security.require2faHint')}
        data={[
          { value: '', label: t('security.nobody') },
          ...[1, 2, 3].map((role) => ({
            value: String(role),
            label: t('security.andAbove', { role: t(`common:role.${role}`) }),
          })),
        ]}
        allowDeselect={false}
        {...form.getInputProps('require_2fa_role')}
      />
      <TagsInput
        label={t('security.allowed_cidrs')}
        description={t('security.cidrsHint')}
        clearButtonProps={{ 'aria-label': t('common:clear') }}
        {...form.getInputProps('allowed_cidrs')}
        error={errorOf(form.errors, 'allowed_cidrs')}
      />
      {Object.entries(NUMBERS).map(([group, fields]) => (
        <fieldset key={group} style={{ border: 0, margin: 0, padding: 0 }}>
          <legend className={classes.heading} style={{ width: '100%' }}>
            {t(`security.${group}.title`)}
          </legend>
          <div className={classes.pair} style={{ marginTop: 8 }}>
            {fields.map((field) => (
              <NumberInput
                key={field}
                label={t(`security.${group}.${field}`)}
                {...form.getInputProps(`${group}.${field}`)}
              />
            ))}
          </div>
        </fieldset>
      ))}
      <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
    </form>
  );
}
