import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { BASE } from '~/api/client';
import { Copy } from '~/components/copy';
import { Dialog } from '~/components/dialog';

/** The secret of a token, shown this once. */
export function SecretDialog({ secret, name, onClose }: { secret: string; name: string; onClose: () => void }) {
  const { t } = useTranslation('tokens');
  const call = `curl -H "Authorization: Bearer $TOKEN" ${BASE}/api/tokens/self`;
  return (
    <Dialog opened title={t('secret.title', { name })} closable={false} onClose={() => undefined} size="lg">
      <Stack gap="md">
        <Text fz="sm">{t('secret.text')}</Text>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Code
            block
            style={{ flex: 1, overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}
            aria-label={t('secret.label')}
          >
            {secret}
          </Code>
          <Copy text={secret} label={t('secret.copy')} />
        </Group>
        <Text fz="sm">{t('secret.try')}</Text>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Code block style={{ flex: 1, overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {call}
          </Code>
          <Copy text={call} label={t('secret.copyCall')} />
        </Group>
        <Button ml="auto" onClick={onClose}>
          {t('secret.kept')}
        </Button>
      </Stack>
    </Dialog>
  );
}
