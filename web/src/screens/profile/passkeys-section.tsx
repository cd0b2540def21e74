import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { ConfirmDestructive } from '~/components/confirm';
import { Dialog } from '~/components/dialog';
import { ErrorText } from '~/components/error-text';
import { FormEnd, useApiForm } from '~/components/form';
import { Row, Rows } from '~/components/rows';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Time } from '~/components/time';
import { passkeysWork } from '~/session/sign-in';
import { useFresh } from './fresh';

type Passkey = components['schemas']['PasskeyView'];

/** Adds a passkey of this browser. @returns null when the user called it off */
async function addPasskey(fresh: ReturnType<typeof useFresh>['fresh']): Promise<Passkey['id'] | null> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  const answer = await fresh(() => client.POST('/api/auth/webauthn/register/start', { body: {} }));
  if (!answer?.data) return null;
  const { challenge_id, options } = answer.data;
  let response: Awaited<ReturnType<typeof startRegistration>>;
  try {
    response = await startRegistration({ optionsJSON: options as never });
  } catch (error) {
    if (error instanceof Error && ['NotAllowedError', 'AbortError'].includes(error.name)) return null;
    throw error;
  }
  const body = { challenge_id, response: response as never };
  const { data } = await client.POST('/api/auth/webauthn/register/finish', { body });
  return data?.id ?? null;
}

/** Passkeys: add, name, remove. */
export function PasskeysSection() {
  const { t } = useTranslation('profile');
  const passkeys = $api.useQuery('get', '/api/auth/webauthn');
  const site = $api.useQuery('get', '/api/site');
  const { fresh, dialog } = useFresh();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [named, setNamed] = useState<Passkey | null>(null);
  const [removed, setRemoved] = useState<Passkey | null>(null);
  const missing = !window.isSecureContext
    ? t('passkeys.insecure')
    : !passkeysWork()
      ? t('passkeys.unsupported')
      : site.data && !site.data.sign_in.passkeys
        ? t('passkeys.address')
        : null;
  const add = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const id = await addPasskey(fresh);
      if (id === null) return;
      await invalidate('/api/auth/webauthn', '/api/auth/sessions');
      const { data } = await client.GET('/api/auth/webauthn');
      setNamed(data?.find((passkey) => passkey.id === id) ?? null);
    } catch (error) {
      setProblem(error instanceof Error && error.name === 'InvalidStateError' ? new Error(t('passkeys.has')) : error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section
      title={t('passkeys.title')}
      actions={
        !missing && (
          <Button variant="default" loading={busy} onClick={() => void add()}>
            {t('passkeys.add')}
          </Button>
        )
      }
    >
      <Text fz="sm" c="dimmed" maw="70ch">
        {missing ?? t('passkeys.about')}
      </Text>
      <ErrorText error={problem} />
      <Loaded query={passkeys} lines={2}>
        {(list) => (
          <Rows label={t('passkeys.title')}>
            {list.map((passkey) => (
              <Row
                key={passkey.id}
                more={
                  <>
                    {passkey.backed_up ? t('passkeys.synced') : t('passkeys.single')} · {t('passkeys.added')}{' '}
                    <Time iso={passkey.created_at} /> · {t('passkeys.used')}{' '}
                    {passkey.last_used_at ? <Time iso={passkey.last_used_at} /> : t('never')}
                  </>
                }
                actions={
                  <>
                    <Button
                      variant="subtle"
                      aria-label={t('passkeys.renameOne', { name: passkey.name })}
                      onClick={() => setNamed(passkey)}
                    >
                      {t('passkeys.rename')}
                    </Button>
                    <Button
                      variant="subtle"
                      aria-label={t('passkeys.removeOne', { name: passkey.name })}
                      onClick={() => setRemoved(passkey)}
                    >
                      {t('remove')}
                    </Button>
                  </>
                }
              >
                {passkey.name}
              </Row>
            ))}
          </Rows>
        )}
      </Loaded>
      {named && <NameDialog passkey={named} onClose={() => setNamed(null)} />}
      <ConfirmDestructive
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('passkeys.removeTitle', { name: removed?.name })}
        verb={t('remove')}
        onConfirm={async () => {
          if (removed) await client.DELETE('/api/auth/webauthn/{id}', { params: { path: { id: removed.id } } });
          await invalidate('/api/auth/webauthn');
        }}
      >
        {t('passkeys.removeText')}
      </ConfirmDestructive>
      {dialog}
    </Section>
  );
}

function NameDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const { t } = useTranslation('profile');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { name: passkey.name },
    save: async (body) => {
      await client.PATCH('/api/auth/webauthn/{id}', { params: { path: { id: passkey.id } }, body });
      await invalidate('/api/auth/webauthn');
      onClose();
    },
  });
  return (
    <Dialog opened title={t('passkeys.name')} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <TextInput
            label={t('passkeys.nameLabel')}
            description={t('passkeys.nameHint')}
            data-autofocus
            {...form.getInputProps('name')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
        </Stack>
      </form>
    </Dialog>
  );
}
