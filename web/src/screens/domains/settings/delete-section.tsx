import { Button, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { ConfirmDestructive } from '~/components/confirm';
import { notifyDone } from '~/components/notify';
import { Section } from '~/components/screen';
import { useForced } from '~/components/use-forced';
import type { DomainDetail } from '../domains';

/** Deletes the domain here: it goes to the trash. */
export function DeleteSection({ domain: { id, unicode_name: name } }: { domain: DomainDetail }) {
  const { t } = useTranslation('domains');
  const navigate = useNavigate();
  const [asks, setAsks] = useState(false);
  const { refusal, query, run } = useForced(({ reason }) => reason === 'list_needs_force');
  const remove = async () => {
    const params = { path: { domain_id: String(id) }, query };
    await run(() => client.DELETE('/api/domains/{domain_id}', { params }));
    await navigate({ to: '/domains' });
    await invalidate('/api/domains', '/api/trash', '/api/dashboard', '/api/bootstrap');
    notifyDone(t('delete.done', { name }));
  };
  return (
    <Section title={t('delete.section')}>
      <Text fz="sm" mb="sm">
        {t('delete.text')}
      </Text>
      <Button variant="default" c="var(--mantine-color-error)" onClick={() => setAsks(true)}>
        {t('delete.verb')}
      </Button>
      <ConfirmDestructive
        opened={asks}
        onClose={() => setAsks(false)}
        title={t('delete.title', { name })}
        verb={refusal ? t('delete.force') : t('delete.verb')}
        onConfirm={remove}
      >
        {t('delete.text')} {refusal && t('delete.list')}
      </ConfirmDestructive>
    </Section>
  );
}
