import { useTranslation } from 'react-i18next';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';

export function AccountScreen() {
  const { t } = useTranslation('accounts');
  return (
    <Screen title={t('account.title')}>
      <Empty title={t('account.title')} text={t('account.about')} />
    </Screen>
  );
}
