import { Checkbox, NumberInput, Select, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import { changed } from '~/components/changed';
import { FormEnd, useApiForm } from '~/components/form';
import { zones } from '~/components/zoned';
import { LANGUAGES } from '~/i18n';
import { type Given, keyOf, SettingsSection, Waiting } from './section';
import classes from './settings.module.css';

type General = components['schemas']['GeneralView'];
const ZONES = zones();

/** Name, address, language, picture, defaults. */
export function GeneralSettings() {
  return (
    <SettingsSection path="/api/settings">
      {(given) => (
        <>
          <Waiting section="general" of={given.tagged} />
          <GeneralForm key={keyOf(given.tagged)} {...given} />
        </>
      )}
    </SettingsSection>
  );
}

/** The error of a field, or of one of its parts, as texts of a list are. */
export function errorOf(errors: Record<string, unknown>, field: string): string | undefined {
  const key = Object.keys(errors).find((key) => key === field || key.startsWith(`${field}.`));
  return key ? String(errors[key]) : undefined;
}

const valuesOf = (value: General) => ({
  site_name: value.site_name,
  base_url: value.base_url ?? '',
  background_image: value.background_image ?? '',
  language: value.language as string,
  timezone: value.timezone,
  default_ttl: value.default_ttl as number | string,
  registration_enabled: value.registration_enabled,
  dns_resolvers: value.dns_resolvers,
  expiry_notice_days: value.expiry_notice_days.map(String),
});

const bodyOf = ({ base_url, background_image, expiry_notice_days, ...rest }: ReturnType<typeof valuesOf>) => ({
  ...rest,
  base_url: base_url.trim() || null,
  background_image: background_image.trim() || null,
  expiry_notice_days: expiry_notice_days.map((days) => (/^\d+$/.test(days) ? Number(days) : days)),
});

function GeneralForm({ value, save }: Given<General>) {
  const { t } = useTranslation('settings');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: valuesOf(value),
    save: (values, filled) => save(changed(bodyOf(values), bodyOf(filled))),
  });
  const clear = { 'aria-label': t('common:clear') };
  return (
    <form onSubmit={onSubmit} className={classes.form}>
      <TextInput
        label={t('general.site_name')}
        description={t('general.siteNameHint')}
        {...form.getInputProps('site_name')}
      />
      <TextInput
        label={t('general.base_url')}
        description={t('general.baseUrlHint')}
        placeholder="https://dns.example.com"
        {...form.getInputProps('base_url')}
      />
      <TextInput
        label={t('general.background_image')}
        description={t('general.backgroundHint')}
        {...form.getInputProps('background_image')}
      />
      {value.background_image?.startsWith('data:image/') && (
        <img src={value.background_image} alt="" className={classes.picture} />
      )}
      <div className={classes.pair}>
        <Select
          label={t('general.language')}
          data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          {...form.getInputProps('language')}
        />
        <Select
          label={t('general.timezone')}
          data={ZONES}
          searchable
          limit={60}
          allowDeselect={false}
          nothingFoundMessage={t('common:nothingFound')}
          {...form.getInputProps('timezone')}
        />
      </div>
      <NumberInput
        label={t('general.default_ttl')}
        description={t('general.ttlHint')}
        {...form.getInputProps('default_ttl')}
      />
      <TagsInput
        label={t('general.dns_resolvers')}
        description={t('general.resolversHint')}
        clearButtonProps={clear}
        {...form.getInputProps('dns_resolvers')}
        error={errorOf(form.errors, 'dns_resolvers')}
      />
      <TagsInput
        label={t('general.expiry_notice_days')}
        description={t('general.expiryHint')}
        clearButtonProps={clear}
        {...form.getInputProps('expiry_notice_days')}
        error={errorOf(form.errors, 'expiry_notice_days')}
      />
      <Checkbox
        label={t('general.registration_enabled')}
        description={t('general.registrationHint')}
        {...form.getInputProps('registration_enabled', { type: 'checkbox' })}
      />
      <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
    </form>
  );
}
