import { Button, Checkbox, Group, NativeSelect, NumberInput, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Tagged } from '~/api/tagged';
import { changed } from '~/components/changed';
import { DateTimeField } from '~/components/date-time-field';
import { FormEnd, useApiForm } from '~/components/form';
import { Section } from '~/components/screen';
import { Empty, Loaded } from '~/components/state-block';
import { Theirs } from '~/components/theirs';
import { useDomainId } from '~/screens/domains/domain-frame';
import classes from './failover.module.css';
import {
  type Failover,
  inputOf,
  ofRule,
  putRules,
  type Rule,
  type RuleInput,
  rulesChanged,
  useTaggedFailover,
} from './rule';

const TYPES = ['A', 'AAAA', 'CNAME', 'ALIAS'] as const;
const KINDS = ['https', 'http', 'tcp'] as const;
const NUMBERS = ['interval_s', 'timeout_s', 'fall', 'rise'] as const;
const RENAMED = { 'check.expect_status': 'expect_status', 'check.expect_body': 'expect_body' };

const valuesOf = (text: string) => text.split(/[\s,]+/).filter(Boolean);
const numberOf = (value: number | string) => (value === '' ? null : Number(value));

function formOf(rule: Rule | undefined) {
  const { check } = rule ?? {};
  return {
    host: rule?.host ?? '',
    type: (rule?.type ?? 'A') as RuleInput['type'],
    line: rule?.line ?? '',
    primary: rule?.primary.join('\n') ?? '',
    backup: rule?.backup.join('\n') ?? '',
    kind: (check?.kind ?? 'https') as RuleInput['check']['kind'],
    port: (check?.port ?? '') as number | string,
    path: check?.path ?? '',
    expect_status: (check?.expect_status ?? '') as number | string,
    expect_body: check?.expect_body ?? '',
    interval_s: (check?.interval_s ?? 30) as number | string,
    timeout_s: (check?.timeout_s ?? 5) as number | string,
    fall: (check?.fall ?? 3) as number | string,
    rise: (check?.rise ?? 2) as number | string,
    verify_tls: check?.verify_tls ?? false,
    auto_switch_back: rule?.auto_switch_back ?? true,
    notify: rule?.notify ?? true,
    max_switches_per_hour: (rule?.max_switches_per_hour ?? 6) as number | string,
    maintenance: rule?.maintenance ?? [],
  };
}
type Values = ReturnType<typeof formOf>;

/** @param rule as it is there now */
function ruleOf(values: Values, filled: Values, rule: Rule | undefined): RuleInput {
  const [mine, before] = [inputFrom(values), inputFrom(filled)];
  if (!rule) return mine;
  // what others have changed of it meanwhile stays
  const check = { ...rule.check, ...changed(mine.check, before.check) };
  return { ...inputOf(rule), ...changed(mine, before), check };
}

function inputFrom(values: Values): RuleInput {
  const isHttp = values.kind !== 'tcp';
  return {
    host: values.host.trim(),
    type: values.type,
    ...(values.line && { line: values.line }),
    primary: valuesOf(values.primary),
    backup: valuesOf(values.backup),
    check: {
      kind: values.kind,
      port: numberOf(values.port),
      path: isHttp ? values.path || null : null,
      expect_status: isHttp ? numberOf(values.expect_status) : null,
      expect_body: isHttp ? values.expect_body || null : null,
      ...Object.fromEntries(NUMBERS.map((key) => [key, numberOf(values[key])])),
      verify_tls: values.kind === 'https' && values.verify_tls,
    },
    auto_switch_back: values.auto_switch_back,
    notify: values.notify,
    max_switches_per_hour: numberOf(values.max_switches_per_hour),
    maintenance: values.maintenance,
  };
}

interface Props {
  /** of the rule, or `new` */
  id: string;
  onEnd: () => void;
}

/** Makes a rule, or changes one. What others do to the rules meanwhile is told, and nothing that was typed is lost. */
export function RuleEditor({ id, onEnd }: Props) {
  const query = useTaggedFailover(useDomainId());
  return (
    <Loaded query={query}>
      {(tagged) => (
        <>
          <Theirs of={tagged} />
          <Editor key={tagged.generation} id={id} tagged={tagged} onEnd={onEnd} />
        </>
      )}
    </Loaded>
  );
}

