import { useTranslation } from 'react-i18next';
import { RoleGate } from '~/components/role-gate';
import { Screen } from '~/components/screen';
import { Role, useMay } from '~/session/session';
import { useUrlState } from '~/state/use-url-state';
import { AuditEntry } from './audit-entry';
import { AuditList } from './audit-list';

/** The audit log; `?entry=7` shows one entry. */
export function AuditScreen() {
  const { t } = useTranslation('audit');
  const [{ entry }] = useUrlState({ entry: '' });
  if (!useMay(Role.Admin))
    return (
      <Screen title={t('title')}>
        <RoleGate role={Role.Admin}>{null}</RoleGate>
      </Screen>
    );
  return entry ? <AuditEntry id={Number(entry)} /> : <AuditList />;
}
