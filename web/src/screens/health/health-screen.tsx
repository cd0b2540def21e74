import { useTranslation } from 'react-i18next';
import { Empty } from '~/components/state-block';
import { DomainFrame } from '~/screens/domains/domain-frame';

export function HealthScreen() {
  const { t } = useTranslation('health');
  return (
    <DomainFrame>
      <Empty title={t('title')} text={t('about')} />
    </DomainFrame>
  );
}
