import { useTranslation } from 'react-i18next';
import { Screen } from '~/components/screen';
import { useMe } from '~/session/session';
import { IdentitiesSection } from './identities-section';
import { PasskeysSection } from './passkeys-section';
import { PasswordSection } from './password-section';
import { PersonSection } from './person-section';
import { SecondFactorSection } from './second-factor-section';
import { SessionsSection } from './sessions-section';

/** What is of the signed-in user alone. */
export function ProfileScreen() {
  const { t } = useTranslation('profile');
  const me = useMe();
  return (
    <Screen title={t('title')} about={t('role', { name: me.username, role: t(`common:role.${me.role}`) })}>
      <PersonSection />
      <PasswordSection />
      <SecondFactorSection />
      <PasskeysSection />
      <IdentitiesSection />
      <SessionsSection />
    </Screen>
  );
}
