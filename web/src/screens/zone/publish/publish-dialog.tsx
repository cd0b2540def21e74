import { Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ApiError } from '~/api/errors';
import { AppLink } from '~/components/app-link';
import { Dialog } from '~/components/dialog';
import { DiffView } from '~/components/diff-view';
import { ErrorText } from '~/components/error-text';
import { Loading } from '~/components/state-block';
import { Status } from '~/components/status';
import { Conflict } from './conflict';
import { Ended, Progressing } from './outcome';
import { Review } from './review';
import type { Phase, Publish, Source } from './use-publish';
import { Waiting } from './waiting';

interface Props {
  domain: { id: number; private: boolean };
  publish: Publish;
  /** what is to be published now, when it is planned again */
  again: (source: Source | null) => void;
  undo: (changeSet: number) => void;
}

const TITLES: Record<Exclude<Phase['is'], 'review'>, string> = {
  planning: 'difference',
  unplanned: 'difference',
  applying: 'publishing',
  stale: 'conflict',
  ended: 'ended',
  waiting: 'waiting',
  over: 'over',
};

/** What did not fit, with the record of each mistake, or the line of a document. */
function Mistakes({ error, source }: { error: ApiError; source: Source | null }) {
  const { t } = useTranslation('zone');
  const words = error.fields.map(({ path, message, ...more }) => {
    const { line } = more as { line?: number };
    const [, at = '', field = ''] = /^changes\.(\d+)\.?(.*)$/.exec(path) ?? [];
    const edit = source?.edits[Number(at || 0)];
    const shown = edit?.after ?? edit?.before;
    if (line) return t('publish.line', { line, message });
    if (shown) return `${shown.host} ${shown.type}: ${field || at === '' ? `${field || path}: ` : ''}${message}`;
    return `${path}: ${message}`;
  });
  return (
    <ul style={{ margin: 0, paddingLeft: 18, overflowWrap: 'anywhere' }}>
      {words.map((word) => (
        <li key={word}>
          <Text fz="sm">{word}</Text>
        </li>
      ))}
    </ul>
  );
}

/** From the difference to the deed: what is published, what became of it, and the way back. */
export function PublishDialog({ domain, publish, again, undo }: Props) {
  const { t } = useTranslation('zone');
  const { phase, source, close } = publish;
  if (!phase) return null;
  const title =
    phase.is === 'review' ? (phase.isUnsent ? 'over' : phase.of.undoes ? 'undo' : 'difference') : TITLES[phase.is];
  return (
    <Dialog opened onClose={close} title={t(`publish.title.${title}`)} size="xl">
      {phase.is === 'planning' && (
        <Stack gap="sm">
          <Text fz="sm">{t('publish.reading')}</Text>
          <Loading lines={4} />
        </Stack>
      )}
      {phase.is === 'unplanned' && (
        <Stack gap="sm">
          <Text fw={600}>{t('publish.nothingDone')}</Text>
          {phase.error instanceof ApiError && phase.error.fields.length > 0 ? (
            <div role="alert">
              <Mistakes error={phase.error} source={source} />
            </div>
          ) : (
            <ErrorText error={phase.error} />
          )}
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={close}>
              {t('publish.back')}
            </Button>
            {!source?.document && <Button onClick={() => again(source)}>{t('publish.again')}</Button>}
          </Group>
        </Stack>
      )}
      {phase.is === 'review' && <Review key={phase.plan.id ?? 0} shown={phase} publish={publish} />}
      {phase.is === 'applying' && <Progressing phase={phase} />}
      {phase.is === 'stale' && (
        <Conflict domain={domain.id} phase={phase} onAgain={() => again(source)} onClose={close} />
      )}
      {phase.is === 'waiting' && <Waiting plan={phase.plan} publish={publish} />}
      {phase.is === 'ended' && <Ended domain={domain} set={phase.set} undo={undo} onClose={close} />}
      {phase.is === 'over' && phase.plan.state === 'applied' && (
        <Stack gap="sm">
          <Text>{t('publish.nothingToDo')}</Text>
          <Group justify="flex-end">
            <Button onClick={close}>{t('publish.back')}</Button>
          </Group>
        </Stack>
      )}
      {phase.is === 'over' && phase.plan.state !== 'applied' && (
        <Stack gap="sm">
          <Status is="warn">{t(`publish.state.${phase.plan.state}`, { defaultValue: phase.plan.state })}</Status>
          {phase.plan.decision && (
            <Text fz="sm">
              {phase.plan.decided_by?.username ?? ''}: {phase.plan.decision}
            </Text>
          )}
          <Text fz="sm">{t('publish.overText')}</Text>
          <DiffView changes={phase.plan.changes} label={t('publish.changes')} />
          <Group justify="space-between" gap="sm">
            <AppLink to={`/plans/${phase.plan.id}`} fz="sm">
              {t('publish.toPlan', { id: phase.plan.id })}
            </AppLink>
            <Button onClick={() => again(source)}>{t('publish.again')}</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
