import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, needsSetup } from '~/api/errors';
import { queryClient } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { Loading } from '~/components/state-block';
import { safeBack } from '~/session/safe-back';
import { bootstrapOptions } from '~/session/session';
import { SignInForm } from '~/session/sign-in-form';
import { EntryFrame } from './entry-frame';

const Enrol = lazy(() => import('./enrol'));

/** Sign-in, and where the role demands a second factor that is not there, setting one up. Goes back to where one came from. */
export function SignInScreen() {
  const { t } = useTranslation('entry');
  const router = useRouter();
  const navigate = useNavigate();
  const { back } = useSearch({ strict: false }) as { back?: string };
  // who has a session goes on at once
  const session = useQuery({ ...bootstrapOptions, retry: false });
  const isSignedIn = session.data !== undefined;
  const reason = session.error instanceof ApiError ? session.error.reason : undefined;

  const goOn = async () => {
    queryClient.clear();
    await router.invalidate();
    await navigate({ href: safeBack(back), replace: true } as never);
  };
  useEffect(() => {
    if (isSignedIn) void navigate({ href: safeBack(back), replace: true } as never);
    if (needsSetup(session.error)) void navigate({ to: '/setup', replace: true });
  }, [isSignedIn, session.error, back, navigate]);

  if (reason === 'second_factor_required')
    return (
      <EntryFrame title={t('enrol.title')} text={t('enrol.text')}>
        <Suspense fallback={<Loading lines={4} />}>
          <Enrol onDone={() => void goOn()} />
        </Suspense>
      </EntryFrame>
    );
  return (
    <EntryFrame title={t('session:signIn')}>
      <SignInForm
        back={safeBack(back)}
        onSignedIn={async () => {
          const { error } = await session.refetch();
          if (!error) await goOn();
        }}
      />
      <p>
        <AppLink to="/reset" fz="sm">
          {t('session:forgot')}
        </AppLink>
      </p>
    </EntryFrame>
  );
}
