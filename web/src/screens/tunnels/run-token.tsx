import { useTranslation } from 'react-i18next';
import { SecretDialog } from '~/components/secret-dialog';

export interface ShownToken {
  name: string;
  token: string;
}

/** The run token of a tunnel, which is shown this once. */
export function RunToken({ of: { name, token }, onClose }: { of: ShownToken; onClose: () => void }) {
  const { t } = useTranslation('tunnels');
  return (
    <SecretDialog
      title={t('token.title', { name })}
      parts={[{ text: t('token.text'), code: `cloudflared tunnel run --token ${token}`, copy: t('token.copy') }]}
      kept={t('token.kept')}
      onClose={onClose}
    />
  );
}
