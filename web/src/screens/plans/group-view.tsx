import { Button, Collapse, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { Box } from '~/components/box';
import { Facts } from '~/components/rows';
import { Section } from '~/components/screen';
import { type Meaning, Status } from '~/components/status';
import { Time } from '~/components/time';
import { ApplyForm } from './apply-form';
import { CountsText } from './changes';
import classes from './group-view.module.css';
import type { PlanGroup } from './plan';
import { PlanChanges } from './plan-view';
import { Who } from './who';

type Outcome = components['schemas']['DomainOutcome'];

const OUTCOMES: Record<Outcome['state'], Meaning> = {
  applied: 'good',
  running: 'busy',
  waiting: 'warn',
  stale: 'bad',
  failed: 'bad',
  refused: 'bad',
  not_tried: 'off',
};
const GROUP_STATES: Record<PlanGroup['state'], Meaning> = {
  open: 'off',
  applying: 'busy',
  applied: 'good',
  discarded: 'off',
  expired: 'off',
};

/** Whether a plan over many domains is being carried out. */
export const goesOn = (group: PlanGroup): boolean => group.state === 'applying' || (group.counts?.running ?? 0) > 0;

/** A plan over many domains: what it does to each, and once it is applied what became of each. */
export function GroupView({ group }: { group: PlanGroup }) {
  const { t } = useTranslation('plans');
  const { summary, state } = group;
  const outcomes = new Map((group.domains as Outcome[] | null)?.map((one) => [one.domain_id, one]));
  const total = summary.create + summary.update + summary.delete;
  const counts = group.counts;
  const guards = group.plans.flatMap(({ domain, guards: own }) => own.map((guard) => ({ ...guard, domain })));
  const isPartly = state === 'applied' && counts && counts.stale + counts.failed + counts.refused > 0;
  return (
    <>
      <Section title={t('how')}>
        <Facts
          of={[
            [
              t('facts.state'),
              <Status key="state" is={isPartly ? 'bad' : GROUP_STATES[state]}>
                {isPartly ? t('group.partly') : t(`group.state.${state}`)}
              </Status>,
            ],
            [t('facts.changes'), <CountsText key="counts" counts={summary} />],
            [t('facts.askedBy'), <Who key="by" of={group.created_by} />],
            [t('facts.comment'), group.comment],
            [t('facts.asked'), <Time key="asked" iso={group.created_at} />],
            [t('facts.expires'), state === 'open' ? <Time key="ends" iso={group.expires_at} /> : null],
            [
              t('facts.outcome'),
              counts && (
                <span role="status">
                  {t('group.progress', { done: counts.applied, total: group.plans.length })}
                  {(['running', 'waiting', 'stale', 'failed', 'refused', 'not_tried'] as const)
                    .filter((key) => counts[key] > 0)
                    .map((key) => ` · ${t(`domainOutcome.${key}`)}: ${counts[key]}`)
                    .join('')}
                </span>
              ),
            ],
          ]}
        />
      </Section>
      {group.failed.length > 0 && (
        <Box is="bad">
          <Text fw={600} fz="sm">
            {t('group.failed')}
          </Text>
          <ul className={classes.list}>
            {group.failed.map(({ domain_id: domain, domain: name, msg }) => (
              <li key={domain}>
                <AppLink to={`/domains/${domain}`}>{name}</AppLink>: {msg}
              </li>
            ))}
          </ul>
        </Box>
      )}
      <Section title={t('group.domains', { count: group.plans.length })}>
        <ul className={classes.list}>
          {group.plans.map((plan) => (
            <Part key={plan.domain_id} plan={plan} outcome={outcomes.get(plan.domain_id)} />
          ))}
        </ul>
        {group.hidden_domains > 0 && (
          <Text fz="sm" c="dimmed" mt="xs">
            {t('group.hidden', { count: group.hidden_domains })}
          </Text>
        )}
      </Section>
      {state === 'open' && group.id !== null && (
        <ApplyForm id={group.id} guards={guards} comment={group.comment} total={total} onStale={() => undefined} />
      )}
    </>
  );
}

function Part({ plan, outcome }: { plan: PlanGroup['plans'][number]; outcome: Outcome | undefined }) {
  const { t } = useTranslation('plans');
  const [isOpen, setOpen] = useState(false);
  return (
    <li className={classes.part}>
      <div className={classes.head}>
        <Button
          variant="subtle"
          size="compact-xs"
          aria-expanded={isOpen}
          aria-label={isOpen ? t('group.hide', { domain: plan.domain }) : t('group.show', { domain: plan.domain })}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? '▾' : '▸'}
        </Button>
        <span className={classes.name}>
          <AppLink to={plan.id === null ? `/domains/${plan.domain_id}` : `/plans/${plan.id}`}>{plan.domain}</AppLink>
        </span>
        <CountsText counts={plan.summary} />
        <span className={classes.state}>
          {outcome && <Status is={OUTCOMES[outcome.state]}>{t(`domainOutcome.${outcome.state}`)}</Status>}
        </span>
      </div>
      {outcome?.msg && outcome.state !== 'applied' && (
        <Text fz="sm" c="var(--mantine-color-error)" pl={36}>
          {outcome.msg}
        </Text>
      )}
      <Collapse expanded={isOpen}>
        {isOpen && (
          <div className={classes.body}>
            <PlanChanges plan={plan} />
          </div>
        )}
      </Collapse>
    </li>
  );
}
