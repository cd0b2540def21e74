import { useTranslation } from 'react-i18next';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';

export function TokensScreen() {
  const { t } = useTranslation('tokens');
  return (
    <Screen title={t('title')}>
      <Empty title={t('title')} text={t('about')} />
    </Screen>
  );
}
