import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import classes from './overview.module.css';

type ChangeSet = components['schemas']['ChangeSetView'];

/** How a list of changes stands, where that is not as it should be. */
function stateOf({ state, counts, hold_reason }: ChangeSet) {
  if (state === 'unknown') return ['doubt', 'warn'] as const;
  if (hold_reason) return ['held', 'warn'] as const;
  if (state === 'open') return ['open', 'busy'] as const;
  return counts.failed + counts.not_tried > 0 ? (['failed', 'bad'] as const) : null;
}

/** The newest lists of changes of all domains. */
export function LastChanges({ changes }: { changes: ChangeSet[] }) {
  const { t } = useTranslation('overview');
  if (changes.length === 0)
    return (
      <Text fz="sm" c="dimmed">
        {t('changes.none')}
      </Text>
    );
  return (
    <ul className={classes.changes} aria-label={t('changes.title')}>
      {changes.map((set) => {
        const { id, domain_id, domain, door, actor, total, comment, created_at } = set;
        const state = stateOf(set);
        const who = actor.token_name ?? actor.username ?? t('changes.system');
        return (
          <li key={id}>
            <span className={classes.what}>
              <AppLink to={`/domains/${domain_id}/history`} fz="sm" ff="monospace">
                {domain}
              </AppLink>
              <span>
                {t('changes.count', { count: total })} · {who} · {t(`door.${door}`)}
              </span>
              {comment && <span className={classes.comment}>{comment}</span>}
            </span>
            {state && <Status is={state[1]}>{t(`changes.state.${state[0]}`)}</Status>}
            <span className={classes.when}>
              <Time iso={created_at} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}
