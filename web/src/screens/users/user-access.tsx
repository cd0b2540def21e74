import { Button, Checkbox, PasswordInput, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { ConfirmDestructive } from '~/components/confirm';
import { Dialog } from '~/components/dialog';
import { ErrorText } from '~/components/error-text';
import { FormEnd, useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { Row, Rows } from '~/components/rows';
import { Section } from '~/components/screen';
import { type User, useMe } from '~/session/session';

type Asked = 'lock' | 'password' | 'revoke' | 'delete' | null;
type Holdings = NonNullable<components['schemas']['UserUpdated']['holds']>;

/** What opens the account of a user, and how it is taken away. */
export function UserAccess({ user }: { user: User }) {
  const { t } = useTranslation('users');
  const navigate = useNavigate();
  const isMe = useMe().id === user.id;
  const [asked, setAsked] = useState<Asked>(null);
  const [withFactor, setWithFactor] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const params = { path: { id: user.id } };
  const close = () => setAsked(null);
  const setStatus = async (status: 0 | 1) => {
    await client.PUT('/api/users/{id}', { params, body: { status } });
    await invalidate('/api/users');
  };
  const name = user.username;
  return (
    <Section title={t('access')}>
      <ErrorText error={problem} />
      <Rows label={t('access')}>
        <Row
          more={t('passwordText')}
          actions={
            <Button variant="default" onClick={() => setAsked('password')}>
              {t('setPassword')}
            </Button>
          }
        >
          {t('password')}
        </Row>
        <Row
          more={t('revokeText')}
          actions={
            <Button variant="default" onClick={() => setAsked('revoke')}>
              {t('revoke')}
            </Button>
          }
        >
          {t('sessions')}
        </Row>
        {!isMe && (
          <>
            <Row
              more={user.status ? t('lockText') : t('unlockText')}
              actions={
                user.status ? (
                  <Button variant="default" onClick={() => setAsked('lock')}>
                    {t('lock')}
                  </Button>
                ) : (
                  <Button variant="default" onClick={() => void setStatus(1).catch(setProblem)}>
                    {t('unlock')}
                  </Button>
                )
              }
            >
              {user.status ? t('lockTitle') : t('unlockTitle')}
            </Row>
            <Row
              more={t('deleteText')}
              actions={
                <Button variant="default" onClick={() => setAsked('delete')}>
                  {t('delete')}
                </Button>
              }
            >
              {t('deleteTitle')}
            </Row>
          </>
        )}
      </Rows>
      {asked === 'password' && <PasswordDialog user={user} onClose={close} />}
      <ConfirmDestructive
        opened={asked === 'lock'}
        onClose={close}
        title={t('lockAsk', { name })}
        verb={t('lock')}
        onConfirm={() => setStatus(0)}
      >
        {t('lockText')}
      </ConfirmDestructive>
      <ConfirmDestructive
        opened={asked === 'delete'}
        onClose={close}
        title={t('deleteAsk', { name })}
        verb={t('delete')}
        typed={name}
        onConfirm={async () => {
          await client.DELETE('/api/users/{id}', { params });
          await navigate({ to: '/users' });
          await invalidate('/api/users');
        }}
      >
        {t('deleteText')}
      </ConfirmDestructive>
      <ConfirmDestructive
        opened={asked === 'revoke'}
        onClose={close}
        title={t('revokeAsk', { name })}
        verb={t('revoke')}
        onConfirm={async () => {
          const { data } = await client.POST('/api/users/{id}/revoke-all', {
            params,
            body: { second_factor: withFactor },
          });
          await invalidate('/api/users', '/api/auth/sessions');
          if (data) notifyDone(t('revoked', { ...data }));
        }}
      >
        <Stack gap="md">
          <Text fz="sm">{t('revokeText')}</Text>
          {user.totp_enabled && (
            <Checkbox
              label={t('withFactor')}
              description={t('withFactorText')}
              checked={withFactor}
              onChange={(event) => setWithFactor(event.currentTarget.checked)}
            />
          )}
        </Stack>
      </ConfirmDestructive>
    </Section>
  );
}

/** Sets a new password for a user, and tells what else opens the account. */
function PasswordDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const { t } = useTranslation('users');
  const [holds, setHolds] = useState<Holdings | null>(null);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { password: '' },
    save: async (body) => {
      const { data } = await client.PUT('/api/users/{id}', { params: { path: { id: user.id } }, body });
      await invalidate('/api/users');
      const held = data?.holds;
      if (held && held.tokens.length + held.passkeys.length + held.identities.length > 0) setHolds(held);
      else {
        notifyDone(t('passwordSet', { name: user.username }));
        onClose();
      }
    },
  });
  if (holds)
    return (
      <Dialog opened title={t('passwordSet', { name: user.username })} onClose={onClose}>
        <Stack gap="md">
          <Text fz="sm">{t('holds')}</Text>
          <Rows label={t('holds')}>
            {holds.tokens.map(({ id, name }) => (
              <Row key={`t${id}`}>{t('held.token', { name })}</Row>
            ))}
            {holds.passkeys.map(({ id, name }) => (
              <Row key={`p${id}`}>{t('held.passkey', { name })}</Row>
            ))}
            {holds.identities.map(({ provider, name }) => (
              <Row key={provider}>{t('held.identity', { provider, name })}</Row>
            ))}
          </Rows>
          <Button ml="auto" onClick={onClose}>
            {t('common:close')}
          </Button>
        </Stack>
      </Dialog>
    );
  return (
    <Dialog opened title={t('setPasswordOf', { name: user.username })} onClose={onClose}>
      <form onSubmit={onSubmit} autoComplete="off">
        <Stack gap="md">
          <Text fz="sm">{t('passwordText')}</Text>
          <PasswordInput
            label={t('newPassword')}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': t('session:showPassword'), tabIndex: 0 }}
            data-autofocus
            {...form.getInputProps('password')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('setPassword')} />
        </Stack>
      </form>
    </Dialog>
  );
}
