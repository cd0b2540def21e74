import { useTranslation } from 'react-i18next';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';

export function SystemScreen() {
  const { t } = useTranslation('system');
  return (
    <Screen title={t('title')}>
      <Empty title={t('title')} text={t('about')} />
    </Screen>
  );
}
