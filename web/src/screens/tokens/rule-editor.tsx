import { Button, Checkbox, Group, NumberInput, SegmentedControl, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DomainsPicker } from '~/components/domain-picker';
import { mono } from '~/components/mono';
import { ACTIONS, emptyRule, type RuleDraft } from './token-draft';
import classes from './tokens.module.css';

interface Props {
  rules: RuleDraft[];
  onChange: (rules: RuleDraft[]) => void;
  /** record types that the service knows */
  types: string[];
  /** what the server says of a field, or of one of its parts: `rules.0.hosts` */
  errorAt: (path: string) => string | undefined;
}

/** Rules of what a token may do with records: what none allows is denied, and deny beats allow. */
export function RuleEditor({ rules, onChange, types, errorAt }: Props) {
  const { t } = useTranslation('tokens');
  const change = (i: number, part: Partial<RuleDraft>) =>
    onChange(rules.map((rule, at) => (at === i ? { ...rule, ...part } : rule)));
  return (
    <div>
      <ol className={classes.rules} aria-label={t('rules')}>
        {rules.map((rule, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no names
          <li key={i} className={classes.rule} data-effect={rule.effect} aria-label={t('rule', { number: i + 1 })}>
            <RuleFields
              rule={rule}
              types={types}
              onChange={(part) => change(i, part)}
              errorAt={(path) => errorAt(`rules.${i}.${path}`)}
            />
            <Button
              variant="subtle"
              aria-label={t('removeRule', { number: i + 1 })}
              onClick={() => onChange(rules.filter((_, at) => at !== i))}
            >
              {t('remove')}
            </Button>
          </li>
        ))}
      </ol>
      <Button variant="default" onClick={() => onChange([...rules, emptyRule()])}>
        {t('addRule')}
      </Button>
    </div>
  );
}

interface FieldsProps {
  rule: RuleDraft;
  types: string[];
  onChange: (part: Partial<RuleDraft>) => void;
  errorAt: (path: string) => string | undefined;
}

const hasMore = ({ values, ttl, domains }: RuleDraft) =>
  [...values.cidrs, ...values.suffixes, ...domains, ...Object.values(values.text), ttl.min, ttl.max].some(
    (v) => v !== '',
  );

function RuleFields({ rule, types, onChange, errorAt }: FieldsProps) {
  const { t } = useTranslation('tokens');
  const [isMore, setMore] = useState(hasMore(rule));
  const { values, ttl } = rule;
  const clear = { 'aria-label': t('common:clear') };
  return (
    <>
      <Group gap="lg">
        <SegmentedControl
          size="xs"
          aria-label={t('effect')}
          data={[
            { value: 'allow', label: t('allow') },
            { value: 'deny', label: t('deny') },
          ]}
          value={rule.effect}
          onChange={(effect) => onChange({ effect: effect as RuleDraft['effect'] })}
        />
        <Checkbox.Group
          aria-label={t('actions')}
          value={rule.actions}
          error={errorAt('actions')}
          onChange={(actions) => onChange({ actions: actions as RuleDraft['actions'] })}
        >
          <Group gap="md">
            {ACTIONS.map((action) => (
              <Checkbox key={action} size="xs" value={action} label={t(`action.${action}`)} />
            ))}
          </Group>
        </Checkbox.Group>
      </Group>
      <div className={classes.fields}>
        <TagsInput
          label={t('hosts')}
          description={t('hostsHint')}
          value={rule.hosts}
          onChange={(hosts) => onChange({ hosts })}
          error={errorAt('hosts')}
          clearButtonProps={clear}
        />
        <TagsInput
          label={t('types')}
          description={t('typesHint')}
          data={types}
          limit={40}
          value={rule.types}
          onChange={(chosen) => onChange({ types: chosen.map((type) => type.toUpperCase()) })}
          error={errorAt('types')}
          clearButtonProps={clear}
        />
      </div>
      {isMore ? (
        <div className={classes.fields}>
          <DomainsPicker
            label={t('ruleDomains')}
            source="/api/tokens/domains"
            value={rule.domains}
            onChange={(domains) => onChange({ domains })}
            error={errorAt('domains')}
          />
          <TagsInput
            label={t('cidrs')}
            description={t('cidrsHint')}
            value={values.cidrs}
            onChange={(cidrs) => onChange({ values: { ...values, cidrs } })}
            error={errorAt('values.cidrs')}
          />
          <TagsInput
            label={t('suffixes')}
            description={t('suffixesHint')}
            value={values.suffixes}
            onChange={(suffixes) => onChange({ values: { ...values, suffixes } })}
            error={errorAt('values.suffixes')}
          />
          <TextInput
            label={t('pattern')}
            description={t('patternHint')}
            styles={mono}
            value={values.text.pattern}
            onChange={({ currentTarget: { value: pattern } }) =>
              onChange({ values: { ...values, text: { ...values.text, pattern } } })
            }
            error={errorAt('values.text')}
          />
          <NumberInput
            label={t('ttlMin')}
            min={0}
            value={ttl.min}
            onChange={(min) => onChange({ ttl: { ...ttl, min } })}
            error={errorAt('ttl')}
          />
          <NumberInput
            label={t('ttlMax')}
            min={0}
            value={ttl.max}
            onChange={(max) => onChange({ ttl: { ...ttl, max } })}
            error={errorAt('ttl.max')}
          />
        </div>
      ) : (
        <div>
          <Button variant="subtle" onClick={() => setMore(true)}>
            {t('moreLimits')}
          </Button>
        </div>
      )}
    </>
  );
}
