import { Button, Code, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, download, invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { ConfirmDestructive } from '~/components/confirm';
import { Copy } from '~/components/copy';
import { ErrorText } from '~/components/error-text';
import { Row, Rows } from '~/components/rows';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Time } from '~/components/time';
import { useBytes } from './bytes';

/** Backups: make, download, delete. They are restored at the command line, with the service stopped. */
export function Backups() {
  const { t } = useTranslation('system');
  const bytes = useBytes();
  const backups = $api.useQuery('get', '/api/system/backups');
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [made, setMade] = useState<components['schemas']['BackupMade'] | null>(null);
  const [removed, setRemoved] = useState<string | null>(null);
  const run = async (what: string, work: () => Promise<unknown>) => {
    setBusy(what);
    setProblem(null);
    await work()
      .catch(setProblem)
      .finally(() => setBusy(null));
    await invalidate('/api/system/backups');
  };
  const make = () => run('make', async () => setMade((await client.POST('/api/system/backup')).data ?? null));
  return (
    <Section
      title={t('backups')}
      actions={
        <Button variant="default" loading={busy === 'make'} onClick={() => void make()}>
          {t('makeBackup')}
        </Button>
      }
    >
      <Text fz="sm" c="dimmed" maw="70ch">
        {t('backupsText')} <Code>npm run admin -- restore</Code>
      </Text>
      <ErrorText error={problem} />
      <div role="status">
        {made && (
          <Text fz="sm" style={{ overflowWrap: 'anywhere' }}>
            {t('backupMade', { file: made.file })} SHA-256 <span className="zw-mono">{made.sha256}</span>{' '}
            <Copy text={made.sha256} />
          </Text>
        )}
      </div>
      <Loaded query={backups} lines={2}>
        {(list) => (
          <Rows label={t('backups')}>
            {list.map(({ file, size, created_at, scheduled }) => (
              <Row
                key={file}
                more={
                  <>
                    <Time iso={created_at} exact /> · {bytes(size)} · {scheduled ? t('scheduled') : t('byHand')}
                  </>
                }
                actions={
                  <>
                    <Button
                      variant="subtle"
                      loading={busy === file}
                      aria-label={t('downloadOne', { file })}
                      onClick={() =>
                        void run(file, () => download(`/api/system/backups/${encodeURIComponent(file)}`, file))
                      }
                    >
                      {t('download')}
                    </Button>
                    <Button variant="subtle" aria-label={t('deleteOne', { file })} onClick={() => setRemoved(file)}>
                      {t('delete')}
                    </Button>
                  </>
                }
              >
                <span className="zw-mono">{file}</span>
              </Row>
            ))}
          </Rows>
        )}
      </Loaded>
      <ConfirmDestructive
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('deleteAsk')}
        verb={t('delete')}
        onConfirm={async () => {
          const params = { path: { file: removed ?? '' } };
          await client.DELETE('/api/system/backups/{file}', { params });
          await invalidate('/api/system/backups');
        }}
      >
        {t('deleteText', { file: removed })}
      </ConfirmDestructive>
    </Section>
  );
}
