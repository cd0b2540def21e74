import { Button, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { type Tagged, useTagged } from '~/api/tagged';
import { ErrorText } from '~/components/error-text';
import { notifyDone } from '~/components/notify';
import { Loaded } from '~/components/state-block';
import { Theirs } from '~/components/theirs';
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

type Put = (path: Path, init: object) => Promise<{ data?: unknown; response: Response }>;

/** What a form of a section gets. */
export interface Given<V> {
  value: V;
  /** sends a change that counts only if nobody else has saved since; the form then shows what was saved */
  save: (body: object) => Promise<void>;
  tagged: Tagged<V>;
}

interface Props<P extends Path> {
  path: P;
  children: (given: Given<Views[P]>) => ReactNode;
}

/** A section of the settings. What is being typed stays, also while others save: then both are shown. */
export function SettingsSection<P extends Path>({ path, children }: Props<P>) {
  const { t } = useTranslation('settings');
  const query = useTagged<Views[P]>(['get', path, 'tagged'], (signal) =>
    client.GET(path as '/api/settings', { signal }),
  );
  return (
    <Loaded query={query} lines={8}>
      {(tagged) => {
        const put = client.PUT as unknown as Put;
        const save = async (body: object) => {
          await tagged.save((headers) => put(path, { body, headers }));
          await invalidate('/api/settings', '/api/bootstrap', '/api/site');
          notifyDone(t('saved'));
        };
        return (
          <>
            <Theirs of={tagged} />
            {children({ value: tagged.value, save, tagged })}
          </>
        );
      }}
    </Loaded>
  );
}

/** The key of a form that is filled anew once it is saved, and when what others have saved is taken. */
export const keyOf = ({ generation, saves }: Tagged<unknown>): string => `${generation} ${saves}`;

/** Where an entry of a list stands now; behind the last one if it is new, or was taken away by others. */
export function placeOf<T extends object>(list: readonly T[], key: keyof T, one: T | 'new'): number {
  const at = one === 'new' ? -1 : list.findIndex((other) => other[key] === one[key]);
  return at < 0 ? list.length : at;
}

interface WaitingProps {
  section: 'general' | 'smtp' | 'oauth';
  of: Tagged<{ waiting: string[] }>;
}

/** Fields that an administrator has set and a super administrator has to confirm: those that are shown, no others. */
export function Waiting({ section, of: { value, headers, keep } }: WaitingProps) {
  const { t } = useTranslation('settings');
  const mayConfirm = useMay(Role.Super);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const fields = value.waiting;
  if (fields.length === 0) return null;
  const confirm = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await client.POST('/api/settings/{section}/confirm', { params: { path: { section } }, headers });
      await keep();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
      await invalidate('/api/settings');
    }
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
