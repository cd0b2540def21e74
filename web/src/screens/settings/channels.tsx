import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import type { components } from '~/api/schema';
import { ConfirmDestructive } from '~/components/confirm';
import { ErrorText } from '~/components/error-text';
import { Row, Rows } from '~/components/rows';
import { Section } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Theirs } from '~/components/theirs';
import { ChannelDialog } from './channel-dialog';
import { Deliveries } from './deliveries';
import { type Given, placeOf, SettingsSection } from './section';

type View = components['schemas']['NotificationsView'];
export type Channel = components['schemas']['ChannelView'];

/** Where notices go, and what became of them. */
export function ChannelsSettings() {
  return (
    <>
      <SettingsSection path="/api/settings/notifications">{(given) => <Channels {...given} />}</SettingsSection>
      <Deliveries />
    </>
  );
}

function Channels({ value, save, tagged }: Given<View>) {
  const { t } = useTranslation('settings');
  const { channels } = value;
  const [edited, setEdited] = useState<Channel | 'new' | null>(null);
  const [removed, setRemoved] = useState<Channel | null>(null);
  const add = (
    <Button variant="default" onClick={() => setEdited('new')}>
      {t('channels.add')}
    </Button>
  );
  return (
    <Section title={t('channels.title')} actions={channels.length > 0 && add}>
      {channels.length === 0 && <Empty title={t('channels.empty')} text={t('channels.emptyText')} action={add} />}
      <Rows label={t('channels.title')}>
        {channels.map((channel) => (
          <ChannelRow
            key={channel.id}
            channel={channel}
            onEdit={() => setEdited(channel)}
            onRemove={() => setRemoved(channel)}
          />
        ))}
      </Rows>
      {edited !== null && (
        <ChannelDialog
          channel={edited === 'new' ? null : edited}
          at={placeOf(channels, 'id', edited)}
          notice={<Theirs of={tagged} />}
          onClose={() => setEdited(null)}
          save={(channel) =>
            save({ channels: channels.toSpliced(placeOf(channels, 'id', edited), 1, channel as Channel) })
          }
        />
      )}
      <ConfirmDestructive
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('channels.removeAsk', { name: removed?.name })}
        verb={t('remove')}
        onConfirm={() => save({ channels: channels.filter(({ id }) => id !== removed?.id) })}
      >
        {t('channels.removeText')}
      </ConfirmDestructive>
    </Section>
  );
}

function ChannelRow({ channel, onEdit, onRemove }: { channel: Channel; onEdit: () => void; onRemove: () => void }) {
  const { t } = useTranslation('settings');
  const { id, name, type, enabled, config, events } = channel;
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<components['schemas']['ChannelTestResult'] | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const test = async () => {
    setBusy(true);
    setResult(null);
    setProblem(null);
    try {
      const { data } = await client.POST('/api/settings/notifications/{id}/test', { params: { path: { id } } });
      setResult(data ?? null);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const where = config.to?.join(', ') ?? config.url ?? config.chat_id;
  return (
    <Row
      more={
        <>
          {[t(`channels.types.${type}`), where, t('channels.events', { count: events.length })]
            .filter(Boolean)
            .join(' · ')}
          <div role="status">
            {result && (
              <Text fz="sm" c="var(--mantine-color-text)">
                <Status is={result.success ? 'good' : 'bad'}>
                  {result.success ? t('mail.sent') : t('mail.failed')}
                </Status>{' '}
                {result.message}
              </Text>
            )}
          </div>
          <ErrorText error={problem} />
        </>
      }
      actions={
        <>
          <Button
            variant="subtle"
            loading={busy}
            aria-label={t('channels.testOne', { name })}
            onClick={() => void test()}
          >
            {t('channels.test')}
          </Button>
          <Button variant="subtle" aria-label={t('changeOne', { name })} onClick={onEdit}>
            {t('change')}
          </Button>
          <Button variant="subtle" aria-label={t('removeOne', { name })} onClick={onRemove}>
            {t('remove')}
          </Button>
        </>
      }
    >
      <Group gap="sm">
        {name}
        <Status is={enabled ? 'good' : 'off'}>{enabled ? t('on') : t('off')}</Status>
      </Group>
    </Row>
  );
}
