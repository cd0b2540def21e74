import { Button, FileButton, Group, NativeSelect, Radio, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { download } from '~/api/query';
import { Dialog } from '~/components/dialog';
import { ErrorText } from '~/components/error-text';
import { textOf } from './file-text';

const READ = ['zonefile', 'csv', 'json', 'octodns'] as const;
const WRITTEN = {
  zonefile: 'zone',
  csv: 'csv',
  json: 'json',
  octodns: 'yaml',
  dnscontrol: 'js',
  terraform: 'tf',
} as const;
type Format = (typeof READ)[number];

/** What a file is by its name. */
function formatOf(name: string): Format | null {
  if (/\.csv$/i.test(name)) return 'csv';
  if (/\.json$/i.test(name)) return 'json';
  if (/\.ya?ml$/i.test(name)) return 'octodns';
  return /\.(zone|db|txt)$/i.test(name) ? 'zonefile' : null;
}

/** Takes a file, or a text, of records: what comes of it is shown first. */
export function ImportDialog({
  opened,
  onClose,
  onPlan,
}: {
  /** false: it stands back, with what was put in */
  opened: boolean;
  onClose: () => void;
  onPlan: (document: { format: Format; text: string }, mode: 'merge' | 'sync') => void;
}) {
  const { t } = useTranslation('zone');
  const [format, setFormat] = useState<Format>('zonefile');
  const [text, setText] = useState('');
  const [mode, setMode] = useState<'merge' | 'sync'>('merge');
  const [error, setError] = useState('');
  const take = async (file: File | null) => {
    if (!file) return;
    setError('');
    setFormat(formatOf(file.name) ?? format);
    setText(textOf(new Uint8Array(await file.arrayBuffer())));
  };
  return (
    <Dialog opened={opened} onClose={onClose} title={t('import.title')} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() === '') setError(t('import.empty'));
          else onPlan({ format, text }, mode);
        }}
      >
        <Stack gap="md">
          <Group gap="md" align="flex-end">
            <NativeSelect
              label={t('import.format')}
              size="sm"
              value={format}
              data={READ.map((value) => ({ value, label: t(`format.${value}`) }))}
              onChange={(event) => setFormat(event.currentTarget.value as Format)}
            />
            <FileButton
              onChange={(file) => void take(file)}
              accept=".zone,.db,.txt,.csv,.json,.yaml,.yml"
              inputProps={{ 'aria-label': t('import.file') }}
            >
              {(props) => (
                <Button {...props} variant="default" h={36}>
                  {t('import.file')}
                </Button>
              )}
            </FileButton>
          </Group>
          <Textarea
            label={t('import.text')}
            description={t('import.textHint')}
            classNames={{ input: 'zw-mono' }}
            rows={10}
            spellCheck={false}
            value={text}
            error={error}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Radio.Group label={t('import.mode')} value={mode} onChange={(value) => setMode(value as 'merge' | 'sync')}>
            <Stack gap="xs" mt={4}>
              <Radio value="merge" size="xs" label={t('import.merge')} />
              <Radio value="sync" size="xs" label={t('import.sync')} />
            </Stack>
          </Radio.Group>
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              {t('form.cancel')}
            </Button>
            <Button type="submit">{t('tray.review')}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Writes the zone as a file of any form. */
export function ExportDialog({ domain, onClose }: { domain: { id: number; name: string }; onClose: () => void }) {
  const { t } = useTranslation('zone');
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const save = async (format: keyof typeof WRITTEN) => {
    setBusy(format);
    setError(null);
    const name = `${domain.name.replace(/[^\w.-]+/g, '_')}.${WRITTEN[format]}`;
    await download(`/api/domains/${domain.id}/export?format=${format}`, name).catch(setError);
    setBusy(null);
  };
  return (
    <Dialog opened onClose={onClose} title={t('export.title')}>
      <Stack gap="sm">
        <Text fz="sm">{t('export.text')}</Text>
        {(Object.keys(WRITTEN) as (keyof typeof WRITTEN)[]).map((format) => (
          <Group key={format} gap="sm" justify="space-between" wrap="nowrap">
            <div>
              <Text fz="sm">{t(`format.${format}`)}</Text>
              <Text fz="xs" c="dimmed">
                {t(`export.${format}`)}
              </Text>
            </div>
            <Button
              variant="default"
              loading={busy === format}
              aria-label={t('export.save', { format: t(`format.${format}`), end: WRITTEN[format] })}
              onClick={() => void save(format)}
            >
              .{WRITTEN[format]}
            </Button>
          </Group>
        ))}
        <ErrorText error={error} />
      </Stack>
    </Dialog>
  );
}
