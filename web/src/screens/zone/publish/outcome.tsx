import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { AppLink } from '~/components/app-link';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { Live } from './live';
import type { ChangeSet } from './settle';
import type { Phase } from './use-publish';

const doneOf = ({ counts, total }: ChangeSet) => total - counts.pending - counts.unknown;

/** The changes are being made: how far they are. */
export function Progressing({ phase }: { phase: Extract<Phase, { is: 'applying' }> }) {
  const { t } = useTranslation('zone');
  const { set, isAway } = phase;
  const part = set?.total ? (100 * doneOf(set)) / set.total : null;
  return (
    <Stack gap="sm">
      <div role="status">
        <Status is={isAway ? 'warn' : 'busy'}>
          {isAway
            ? t('publish.away')
            : set
              ? t('publish.of', { done: doneOf(set), total: set.total })
              : t('publish.sent')}
        </Status>
      </div>
      <Progress value={part ?? 100} animated={part === null} aria-label={t('publish.title.publishing')} />
      {set?.state === 'unknown' && (
        <Text fz="sm" c="var(--zw-warn)" role="alert">
          {t('publish.unknown', { count: set.counts.unknown })}
        </Text>
      )}
      {set?.paused_until && (
        <Text fz="sm" c="var(--zw-warn)">
          {t('publish.paused')} <Time iso={set.paused_until} />
        </Text>
      )}
      {set?.hold_reason && (
        <Text fz="sm" c="var(--zw-warn)">
          {set.hold_reason}
        </Text>
      )}
      <Text fz="sm" c="dimmed">
        {t('publish.mayClose')}
      </Text>
    </Stack>
  );
}

interface Props {
  domain: { id: number; private: boolean };
  set: ChangeSet;
  undo: (changeSet: number) => void;
  onClose: () => void;
}

/** The changes have ended: what became of each, whether it is live, and the way back. */
export function Ended({ domain, set, undo, onClose }: Props) {
  const { t } = useTranslation('zone');
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const { applied, failed, not_tried } = set.counts;
  const lost = failed + not_tried;
  const failures = set.changes.filter(({ state }) => state === 'failed' || state === 'not_tried');
  return (
    <Stack gap="sm">
      <div role="status">
        <Status is={lost === 0 ? 'good' : applied ? 'warn' : 'bad'}>
          {lost === 0 ? t('publish.done', { count: applied }) : t('publish.partly', { applied, lost })}
        </Status>
      </div>
      {failures.length > 0 && (
        <Stack gap={2}>
          {failures.map(({ position, before, after, error }) => (
            <Text key={position} fz="sm" style={{ overflowWrap: 'anywhere' }}>
              <span className="zw-mono">
                {(after ?? before)?.host} {(after ?? before)?.type}
              </span>
              : {error?.msg ?? t('publish.notTried')}
            </Text>
          ))}
          <Text fz="sm">{t('publish.stay')}</Text>
        </Stack>
      )}
      {set.moved.length > 0 && <Text fz="sm">{t('publish.moved', { count: set.moved.length })}</Text>}
      {!domain.private && applied > 0 && <Live domain={domain.id} set={set} />}
      <Group justify="space-between" gap="sm">
        <AppLink to={`/domains/${domain.id}/history`} fz="sm">
          {t('publish.toHistory')}
        </AppLink>
        <Group gap="sm">
          {applied > 0 && (
            <Button variant="default" onClick={() => undo(set.id)}>
              {t('publish.undo')}
            </Button>
          )}
          <Button ref={button} onClick={onClose}>
            {t('publish.close')}
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}
