import { useTranslation } from 'react-i18next';
import { Empty } from '~/components/state-block';
import { DomainFrame } from '~/screens/domains/domain-frame';

export function PlansScreen() {
  const { t } = useTranslation('plans');
  return (
    <DomainFrame>
      <Empty title={t('title')} text={t('about')} />
    </DomainFrame>
  );
}
