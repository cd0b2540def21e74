import { useTranslation } from 'react-i18next';
import { BASE } from '~/api/client';
import { SecretDialog } from '~/components/secret-dialog';

/** The secret of a token, shown this once. */
export function NewSecret({ secret, name, onClose }: { secret: string; name: string; onClose: () => void }) {
  const { t } = useTranslation('tokens');
  const call = `curl -H "Authorization: Bearer $TOKEN" ${BASE}/api/tokens/self`;
  return (
    <SecretDialog
      title={t('secret.title', { name })}
      parts={[
        { text: t('secret.text'), code: secret, label: t('secret.label'), copy: t('secret.copy') },
        { text: t('secret.try'), code: call, copy: t('secret.copyCall') },
      ]}
      kept={t('secret.kept')}
      onClose={onClose}
    />
  );
}
