import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '~/api/errors';
import type { components } from '~/api/schema';
import { Box } from '~/components/box';
import { DiffView } from '~/components/diff-view';
import { ErrorText } from '~/components/error-text';

type Shown = components['schemas']['ChangedRecordView'];

/** What stands there instead of what a plan was worked out on. */
export interface Difference {
  host: string;
  type: string;
  planned_on: Shown | null;
  found: Shown | null;
}

/** The differences that a stale plan names, where this failure is one. */
export function differencesOf(failure: unknown): Difference[] | null {
  if (!(failure instanceof ApiError) || failure.status !== 412) return null;
  const { differences } = failure.data;
  return Array.isArray(differences) ? (differences as Difference[]) : [];
}

interface Props {
  /** `stale`, or that it came to its end otherwise */
  state: string;
  differences: Difference[] | null;
  /** works the same plan out anew; left out where nobody knows where it came from */
  onAgain?: (() => Promise<unknown>) | undefined;
}

/** A plan that does not fit any more: what is there instead, and the way on. */
export function StaleBox({ state, differences, onAgain }: Props) {
  const { t } = useTranslation('plans');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const again = async () => {
    setBusy(true);
    setError(null);
    try {
      await onAgain?.();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Box is={state === 'stale' ? 'bad' : 'warn'}>
      <Text fw={600} fz="sm">
        {t(`over.${state}`)}
      </Text>
      <Text fz="sm" mb="xs">
        {state === 'stale' && (onAgain ? t('stale.textAgain') : t('stale.text'))}
      </Text>
      {differences && differences.length > 0 && (
        <DiffView
          label={t('stale.differences')}
          changes={differences.map(({ host, type, planned_on, found }) => ({
            ...{ host, type, before: planned_on, after: found },
            op: !planned_on ? 'create' : found ? 'update' : 'delete',
          }))}
        />
      )}
      <ErrorText error={error} />
      {onAgain && (
        <Button mt="xs" loading={busy} onClick={again}>
          {t('stale.again')}
        </Button>
      )}
    </Box>
  );
}
