import { Button, Checkbox, Group, NumberInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { changed } from '~/components/changed';
import { ErrorText } from '~/components/error-text';
import { useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { Time } from '~/components/time';
import type { Base, Patch } from './base';
import { SectionForm } from './section-form';

const SHORT = { wrapper: { maxWidth: 220 } };

const dayOf = (iso: string | null) => iso?.slice(0, 10) ?? '';

/** Remark, end of the registration, certificates. */
export function GeneralSection({ base, mayWrite }: { base: Base; mayWrite: boolean }) {
  const { t } = useTranslation('domains');
  const { domain } = base;
  const { remark, expires_at, watch_certificates, certificate_port, private: apart, unicode_name: name } = domain;
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { remark, expires_at: dayOf(expires_at), watch_certificates, certificate_port },
    save: async (values, filled) => {
      // another time of the same day is no other end
      const isOther = (day: string | null) => day !== dayOf(domain.expires_at);
      const { expires_at: end, ...patch }: Patch = changed(values, filled);
      await base.save({ ...patch, ...(end !== undefined && isOther(end) && { expires_at: end || null }) });
      notifyDone(t('settings.saved', { name }));
    },
  });
  return (
    <SectionForm title={t('general.title')} onSubmit={onSubmit} busy={busy} problem={problem} maySave={mayWrite}>
      <TextInput label={t('optional', { label: t('field.remark') })} {...form.getInputProps('remark')} />
      <TextInput
        type="date"
        label={t('optional', { label: t('general.ends') })}
        description={t('general.endsHint')}
        styles={SHORT}
        {...form.getInputProps('expires_at')}
      />
      {!apart && <Registration base={base} onEnd={(day) => form.setFieldValue('expires_at', day)} />}
      {!apart && (
        <>
          <Checkbox
            size="xs"
            label={t('general.certificates')}
            description={t('general.certificatesHint')}
            {...form.getInputProps('watch_certificates', { type: 'checkbox' })}
          />
          {form.values.watch_certificates && (
            <NumberInput
              label={t('general.port')}
              min={1}
              max={65535}
              maw={140}
              hideControls
              {...form.getInputProps('certificate_port')}
            />
          )}
        </>
      )}
    </SectionForm>
  );
}

/** What is known of the registration, and from whom; the registry can be asked now. */
function Registration({ base, onEnd }: { base: Base; onEnd: (day: string) => void }) {
  const { t } = useTranslation('domains');
  const { id, expires_source, expires_checked_at, expiry_error } = base.domain;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const ask = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const params = { path: { domain_id: String(id) } };
      const { data } = await client.POST('/api/domains/{domain_id}/expiry', { params });
      if (data?.expires_at && expires_source !== 'manual') onEnd(dayOf(data.expires_at));
      await invalidate('/api/domains');
      // what the registry says was asked for here
      await base.tagged.keep();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div>
      <Group gap="sm">
        <Text fz="xs" c="dimmed">
          {t(`general.source.${expires_source ?? 'none'}`)}
          {expires_checked_at && (
            <>
              {' '}
              {t('general.checked')} <Time iso={expires_checked_at} />
            </>
          )}
        </Text>
        <Button variant="default" size="compact-sm" loading={busy} onClick={ask}>
          {t('general.ask')}
        </Button>
      </Group>
      {expiry_error && !problem && (
        <Text fz="xs" c="var(--zw-warn)">
          {expiry_error}
        </Text>
      )}
      <ErrorText error={problem} />
    </div>
  );
}
