import { Stack, TextInput } from '@mantine/core';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { quietClient } from '~/api/client';
import { queryClient } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { ErrorText } from '~/components/error-text';
import { FormEnd, useApiForm } from '~/components/form';
import { Loading } from '~/components/state-block';
import { tellPages } from '~/session/opened-for';
import { safeBack } from '~/session/safe-back';
import { renewBefore } from '~/session/session';
import { finishBySecondFactor, needsCode } from '~/session/sign-in';
import { useBareAddress } from './bare-address';
import { EntryFrame } from './entry-frame';

const NAMES = ['state', 'code', 'iss', 'error'] as const;

/** What the provider sent back, in the address. */
function readAnswer(): Record<string, string> {
  const query = new URLSearchParams(location.search);
  return Object.fromEntries(NAMES.flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : [])));
}

function takeBack(): string {
  const back = sessionStorage.getItem('zoneward.back') ?? undefined;
  sessionStorage.removeItem('zoneward.back');
  return safeBack(back);
}

/** Where a provider sends the browser back to: finishes the sign-in, or the binding. */
export function CallbackScreen() {
  const { t } = useTranslation('entry');
  const router = useRouter();
  const navigate = useNavigate();
  const [answer] = useState(readAnswer);
  useBareAddress();
  const [problem, setProblem] = useState<unknown>(null);
  const [challenge, setChallenge] = useState<string | null>(null);
  const begun = useRef(false);

  const goOn = async (to: string) => {
    queryClient.clear();
    await router.invalidate();
    await navigate({ href: to, replace: true } as never);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the answer is good for one try
  useEffect(() => {
    if (begun.current || !answer.state) return;
    begun.current = true;
    quietClient.POST('/api/auth/oauth/callback', { body: answer as { state: string } }).then(
      ({ data, response }) => {
        renewBefore(data?.expires_at, response);
        if (data?.user && !data.bound) tellPages(data.user.id);
        return goOn(data?.bound ? '/profile' : takeBack());
      },
      (error) => {
        if (needsCode(error) && error.data.challenge_id) setChallenge(error.data.challenge_id);
        else setProblem(error);
      },
    );
  }, []);

  if (challenge) return <SecondStep challenge={challenge} onDone={() => goOn(takeBack())} />;
  return (
    <EntryFrame title={t('callback.title')}>
      {answer.state && !problem ? <Loading lines={2} /> : null}
      <ErrorText error={answer.state ? problem : new Error(t('callback.incomplete'))} />
      {(problem || !answer.state) && (
        <p>
          <AppLink to="/sign-in" fz="sm">
            {t('callback.again')}
          </AppLink>
        </p>
      )}
    </EntryFrame>
  );
}

function SecondStep({ challenge, onDone }: { challenge: string; onDone: () => Promise<void> }) {
  const { t } = useTranslation('session');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { code: '' },
    save: async ({ code }) => {
      await finishBySecondFactor(challenge, code);
      await onDone();
    },
  });
  return (
    <EntryFrame title={t('signIn')}>
      <form onSubmit={onSubmit}>
        <Stack gap="sm">
          <TextInput
            label={t('code')}
            description={t('codeHint')}
            autoComplete="one-time-code"
            autoFocus
            required
            {...form.getInputProps('code')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('goOn')} />
        </Stack>
      </form>
    </EntryFrame>
  );
}
