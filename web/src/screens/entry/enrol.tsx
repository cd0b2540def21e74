import { Button, Code, Image, List, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { quietClient } from '~/api/client';
import { Copy } from '~/components/copy';
import { FormEnd, useApiForm } from '~/components/form';
import { Loaded } from '~/components/state-block';

/** Sets an authenticator app up: for who has signed in, but needs a second factor and has none. */
export default function Enrol({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('entry');
  const [codes, setCodes] = useState<string[] | null>(null);
  const setup = useQuery({
    queryKey: ['enrol'],
    queryFn: async () => (await quietClient.POST('/api/auth/2fa/setup', { body: {} })).data as TotpSetup,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { code: '' },
    save: async ({ code }) => {
      const { data } = await quietClient.POST('/api/auth/2fa/verify', { body: { code: code.trim() } });
      setCodes(data?.recovery_codes ?? []);
    },
  });
  if (codes)
    return (
      <Stack gap="sm">
        <Text fz="sm">{t('enrol.keep')}</Text>
        <List ff="monospace" fz="sm" listStyleType="none" aria-label={t('enrol.codes')}>
          {codes.map((code) => (
            <List.Item key={code}>{code}</List.Item>
          ))}
        </List>
        <div>
          <Copy text={codes.join('\n')} label={t('enrol.copy')} />
        </div>
        <Button size="sm" onClick={onDone}>
          {t('enrol.kept')}
        </Button>
      </Stack>
    );
  return (
    <Loaded query={setup} lines={4}>
      {({ secret, qr_code }) => (
        <form onSubmit={onSubmit}>
          <Stack gap="sm">
            <Text fz="sm">{t('enrol.scan')}</Text>
            <Image src={qr_code} alt={t('enrol.picture')} w={180} h={180} fit="contain" />
            <Text fz="sm">
              {t('enrol.type')} <Code>{secret}</Code> <Copy text={secret} />
            </Text>
            <TextInput
              label={t('enrol.code')}
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              {...form.getInputProps('code')}
            />
            <FormEnd busy={busy} problem={problem} verb={t('enrol.verify')} />
          </Stack>
        </form>
      )}
    </Loaded>
  );
}

interface TotpSetup {
  secret: string;
  qr_code: string;
}
