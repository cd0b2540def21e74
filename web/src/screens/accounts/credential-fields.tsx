import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { SecretInput } from '~/components/form';
import type { Field } from './providers';

/** What was typed, by the key of the field; undefined: the stored one stays, null: it is taken away. */
export type Credentials = Record<string, string | null | undefined>;

interface Props {
  fields: readonly Field[];
  form: UseFormReturnType<{ credentials: Credentials } & Record<string, unknown>>;
  /** the account has this secret already */
  isSet?: (key: string) => boolean;
}

/** The fields that the provider declares, each as what it takes. */
export function CredentialFields({ fields, form, isSet = () => false }: Props) {
  const { t } = useTranslation('accounts');
  return fields.map((field) => {
    const { key, label, secret, required, help, example, values, multiline, kind } = field;
    const path = `credentials.${key}`;
    const shared = {
      label: required ? label : t('optional', { label }),
      description: [help, !secret && !values && field.default && t('default', { value: field.default })]
        .filter(Boolean)
        .join(' '),
      placeholder: example,
      error: form.errors[path],
    };
    const value = form.values.credentials[key];
    const set = (text: string | null | undefined) => form.setFieldValue(path as never, text as never);
    if (values) {
      const choices = required || field.default ? values : ['', ...values];
      return (
        <NativeSelect
          key={key}
          {...shared}
          data={choices}
          value={value ?? field.default ?? ''}
          onChange={(event) => set(event.currentTarget.value)}
        />
      );
    }
    if (multiline)
      return (
        <Textarea
          key={key}
          {...shared}
          description={isSet(key) && !value ? t('common:secret.kept') : shared.description}
          autosize
          minRows={4}
          maxRows={10}
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'zw-mono' }}
          value={value ?? ''}
          onChange={(event) => set(event.currentTarget.value || (isSet(key) ? undefined : ''))}
        />
      );
    if (secret)
      return (
        <SecretInput
          key={key}
          {...shared}
          isSet={isSet(key)}
          aria-invalid={Boolean(form.errors[path])}
          clearable={!required}
          value={value}
          onChange={set}
        />
      );
    return (
      <TextInput
        key={key}
        {...shared}
        inputMode={kind === 'number' ? 'numeric' : kind === 'url' ? 'url' : 'text'}
        autoComplete="off"
        spellCheck={false}
        classNames={{ input: 'zw-mono' }}
        value={value ?? ''}
        onChange={(event) => set(event.currentTarget.value)}
      />
    );
  });
}
