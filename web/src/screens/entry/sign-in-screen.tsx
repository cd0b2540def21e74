import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { queryClient } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { safeBack } from '~/session/sign-in';
import { SignInForm } from '~/session/sign-in-form';
import { EntryFrame } from './entry-frame';

export function SignInScreen() {
  const { t } = useTranslation('session');
  const router = useRouter();
  const navigate = useNavigate();
  const { back } = useSearch({ strict: false }) as { back?: string };
  const goOn = async () => {
    queryClient.clear();
    await router.invalidate();
    await navigate({ href: safeBack(back), replace: true } as never);
  };
  return (
    <EntryFrame title={t('signIn')}>
      <SignInForm onSignedIn={() => void goOn()} back={safeBack(back)} />
      <p>
        <AppLink to="/reset" fz="sm">
          {t('forgot')}
        </AppLink>
      </p>
    </EntryFrame>
  );
}
