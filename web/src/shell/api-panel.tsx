import { Anchor, CloseButton, Code, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { asCurl, useCalls } from '~/api/calls';
import { BASE } from '~/api/client';
import { Copy } from '~/components/copy';
import classes from './api-panel.module.css';

/** The calls of the API that this screen has made, to be made by hand. */
export default function ApiPanel({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('shell');
  const calls = useCalls();
  return (
    <aside className={classes.panel} aria-label={t('api.title')}>
      <Group justify="space-between" wrap="nowrap" className={classes.head}>
        <Text fz="sm" fw={600}>
          {t('api.title')}
        </Text>
        <Group gap="sm" wrap="nowrap">
          <Anchor fz="sm" href={`${BASE}/api/docs`} target="_blank" rel="noopener">
            {t('api.docs')}
          </Anchor>
          <CloseButton size="sm" aria-label={t('api.close')} onClick={onClose} />
        </Group>
      </Group>
      <Text fz="xs" c="dimmed" className={classes.hint}>
        {t('api.hint')}
      </Text>
      <ul className={classes.calls}>
        {calls.map((call) => {
          const line = asCurl(call, BASE);
          return (
            <li key={call.id}>
              <Group gap="xs" wrap="nowrap" align="flex-start">
                <Code className={classes.line}>{line}</Code>
                <Copy text={line} label={t('api.copy')} />
              </Group>
              <Text fz="xs" c="dimmed">
                {call.status === null ? t('api.waiting') : t('api.answered', { status: call.status })}
              </Text>
            </li>
          );
        })}
        {calls.length === 0 && (
          <Text fz="sm" component="li">
            {t('api.none')}
          </Text>
        )}
      </ul>
    </aside>
  );
}
