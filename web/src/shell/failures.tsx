import type { ErrorComponentProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { AppLink } from '~/components/app-link';
import { Screen } from '~/components/screen';
import { Empty, Failure } from '~/components/state-block';

/** A screen that broke: the rest of the console goes on. */
export function ScreenFailure({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation('shell');
  return (
    <Screen title={t('broken')}>
      <Failure error={error} retry={reset} />
    </Screen>
  );
}

/** An address that no screen has. */
export function NotFound() {
  const { t } = useTranslation('shell');
  return (
    <Screen title={t('notFound')}>
      <Empty title={t('notFoundText')} action={<AppLink to="/">{t('toOverview')}</AppLink>} />
    </Screen>
  );
}
