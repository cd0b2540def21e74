import { Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { Box } from '~/components/box';
import { Facts } from '~/components/rows';
import { Section } from '~/components/screen';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { ApplyForm } from './apply-form';
import { ChangeSet } from './change-set';
import { Changes } from './changes';
import { Decision } from './decision';
import { Guards } from './guards';
import { type Plan, type PlanGroup, STATES, useMayWrite } from './plan';
import classes from './plans.module.css';
import { type Difference, StaleBox } from './stale';
import { useDoor, Who } from './who';

/** A plan as a unified diff. */
const textOf = async (id: number): Promise<string> => {
  const headers = { Accept: 'text/plain' };
  const { data } = await client.GET('/api/plans/{id}', { params: { path: { id } }, headers, parseAs: 'text' });
  return (data ?? '') as unknown as string;
};

/** What a plan would change, with what may keep it from being applied. */
export function PlanChanges({ plan }: { plan: Plan }) {
  const { t } = useTranslation('plans');
  const { id } = plan;
  return (
    <>
      {plan.warnings.length > 0 && (
        <Box is="warn">
          <ul className={classes.notes}>
            {plan.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Box>
      )}
      <Changes
        label={t('changesOf', { domain: plan.domain })}
        changes={plan.changes.map(({ op, host, type, before, after, allowed, reason }) => ({
          ...{ op, host, type, before, after },
          note: allowed ? undefined : (reason ?? t('notAllowed')),
        }))}
        hidden={plan.hidden}
        {...(id !== null && { text: { queryKey: ['get', '/api/plans/{id}', { id }, 'text'], read: () => textOf(id) } })}
      />
    </>
  );
}

interface Props {
  plan: Plan;
  /** works the plan out anew, once it is stale; left out where nobody knows where it came from */
  onAgain?: (() => Promise<unknown>) | undefined;
}

/** One plan of one domain: how it stands, what it changes, and what can be done with it. */
export function PlanView({ plan, onAgain }: Props) {
  const { t } = useTranslation('plans');
  const door = useDoor();
  const mayWrite = useMayWrite(plan.domain_id);
  // a part goes with the whole, and what is left of it afterwards goes by itself
  const group = $api.useQuery(
    'get',
    '/api/plans/{id}',
    { params: { path: { id: plan.group_id ?? 0 } } },
    { enabled: plan.group_id !== null },
  );
  const whole = (group.data as unknown as PlanGroup | undefined)?.state;
  const isFree = plan.group_id === null || (whole !== undefined && whole !== 'open' && whole !== 'applying');
  const [differences, setDifferences] = useState<Difference[] | null>(null);
  const { state, id, summary } = plan;
  const isOver = state === 'stale' || state === 'expired' || state === 'discarded';
  const total = summary.create + summary.update + summary.delete;
  return (
    <>
      <Section title={t('how')}>
        <Facts
          of={[
            [
              t('facts.state'),
              <Status key="state" is={STATES[state]}>
                {t(`state.${state}`)}
              </Status>,
            ],
            [t('facts.askedBy'), <Who key="by" of={plan.created_by} />],
            [t('facts.door'), door(plan.door)],
            [t('facts.comment'), plan.comment],
            [t('facts.asked'), <Time key="asked" iso={plan.created_at} />],
            [
              t('facts.expires'),
              state === 'open' || state === 'waiting' ? <Time key="ends" iso={plan.expires_at} /> : null,
            ],
            [t('facts.decidedBy'), plan.decided_by?.username],
            [t('facts.decision'), plan.decision],
            [
              t('facts.group'),
              plan.group_id === null ? null : (
                <AppLink key="group" to={`/plans/${plan.group_id}`}>
                  {t('group.link', { id: plan.group_id })}
                </AppLink>
              ),
            ],
          ]}
        />
        {isOver && (state === 'stale' || onAgain) && (
          <StaleBox state={state} differences={differences} onAgain={onAgain} />
        )}
      </Section>
      {state === 'applied' && plan.change_set_id !== null ? (
        <ChangeSet domain={plan.domain_id} id={plan.change_set_id} />
      ) : (
        <Section title={t('what')}>
          <PlanChanges plan={plan} />
        </Section>
      )}
      {state === 'open' && id !== null && isFree && mayWrite && (
        <ApplyForm id={id} guards={plan.guards} comment={plan.comment} total={total} onStale={setDifferences} />
      )}
      {state === 'open' && (whole === 'open' || whole === 'applying') && (
        <Text fz="sm" c="dimmed" mt="md">
          {t('group.part')}
        </Text>
      )}
      {state === 'waiting' && (
        <>
          {plan.guards.length > 0 && (
            <Section title={t('guards.title')}>
              <Guards guards={plan.guards} named={new Set()} onName={() => undefined} asks={false} />
            </Section>
          )}
          <Decision plan={plan} onStale={setDifferences} />
        </>
      )}
    </>
  );
}
