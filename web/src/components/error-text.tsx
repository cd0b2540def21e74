import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ApiError, Unreachable } from '~/api/errors';

/** What went wrong, in one sentence for people. */
export function useErrorWords(): (error: unknown) => string {
  const { t } = useTranslation('common');
  return (error) => {
    if (error instanceof ApiError)
      // what is longer, such as a freeze, says in its words until when
      return error.retryAfter && error.retryAfter <= 600
        ? `${error.message} ${t('failure.again', { count: error.retryAfter })}`
        : error.message;
    if (error instanceof Unreachable) return t('failure.unreachable');
    return t('failure.unknown', { words: error instanceof Error ? error.message : String(error) });
  };
}

/** A failure beside what failed; read out when it appears. */
export function ErrorText({ error }: { error: unknown }) {
  const words = useErrorWords();
  return (
    <div role="alert">
      {error ? (
        <Text fz="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {words(error)}
        </Text>
      ) : null}
    </div>
  );
}
