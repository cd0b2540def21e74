import { Text } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { useErrorWords } from '~/components/error-text';
import { type Meaning, Status } from '~/components/status';
import classes from './publish.module.css';
import type { ChangeSet } from './settle';

const SHOWN = 5;
const EVERY_MS = 5000;
const FOR_MS = 180_000;
const MEANING: Record<string, Meaning> = {
  published: 'good',
  partial: 'busy',
  unpublished: 'busy',
  unreachable: 'warn',
};

/** Whether what was changed is what the name servers answer: asked until it is, for three minutes. */
export function Live({ domain, set }: { domain: number; set: ChangeSet }) {
  const { t } = useTranslation('zone');
  const words = useErrorWords();
  const since = useRef(Date.now());
  const sets = new Map<string, { id: number; host: string; type: string }>();
  for (const { state, record_id, after } of set.changes)
    if (state === 'applied' && record_id && after?.enabled)
      sets.set(`${after.host} ${after.type}`, { id: record_id, host: after.host, type: after.type });
  const shown = [...sets.values()].slice(0, SHOWN);
  const answers = useQueries({
    queries: shown.map(({ id }) => ({
      ...$api.queryOptions('get', '/api/domains/{domain_id}/records/{record_id}/propagation', {
        params: { path: { domain_id: String(domain), record_id: id } },
      }),
      staleTime: 0,
      retry: false,
      refetchInterval: ({ state }: { state: { data?: { verdict: string } | undefined } }) =>
        state.data?.verdict === 'published' || Date.now() - since.current > FOR_MS ? false : EVERY_MS,
    })),
  });
  if (shown.length === 0) return null;
  return (
    <section aria-label={t('live.title')}>
      <Text fz="sm" fw={600}>
        {t('live.title')}
      </Text>
      <ul className={classes.live}>
        {shown.map(({ host, type, id }, i) => {
          const answer = answers[i];
          const servers = (answer?.data?.servers ?? []).filter(({ role }) => role === 'authoritative');
          const verdict = answer?.data?.verdict;
          return (
            <li key={id}>
              <span className="zw-mono">
                {host} {type}
              </span>
              {verdict ? (
                <Status is={MEANING[verdict] ?? 'off'}>
                  {t(`live.${verdict}`, {
                    there: servers.filter(({ status }) => status === 'published').length,
                    count: servers.length,
                  })}
                </Status>
              ) : answer?.error ? (
                <Status is="off">{words(answer.error)}</Status>
              ) : (
                <Status is="busy">{t('live.asking')}</Status>
              )}
            </li>
          );
        })}
      </ul>
      {sets.size > SHOWN && (
        <Text fz="xs" c="dimmed">
          {t('live.more', { count: sets.size - SHOWN })}
        </Text>
      )}
    </section>
  );
}
