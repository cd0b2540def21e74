import { useTranslation } from 'react-i18next';
import { Empty } from '~/components/state-block';
import { DomainFrame } from '~/screens/domains/domain-frame';

export function DomainSettingsScreen() {
  const { t } = useTranslation('domains');
  return (
    <DomainFrame>
      <Empty title={t('settings.title')} text={t('settings.about')} />
    </DomainFrame>
  );
}
