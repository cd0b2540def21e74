import { Checkbox, MultiSelect, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { Dialog } from '~/components/dialog';
import { FormEnd, SecretInput, useApiForm } from '~/components/form';
import type { Channel } from './channels';
import { errorOf } from './general';

type Type = Channel['type'];
type Secret = string | null | undefined;

const TYPES: Type[] = ['email', 'webhook', 'telegram', 'slack', 'discord', 'dingtalk', 'feishu', 'wecom'];
/** Types whose address is a secret. */
const CHATS: Type[] = ['slack', 'discord', 'dingtalk', 'feishu', 'wecom'];
const SIGNED: Type[] = ['webhook', 'dingtalk', 'feishu'];
const FIELDS = ['name', 'type', 'events', 'enabled', 'to', 'url', 'secret', 'token', 'chat_id', 'api_url'];

interface Props {
  /** null: a new one */
  channel: Channel | null;
  /** its place in the list, which the errors of the server name */
  at: number;
  /** what others have saved meanwhile */
  notice: ReactNode;
  save: (channel: object) => Promise<void>;
  onClose: () => void;
}

/** The names that the server gives the fields of this channel. */
const renamedAt = (at: number) =>
  Object.fromEntries(
    FIELDS.flatMap((name) =>
      [`channels[${at}]`, `channels.${at}`].flatMap((base) => [
        [`${base}.${name}`, name],
        [`${base}.config.${name}`, name],
      ]),
    ),
  );

/** One channel: where notices go, and which. */
export function ChannelDialog({ channel, at, notice, save, onClose }: Props) {
  const { t } = useTranslation('settings');
  const meta = $api.useQuery('get', '/api/meta', {}, { staleTime: Number.POSITIVE_INFINITY });
  const { config } = channel ?? {};
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      name: channel?.name ?? '',
      type: (channel?.type ?? 'email') as Type,
      enabled: channel?.enabled ?? true,
      events: (channel?.events ?? []) as string[],
      to: config?.to ?? [],
      url: (config?.url ?? '') as string,
      chatUrl: undefined as Secret,
      secret: undefined as Secret,
      token: undefined as Secret,
      chat_id: config?.chat_id ?? '',
      api_url: config?.api_url ?? '',
    },
    renamed: renamedAt(at),
    save: async ({ name, type, enabled, events, to, url, chatUrl, secret, token, chat_id, api_url }) => {
      const given = (key: string, value: Secret) => (value === undefined ? {} : { [key]: value });
      const signed = SIGNED.includes(type) ? given('secret', secret) : {};
      const next = {
        email: { to },
        webhook: { url, ...signed },
        telegram: { chat_id, ...given('token', token), ...(api_url && { api_url }) },
      }[type as 'email'] ?? { ...given('url', chatUrl), ...signed };
      await save({ ...(channel && { id: channel.id }), name, type, enabled, events, config: next });
      onClose();
    },
  });
  const { type } = form.values;
  const secretOf = (name: 'secret' | 'token' | 'chatUrl', isSet: boolean | undefined, field: string) => (
    <SecretInput
      label={t(`channels.${field}`)}
      isSet={Boolean(isSet)}
      clearable={name === 'secret'}
      value={form.values[name]}
      onChange={(value) => form.setFieldValue(name, value)}
      error={form.errors[name === 'chatUrl' ? 'url' : name]}
    />
  );
  return (
    <Dialog opened title={channel ? t('changeOne', { name: channel.name }) : t('channels.add')} onClose={onClose}>
      <form onSubmit={onSubmit} autoComplete="off">
        <Stack gap="md">
          {notice}
          <TextInput label={t('name')} data-autofocus {...form.getInputProps('name')} />
          <Select
            label={t('channels.type')}
            data={TYPES.map((value) => ({ value, label: t(`channels.types.${value}`) }))}
            allowDeselect={false}
            disabled={channel !== null}
            {...form.getInputProps('type')}
          />
          {type === 'email' && (
            <TagsInput
              label={t('channels.to')}
              description={t('channels.toHint')}
              {...form.getInputProps('to')}
              error={errorOf(form.errors, 'to')}
            />
          )}
          {type === 'webhook' && (
            <TextInput label={t('channels.url')} placeholder="https://" {...form.getInputProps('url')} />
          )}
          {CHATS.includes(type) && secretOf('chatUrl', config?.url_set, 'chatUrl')}
          {SIGNED.includes(type) && secretOf('secret', config?.secret_set, 'secret')}
          {type === 'telegram' && (
            <>
              {secretOf('token', config?.token_set, 'token')}
              <TextInput label={t('channels.chat_id')} {...form.getInputProps('chat_id')} />
              <TextInput
                label={t('channels.api_url')}
                placeholder="https://api.telegram.org"
                {...form.getInputProps('api_url')}
              />
            </>
          )}
          <MultiSelect
            label={t('channels.eventsLabel')}
            description={t('channels.eventsHint')}
            data={(meta.data?.notice_events ?? []).map((value) => ({
              value,
              label: t(`event.${value}`),
            }))}
            searchable
            hidePickedOptions
            clearable
            clearButtonProps={{ 'aria-label': t('common:clear') }}
            {...form.getInputProps('events')}
            error={errorOf(form.errors, 'events')}
          />
          <Checkbox label={t('channels.enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
        </Stack>
      </form>
    </Dialog>
  );
}
