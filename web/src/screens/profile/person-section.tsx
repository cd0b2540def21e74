import { Button, Group, Select, Stack, TextInput, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { changed } from '~/components/changed';
import { ErrorText } from '~/components/error-text';
import { FormEnd, useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Status } from '~/components/status';
import { zones } from '~/components/zoned';
import { chooseLanguage, LANGUAGES, type Language } from '~/i18n';
import { useBootstrap } from '~/session/session';
import { useFresh } from './fresh';

type Profile = components['schemas']['ProfileView'];
type Theme = Profile['theme'];

const ZONES = zones();
const THEMES: Theme[] = ['auto', 'light', 'dark'];

/** Name, address, language, colour scheme, time zone. */
export function PersonSection() {
  const { t } = useTranslation('profile');
  const profile = $api.useQuery('get', '/api/security/profile');
  return (
    <Section title={t('person.title')}>
      <Loaded query={profile}>{(data) => <PersonForm profile={data} />}</Loaded>
    </Section>
  );
}

function PersonForm({ profile }: { profile: Profile }) {
  const { t } = useTranslation('profile');
  const { settings } = useBootstrap();
  const { setColorScheme } = useMantineColorScheme();
  const { fresh, dialog } = useFresh();
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      nickname: profile.nickname,
      email: profile.email ?? '',
      email_code: '',
      language: profile.language as Language,
      theme: profile.theme,
      timezone: profile.timezone,
    },
    save: async ({ email, email_code, ...rest }, { email: _, email_code: __, ...filled }) => {
      const address = email.trim() || null;
      const code = address && email_code.trim() ? { email_code: email_code.trim() } : {};
      const body = { ...changed(rest, filled), ...(address !== profile.email && { email: address }), ...code };
      if ((await fresh(() => client.PUT('/api/security/profile', { body }))) === null) return;
      setColorScheme(rest.theme);
      await chooseLanguage(rest.language);
      form.setFieldValue('email_code', '');
      await invalidate('/api/security/profile', '/api/bootstrap');
      notifyDone(t('person.saved'));
    },
  });
  const address = form.values.email.trim();
  const isOther = address !== '' && (address !== profile.email || !profile.email_verified);
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="md" maw={460}>
        <TextInput label={t('person.nickname')} autoComplete="nickname" {...form.getInputProps('nickname')} />
        <TextInput
          label={t('person.email')}
          description={t('person.emailHint')}
          type="email"
          autoComplete="email"
          {...form.getInputProps('email')}
        />
        {profile.email && address === profile.email && (
          <div>
            <Status is={profile.email_verified ? 'good' : 'warn'}>
              {profile.email_verified ? t('person.verified') : t('person.notVerified')}
            </Status>
          </div>
        )}
        {isOther && <EmailCode address={address} input={form.getInputProps('email_code')} />}
        <Select
          label={t('person.language')}
          data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          {...form.getInputProps('language')}
        />
        <Select
          label={t('person.theme')}
          data={THEMES.map((value) => ({ value, label: t(`shell:scheme.${value}`) }))}
          allowDeselect={false}
          {...form.getInputProps('theme')}
        />
        <Select
          label={t('person.timezone')}
          placeholder={t('person.timezoneOfAll', { zone: settings.timezone })}
          data={ZONES}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': t('common:clear') }}
          limit={60}
          nothingFoundMessage={t('common:nothingFound')}
          {...form.getInputProps('timezone')}
        />
        <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
      </Stack>
      {dialog}
    </form>
  );
}

/** Another address counts once a code that was mailed to it is typed. */
function EmailCode({ address, input }: { address: string; input: object }) {
  const { t } = useTranslation('profile');
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const send = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await client.POST('/api/security/email-code', { body: { email: address } });
      setSentTo(address);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Group align="flex-end" gap="sm">
        <TextInput
          label={t('person.code')}
          description={sentTo === address ? t('person.codeSent', { address }) : t('person.codeHint')}
          inputMode="numeric"
          autoComplete="one-time-code"
          style={{ flex: '1 1 200px' }}
          {...input}
        />
        <Button variant="default" h={36} loading={busy} onClick={() => void send()}>
          {t('person.sendCode')}
        </Button>
      </Group>
      <ErrorText error={problem} />
    </>
  );
}
