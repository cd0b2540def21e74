import { Title } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { AppLink } from '~/components/app-link';
import { Empty, Failure } from '~/components/state-block';
import classes from './shell.module.css';

/** A screen that broke: the rest of the console goes on. */
export function ScreenFailure({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation('shell');
  return (
    <div className={classes.loading}>
      <Title order={1}>{t('broken')}</Title>
      <Failure error={error} retry={reset} />
    </div>
  );
}

/** An address that no screen has. */
export function NotFound() {
  const { t } = useTranslation('shell');
  return (
    <div className={classes.loading}>
      <Title order={1}>{t('notFound')}</Title>
      <Empty title={t('notFoundText')} action={<AppLink to="/">{t('toOverview')}</AppLink>} />
    </div>
  );
}
