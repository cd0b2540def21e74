import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Copy } from '~/components/copy';
import { Dialog } from '~/components/dialog';

export interface ShownToken {
  name: string;
  token: string;
}

/** The run token of a tunnel, which is shown this once: closing forgets it. */
export function RunToken({ of, onClose }: { of: ShownToken | null; onClose: () => void }) {
  const { t } = useTranslation('tunnels');
  return (
    <Dialog opened={of !== null} onClose={onClose} title={t('token.title', { name: of?.name ?? '' })}>
      {of && (
        <Stack gap="sm">
          <Text fz="sm">{t('token.text')}</Text>
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <Code block style={{ flex: 1, minWidth: 0, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {`cloudflared tunnel run --token ${of.token}`}
            </Code>
            <Copy text={`cloudflared tunnel run --token ${of.token}`} label={t('token.copy')} />
          </Group>
          <Group justify="flex-end">
            <Button onClick={onClose}>{t('token.kept')}</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
