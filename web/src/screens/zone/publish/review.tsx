import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '~/api/errors';
import { DiffView } from '~/components/diff-view';
import { ErrorText } from '~/components/error-text';
import { Role, useMay } from '~/session/session';
import { changedByOthers } from './others';
import type { Plan } from './settle';
import type { Publish, Reviewed } from './use-publish';

type Guard = Plan['guards'][number];

const SHOWN = 500;

/** The difference, what may be a mistake in it, and the one button that publishes. */
export function Review({ shown, publish }: { shown: Reviewed; publish: Publish }) {
  const { plan, error, edits, isUnsent } = shown;
  const { t } = useTranslation('zone');
  const maySuper = useMay(Role.Super);
  const [force, setForce] = useState<string[]>([]);
  const [override, setOverride] = useState('');
  const [hasSeen, setSeen] = useState(false);
  const others = useMemo(() => changedByOthers(plan.changes, edits), [plan, edits]);
  const changes = useMemo(
    () => plan.changes.toSorted((a, b) => Number(others.has(b.id)) - Number(others.has(a.id))),
    [plan, others],
  );
  // why a change is worth a second look
  const note = ({ id, allowed, reason }: Plan['changes'][number]) =>
    allowed ? (others.has(id) ? t('publish.changedMeanwhile') : undefined) : (reason ?? t('publish.notAllowed'));
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const isFrozen = error instanceof ApiError && error.code === 423002;
  const more = error instanceof ApiError && error.code === 409003 ? ((error.data.guards ?? []) as Guard[]) : [];
  const guards = [...plan.guards, ...more.filter(({ key }) => !plan.guards.some((guard) => guard.key === key))];
  const toConfirm = guards.filter(({ mode }) => mode === 'force');
  const isAllowed = plan.changes.every(({ allowed }) => allowed);
  const isConfirmed = toConfirm.every(({ key }) => force.includes(key)) && (others.size === 0 || hasSeen);
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
      {isUnsent && <Text fz="sm">{t('publish.unsent')}</Text>}
      <Text fz="sm" role="status">
        {t('publish.summary', { create, update, gone })}
      </Text>
      <DiffView
        label={t('publish.changes')}
        changes={changes.slice(0, SHOWN).map((change) => ({ ...change, note: note(change) }))}
      />
      {plan.changes.length > SHOWN && (
        <Text fz="sm" c="dimmed">
          {t('publish.more', { count: plan.changes.length - SHOWN })}
        </Text>
      )}
      {plan.hidden > 0 && <Text fz="sm">{t('publish.hidden', { count: plan.hidden })}</Text>}
      <Warnings words={plan.warnings} />
      {others.size > 0 && (
        <Checkbox
          size="xs"
          label={t('publish.others', { count: others.size })}
          description={t('publish.othersText')}
          checked={hasSeen}
          onChange={({ currentTarget: { checked } }) => setSeen(checked)}
        />
      )}
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
          onClick={() => void publish.apply(shown, force, override.trim())}
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
