import { Button, Checkbox, Group, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import type { components } from '~/api/schema';
import { Box } from '~/components/box';
import { Dialog } from '~/components/dialog';
import { ErrorText } from '~/components/error-text';
import { notifyDone } from '~/components/notify';
import { Facts } from '~/components/rows';
import { useDomainId } from '~/screens/domains/domain-frame';
import { recordsChanged } from '~/screens/plans/plan';
import { otherSide, type Rule } from './rule';

type Result = components['schemas']['SwitchResult'];
type Side = 'primary' | 'backup';

/** Switches a rule by hand: rehearsed first, which writes nothing, then done. */
export function SwitchDialog({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const { t } = useTranslation('failover');
  const domain = useDomainId();
  const [to, setTo] = useState<Side>(otherSide(rule));
  const [isHeld, setHeld] = useState(false);
  const [rehearsed, setRehearsed] = useState<Result | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const name = `${rule.host} ${rule.type}`;
  const run = async (dryRun: boolean) => {
    setBusy(true);
    setError(null);
    try {
      const { data } = await client.POST('/api/domains/{domain_id}/failover/{ruleId}/switch', {
        params: { path: { domain_id: String(domain), ruleId: rule.id }, query: { dryRun } },
        // left out, it goes on hold only where it would switch again at once
        body: { to, ...(isHeld && { hold: true }) },
      });
      if (dryRun) return setRehearsed(data as Result);
      notifyDone(t('switch.done', { name, side: t(`side.${to}`) }));
      onClose();
      await recordsChanged();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const list = (values: string[]) => (values.length ? values.join(', ') : '–');
  return (
    <Dialog opened onClose={onClose} title={t('switch.title', { name })}>
      <Stack gap="sm">
        <Radio.Group
          label={t('switch.to')}
          value={to}
          onChange={(side) => {
            setTo(side as Side);
            setRehearsed(null);
          }}
        >
          <Stack gap={6} mt={6}>
            {(['primary', 'backup'] as const).map((side) => (
              <Radio
                key={side}
                value={side}
                label={`${t(`side.${side}`)}${rule.state.active === side ? ` · ${t('served')}` : ''}`}
                description={list(rule[side])}
              />
            ))}
          </Stack>
        </Radio.Group>
        <Checkbox
          label={t('switch.hold')}
          description={t('switch.holdHint')}
          checked={isHeld}
          onChange={(event) => {
            setHeld(event.currentTarget.checked);
            setRehearsed(null);
          }}
        />
        {rehearsed && (
          <div role="status" aria-label={t('switch.rehearsal')}>
            {rehearsed.refused ? (
              <Box is="bad">{t('switch.refused', { reason: rehearsed.refused })}</Box>
            ) : (
              <>
                <Text fz="sm" fw={600} mb={4}>
                  {t('switch.rehearsal')}
                </Text>
                <Facts
                  of={[
                    [t('switch.before'), list(rehearsed.before)],
                    [t('switch.after'), list(rehearsed.after)],
                    [t('switch.then'), rehearsed.hold ? t('switch.thenHeld') : t('switch.thenFree')],
                  ]}
                />
              </>
            )}
          </div>
        )}
        <ErrorText error={error} />
        <Group gap="xs" justify="flex-end">
          <Button variant="default" loading={busy && !rehearsed} onClick={() => void run(true)}>
            {t('switch.rehearse')}
          </Button>
          <Button loading={busy} disabled={Boolean(rehearsed?.refused)} onClick={() => void run(false)}>
            {t('switch.verb', { side: t(`side.${to}`) })}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
