import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '~/api/errors';
import { DiffView } from '~/components/diff-view';
import { ErrorText } from '~/components/error-text';
import { Role, useMay } from '~/session/session';
import { changedFields, type Fields } from '../fields';
import type { Plan } from './settle';
import type { Publish, Source } from './use-publish';

type Guard = Plan['guards'][number];

const SHOWN = 500;

type Shown = NonNullable<Plan['changes'][number]['before']>;

/** Whether a record is still what it was when it was edited; of very long values plans have the beginning. */
const isSame = (edited: Fields, found: Shown) =>
  changedFields(edited, { ...edited, ...found, value: edited.value } as Fields).length === 0 &&
  (edited.value === found.value || (found.value.length > 200 && edited.value.startsWith(found.value.slice(0, 200))));

/** Why a change is worth a second look, or undefined. */
function useNotes(source: Source | null) {
  const { t } = useTranslation('zone');
  return ({ host, type, before, allowed, reason }: Plan['changes'][number]): string | undefined => {
    if (!allowed) return reason ?? t('publish.notAllowed');
    if (!before) return undefined;
    const edited = (source?.edits ?? []).flatMap((edit) =>
      edit.before?.host === host && edit.before.type === type ? [edit.before] : [],
    );
    return edited.length && !edited.some((was) => isSame(was, before)) ? t('publish.changedMeanwhile') : undefined;
  };
}

/** The difference, what may be a mistake in it, and the one button that publishes. */
export function Review({
  plan,
  error,
  source,
  publish,
}: {
  plan: Plan;
  error: unknown;
  source: Source | null;
  publish: Publish;
}) {
  const { t } = useTranslation('zone');
  const maySuper = useMay(Role.Super);
  const [force, setForce] = useState<string[]>([]);
  const [override, setOverride] = useState('');
  const note = useNotes(source);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const isFrozen = error instanceof ApiError && error.code === 423002;
  const more = error instanceof ApiError && error.code === 409003 ? ((error.data.guards ?? []) as Guard[]) : [];
  const guards = [...plan.guards, ...more.filter(({ key }) => !plan.guards.some((guard) => guard.key === key))];
  const toConfirm = guards.filter(({ mode }) => mode === 'force');
  const isAllowed = plan.changes.every(({ allowed }) => allowed);
  const isConfirmed = toConfirm.every(({ key }) => force.includes(key));
  const { create, update, delete: gone } = plan.summary;
  if (plan.id === null)
    return (
      <Stack gap="sm">
        <Text>{t('publish.nothingToDo')}</Text>
        <Warnings words={plan.warnings} />
        <Group justify="flex-end">
          <Button onClick={publish.close}>{t('publish.back')}</Button>
        </Group>
      </Stack>
    );
  return (
    <Stack gap="sm">
      <Text fz="sm" role="status">
        {t('publish.summary', { create, update, gone })}
      </Text>
      <DiffView
        label={t('publish.changes')}
        changes={plan.changes.slice(0, SHOWN).map((change) => ({ ...change, note: note(change) }))}
      />
      {plan.changes.length > SHOWN && (
        <Text fz="sm" c="dimmed">
          {t('publish.more', { count: plan.changes.length - SHOWN })}
        </Text>
      )}
      {plan.hidden > 0 && <Text fz="sm">{t('publish.hidden', { count: plan.hidden })}</Text>}
      <Warnings words={plan.warnings} />
      {guards.length > 0 && (
        <Stack gap="xs" component="fieldset" p="sm" style={{ border: '1px solid var(--zw-warn)', borderRadius: 3 }}>
          <Text component="legend" fz="sm" fw={600} px={4}>
            {t('publish.guards')}
          </Text>
          {guards.map(({ key, text, mode }) =>
            mode === 'force' ? (
              <Checkbox
                key={key}
                size="xs"
                label={text}
                description={t('publish.meant')}
                checked={force.includes(key)}
                onChange={({ currentTarget: { checked } }) =>
                  setForce((now) => (checked ? [...now, key] : now.filter((other) => other !== key)))
                }
              />
            ) : (
              <Text key={key} fz="sm">
                {text}
              </Text>
            ),
          )}
        </Stack>
      )}
      {isFrozen && maySuper && (
        <TextInput
          label={t('publish.override')}
          description={t('publish.overrideText')}
          value={override}
          onChange={(event) => setOverride(event.currentTarget.value)}
        />
      )}
      <ErrorText error={error} />
      {!isAllowed && <Text fz="sm">{t('publish.notAllowedText')}</Text>}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={publish.close}>
          {t('publish.back')}
        </Button>
        <Button
          ref={button}
          disabled={!isAllowed || !isConfirmed || (isFrozen && override.trim() === '')}
          onClick={() => void publish.apply(plan, force, override.trim())}
        >
          {t('publish.publish', { count: plan.changes.length + plan.hidden })}
        </Button>
      </Group>
    </Stack>
  );
}

function Warnings({ words }: { words: string[] }) {
  return words.map((word) => (
    <Text key={word} fz="sm" c="var(--zw-warn)">
      {word}
    </Text>
  ));
}
