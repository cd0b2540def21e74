import { Button, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { useTagged } from '~/api/tagged';
import { AppLink } from '~/components/app-link';
import { Box } from '~/components/box';
import { ConfirmDestructive } from '~/components/confirm';
import { notifyDone } from '~/components/notify';
import { Facts, Row, Rows } from '~/components/rows';
import { Screen, Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Status } from '~/components/status';
import { Theirs } from '~/components/theirs';
import { Time } from '~/components/time';
import { useForced } from '~/components/use-forced';
import { IngressEditor } from './ingress-editor';
import type { ShownToken } from './run-token';
import { type Tunnel, TunnelStatus } from './tunnel';

const PATH = '/api/tunnels/{id}';

interface Props {
  id: number;
  onToken: (token: ShownToken) => void;
}

/** One tunnel as the provider has it now: connectors, rules, run token. */
export function TunnelDetail({ id, onToken }: Props) {
  const { t } = useTranslation('tunnels');
  const navigate = useNavigate();
  const [open, setOpen] = useState<'delete' | 'rotate' | null>(null);
  // connectors run it: the second click means it
  const { refusal, query: force, run, forget } = useForced(({ status }) => status === 409);
  const params = { path: { id } };
  const query = useTagged<Tunnel>(['get', PATH, { id }, 'tagged'], (signal) => client.GET(PATH, { params, signal }));
  const name = query.data?.value.name ?? '';
  const remove = async () => {
    await run(() => client.DELETE(PATH, { params: { ...params, query: force } }));
    await invalidate('/api/tunnels', '/api/domains');
    notifyDone(t('delete.done', { name }));
    void navigate({ to: '/tunnels' as never });
  };
  const rotate = async () => {
    const { data } = await client.POST('/api/tunnels/{id}/rotate-token', { params });
    if (data) onToken({ name, token: data.token });
  };
  return (
    <Screen
      title={name || t('title')}
      crumbs={[{ label: t('title'), to: '/tunnels' }]}
      actions={
        query.data && (
          <>
            <Button variant="default" onClick={() => setOpen('rotate')}>
              {t('rotate.open')}
            </Button>
            <Button variant="subtle" color="red" onClick={() => setOpen('delete')}>
              {t('delete.open')}
            </Button>
          </>
        )
      }
    >
      <Loaded query={query}>
        {({ value: tunnel, ...tagged }) => (
          <>
            {tunnel.hold_reason && <Box is="warn">{tunnel.hold_reason}</Box>}
            {tunnel.last_error && <Box is="bad">{tunnel.last_error}</Box>}
            <Section title={t('how')}>
              <Facts
                of={[
                  [t('column.state'), <TunnelStatus key="state" of={tunnel} />],
                  [
                    t('account'),
                    <AppLink key="account" to={`/accounts/${tunnel.account_id}`}>
                      {t('accountLink', { id: tunnel.account_id })}
                    </AppLink>,
                  ],
                  [t('providerId'), tunnel.tunnel_id],
                  [t('version'), tunnel.version],
                  [t('made'), <Time key="made" iso={tunnel.created_at} />],
                ]}
              />
            </Section>
            <Section title={t('connections')}>
              {tunnel.connections.length === 0 ? (
                <Text fz="sm" c="dimmed">
                  {t('noConnections')}
                </Text>
              ) : (
                <Rows label={t('connections')}>
                  {tunnel.connections.map((one) => (
                    <Row key={one.id}>
                      <Status is={one.reconnecting ? 'warn' : 'good'}>
                        {one.reconnecting ? t('reconnecting') : t('connected')}
                      </Status>{' '}
                      {[one.colo, one.origin_ip, one.version && `cloudflared ${one.version}`]
                        .filter(Boolean)
                        .join(' · ')}{' '}
                      {one.opened_at && <Time iso={one.opened_at} />}
                    </Row>
                  ))}
                </Rows>
              )}
            </Section>
            {tunnel.unmanaged.length > 0 && (
              <Section title={t('unmanaged')}>
                <Rows label={t('unmanaged')}>
                  {tunnel.unmanaged.map(({ hostname, reason }) => (
                    <Row key={hostname}>
                      <b>{hostname}</b>: {reason}
                    </Row>
                  ))}
                </Rows>
              </Section>
            )}
            <Theirs of={{ ...tagged, value: tunnel }} />
            <IngressEditor key={`${tagged.generation} ${tagged.saves}`} tunnel={tunnel} save={tagged.save} />
          </>
        )}
      </Loaded>
      <ConfirmDestructive
        opened={open === 'rotate'}
        onClose={() => setOpen(null)}
        title={t('rotate.title', { name })}
        verb={t('rotate.verb')}
        onConfirm={rotate}
      >
        {t('rotate.text')}
      </ConfirmDestructive>
      <ConfirmDestructive
        opened={open === 'delete'}
        onClose={() => {
          setOpen(null);
          forget();
        }}
        title={t('delete.title', { name })}
        verb={refusal ? t('delete.force') : t('delete.verb')}
        typed={name}
        onConfirm={remove}
      >
        {t('delete.text')}
      </ConfirmDestructive>
    </Screen>
  );
}
