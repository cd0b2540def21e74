import { Button, Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { Box } from '~/components/box';
import { DiffView } from '~/components/diff-view';
import { ErrorText } from '~/components/error-text';
import { Facts } from '~/components/rows';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { type Meaning, Status } from '~/components/status';
import { Time } from '~/components/time';
import { makePlan, recordsChanged, useMayWrite } from './plan';
import { useDoor, Who } from './who';

type Detail = components['schemas']['ChangeSetDetail'];

const MEANINGS: Record<string, Meaning> = { open: 'busy', unknown: 'warn', done: 'good' };
const POLL_MS = 1500;

/** How a list of changes stands, in one word: one that has ended with failures is not in order. */
export function ChangeSetStatus({ of }: { of: Pick<Detail, 'state' | 'counts' | 'hold_reason' | 'paused_until'> }) {
  const { t } = useTranslation('plans');
  const { failed, not_tried: left } = of.counts;
  if (of.hold_reason) return <Status is="warn">{t('set.held')}</Status>;
  if (of.paused_until) return <Status is="warn">{t('set.paused')}</Status>;
  if (of.state === 'done' && failed + left > 0) return <Status is="bad">{t('set.partly')}</Status>;
  return <Status is={MEANINGS[of.state] ?? 'off'}>{t(`set.${of.state}`)}</Status>;
}

/**
 * What one list of changes did, and what became of each change; renewed as long as it goes on.
 * @param brief beside something that shows its changes already
 */
export function ChangeSet({ domain, id, brief = false }: { domain: number; id: number; brief?: boolean }) {
  const { t } = useTranslation('plans');
  const query = $api.useQuery(
    'get',
    '/api/domains/{domain_id}/changes/{changeSetId}',
    { params: { path: { domain_id: String(domain), changeSetId: id } } },
    { refetchInterval: ({ state }) => (state.data && state.data.state !== 'done' ? POLL_MS : false) },
  );
  return (
    <Section title={t('set.title', { id })}>
      <Loaded query={query} lines={4}>
        {(set) => <Detailed set={set} domain={domain} brief={brief} />}
      </Loaded>
    </Section>
  );
}

function Detailed({ set, domain, brief }: { set: Detail; domain: number; brief: boolean }) {
  const { t } = useTranslation(['plans', 'common']);
  const door = useDoor();
  const navigate = useNavigate();
  const mayWrite = useMayWrite(domain);
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [nothing, setNothing] = useState(false);
  const run = async (what: string, work: () => Promise<unknown>) => {
    setBusy(what);
    setError(null);
    try {
      await work();
      await recordsChanged();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(null);
    }
  };
  const params = { path: { domain_id: String(domain), changeSetId: set.id } };
  const undo = async () => {
    const plan = await makePlan(domain, { change_set_id: set.id, comment: t('set.undoComment', { id: set.id }) });
    if (plan.id === null) setNothing(true);
    else void navigate({ to: `/plans/${plan.id}` as never, search: { undo: String(set.id) } as never });
  };
  const { counts } = set;
  return (
    <>
      <Facts
        of={[
          [t('facts.state'), <ChangeSetStatus key="state" of={set} />],
          [
            t('facts.outcome'),
            t('set.counts', { done: counts.applied, total: set.total }) +
              (counts.failed ? ` · ${t('set.failed', { count: counts.failed })}` : '') +
              (counts.not_tried ? ` · ${t('set.notTried', { count: counts.not_tried })}` : ''),
          ],
          [t('facts.by'), brief ? null : <Who key="by" of={set.actor} />],
          [t('facts.approvedBy'), set.approved_by?.username],
          [t('facts.door'), brief ? null : door(set.door)],
          [t('facts.comment'), brief ? null : set.comment],
          [t('facts.override'), set.override_reason],
          [t('facts.made'), brief ? null : <Time key="made" iso={set.created_at} exact />],
        ]}
      />
      {set.hold_reason && <Box is="warn">{set.hold_reason}</Box>}
      {set.paused_until && (
        <Box is="warn">
          {t('set.pausedUntil')} <Time iso={set.paused_until} exact />
        </Box>
      )}
      {!(brief && counts.applied === set.total) && (
        <DiffView
          label={t('set.changes', { id: set.id })}
          changes={set.changes.map(({ op, before, after, state, error: failure }) => ({
            ...{ op: before && after ? 'update' : after ? 'create' : 'delete', before, after },
            host: (after ?? before)?.host ?? '',
            type: (after ?? before)?.type ?? op,
            note: state === 'applied' ? undefined : `${t(`outcome.${state}`)}${failure ? `: ${failure.msg}` : ''}`,
          }))}
        />
      )}
      {set.moved.length > 0 && (
        <Text fz="sm" c="dimmed" mt="xs">
          {t('set.moved', { count: set.moved.length })}
        </Text>
      )}
      <ErrorText error={error} />
      {nothing && (
        <Text fz="sm" role="status" mt="xs">
          {t('nothingToUndo')}
        </Text>
      )}
      <Group gap="xs" mt="sm">
        {mayWrite && set.hold_reason && (
          <Button
            loading={busy === 'confirm'}
            onClick={() =>
              run('confirm', () => client.POST('/api/domains/{domain_id}/changes/{changeSetId}/confirm', { params }))
            }
          >
            {t('set.goOn')}
          </Button>
        )}
        {mayWrite && set.state === 'open' && (
          <Button
            variant="default"
            loading={busy === 'cancel'}
            onClick={() =>
              run('cancel', () => client.POST('/api/domains/{domain_id}/changes/{changeSetId}/cancel', { params }))
            }
          >
            {t('set.cancel')}
          </Button>
        )}
        {mayWrite && set.state === 'done' && counts.applied > 0 && (
          <Button variant="default" loading={busy === 'undo'} onClick={() => run('undo', undo)}>
            {t('set.undo')}
          </Button>
        )}
      </Group>
    </>
  );
}
