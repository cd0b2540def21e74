import { Button, Checkbox, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FieldError } from '~/api/errors';
import type { components } from '~/api/schema';
import { DateTimeField } from '~/components/date-time-field';
import type { Capabilities } from './capabilities';
import { type Fields, secondsOf, shortTtl, type TypeView } from './fields';
import classes from './record-form.module.css';
import { ValueFields } from './value-fields';
import { joinParts, problemOf, splitValue } from './value-parts';

interface Props {
  /** `www TXT` of the record, or what says that it is new */
  label: string;
  initial: Fields;
  isNew: boolean;
  capabilities: Capabilities;
  types: TypeView[];
  lines: components['schemas']['LineView'][];
  /** what the service says of it; none: it fits */
  check: (after: Fields, signal: AbortSignal) => Promise<FieldError[]>;
  /** something was put in */
  onTyped: () => void;
  onDone: (after: Fields) => void;
  onCancel: () => void;
}

const PRESETS = [60, 300, 3600, 86_400];
/** A bound that nobody meets needs not be said. */
const LONG_S = 366 * 86_400;

/** The fields of one record, as far as its provider has them. Enter puts it into the tray, Escape leaves it. */
export function RecordForm(props: Props) {
  const { label, initial, isNew, capabilities: can, types, lines, check, onTyped, onDone, onCancel } = props;
  const { t } = useTranslation('zone');
  const byType = new Map(types.map((one) => [one.type, one]));
  const [fields, setFields] = useState(initial);
  const [ttl, setTtl] = useState(initial.ttl === null ? '' : String(initial.ttl));
  const view = byType.get(fields.type);
  const [texts, setTexts] = useState(() => (view ? splitValue(view, initial.value) : null));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [partErrors, setPartErrors] = useState<Record<number, string>>({});
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const own = new AbortController();
    stop.current = own;
    return () => own.abort();
  }, []);
  useEffect(() => {
    form.current
      ?.querySelector<HTMLElement>(isNew ? '[name=host]' : '[data-value] input, [data-value] textarea')
      ?.focus();
  }, [isNew]);

  const set = (change: Partial<Fields>) => setFields((now) => ({ ...now, ...change }));
  const setType = (type: string) => {
    const next = byType.get(type);
    // what was typed stays where the types have the same parts
    const same =
      next && view && next.value.parts.map((p) => p.name).join() === view.value.parts.map((p) => p.name).join();
    setTexts(same ? texts : next ? splitValue(next, '') : null);
    set({ type, ...(!same && { value: '' }), priority: next?.priority?.default ?? null });
    setPartErrors({});
    setErrors({});
  };

  const preset = (seconds: number | null) => {
    setTtl(String(seconds));
    onTyped();
  };

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const isDefault = ttl.trim() === '';
    const seconds = isDefault ? null : secondsOf(ttl);
    const wrongParts: Record<number, string> = {};
    if (view && texts)
      view.value.parts.forEach((part, i) => {
        const problem = problemOf(part, texts[i] ?? '');
        if (problem) wrongParts[i] = t(`problem.${problem.key}`, problem);
      });
    else if (fields.value.trim() === '') wrongParts[-1] = t('problem.needed');
    const wrong: Record<string, string> = {};
    if (fields.host.trim() === '') wrong.host = t('problem.neededHost');
    // a record that is there has one already
    if (isDefault && !isNew && initial.ttl !== null) wrong.ttl = t('problem.neededTtl');
    else if (!isDefault && seconds === null) wrong.ttl = t('problem.ttl');
    else if (seconds !== null && seconds !== can.automatic_ttl && (seconds < can.min_ttl || seconds > can.max_ttl))
      wrong.ttl = t('problem.range', { min: can.min_ttl, max: can.max_ttl });
    if (fields.type === 'CNAME' && fields.host.trim() === '@' && !can.apex_cname) wrong.type = t('problem.apexCname');
    setErrors(wrong);
    setPartErrors(wrongParts);
    if (Object.keys(wrong).length + Object.keys(wrongParts).length > 0) return;
    const after = {
      ...fields,
      host: fields.host.trim(),
      value: view && texts ? joinParts(view, texts) : fields.value,
      ttl: seconds,
    };
    setBusy(true);
    const { signal } = stop.current;
    const mistakes = await check(after, signal);
    // it was left, or another one has taken its place
    if (signal.aborted) return;
    setBusy(false);
    if (mistakes.length === 0) return onDone(after);
    const told: Record<string, string> = {};
    const parts: Record<number, string> = {};
    for (const { path, message } of mistakes) {
      const part = view?.value.parts.findIndex(({ name }) => path === name || path === `value.${name}`) ?? -1;
      if (path.startsWith('value') || part >= 0) parts[part] = message;
      else
        told[['host', 'type', 'ttl', 'priority', 'weight', 'line', 'expires_at'].includes(path) ? path : 'record'] =
          message;
    }
    setErrors(told);
    setPartErrors(parts);
  };
  // the field that is wrong gets the focus
  // biome-ignore lint/correctness/useExhaustiveDependencies: when mistakes appear
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [errors, partErrors]);

  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit();
    else return;
    event.preventDefault();
  };
  const hints = [
    can.max_ttl > LONG_S
      ? t('form.ttlFrom', { min: shortTtl(can.min_ttl) })
      : t('form.ttlRange', { min: shortTtl(can.min_ttl), max: shortTtl(can.max_ttl) }),
    can.granularity === 'rrset' && t('form.ttlOfSet'),
    !can.toggle && t('form.noToggle'),
    !can.remark && t('form.remarkHere'),
  ].filter(Boolean);
  return (
    <form
      ref={form}
      aria-label={label}
      className={classes.form}
      onSubmit={submit}
      onKeyDown={onKeyDown}
      onChange={onTyped}
      noValidate
    >
      <div className={classes.line}>
        <TextInput
          className={classes.host}
          label={t('form.host')}
          name="host"
          size="sm"
          classNames={{ input: 'zw-mono' }}
          placeholder="www"
          spellCheck={false}
          autoComplete="off"
          value={fields.host}
          error={errors.host}
          onChange={(event) => set({ host: event.currentTarget.value })}
        />
        <NativeSelect
          label={t('form.type')}
          size="sm"
          w={120}
          data={types.filter(({ type }) => can.types.includes(type)).map(({ type }) => type)}
          value={fields.type}
          error={errors.type}
          onChange={(event) => setType(event.currentTarget.value)}
        />
        {view?.priority && (
          <TextInput
            label={t('form.priority')}
            size="sm"
            className={classes.narrow}
            inputMode="numeric"
            classNames={{ input: 'zw-mono' }}
            value={fields.priority ?? ''}
            error={errors.priority}
            onChange={(event) => {
              const text = event.currentTarget.value.replace(/\D/g, '');
              set({ priority: text === '' ? null : Number(text) });
            }}
          />
        )}
        {view && (
          <div data-value className={classes.value}>
            <ValueFields
              type={view}
              texts={texts}
              whole={fields.value}
              problems={partErrors}
              onChange={(next, value) => {
                setTexts(next);
                set({ value });
              }}
            />
          </div>
        )}
      </div>
      <div className={classes.line}>
        <div className={classes.ttl}>
          <TextInput
            label={t('form.ttl')}
            size="sm"
            classNames={{ input: 'zw-mono' }}
            placeholder={isNew ? t('form.ttlDefault') : ''}
            value={ttl}
            error={errors.ttl}
            onChange={(event) => setTtl(event.currentTarget.value)}
          />
          <div className={classes.presets}>
            {PRESETS.filter((seconds) => seconds >= can.min_ttl && seconds <= can.max_ttl).map((seconds) => (
              <Button
                key={seconds}
                variant="subtle"
                size="compact-xs"
                px={4}
                aria-label={t('form.ttlPreset', { ttl: shortTtl(seconds) })}
                onClick={() => preset(seconds)}
              >
                {shortTtl(seconds)}
              </Button>
            ))}
            {can.automatic_ttl !== null && (
              <Button variant="subtle" size="compact-xs" px={4} onClick={() => preset(can.automatic_ttl)}>
                {t('form.ttlAutomatic')}
              </Button>
            )}
          </div>
        </div>
        {can.weight && (
          <TextInput
            label={t('form.weight')}
            size="sm"
            className={classes.narrow}
            inputMode="numeric"
            classNames={{ input: 'zw-mono' }}
            value={fields.weight ?? ''}
            error={errors.weight}
            onChange={(event) => {
              const text = event.currentTarget.value.replace(/\D/g, '');
              set({ weight: text === '' ? null : Number(text) });
            }}
          />
        )}
        {lines.length > 1 && !can.proxy && (
          <NativeSelect
            label={t('form.line')}
            size="sm"
            data={lines.map(({ id, name }) => ({ value: id, label: name }))}
            value={fields.line}
            error={errors.line}
            onChange={(event) => set({ line: event.currentTarget.value })}
          />
        )}
        <TextInput
          label={t('form.remark')}
          size="sm"
          style={{ flex: '1 1 180px' }}
          value={fields.remark}
          error={errors.remark}
          onChange={(event) => set({ remark: event.currentTarget.value })}
        />
        <DateTimeField
          label={t('form.expires')}
          size="sm"
          value={fields.expires_at}
          error={errors.expires_at}
          onChange={(iso) => set({ expires_at: iso || null })}
        />
        {can.proxy && (
          <Checkbox
            className={classes.check}
            label={t('form.proxied')}
            checked={fields.proxied}
            onChange={(event) => set({ proxied: event.currentTarget.checked })}
          />
        )}
        <Checkbox
          className={classes.check}
          label={t('form.enabled')}
          checked={fields.enabled}
          onChange={(event) => set({ enabled: event.currentTarget.checked })}
        />
      </div>
      <p className={classes.hint}>{hints.join(' · ')}</p>
      <Group justify="space-between" gap="sm" mt={8}>
        <div role="alert">
          {errors.record && (
            <Text fz="sm" c="var(--mantine-color-error)">
              {errors.record}
            </Text>
          )}
        </div>
        <Group gap="sm">
          <Button variant="default" onClick={onCancel}>
            {t('form.cancel')}
          </Button>
          <Button type="submit" loading={busy}>
            {t('form.toTray')}
          </Button>
        </Group>
      </Group>
    </form>
  );
}
