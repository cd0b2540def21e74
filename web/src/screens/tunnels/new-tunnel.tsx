import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { RemoteSelect } from '~/components/remote-select';

type Created = components['schemas']['TunnelCreated'];

interface Props {
  onClose: () => void;
  onMade: (made: Created) => void;
}

/** Makes a tunnel, or adopts one of that name that the provider has already. */
export function NewTunnel({ onClose, onMade }: Props) {
  const { t } = useTranslation(['tunnels', 'common']);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      account_id: null as number | null,
      name: '',
      hostname: '',
      service: '',
      dns_managed: true,
      cloudflare_account: '',
    },
    renamed: { 'ingress.0.hostname': 'hostname', 'ingress.0.service': 'service' },
    validate: { account_id: (value) => (value ? null : t('new.needed')) },
    save: async ({ account_id: account, name, hostname, service, dns_managed, cloudflare_account: owner }) => {
      const { data } = await client.POST('/api/tunnels', {
        body: {
          account_id: account as number,
          name,
          dns_managed,
          ...(owner && { cloudflare_account: owner }),
          ...((hostname || service) && { ingress: [{ hostname, service }] }),
        },
      });
      await invalidate('/api/tunnels', '/api/domains');
      onMade(data as Created);
    },
  });
  return (
    <Dialog opened onClose={onClose} title={t('new.title')}>
      <form onSubmit={onSubmit}>
        <Stack gap="sm">
          <RemoteSelect
            of="/api/accounts"
            label={t('new.account')}
            description={t('new.accountHint')}
            labelOf={({ name, provider }) => `${name} (${provider})`}
            comboboxProps={{ withinPortal: false }}
            value={form.values.account_id}
            onChange={(id) => form.setFieldValue('account_id', id)}
            error={form.errors.account_id}
          />
          <TextInput label={t('new.name')} description={t('new.nameHint')} {...form.getInputProps('name')} />
          <TextInput
            label={t('new.hostname')}
            description={t('new.hostnameHint')}
            spellCheck={false}
            classNames={{ input: 'zw-mono' }}
            {...form.getInputProps('hostname')}
          />
          <TextInput
            label={t('new.service')}
            placeholder="http://localhost:8080"
            spellCheck={false}
            classNames={{ input: 'zw-mono' }}
            {...form.getInputProps('service')}
          />
          <TextInput
            label={t('new.owner')}
            description={t('new.ownerHint')}
            spellCheck={false}
            {...form.getInputProps('cloudflare_account')}
          />
          <Checkbox label={t('new.dns')} {...form.getInputProps('dns_managed', { type: 'checkbox' })} />
          <Text fz="xs" c="dimmed">
            {t('new.once')}
          </Text>
        </Stack>
        <FormEnd busy={busy} problem={problem} verb={t('make')} />
      </form>
    </Dialog>
  );
}
