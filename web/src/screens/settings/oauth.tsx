import { Button, Checkbox, SegmentedControl, Stack, TagsInput, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BASE } from '~/api/client';
import type { components } from '~/api/schema';
import { ConfirmDestructive } from '~/components/confirm';
import { Copy } from '~/components/copy';
import { Dialog } from '~/components/dialog';
import { ErrorText } from '~/components/error-text';
import { FormEnd, SecretInput, useApiForm } from '~/components/form';
import { Row, Rows } from '~/components/rows';
import { Section } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Theirs } from '~/components/theirs';
import { errorOf } from './general';
import { type Given, placeOf, SettingsSection, Waiting } from './section';

type View = components['schemas']['OauthView'];
type Provider = components['schemas']['OauthProviderView'];

/** Providers that people may sign in at. */
export function OauthSettings() {
  return <SettingsSection path="/api/settings/oauth">{(given) => <Providers {...given} />}</SettingsSection>;
}

function Providers({ value, save, tagged }: Given<View>) {
  const { t } = useTranslation('settings');
  const { providers, enabled } = value;
  const [edited, setEdited] = useState<Provider | 'new' | null>(null);
  const [removed, setRemoved] = useState<Provider | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const callback = `${BASE}/oauth/callback`;
  const add = (
    <Button variant="default" onClick={() => setEdited('new')}>
      {t('oauth.add')}
    </Button>
  );
  return (
    <>
      <Waiting section="oauth" of={tagged} />
      <Section title={t('oauth.title')} actions={providers.length > 0 && add}>
        <Checkbox
          my="sm"
          label={t('oauth.enabled')}
          description={t('oauth.enabledHint')}
          checked={enabled}
          onChange={(event) => void save({ enabled: event.currentTarget.checked }).catch(setProblem)}
        />
        <ErrorText error={problem} />
        {providers.length === 0 && <Empty title={t('oauth.empty')} text={t('oauth.emptyText')} action={add} />}
        <Rows label={t('oauth.title')}>
          {providers.map((provider) => (
            <Row
              key={provider.key}
              more={provider.issuer ?? provider.authorization_endpoint}
              actions={
                <>
                  <Button
                    variant="subtle"
                    aria-label={t('changeOne', { name: provider.name })}
                    onClick={() => setEdited(provider)}
                  >
                    {t('change')}
                  </Button>
                  <Button
                    variant="subtle"
                    aria-label={t('removeOne', { name: provider.name })}
                    onClick={() => setRemoved(provider)}
                  >
                    {t('remove')}
                  </Button>
                </>
              }
            >
              {provider.name} <span className="zw-mono">{provider.key}</span>{' '}
              {!provider.confirmed && <Status is="warn">{t('oauth.notConfirmed')}</Status>}
            </Row>
          ))}
        </Rows>
        <p style={{ overflowWrap: 'anywhere' }}>
          {t('oauth.callback')} <span className="zw-mono">{callback}</span> <Copy text={callback} />
        </p>
      </Section>
      {edited !== null && (
        <ProviderDialog
          provider={edited === 'new' ? null : edited}
          at={placeOf(providers, 'key', edited)}
          notice={<Theirs of={tagged} />}
          onClose={() => setEdited(null)}
          save={(provider) =>
            save({ providers: providers.toSpliced(placeOf(providers, 'key', edited), 1, provider as Provider) })
          }
        />
      )}
      <ConfirmDestructive
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('oauth.removeAsk', { name: removed?.name })}
        verb={t('remove')}
        onConfirm={() => save({ providers: providers.filter(({ key }) => key !== removed?.key) })}
      >
        {t('oauth.removeText')}
      </ConfirmDestructive>
    </>
  );
}

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'subject_field'] as const;
const FIELDS = [
  'key',
  'name',
  'client_id',
  'client_secret',
  'issuer',
  'scopes',
  'auto_create',
  'trusted_2fa',
  ...ENDPOINTS,
];

interface DialogProps {
  provider: Provider | null;
  at: number;
  notice: ReactNode;
  save: (provider: object) => Promise<void>;
  onClose: () => void;
}

function ProviderDialog({ provider, at, notice, save, onClose }: DialogProps) {
  const { t } = useTranslation('settings');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      kind: provider && !provider.issuer ? 'oauth2' : 'openid',
      key: provider?.key ?? '',
      name: provider?.name ?? '',
      client_id: provider?.client_id ?? '',
      client_secret: undefined as string | null | undefined,
      issuer: provider?.issuer ?? '',
      authorization_endpoint: provider?.authorization_endpoint ?? '',
      token_endpoint: provider?.token_endpoint ?? '',
      userinfo_endpoint: provider?.userinfo_endpoint ?? '',
      subject_field: provider?.subject_field ?? '',
      scopes: provider?.scopes ?? ['openid', 'email', 'profile'],
      auto_create: provider?.auto_create ?? false,
      trusted_2fa: provider?.trusted_2fa ?? false,
    },
    renamed: Object.fromEntries(
      FIELDS.flatMap((name) => [
        [`providers[${at}].${name}`, name],
        [`providers.${at}.${name}`, name],
      ]),
    ),
    save: async ({ kind, client_secret, issuer, ...rest }) => {
      const { key, name, client_id, scopes, auto_create, trusted_2fa, ...endpoints } = rest;
      const where = kind === 'openid' ? { issuer } : endpoints;
      const secret = client_secret === undefined ? {} : { client_secret };
      await save({ key, name, client_id, scopes, auto_create, trusted_2fa, ...where, ...secret });
      onClose();
    },
  });
  return (
    <Dialog opened title={provider ? t('changeOne', { name: provider.name }) : t('oauth.add')} onClose={onClose}>
      <form onSubmit={onSubmit} autoComplete="off">
        <Stack gap="md">
          {notice}
          <SegmentedControl
            aria-label={t('oauth.kind')}
            data={[
              { value: 'openid', label: 'OpenID Connect' },
              { value: 'oauth2', label: 'OAuth 2.0' },
            ]}
            {...form.getInputProps('kind')}
          />
          <TextInput label={t('oauth.name')} data-autofocus {...form.getInputProps('name')} />
          <TextInput
            label={t('oauth.key')}
            description={t('oauth.keyHint')}
            readOnly={provider !== null}
            {...form.getInputProps('key')}
          />
          {form.values.kind === 'openid' ? (
            <TextInput
              label={t('oauth.issuer')}
              description={t('oauth.issuerHint')}
              placeholder="https://"
              {...form.getInputProps('issuer')}
            />
          ) : (
            ENDPOINTS.map((name) => <TextInput key={name} label={t(`oauth.${name}`)} {...form.getInputProps(name)} />)
          )}
          <TextInput label={t('oauth.client_id')} {...form.getInputProps('client_id')} />
          <SecretInput
            label={t('oauth.client_secret')}
            isSet={provider?.client_secret_set ?? false}
            clearable
            value={form.values.client_secret}
            onChange={(secret) => form.setFieldValue('client_secret', secret)}
            error={form.errors.client_secret}
          />
          <TagsInput
            label={t('oauth.scopes')}
            {...form.getInputProps('scopes')}
            error={errorOf(form.errors, 'scopes')}
          />
          <Checkbox
            label={t('oauth.auto_create')}
            description={t('oauth.autoCreateHint')}
            {...form.getInputProps('auto_create', { type: 'checkbox' })}
          />
          <Checkbox
            label={t('oauth.trusted_2fa')}
            description={t('oauth.trustedHint')}
            {...form.getInputProps('trusted_2fa', { type: 'checkbox' })}
          />
          <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
        </Stack>
      </form>
    </Dialog>
  );
}
