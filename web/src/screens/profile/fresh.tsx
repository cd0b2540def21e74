import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '~/api/errors';
import { queryClient } from '~/api/query';
import { Dialog } from '~/components/dialog';
import { useMe } from '~/session/session';
import { SignInForm } from '~/session/sign-in-form';

const needsFresh = (error: unknown) => error instanceof ApiError && (error.reason ?? '').startsWith('fresh_');

/**
 * For what a session may do in its first minutes only: asks to sign in again where it is older, and goes on.
 * @returns `fresh(work)`, which is null where one does not sign in, and the dialog, to be shown
 */
export function useFresh() {
  const { t } = useTranslation('profile');
  const { id, username } = useMe();
  const [answer, setAnswer] = useState<{ give: (signedIn: boolean) => void } | null>(null);
  const fresh = async <T,>(work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      if (!needsFresh(error)) throw error;
      const signedIn = await new Promise<boolean>((give) => setAnswer({ give }));
      setAnswer(null);
      return signedIn ? work() : null;
    }
  };
  const dialog = answer && (
    <Dialog opened title={t('fresh.title')} onClose={() => answer.give(false)} size="sm">
      <Stack gap="md">
        <Text fz="sm">{t('fresh.text')}</Text>
        <SignInForm
          username={username}
          stays
          onSignedIn={({ user }) => {
            if (user.id === id) return answer.give(true);
            // what is on the page was read by somebody else
            queryClient.clear();
            location.reload();
          }}
        />
      </Stack>
    </Dialog>
  );
  return { fresh, dialog };
}
