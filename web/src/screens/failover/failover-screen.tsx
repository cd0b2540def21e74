import { Button, Switch, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorText } from '~/components/error-text';
import { Section } from '~/components/screen';
import { Empty, Loaded } from '~/components/state-block';
import { DomainFrame, useDomainId } from '~/screens/domains/domain-frame';
import { useUrlState } from '~/state/use-url-state';
import { inputOf, saveRules, useFailover } from './rule';
import { RuleCard } from './rule-card';
import { RuleEditor } from './rule-editor';
import { Timeline } from './timeline';

/** Rules of failover of a domain: how each stands, what it did, and the editor. */
export function FailoverScreen() {
  const { t } = useTranslation('failover');
  const domain = useDomainId();
  const navigate = useNavigate();
  const [{ rule: edited }] = useUrlState({ rule: '' });
  const query = useFailover(domain);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const to = `/domains/${domain}/failover`;
  const edit = (rule: string) => void navigate({ to: to as never, search: (rule ? { rule } : {}) as never });
  const toggle = async (enabled: boolean) => {
    if (!query.data) return;
    setBusy(true);
    setError(null);
    try {
      await saveRules(domain, { ...query.data, enabled, rules: query.data.rules.map(inputOf) });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <DomainFrame>
      {({ permission, write_hosts: hosts }) => {
        // rules are for who may write the whole domain
        const mayWrite = permission === 'write' && hosts === null;
        return (
          <Loaded query={query}>
            {(failover) => {
              const { rules, enabled } = failover;
              if (edited) return <RuleEditor key={edited} id={edited} onEnd={() => edit('')} />;
              if (!rules.length)
                return (
                  <Empty
                    title={t('empty.title')}
                    text={t('empty.text')}
                    action={mayWrite && <Button onClick={() => edit('new')}>{t('add')}</Button>}
                  />
                );
              return (
                <>
                  <Section
                    title={t('rules')}
                    actions={
                      mayWrite && (
                        <>
                          <Switch
                            label={t('enabled')}
                            checked={enabled}
                            disabled={busy}
                            onChange={(event) => void toggle(event.currentTarget.checked)}
                          />
                          <Button onClick={() => edit('new')}>{t('add')}</Button>
                        </>
                      )
                    }
                  >
                    <ErrorText error={error} />
                    {!enabled && (
                      <Text fz="sm" c="dimmed" mb="xs">
                        {t('disabledText')}
                      </Text>
                    )}
                    {rules.map((one) => (
                      <RuleCard
                        key={one.id}
                        rule={one}
                        failover={failover}
                        mayWrite={mayWrite}
                        onEdit={() => edit(String(one.id))}
                      />
                    ))}
                  </Section>
                  <Timeline />
                </>
              );
            }}
          </Loaded>
        );
      }}
    </DomainFrame>
  );
}
