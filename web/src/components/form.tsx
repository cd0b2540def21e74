import { Button, Group, PasswordInput, type PasswordInputProps } from '@mantine/core';
import { type FormValidateInput, type UseFormReturnType, useForm } from '@mantine/form';
import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '~/api/errors';
import { ErrorText } from './error-text';
import classes from './form.module.css';

interface ApiForm<V> {
  form: UseFormReturnType<V>;
  /** for `<form onSubmit>` */
  onSubmit: (event?: React.FormEvent<HTMLFormElement>) => void;
  /** it is being sent */
  busy: boolean;
  /** what went wrong beside what stands at the fields */
  problem: unknown;
  /** sends these values otherwise, such as without a check: busy meanwhile, and what fails is shown as of the form */
  run: (work: () => Promise<unknown>) => Promise<void>;
  /** shows a failure of something else that was sent with these values, such as a test */
  fail: (error: unknown) => void;
}

/** The paths of the server as those of the form: `values[0].ttl` is `values.0.ttl`. */
const formPath = (path: string) => path.replace(/\[(\d+)\]/g, '.$1');

function hasField(values: unknown, path: string): boolean {
  let found = values;
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null || !(key in found)) return false;
    found = (found as Record<string, unknown>)[key];
  }
  return true;
}

/**
 * A form whose values go to the API: what the server says of a field stands beside it, all else below the form.
 * @param save sends the values; `filled` are those that the form was filled with, or saved last
 * @param renamed the form's names of fields that the server calls otherwise
 */
export function useApiForm<V extends Record<string, unknown>>({
  initialValues,
  save,
  validate,
  renamed = {},
}: {
  initialValues: V;
  save: (values: V, filled: V) => Promise<unknown>;
  validate?: FormValidateInput<V>;
  renamed?: Record<string, string>;
}): ApiForm<V> {
  const form = useForm<V>({ initialValues, ...(validate && { validate }) });
  const filled = useRef(initialValues);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const fail = (error: unknown) => setProblem(showFields(error, form, renamed));
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (error) {
      fail(error);
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = form.onSubmit((values) =>
    run(async () => {
      await save(values, filled.current);
      filled.current = structuredClone(values);
    }),
  );
  return { form, onSubmit, busy, problem, run, fail };
}

/** Puts the errors of fields beside them. @returns what is left to be shown */
function showFields<V>(error: unknown, form: UseFormReturnType<V>, renamed: Record<string, string>): unknown {
  if (!(error instanceof ApiError) || error.fields.length === 0) return error;
  const left: string[] = [];
  const shown: Record<string, string> = {};
  for (const { path, message } of error.fields) {
    const name = renamed[path] ?? formPath(path);
    if (hasField(form.getValues(), name)) shown[name] = message;
    else left.push(`${path}: ${message}`);
  }
  form.setErrors(shown);
  return left.length ? new ApiError(error.status, error.code, left.join('\n'), {}, error.requestId) : null;
}

/** The end of a form: what went wrong, and the buttons. */
export function FormEnd({
  busy,
  problem,
  verb,
  children,
}: {
  busy: boolean;
  problem: unknown;
  verb: string;
  children?: ReactNode;
}) {
  return (
    <div className={classes.end}>
      <ErrorText error={problem} />
      <Group gap="sm" justify="flex-end">
        {children}
        <Button type="submit" loading={busy}>
          {verb}
        </Button>
      </Group>
    </div>
  );
}

interface SecretProps extends Omit<PasswordInputProps, 'value' | 'onChange'> {
  /** the server has one, and never shows it */
  isSet: boolean;
  /** undefined: the kept one stays; null: it is taken away */
  value: string | null | undefined;
  onChange: (value: string | null | undefined) => void;
  /** it may be taken away */
  clearable?: boolean;
}

/** A secret: can be replaced, never read. What is left alone is kept. */
export function SecretInput({ isSet, value, onChange, clearable = false, description, ...rest }: SecretProps) {
  const { t } = useTranslation('common');
  const words = value === null ? t('secret.cleared') : isSet && !value ? t('secret.kept') : description;
  return (
    <PasswordInput
      {...rest}
      description={words}
      value={value ?? ''}
      placeholder={isSet && value === undefined ? '••••••••' : rest.placeholder}
      onChange={(event) => onChange(event.currentTarget.value || (isSet ? undefined : ''))}
      autoComplete="new-password"
      visibilityToggleButtonProps={{ 'aria-label': t('secret.show'), tabIndex: 0 }}
      inputContainer={(input) => (
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <div className={classes.grow}>{input}</div>
          {clearable && isSet && (
            <Button variant="default" h={36} onClick={() => onChange(value === null ? undefined : null)}>
              {value === null ? t('secret.keep') : t('secret.clear')}
            </Button>
          )}
        </Group>
      )}
    />
  );
}
