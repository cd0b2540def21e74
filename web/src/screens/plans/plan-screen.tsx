import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { Screen } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { GroupView, goesOn } from './group-view';
import { inputOf, isGroup, makePlan, type Origin, type Plan, type PlanGroup } from './plan';
import { PlanView } from './plan-view';

const POLL_MS = 1500;
const WAITING_POLL_MS = 15_000;

/** How soon it may look otherwise. */
function pauseOf(plan: Plan | PlanGroup | undefined): number | false {
  if (!plan) return false;
  if (isGroup(plan)) return goesOn(plan) ? POLL_MS : plan.counts?.waiting ? WAITING_POLL_MS : false;
  return plan.state === 'approved' ? POLL_MS : plan.state === 'waiting' ? WAITING_POLL_MS : false;
}

export function PlanScreen() {
  const { t } = useTranslation(['plans', 'domains']);
  const id = Number((useParams({ strict: false }) as { planId: string }).planId);
  const origin = useSearch({ strict: false }) as Origin;
  const navigate = useNavigate();
  // of one over many domains, which the description does not tell, it is a group
  const query = $api.useQuery(
    'get',
    '/api/plans/{id}',
    { params: { path: { id } } },
    {
      refetchInterval: ({ state }) => pauseOf(state.data as Plan | PlanGroup | undefined),
    },
  );
  const plan = query.data as Plan | PlanGroup | undefined;
  const input = inputOf(origin);
  const again = async () => {
    if (!plan || isGroup(plan) || !input) return;
    const next = await makePlan(plan.domain_id, { ...input, comment: plan.comment });
    const to = next.id === null ? `/domains/${plan.domain_id}/history` : `/plans/${next.id}`;
    void navigate({ to: to as never, search: (next.id === null ? {} : origin) as never });
  };
  const crumbs = !plan
    ? []
    : isGroup(plan)
      ? [{ label: t('searchCrumb'), to: '/records' }]
      : [
          { label: t('domains:title'), to: '/domains' },
          { label: plan.domain, to: `/domains/${plan.domain_id}` },
          { label: t('title'), to: `/domains/${plan.domain_id}/plans` },
        ];
  return (
    <Screen title={t('plan.title', { id })} crumbs={crumbs}>
      <Loaded query={query}>
        {(data) => {
          const shown = data as Plan | PlanGroup;
          return isGroup(shown) ? (
            <GroupView group={shown} />
          ) : (
            <PlanView key={id} plan={shown} onAgain={input ? again : undefined} />
          );
        }}
      </Loaded>
    </Screen>
  );
}
