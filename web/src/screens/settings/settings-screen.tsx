import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { AppLink } from '~/components/app-link';
import { RoleGate } from '~/components/role-gate';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Role } from '~/session/session';
import { AuditRulesSettings } from './audit-rules';
import { ChannelsSettings } from './channels';
import { GeneralSettings } from './general';
import { MailSettings } from './mail';
import { OauthSettings } from './oauth';
import { SecuritySettings } from './security';
import classes from './settings.module.css';

const SECTIONS = {
  general: GeneralSettings,
  security: SecuritySettings,
  smtp: MailSettings,
  notifications: ChannelsSettings,
  oauth: OauthSettings,
  'audit-rules': AuditRulesSettings,
};

/** The settings of the installation, section by section. */
export function SettingsScreen() {
  const { t } = useTranslation('settings');
  const { section } = useParams({ strict: false }) as { section: string };
  const Shown = section in SECTIONS ? SECTIONS[section as keyof typeof SECTIONS] : null;
  return (
    <Screen
      title={t('title')}
      tabs={
        <nav aria-label={t('sections')}>
          <ul className={classes.tabs}>
            {Object.keys(SECTIONS).map((name) => (
              <li key={name}>
                <AppLink
                  to={`/settings/${name}`}
                  underline="never"
                  aria-current={name === section ? 'page' : undefined}
                >
                  {t(`section.${name}`)}
                </AppLink>
              </li>
            ))}
          </ul>
        </nav>
      }
    >
      <RoleGate role={Role.Admin}>
        {Shown ? <Shown /> : <Empty title={t('common:state.notFound')} text={t('noSection', { section })} />}
      </RoleGate>
    </Screen>
  );
}
