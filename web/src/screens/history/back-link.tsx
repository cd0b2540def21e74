import { IconArrowLeft } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { AppLink } from '~/components/app-link';
import { useDomainId } from '~/screens/domains/domain-frame';
import classes from './history.module.css';

/** Back to the list of versions. */
export function BackLink() {
  const { t } = useTranslation('history');
  const domain = useDomainId();
  return (
    <AppLink to={`/domains/${domain}/history`} className={classes.back ?? ''} fz="sm">
      <IconArrowLeft size={14} stroke={1.6} aria-hidden /> {t('back')}
    </AppLink>
  );
}
