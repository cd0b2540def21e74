import { useTranslation } from 'react-i18next';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';

export function DomainsScreen() {
  const { t } = useTranslation('domains');
  return (
    <Screen title={t('title')}>
      <Empty title={t('title')} text={t('about')} />
    </Screen>
  );
}
