import { Button, Group, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api } from '~/api/query';
import { ErrorText } from '~/components/error-text';
import { Section } from '~/components/screen';
import { useMe } from '~/session/session';
import { type Plan, recordsChanged } from './plan';
import classes from './plans.module.css';
import { type Difference, differencesOf } from './stale';
import { Who } from './who';

interface Props {
  plan: Plan;
  onStale: (differences: Difference[]) => void;
}

/** A plan that waits: who may approve it, and the words with which that is done, or not. */
export function Decision({ plan, onStale }: Props) {
  const { t } = useTranslation(['plans', 'common']);
  const me = useMe();
  const params = { path: { domain_id: String(plan.domain_id) } };
  const approval = $api.useQuery('get', '/api/domains/{domain_id}', { params }).data?.approval;
  const [words, setWords] = useState('');
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const isMine = plan.created_by.user_id === me.id;
  const { role, team_id: team, user_ids: users } = approval?.by ?? {};
  // who is not in the team may see it all the same, as administrators do
  const { data: named } = $api.useQuery(
    'get',
    '/api/teams/{id}',
    { params: { path: { id: team ?? 0 } } },
    { enabled: Boolean(team), retry: false },
  );
  const isNamed = (role && me.role >= role) || named?.my_role || users?.includes(me.id);
  const mayDecide = Boolean(isNamed) && (!isMine || approval?.own === true);
  const run = async (what: string, work: () => Promise<unknown>) => {
    setBusy(what);
    setError(null);
    try {
      await work();
    } catch (failure) {
      const differences = differencesOf(failure);
      if (differences) onStale(differences);
      else setError(failure);
    } finally {
      setBusy(null);
      await recordsChanged();
    }
  };
  const path = { id: plan.id as number };
  const body = words ? { comment: words } : {};
  const approve = () => client.POST('/api/plans/{id}/approve', { params: { path, query: { wait: 5 } }, body });
  const reject = () => client.POST('/api/plans/{id}/reject', { params: { path }, body });
  const discard = () => client.DELETE('/api/plans/{id}', { params: { path } });
  const by = [
    role && t('decision.role', { role: t(`common:role.${role}`) }),
    team && t('decision.team'),
    users?.length ? t('decision.users', { count: users.length }) : null,
  ].filter(Boolean);
  return (
    <Section title={t('decision.title')}>
      <Text fz="sm" maw="70ch">
        {t('decision.inName')} <Who of={plan.created_by} />. {by.length > 0 && t('decision.by', { by: by.join(', ') })}
      </Text>
      {mayDecide ? (
        <div className={classes.end}>
          <Textarea
            label={t('decision.words')}
            description={t('decision.wordsHint')}
            autosize
            minRows={2}
            maxLength={500}
            value={words}
            onChange={(event) => setWords(event.currentTarget.value)}
          />
          <ErrorText error={error} />
          <Group gap="xs" mt="md" justify="flex-end">
            {isMine && (
              <Button variant="default" loading={busy === 'discard'} onClick={() => void run('discard', discard)}>
                {t('apply.discard')}
              </Button>
            )}
            <Button variant="default" loading={busy === 'reject'} onClick={() => void run('reject', reject)}>
              {t('decision.reject')}
            </Button>
            <Button loading={busy === 'approve'} onClick={() => void run('approve', approve)}>
              {t('decision.approve')}
            </Button>
          </Group>
        </div>
      ) : (
        <>
          <Text fz="sm" c="dimmed" mt="xs">
            {isMine ? t('decision.mine') : t('decision.notYou')}
          </Text>
          <ErrorText error={error} />
          {isMine && (
            <Button variant="default" mt="sm" loading={busy === 'discard'} onClick={() => void run('discard', discard)}>
              {t('decision.takeBack')}
            </Button>
          )}
        </>
      )}
    </Section>
  );
}
