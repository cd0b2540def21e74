import { Button, Checkbox, Group, MultiSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { ConfirmDestructive } from '~/components/confirm';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { Row, Rows } from '~/components/rows';
import { Section } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Theirs } from '~/components/theirs';
import { errorOf } from './general';
import { type Given, placeOf, SettingsSection } from './section';
import classes from './settings.module.css';

type View = components['schemas']['AuditRules'];
type Rule = components['schemas']['AuditRule'];

/** How long the audit log is kept, and what in it notifies. */
export function AuditRulesSettings() {
  return (
    <SettingsSection path="/api/settings/audit-rules">
      {(given) => (
        <>
          <Retention key={`${given.tagged.generation} ${given.value.retention_days}`} {...given} />
          <Rules {...given} />
        </>
      )}
    </SettingsSection>
  );
}

function Retention({ value, save }: Given<View>) {
  const { t } = useTranslation('settings');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { retention_days: (value.retention_days ?? '') as number | string },
    save: ({ retention_days }) => save({ retention_days: retention_days === '' ? null : retention_days }),
  });
  return (
    <form onSubmit={onSubmit} className={classes.form}>
      <NumberInput
        label={t('rules.retention')}
        description={t('rules.retentionHint')}
        {...form.getInputProps('retention_days')}
      />
      <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
    </form>
  );
}

function Rules({ value, save, tagged }: Given<View>) {
  const { t } = useTranslation('settings');
  const { rules } = value;
  // what others save may have moved it, or taken it away
  const [edited, setEdited] = useState<Rule | 'new' | null>(null);
  const [removed, setRemoved] = useState<Rule | null>(null);
  const add = (
    <Button variant="default" onClick={() => setEdited('new')}>
      {t('rules.add')}
    </Button>
  );
  return (
    <Section title={t('rules.title')} actions={rules.length > 0 && add}>
      {rules.length === 0 && <Empty title={t('rules.empty')} text={t('rules.emptyText')} action={add} />}
      <Rows label={t('rules.title')}>
        {rules.map((rule) => (
          <Row
            key={rule.id}
            more={[
              rule.match.action ?? t('rules.anyAction'),
              rule.match.domain,
              rule.match.actor,
              t('rules.when', { count: rule.threshold, minutes: rule.window_minutes }),
            ]
              .filter(Boolean)
              .join(' · ')}
            actions={
              <>
                <Button
                  variant="subtle"
                  aria-label={t('changeOne', { name: rule.name })}
                  onClick={() => setEdited(rule)}
                >
                  {t('change')}
                </Button>
                <Button
                  variant="subtle"
                  aria-label={t('removeOne', { name: rule.name })}
                  onClick={() => setRemoved(rule)}
                >
                  {t('remove')}
                </Button>
              </>
            }
          >
            <Group gap="sm">
              {rule.name}
              <Status is={rule.enabled ? 'good' : 'off'}>{rule.enabled ? t('on') : t('off')}</Status>
            </Group>
          </Row>
        ))}
      </Rows>
      {edited !== null && (
        <RuleDialog
          rule={edited === 'new' ? null : edited}
          at={placeOf(rules, 'id', edited)}
          notice={<Theirs of={tagged} />}
          onClose={() => setEdited(null)}
          save={(rule) => save({ rules: rules.toSpliced(placeOf(rules, 'id', edited), 1, rule as Rule) })}
        />
      )}
      <ConfirmDestructive
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('rules.removeAsk', { name: removed?.name })}
        verb={t('remove')}
        onConfirm={() => save({ rules: rules.filter(({ id }) => id !== removed?.id) })}
      >
        {t('rules.removeText')}
      </ConfirmDestructive>
    </Section>
  );
}

const MATCHES = ['action', 'domain', 'actor'] as const;
const FIELDS = ['name', 'threshold', 'window_minutes', 'channels'];

interface DialogProps {
  rule: Rule | null;
  at: number;
  notice: ReactNode;
  save: (rule: object) => Promise<void>;
  onClose: () => void;
}

function RuleDialog({ rule, at, notice, save, onClose }: DialogProps) {
  const { t } = useTranslation('settings');
  const channels = $api.useQuery('get', '/api/settings/notifications');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      name: rule?.name ?? '',
      enabled: rule?.enabled ?? true,
      action: rule?.match.action ?? '',
      domain: rule?.match.domain ?? '',
      actor: rule?.match.actor ?? '',
      threshold: (rule?.threshold ?? 1) as number | string,
      window_minutes: (rule?.window_minutes ?? 60) as number | string,
      channels: rule?.channels ?? [],
    },
    renamed: Object.fromEntries(
      [`rules[${at}]`, `rules.${at}`].flatMap((base) => [
        ...FIELDS.map((name) => [`${base}.${name}`, name]),
        ...MATCHES.map((name) => [`${base}.match.${name}`, name]),
      ]),
    ),
    save: async ({ action, domain, actor, ...rest }) => {
      const match = { action: action || null, domain: domain || null, actor: actor || null };
      await save({ ...(rule && { id: rule.id }), ...rest, match });
      onClose();
    },
  });
  return (
    <Dialog opened title={rule ? t('changeOne', { name: rule.name }) : t('rules.add')} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          {notice}
          <TextInput label={t('name')} data-autofocus {...form.getInputProps('name')} />
          {MATCHES.map((name) => (
            <TextInput
              key={name}
              label={t(`rules.${name}`)}
              description={t(`rules.${name}Hint`)}
              {...form.getInputProps(name)}
            />
          ))}
          <div className={classes.pair}>
            <NumberInput label={t('rules.threshold')} {...form.getInputProps('threshold')} />
            <NumberInput label={t('rules.window')} {...form.getInputProps('window_minutes')} />
          </div>
          <MultiSelect
            label={t('rules.channels')}
            description={t('rules.channelsHint')}
            data={(channels.data?.channels ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            hidePickedOptions
            {...form.getInputProps('channels')}
            error={errorOf(form.errors, 'channels')}
          />
          <Checkbox label={t('rules.enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
        </Stack>
      </form>
    </Dialog>
  );
}
