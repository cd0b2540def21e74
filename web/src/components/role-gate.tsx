import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useMay } from '~/session/session';
import { Empty } from './state-block';

/** Shows its children to this role and above; to others that it is not for them, or nothing. */
export function RoleGate({ role, quiet = false, children }: { role: number; quiet?: boolean; children: ReactNode }) {
  const { t } = useTranslation('common');
  if (useMay(role)) return children;
  return quiet ? null : <Empty title={t('state.noRight')} text={t('state.needsRole', { role: t(`role.${role}`) })} />;
}
