import { useTranslation } from 'react-i18next';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';

export function PlanScreen() {
  const { t } = useTranslation('plans');
  return (
    <Screen title={t('plan.title')}>
      <Empty title={t('plan.title')} text={t('plan.about')} />
    </Screen>
  );
}
