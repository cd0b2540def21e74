import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconLock, IconPlugConnectedX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, Unreachable } from '~/api/errors';
import { useErrorWords } from './error-text';
import classes from './state-block.module.css';

interface EmptyProps {
  /** what would be here */
  title: string;
  /** what it is for, and how to begin */
  text?: ReactNode;
  /** the button to begin with */
  action?: ReactNode;
}

/** Nothing is here: says what it is for, and how to begin. */
export function Empty({ title, text, action }: EmptyProps) {
  return (
    <div className={classes.block}>
      <Text fw={600}>{title}</Text>
      {text && (
        <Text fz="sm" c="dimmed" maw="60ch">
          {text}
        </Text>
      )}
      {action && <Group mt="xs">{action}</Group>}
    </div>
  );
}

/** It could not be shown: says why, and what to do. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useTranslation('common');
  const words = useErrorWords();
  const api = error instanceof ApiError ? error : null;
  const [Icon, title] =
    api?.status === 403
      ? [IconLock, t('state.noRight')]
      : error instanceof Unreachable
        ? [IconPlugConnectedX, t('state.unreachable')]
        : [IconAlertTriangle, api?.status === 404 ? t('state.notFound') : t('state.failed')];
  return (
    <div className={classes.block} role="alert">
      <Group gap="xs" wrap="nowrap">
        <Icon size={18} stroke={1.6} aria-hidden />
        <Text fw={600}>{title}</Text>
      </Group>
      <Text fz="sm" maw="70ch" style={{ overflowWrap: 'anywhere' }}>
        {words(error)}
      </Text>
      {api?.requestId && api.status >= 500 && (
        <Text fz="xs" c="dimmed" ff="monospace">
          {t('state.requestId', { id: api.requestId })}
        </Text>
      )}
      {retry && api?.status !== 403 && (
        <Button variant="default" mt="xs" onClick={retry}>
          {t('tryAgain')}
        </Button>
      )}
    </div>
  );
}

/** It is on its way: lines where it will be. */
export function Loading({ lines = 6 }: { lines?: number }) {
  const { t } = useTranslation('common');
  return (
    <Stack gap={10} role="status" aria-label={t('state.loading')} py="xs">
      {Array.from({ length: lines }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they never change their order
        <Skeleton key={i} h={14} w={`${[92, 78, 85, 70, 88, 64][i % 6]}%`} />
      ))}
    </Stack>
  );
}

interface Asked<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

/** The state of a query: loading, failed, or its data; with data that is older than a failure, both. */
export function Loaded<T>({
  query,
  children,
  lines,
}: {
  query: Asked<T>;
  lines?: number;
  children: (data: T) => ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data === undefined)
    return error ? <Failure error={error} retry={refetch} /> : <Loading {...(lines && { lines })} />;
  return (
    <>
      {Boolean(error) && <Stale error={error} retry={refetch} />}
      {children(data)}
    </>
  );
}

/** What is shown is old: it could not be read anew. */
export function Stale({ error, retry }: { error: unknown; retry: () => void }) {
  const { t } = useTranslation('common');
  const words = useErrorWords();
  return (
    <Group className={classes.stale} role="status" gap="xs">
      <Text fz="sm">
        {t('state.stale')} {words(error)}
      </Text>
      <Button variant="subtle" size="compact-xs" onClick={retry}>
        {t('tryAgain')}
      </Button>
    </Group>
  );
}
