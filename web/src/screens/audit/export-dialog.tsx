import { Radio, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { download } from '~/api/query';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { type Filters, NARROWING, queryOf } from './use-filters';

const FORMATS = ['csv', 'json', 'ndjson'] as const;

/** Saves all entries that match the filters as a file. */
export function ExportDialog({ filters, onClose }: { filters: Filters; onClose: () => void }) {
  const { t } = useTranslation('audit');
  const narrowing = { ...Object.fromEntries(NARROWING.map((name) => [name, filters[name]])), keyword: filters.keyword };
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { format: 'csv' },
    save: async ({ format }) => {
      const query = new URLSearchParams({ ...queryOf(narrowing), format });
      const day = new Date().toISOString().slice(0, 10);
      await download(`/api/audit/export?${query}`, `audit-${day}.${format}`);
      onClose();
    },
  });
  return (
    <Dialog opened title={t('export')} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <Text fz="sm">{Object.keys(queryOf(narrowing)).length ? t('exportSome') : t('exportAll')}</Text>
          <Radio.Group label={t('format')} {...form.getInputProps('format')}>
            <Stack gap="sm" mt="xs">
              {FORMATS.map((format) => (
                <Radio key={format} value={format} label={t(`formats.${format}`)} />
              ))}
            </Stack>
          </Radio.Group>
          <FormEnd busy={busy} problem={problem} verb={t('download')} />
        </Stack>
      </form>
    </Dialog>
  );
}
