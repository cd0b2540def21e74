import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { quietClient } from '~/api/client';
import { queryClient } from '~/api/query';
import { Dialog } from '~/components/dialog';
import { signedInAgain, useEnded } from './ended';
import { bootstrapOptions, useMe } from './session';
import { SignInForm } from './sign-in-form';

/** Above the page when the session has ended: nothing that was typed is lost, and what waited goes on. */
export default function SignInDialog() {
  const { t } = useTranslation('session');
  const isEnded = useEnded();
  const { id, username } = useMe();

  const goOn = (user: number) => {
    if (user !== id) {
      // what is on the page was read by somebody else
      queryClient.clear();
      location.reload();
      return;
    }
    void queryClient.invalidateQueries({ queryKey: bootstrapOptions.queryKey });
    signedInAgain();
  };

  useEffect(() => {
    if (!isEnded) return;
    // somebody may have signed in in another tab
    const look = async () => {
      if (document.visibilityState !== 'visible') return;
      const { data } = await quietClient.GET('/api/auth/me').catch(() => ({ data: undefined }));
      if (data) goOn(data.id);
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  });

  if (!isEnded) return null;
  return (
    <Dialog opened title={t('ended.title')} onClose={() => undefined} closable={false} size="sm">
      <Stack gap="md">
        <Text fz="sm">{t('ended.text')}</Text>
        <SignInForm username={username} stays onSignedIn={({ user }) => goOn(user.id)} />
        <Group justify="space-between">
          <Text fz="xs" c="dimmed">
            {t('ended.elsewhere')}
          </Text>
          <Button
            variant="default"
            component="a"
            href={`${new URL('sign-in', document.baseURI)}`}
            target="_blank"
            rel="noopener"
          >
            {t('ended.newTab')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