function Editor({ id, tagged, onEnd }: Props & { tagged: Tagged<Failover> }) {
  const { t } = useTranslation(['failover', 'common']);
  const domain = useDomainId();
  const { value: failover, save } = tagged;
  const now = failover.rules.find((one) => String(one.id) === id);
  // as it was when the editor was opened
  const [rule] = useState(now);
  const needed = (time: string) => (time ? null : t('editor.timeNeeded'));
  const { form, onSubmit, busy, problem } = useApiForm<Values>({
    initialValues: formOf(rule),
    validate: { maintenance: { start_time: needed, end_time: needed } },
    renamed: {
      ...RENAMED,
      ...Object.fromEntries(['kind', 'port', 'path', 'verify_tls', ...NUMBERS].map((key) => [`check.${key}`, key])),
    },
    save: async (values, filled) => {
      const next = ruleOf(values, filled, now);
      const at = now ? failover.rules.indexOf(now) : failover.rules.length;
      const rules = failover.rules.map(inputOf).toSpliced(at, 1, next);
      // the first rule is meant to be checked
      const enabled = failover.enabled || failover.rules.length === 0;
      try {
        await save((headers) => putRules(domain, { enabled, rules }, headers));
      } catch (error) {
        throw ofRule(error, at);
      } finally {
        await rulesChanged();
      }
      onEnd();
    },
  });
  const { kind, maintenance } = form.getValues();
  const number = (key: (typeof NUMBERS)[number] | 'max_switches_per_hour') => (
    <NumberInput
      key={key}
      label={t(`field.${key}`)}
      min={1}
      allowDecimal={false}
      hideControls
      {...form.getInputProps(key)}
    />
  );
  if (id !== 'new' && !rule)
    return <Empty title={t('gone')} action={<Button onClick={onEnd}>{t('toRules')}</Button>} />;
  return (
    <form onSubmit={onSubmit} className={classes.form}>
      <Section title={rule ? t('editor.title', { name: `${rule.host} ${rule.type}` }) : t('editor.new')}>
        <Stack gap="md">
          <div className={classes.pair}>
            <TextInput
              label={t('field.host')}
              description={t('field.hostHint')}
              spellCheck={false}
              classNames={{ input: 'zw-mono' }}
              {...form.getInputProps('host')}
            />
            <NativeSelect
              label={t('field.type')}
              description={t('field.typeHint')}
              data={[...TYPES]}
              {...form.getInputProps('type')}
            />
          </div>
          <div className={classes.pair}>
            {(['primary', 'backup'] as const).map((side) => (
              <Textarea
                key={side}
                label={t(`side.${side}`)}
                description={t(`field.${side}Hint`)}
                autosize
                minRows={2}
                spellCheck={false}
                classNames={{ input: 'zw-mono' }}
                {...form.getInputProps(side)}
              />
            ))}
          </div>
        </Stack>
      </Section>
      <Section title={t('editor.check')}>
        <Stack gap="md">
          <div className={classes.pair}>
            <NativeSelect
              label={t('field.kind')}
              data={KINDS.map((one) => ({ value: one, label: t(`kind.${one}`) }))}
              {...form.getInputProps('kind')}
            />
            <NumberInput
              label={t('field.port')}
              placeholder={kind === 'https' ? '443' : kind === 'http' ? '80' : ''}
              min={1}
              max={65535}
              allowDecimal={false}
              hideControls
              {...form.getInputProps('port')}
            />
          </div>
          {kind !== 'tcp' && (
            <>
              <TextInput
                label={t('field.path')}
                placeholder="/"
                spellCheck={false}
                classNames={{ input: 'zw-mono' }}
                {...form.getInputProps('path')}
              />
              <div className={classes.pair}>
                <NumberInput
                  label={t('field.expect_status')}
                  placeholder="200–399"
                  allowDecimal={false}
                  hideControls
                  {...form.getInputProps('expect_status')}
                />
                <TextInput label={t('field.expect_body')} {...form.getInputProps('expect_body')} />
              </div>
            </>
          )}
          {kind === 'https' && (
            <Checkbox label={t('field.verify_tls')} {...form.getInputProps('verify_tls', { type: 'checkbox' })} />
          )}
          <div className={classes.pair}>{NUMBERS.map(number)}</div>
        </Stack>
      </Section>
      <Section title={t('editor.behaviour')}>
        <Stack gap="md">
          <Checkbox
            label={t('field.auto_switch_back')}
            {...form.getInputProps('auto_switch_back', { type: 'checkbox' })}
          />
          <Checkbox label={t('field.notify')} {...form.getInputProps('notify', { type: 'checkbox' })} />
          <div className={classes.pair}>{number('max_switches_per_hour')}</div>
        </Stack>
      </Section>
      <Section
        title={t('editor.maintenance')}
        actions={
          <Button
            variant="default"
            onClick={() => form.insertListItem('maintenance', { start_time: '', end_time: '' })}
          >
            {t('editor.addWindow')}
          </Button>
        }
      >
        <Stack gap="sm">
          {maintenance.map((_, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: windows have nothing else to be told by
            <Group key={i} gap="sm" align="flex-end">
              <DateTimeField label={t('field.start_time')} {...form.getInputProps(`maintenance.${i}.start_time`)} />
              <DateTimeField label={t('field.end_time')} {...form.getInputProps(`maintenance.${i}.end_time`)} />
              <Button
                variant="subtle"
                h={36}
                aria-label={t('editor.removeWindow', { number: i + 1 })}
                onClick={() => form.removeListItem('maintenance', i)}
              >
                {t('editor.removeIt')}
              </Button>
            </Group>
          ))}
        </Stack>
      </Section>
      <FormEnd busy={busy} problem={problem} verb={rule ? t('editor.save') : t('editor.verb')}>
        <Button variant="default" onClick={onEnd}>
          {t('common:cancel')}
        </Button>
      </FormEnd>
    </form>
  );
}
