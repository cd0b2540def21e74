import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { IconArrowBackUp, IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DiffView } from '~/components/diff-view';
import { Status } from '~/components/status';
import type { Edit, Tray } from './tray';
import classes from './zone.module.css';

interface Props {
  tray: Tray;
  /** false: this browser does not keep it */
  isKept: boolean;
  onPublish: () => void;
  onEdit: (edit: Edit) => void;
  onWithdraw: (keys: string[]) => void;
  /** shows what is being published */
  onShow: () => void;
}

const SHOWN = 200;

/** What waits to be published: always in sight, and the only way to publish. */
export function TrayBar({ tray, isKept, onPublish, onEdit, onWithdraw, onShow }: Props) {
  const { t } = useTranslation('zone');
  const [isOpen, setOpen] = useState(false);
  const { edits, publishing } = tray;
  if (edits.length === 0 && !publishing) return null;
  const count = (test: (edit: Edit) => boolean) => edits.filter(test).length;
  const summary = t('publish.summary', {
    create: count(({ before }) => !before),
    update: count(({ before, after }) => Boolean(before && after)),
    gone: count(({ after }) => !after),
  });
  return (
    <section className={classes.tray} aria-label={t('tray.label')}>
      {isOpen && edits.length > 0 && (
        <ul className={classes.edits}>
          {edits.slice(0, SHOWN).map((edit) => {
            const { key, before, after } = edit;
            const { host = '', type = '' } = after ?? before ?? {};
            return (
              <li key={key}>
                <div className={classes.edit}>
                  <DiffView
                    label={`${host} ${type}`}
                    changes={[
                      {
                        op: before ? (after ? 'update' : 'delete') : 'create',
                        host,
                        type,
                        before,
                        after,
                      },
                    ]}
                  />
                </div>
                {after && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`${t('act.edit')}: ${host} ${type}`}
                    onClick={() => onEdit(edit)}
                  >
                    <IconPencil size={16} stroke={1.6} />
                  </ActionIcon>
                )}
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`${t('act.withdraw')}: ${host} ${type}`}
                  onClick={() => onWithdraw([key])}
                >
                  <IconArrowBackUp size={16} stroke={1.6} />
                </ActionIcon>
              </li>
            );
          })}
        </ul>
      )}
      <Group gap="sm" justify="space-between">
        <Group gap="sm">
          {publishing ? (
            <Status is="busy">{publishing.waits ? t('publish.waits') : t('tray.publishing')}</Status>
          ) : (
            <Text fz="sm" fw={600} role="status">
              {t('tray.count', { count: edits.length })}
            </Text>
          )}
          {edits.length > 0 && (
            <Text fz="sm" c="dimmed" className={classes.summary}>
              {summary}
            </Text>
          )}
          {edits.length > 0 && (
            <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? t('tray.hide') : t('tray.show')}
            </Button>
          )}
          {!isKept && (
            <Text fz="sm" c="var(--zw-warn)">
              {t('tray.notKept')}
            </Text>
          )}
        </Group>
        <Group gap="sm">
          {publishing ? (
            <Button onClick={onShow}>{t('tray.look')}</Button>
          ) : (
            <>
              <Button variant="default" onClick={() => onWithdraw(edits.map(({ key }) => key))}>
                {t('tray.discard')}
              </Button>
              <Button onClick={onPublish}>{t('tray.review')}</Button>
            </>
          )}
        </Group>
      </Group>
    </section>
  );
}
