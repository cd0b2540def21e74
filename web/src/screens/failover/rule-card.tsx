import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Box } from '~/components/box';
import { ConfirmDestructive } from '~/components/confirm';
import { ErrorText } from '~/components/error-text';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { useDomainId } from '~/screens/domains/domain-frame';
import classes from './failover.module.css';
import { type Failover, inputOf, type Rule, saveRules } from './rule';
import { RuleStatus } from './rule-status';
import { SwitchDialog } from './switch-dialog';

interface Props {
  rule: Rule;
  failover: Failover & { etag: string };
  mayWrite: boolean;
  onEdit: () => void;
}

/** One rule: what it serves, how its values are, and what can be done by hand. */
export function RuleCard({ rule, failover, mayWrite, onEdit }: Props) {
  const { t } = useTranslation(['failover', 'common']);
  const domain = useDomainId();
  const [open, setOpen] = useState<'switch' | 'delete' | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { state, check } = rule;
  const name = `${rule.host} ${rule.type}`;
  const others = (change: (one: Rule) => Partial<Rule> | null) =>
    failover.rules.flatMap((one) => {
      if (one.id !== rule.id) return [inputOf(one)];
      const changed = change(one);
      return changed ? [inputOf({ ...one, ...changed })] : [];
    });
  const hold = async () => {
    setBusy(true);
    setError(null);
    try {
      await saveRules(domain, { ...failover, rules: others(() => ({ hold: !rule.hold })) });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <article className={classes.rule} aria-label={name}>
      <div className={classes.head}>
        <h3 className={classes.name}>
          {rule.host} <b>{rule.type}</b>
        </h3>
        <RuleStatus rule={rule} enabled={failover.enabled} />
        <span className={classes.about}>
          {t('checkText', { kind: check.kind, port: check.port, seconds: check.interval_s, path: check.path ?? '' })}
        </span>
        {mayWrite && (
          <div className={classes.actions}>
            <Button variant="default" onClick={() => setOpen('switch')}>
              {t('switch.open')}
            </Button>
            <Button variant="default" loading={busy} onClick={hold}>
              {rule.hold ? t('release') : t('hold')}
            </Button>
            <Button variant="default" onClick={onEdit}>
              {t('edit')}
            </Button>
            <Button variant="subtle" color="red" onClick={() => setOpen('delete')}>
              {t('delete.verb')}
            </Button>
          </div>
        )}
      </div>
      <ErrorText error={error} />
      {state.hold_reason && (
        <Box is="warn">
          <div>{t('holdReason', { reason: state.hold_reason })}</div>
          <div>{t('holdHint')}</div>
        </Box>
      )}
      {state.failure && (
        <Box is="bad">
          <div>{t('failureText', { reason: state.failure })}</div>
          <div>{t('failureHint')}</div>
        </Box>
      )}
      {state.limited_until && (
        <Box is="warn">
          {t('limited')} <Time iso={state.limited_until} />
        </Box>
      )}
      <div className={classes.sides}>
        {(['primary', 'backup'] as const).map((side) => (
          <div key={side} className={classes.side} data-active={state.active === side || undefined}>
            <div className={classes.sideHead}>
              {t(`side.${side}`)}
              {state.active === side && ` · ${t('served')}`}
            </div>
            {rule[side].length === 0 ? (
              <Text fz="sm" c="dimmed">
                {t('noValues')}
              </Text>
            ) : (
              <ul className={classes.values}>
                {rule[side].map((value) => (
                  <ValueLine key={value} value={value} health={state.values.find((one) => one.value === value)} />
                ))}
              </ul>
            )}
          </div>
        ))}
      </div>
      <Text fz="xs" c="dimmed" mt={6}>
        {state.switched_at ? (
          <>
            {t('switched', { count: state.switches })} <Time iso={state.switched_at} />
          </>
        ) : (
          t('neverSwitched')
        )}
      </Text>
      {open === 'switch' && <SwitchDialog rule={rule} onClose={() => setOpen(null)} />}
      <ConfirmDestructive
        opened={open === 'delete'}
        onClose={() => setOpen(null)}
        title={t('delete.title', { name })}
        verb={t('delete.verb')}
        onConfirm={() => saveRules(domain, { ...failover, rules: others(() => null) })}
      >
        {t('delete.text')}
      </ConfirmDestructive>
    </article>
  );
}

function ValueLine({ value, health }: { value: string; health: Rule['state']['values'][number] | undefined }) {
  const { t } = useTranslation('failover');
  const up = health?.up ?? null;
  return (
    <li>
      <span className={classes.value}>{value}</span>
      <Status is={up === null ? 'off' : up ? 'good' : 'bad'}>
        {t(`value.${up === null ? 'unknown' : up ? 'up' : 'down'}`)}
      </Status>
      <Text span fz="xs" c="dimmed" className={classes.grow}>
        {health?.latency_ms !== null && health?.latency_ms !== undefined && t('ms', { ms: health.latency_ms })}
        {health?.last_error}
      </Text>
    </li>
  );
}
