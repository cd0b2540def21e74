import { useTranslation } from 'react-i18next';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';

export function TeamScreen() {
  const { t } = useTranslation('teams');
  return (
    <Screen title={t('team.title')}>
      <Empty title={t('team.title')} text={t('team.about')} />
    </Screen>
  );
}
