import { Group, Switch } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { Copy } from '~/components/copy';
import { ErrorText } from '~/components/error-text';
import { Facts } from '~/components/rows';
import { Section } from '~/components/screen';
import { Status } from '~/components/status';
import { Role, useMay } from '~/session/session';
import classes from './doors.module.css';
import { Snippet } from './snippet';

type Door = components['schemas']['DoorView'];

/** Opens and closes a door, at once: the other way is as near. */
function DoorSwitch({ door: { key, enabled }, onFailure }: { door: Door; onFailure: (error: unknown) => void }) {
  const { t } = useTranslation('doors');
  const [isBusy, setBusy] = useState(false);
  const turn = async (wanted: boolean) => {
    setBusy(true);
    onFailure(null);
    try {
      await client.PUT('/api/settings/doors', { body: { [key]: { enabled: wanted } } });
      await invalidate('/api/doors');
    } catch (error) {
      onFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Switch
      checked={enabled}
      aria-busy={isBusy}
      label={t('isOpen')}
      aria-label={t('isOpenOf', { door: key })}
      onChange={(event) => !isBusy && void turn(event.currentTarget.checked)}
    />
  );
}

/** One door as the service describes it: whether it is open, where it is, and what to paste into its tools. */
export function DoorSection({ door }: { door: Door }) {
  const { t } = useTranslation('doors');
  const mayTurn = useMay(Role.Admin);
  const [error, setError] = useState<unknown>(null);
  const { key, enabled, url, scope, auth, tools } = door;
  return (
    <Section title={key} actions={mayTurn && <DoorSwitch door={door} onFailure={setError} />}>
      <ErrorText error={error} />
      <Facts
        of={[
          [
            t('state'),
            <Status key="state" is={enabled ? 'good' : 'off'}>
              {enabled ? t('open') : t('closed')}
            </Status>,
          ],
          [
            t('address'),
            <Group key="url" gap={4} wrap="nowrap">
              <span className={`zw-mono ${classes.url}`}>{url}</span>
              <Copy text={url} label={t('copyAddress', { door: key })} />
            </Group>,
          ],
          [
            t('scope'),
            <span key="scope" className="zw-mono">
              {scope}
            </span>,
          ],
          [t('auth'), auth],
        ]}
      />
      {tools.map(({ name, snippet }) => (
        <details key={name} className={classes.tool}>
          <summary>{name}</summary>
          <Snippet text={snippet} label={t('snippetOf', { tool: name, door: key })} />
        </details>
      ))}
    </Section>
  );
}
