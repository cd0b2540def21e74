import { MultiSelect, NumberInput, SegmentedControl, Select, TagsInput, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { DateTimeField } from '~/components/date-time-field';
import { DomainsPicker } from '~/components/domain-picker';
import { mono } from '~/components/mono';
import { Section } from '~/components/screen';
import { RuleEditor } from './rule-editor';
import { draftOf, type RuleDraft, ruleOf, type Token } from './token-draft';
import classes from './tokens.module.css';

export type Kind = 'all' | 'preset' | 'rules';
export const PRESETS = ['acme', 'ddns', 'read-only'] as const;
type Scope = Token['allowed_services'][number];

/** What a token is given, as its form has it. */
export interface TokenValues extends Record<string, unknown> {
  name: string;
  kind: Kind;
  preset: { name: (typeof PRESETS)[number]; host: string };
  rules: RuleDraft[];
  allowed_services: Scope[];
  allowed_domains: string[];
  allowed_cidrs: string[];
  start_time: string;
  end_time: string;
  max_unused_days: number | string;
}

export const valuesOf = (token: Token | null): TokenValues => ({
  name: token?.name ?? '',
  kind: token ? (token.rules ? 'rules' : 'all') : 'preset',
  preset: { name: 'acme', host: '' },
  rules: token?.rules?.map(draftOf) ?? [],
  allowed_services: token?.allowed_services ?? ['*'],
  allowed_domains: token?.allowed_domains.map(String) ?? [],
  allowed_cidrs: token?.allowed_cidrs ?? [],
  start_time: token?.start_time ?? '',
  end_time: token?.end_time ?? '',
  max_unused_days: token?.max_unused_days ?? '',
});

/** What is sent of it whether it is new or not. */
export const limitsOf = (values: TokenValues) => ({
  name: values.name,
  allowed_services: values.allowed_services,
  allowed_domains: values.allowed_domains.map(Number),
  allowed_cidrs: values.allowed_cidrs,
  start_time: values.start_time || null,
  end_time: values.end_time || null,
  max_unused_days: typeof values.max_unused_days === 'number' ? values.max_unused_days : null,
});

export const rulesOf = (values: TokenValues) => values.rules.map(ruleOf);

interface Props {
  form: UseFormReturnType<TokenValues>;
  kinds: Kind[];
  /** names of the domains that it has */
  known?: { id: number; name: string }[];
}

/** The fields of a token. */
export function TokenFields({ form, kinds, known }: Props) {
  const { t } = useTranslation('tokens');
  const meta = $api.useQuery('get', '/api/meta', {}, { staleTime: Number.POSITIVE_INFINITY });
  const { kind, preset } = form.values;
  // an error of a part of a field, such as `rules.0.hosts.1`, stands at the field
  const errorAt = (path: string): string | undefined => {
    const key = Object.keys(form.errors).find((key) => key === path || key.startsWith(`${path}.`));
    return key ? String(form.errors[key]) : undefined;
  };
  const clear = { 'aria-label': t('common:clear') };
  return (
    <>
      <TextInput label={t('name')} maw={460} data-autofocus {...form.getInputProps('name')} />
      <Section title={t('what')}>
        <div className={classes.form}>
          <SegmentedControl
            aria-label={t('what')}
            data={kinds.map((value) => ({ value, label: t(`kind.${value}`) }))}
            maw="100%"
            style={{ alignSelf: 'flex-start' }}
            styles={{ label: { whiteSpace: 'normal' } }}
            {...form.getInputProps('kind')}
          />
          <Text fz="sm" c="dimmed" mt={-8}>
            {t(`kindText.${kind}`)}
          </Text>
          {kind === 'preset' && (
            <div className={classes.fields}>
              <Select
                label={t('presetName')}
                description={t(`preset.${preset.name}.text`)}
                data={PRESETS.map((value) => ({ value, label: t(`preset.${value}.name`) }))}
                allowDeselect={false}
                {...form.getInputProps('preset.name')}
              />
              <TextInput
                label={preset.name === 'ddns' ? t('presetHost') : t('presetHostOptional')}
                description={t(`preset.${preset.name}.host`)}
                styles={mono}
                spellCheck={false}
                {...form.getInputProps('preset.host')}
              />
            </div>
          )}
          {kind === 'rules' && (
            <RuleEditor
              rules={form.values.rules}
              onChange={(rules) => form.setFieldValue('rules', rules)}
              types={meta.data?.records.types.map(({ type }) => type) ?? []}
              errorAt={errorAt}
            />
          )}
          <MultiSelect
            label={t('scopes')}
            description={t('scopesHint')}
            data={(meta.data?.scopes ?? []).map(({ name }) => ({ value: name, label: t(`scope.${name}`) }))}
            value={form.values.allowed_services}
            onChange={(scopes) => {
              // `*` is all of the others
              const hadAll = form.values.allowed_services.includes('*');
              const rest = scopes.filter((scope) => scope !== '*') as Scope[];
              form.setFieldValue('allowed_services', scopes.includes('*') && (!hadAll || !rest.length) ? ['*'] : rest);
            }}
            error={errorAt('allowed_services')}
            hidePickedOptions
          />
          <DomainsPicker
            label={t('domainsOptional')}
            description={t('domainsHint')}
            source="/api/tokens/domains"
            value={form.values.allowed_domains}
            onChange={(ids) => form.setFieldValue('allowed_domains', ids)}
            {...(known && { known })}
            error={errorAt('allowed_domains')}
          />
        </div>
      </Section>
      <Section title={t('when')}>
        <div className={classes.form}>
          <TagsInput
            label={t('networks')}
            description={t('networksHint')}
            {...form.getInputProps('allowed_cidrs')}
            error={errorAt('allowed_cidrs')}
            clearButtonProps={clear}
          />
          <div className={classes.fields}>
            <DateTimeField label={t('startTime')} {...form.getInputProps('start_time')} />
            <DateTimeField label={t('endTime')} {...form.getInputProps('end_time')} />
            <NumberInput label={t('unusedDays')} min={1} {...form.getInputProps('max_unused_days')} />
          </div>
        </div>
      </Section>
    </>
  );
}
