import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { ErrorText } from '~/components/error-text';
import { notifyDone } from '~/components/notify';
import { Loaded } from '~/components/state-block';
import { Role, useMay } from '~/session/session';
import classes from './settings.module.css';

type Schemas = components['schemas'];

interface Views {
  '/api/settings': Schemas['GeneralView'];
  '/api/settings/security': Schemas['SecurityView'];
  '/api/settings/smtp': Schemas['SmtpView'];
  '/api/settings/oauth': Schemas['OauthView'];
  '/api/settings/notifications': Schemas['NotificationsView'];
  '/api/settings/audit-rules': Schemas['AuditRules'];
}
type Path = keyof Views;

interface Read<V> {
  value: V;
  /** of the section as it was read */
  etag: string;
}

type Put = (path: Path, init: object) => Promise<{ data: never; response: Response }>;

/** What a form of a section gets. */
export interface Given<V> {
  value: V;
  /** sends a change that counts only if nobody else has saved since; the form then shows what was saved */
  save: (body: object) => Promise<void>;
}

interface Props<P extends Path> {
  path: P;
  children: (given: Given<Views[P]>) => ReactNode;
}

/** A section of the settings. What is being typed stays, also while others save: then it is said. */
export function SettingsSection<P extends Path>({ path, children }: Props<P>) {
  const { t } = useTranslation('settings');
  const [base, setBase] = useState<Read<Views[P]> | null>(null);
  const query = useQuery({
    queryKey: ['get', path, 'tagged'],
    queryFn: async ({ signal }): Promise<Read<Views[P]>> => {
      const { data, response } = await client.GET(path as '/api/settings', { signal });
      return { value: data as Views[P], etag: response.headers.get('etag') ?? '' };
    },
  });
  return (
    <Loaded query={query} lines={8}>
      {(latest) => {
        const shown = base ?? latest;
        if (!base) queueMicrotask(() => setBase((before) => before ?? latest));
        const save = async (body: object) => {
          const put = client.PUT as unknown as Put;
          const { data, response } = await put(path, { body, headers: { 'If-Match': shown.etag } }).catch((error) => {
            if (!(error instanceof ApiError) || error.status !== 412) throw error;
            void query.refetch();
            throw new ApiError(error.status, error.code, t('conflict'), {}, error.requestId);
          });
          setBase({ value: data, etag: response.headers.get('etag') ?? '' });
          await invalidate('/api/settings', '/api/bootstrap', '/api/site');
          notifyDone(t('saved'));
        };
        return (
          <>
            {latest.etag !== shown.etag && (
              <Group className={classes.other} role="status" gap="xs">
                <Text fz="sm">{t('savedByOther')}</Text>
                <Button variant="subtle" size="compact-xs" onClick={() => setBase(latest)}>
                  {t('showSaved')}
                </Button>
              </Group>
            )}
            <div key={shown.etag}>{children({ value: shown.value, save })}</div>
          </>
        );
      }}
    </Loaded>
  );
}

interface WaitingProps {
  section: 'general' | 'smtp' | 'oauth';
  fields: string[];
}

/** Fields that an administrator has set and a super administrator has to confirm. */
export function Waiting({ section, fields }: WaitingProps) {
  const { t } = useTranslation('settings');
  const mayConfirm = useMay(Role.Super);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  if (fields.length === 0) return null;
  const confirm = async () => {
    setBusy(true);
    await client
      .POST('/api/settings/{section}/confirm', { params: { path: { section } } })
      .catch(setProblem)
      .finally(() => setBusy(false));
    await invalidate('/api/settings');
  };
  return (
    <div className={classes.other}>
      <Text fz="sm">{t('waiting', { fields: fields.join(', ') })}</Text>
      <ErrorText error={problem} />
      {mayConfirm ? (
        <Button variant="default" mt="xs" loading={busy} onClick={() => void confirm()}>
          {t('confirm')}
        </Button>
      ) : (
        <Text fz="sm">{t('confirmBySuper')}</Text>
      )}
    </div>
  );
}
