import { Button, Code, Image, List, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { Copy } from '~/components/copy';
import { Dialog } from '~/components/dialog';
import { ErrorText } from '~/components/error-text';
import { FormEnd, useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { Section } from '~/components/screen';
import { Status } from '~/components/status';
import { useMe } from '~/session/session';
import { useFresh } from './fresh';

type Setup = components['schemas']['TotpSetup'];

/** The authenticator app: on, off, and its recovery codes, which are shown once. */
export function SecondFactorSection() {
  const { t } = useTranslation('profile');
  const { totp_enabled } = useMe();
  const { fresh, dialog } = useFresh();
  const [setup, setSetup] = useState<Setup | null>(null);
  const [isTurningOff, setTurningOff] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const begin = async () => {
    setProblem(null);
    try {
      const answer = await fresh(() => client.POST('/api/auth/2fa/setup', { body: {} }));
      if (answer?.data) setSetup(answer.data);
    } catch (error) {
      setProblem(error);
    }
  };
  return (
    <Section
      title={t('totp.title')}
      actions={
        totp_enabled ? (
          <Button variant="default" onClick={() => setTurningOff(true)}>
            {t('totp.turnOff')}
          </Button>
        ) : (
          <Button variant="default" onClick={() => void begin()}>
            {t('totp.setUp')}
          </Button>
        )
      }
    >
      <Text fz="sm" component="div">
        <Status is={totp_enabled ? 'good' : 'off'}>{totp_enabled ? t('totp.on') : t('totp.off')}</Status>
      </Text>
      <Text fz="sm" c="dimmed" maw="70ch">
        {totp_enabled ? t('totp.aboutOn') : t('totp.about')}
      </Text>
      <ErrorText error={problem} />
      {setup && <SetupDialog setup={setup} onClose={() => setSetup(null)} />}
      {isTurningOff && <TurnOffDialog onClose={() => setTurningOff(false)} />}
      {dialog}
    </Section>
  );
}

function SetupDialog({ setup: { secret, qr_code }, onClose }: { setup: Setup; onClose: () => void }) {
  const { t } = useTranslation('profile');
  const [codes, setCodes] = useState<string[] | null>(null);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { code: '' },
    save: async ({ code }) => {
      const { data } = await client.POST('/api/auth/2fa/verify', { body: { code: code.trim() } });
      setCodes(data?.recovery_codes ?? []);
    },
  });
  const end = async () => {
    onClose();
    await invalidate('/api/bootstrap', '/api/auth/sessions');
  };
  if (codes)
    return (
      <Dialog opened title={t('totp.codes')} closable={false} onClose={() => undefined}>
        <Stack gap="md">
          <Text fz="sm">{t('totp.codesText')}</Text>
          <div>
            <List ff="monospace" fz="md" listStyleType="none" style={{ columns: 2 }} aria-label={t('totp.codes')}>
              {codes.map((code) => (
                <List.Item key={code}>{code}</List.Item>
              ))}
            </List>
          </div>
          <Text fz="sm" component="div">
            {t('totp.copyCodes')} <Copy text={codes.join('\n')} label={t('totp.copyCodes')} />
          </Text>
          <Button ml="auto" onClick={() => void end()}>
            {t('totp.kept')}
          </Button>
        </Stack>
      </Dialog>
    );
  return (
    <Dialog opened title={t('totp.setUp')} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <Text fz="sm">{t('totp.scan')}</Text>
          <Image src={qr_code} alt={t('totp.picture')} w={180} h={180} fit="contain" bg="white" />
          <Text fz="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
            {t('totp.type')} <Code>{secret}</Code> <Copy text={secret} label={t('totp.copySeed')} />
          </Text>
          <TextInput
            label={t('totp.code')}
            inputMode="numeric"
            autoComplete="one-time-code"
            data-autofocus
            {...form.getInputProps('code')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('totp.turnOn')} />
        </Stack>
      </form>
    </Dialog>
  );
}

function TurnOffDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('profile');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { password: '', code: '' },
    save: async ({ password, code }) => {
      await client.POST('/api/auth/2fa/disable', { body: { password, code: code.trim() } });
      onClose();
      await invalidate('/api/bootstrap', '/api/auth/sessions');
      notifyDone(t('totp.turnedOff'));
    },
  });
  return (
    <Dialog opened title={t('totp.turnOff')} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <Text fz="sm">{t('totp.turnOffText')}</Text>
          <PasswordInput
            label={t('session:password')}
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': t('session:showPassword'), tabIndex: 0 }}
            data-autofocus
            {...form.getInputProps('password')}
          />
          <TextInput
            label={t('session:code')}
            description={t('session:codeHint')}
            autoComplete="one-time-code"
            {...form.getInputProps('code')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('totp.turnOff')} />
        </Stack>
      </form>
    </Dialog>
  );
}
