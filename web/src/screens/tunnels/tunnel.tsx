import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import { type Meaning, Status } from '~/components/status';

type Schemas = components['schemas'];
export type Tunnel = Schemas['TunnelView'];
export type Ingress = Schemas['IngressRule'];

const MEANINGS: Record<string, Meaning> = {
  healthy: 'good',
  degraded: 'warn',
  down: 'bad',
  inactive: 'off',
  missing: 'bad',
};

/** Whether a tunnel is run by somebody, as it was seen last. */
export function TunnelStatus({ of }: { of: Pick<Tunnel, 'state' | 'status' | 'hold_reason'> }) {
  const { t } = useTranslation('tunnels');
  if (of.hold_reason) return <Status is="warn">{t('status.held')}</Status>;
  if (of.state !== 'ready') return <Status is="busy">{t(`status.${of.state}`)}</Status>;
  return <Status is={MEANINGS[of.status] ?? 'off'}>{t(`status.${of.status}`, { defaultValue: of.status })}</Status>;
}
