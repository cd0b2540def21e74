import { Button, CloseButton } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import { Loading } from '~/components/state-block';
import { Time } from '~/components/time';
import { DomainFrame, useDomainId } from '~/screens/domains/domain-frame';
import { useUrlState } from '~/state/use-url-state';
import { PublishDialog } from './publish/publish-dialog';
import { type Source, usePublish } from './publish/use-publish';
import { RecordsPart } from './records-part';
import { changesOf, type Edit, putBack, withdraw } from './tray';
import { TrayBar } from './tray-bar';
import { useTray } from './tray-store';
import { usePrefetchedRows } from './use-records';
import classes from './zone.module.css';

type Domain = components['schemas']['DomainDetail'];

const TextPart = lazy(() => import('./text-part'));

/** What stands in the way of changes, said before somebody begins. */
function Notices({ domain }: { domain: Domain }) {
  const { t } = useTranslation('zone');
  const { freeze, approval, permission, write_hosts, status } = domain;
  const isFrozen = freeze && Date.parse(freeze.from) <= Date.now() && Date.parse(freeze.until) > Date.now();
  return (
    <>
      {status === 'missing' && <div className={classes.notice}>{t('notice.missing')}</div>}
      {isFrozen && (
        <div className={classes.notice}>
          <span>
            {t('notice.frozen')} <Time iso={freeze.until} exact /> {freeze.reason && `(${freeze.reason})`}
          </span>
        </div>
      )}
      {permission === 'read' && <div className={classes.notice}>{t('notice.readOnly')}</div>}
      {write_hosts && <div className={classes.notice}>{t('notice.hosts', { hosts: write_hosts.join(', ') })}</div>}
      {permission === 'write' && approval.for !== 'none' && (
        <div className={classes.notice}>{t(`notice.approval.${approval.for}`)}</div>
      )}
    </>
  );
}

function Zone({ domain }: { domain: Domain }) {
  const { t } = useTranslation('zone');
  const { tray, isKept, set } = useTray(domain.id, domain.name);
  const publish = usePublish(domain.id, tray, set);
  const [{ view }, setUrl] = useUrlState({ view: 'records' });
  const [discarded, setDiscarded] = useState<Edit[]>([]);
  const takeOut = (keys: string[]) => {
    setDiscarded(tray.edits.filter(({ key }) => keys.includes(key)));
    set((now) => withdraw(now, keys));
  };
  const undoDiscard = () => {
    set((now) => putBack(now, discarded));
    setDiscarded([]);
  };
  const planTray = () => {
    const { changes, ordered } = changesOf(tray.edits);
    void publish.plan({ body: { changes: changes as never }, edits: ordered });
  };
  const again = (source: Source | null) => {
    // the tray may have become another one meanwhile
    if (source && source.edits.length === 0) void publish.plan(source);
    else if (tray.edits.length > 0) planTray();
    else publish.close();
  };
  const undo = (change_set_id: number) =>
    void publish.plan({ body: { change_set_id }, edits: [], undoes: change_set_id });
  const planDocument = (
    document: { format: 'zonefile' | 'csv' | 'json' | 'octodns'; text: string },
    mode: 'merge' | 'sync',
  ) => void publish.plan({ body: { document, mode }, edits: [], document: true });
  return (
    <>
      <Notices domain={domain} />
      {view === 'text' ? (
        <>
          <Suspense fallback={<Loading lines={10} />}>
            <TextPart
              domain={domain}
              tray={tray}
              set={set}
              done={publish.done}
              onPlan={({ key, text }, holds) =>
                void publish.plan({
                  ...{ body: { document: { format: 'zonefile', text }, mode: 'sync' }, edits: [], document: true },
                  ...{ draft: key, holds },
                })
              }
              onLeave={() => setUrl({ view: 'records' })}
            />
          </Suspense>
          <TrayBar
            tray={tray}
            isKept={isKept}
            onPublish={planTray}
            onEdit={() => setUrl({ view: 'records' })}
            onWithdraw={takeOut}
            onShow={publish.resume}
          />
        </>
      ) : (
        <RecordsPart
          domain={domain}
          tray={tray}
          isKept={isKept}
          set={set}
          publish={publish}
          takeOut={takeOut}
          planTray={planTray}
          planDocument={planDocument}
        />
      )}
      {discarded.length > 0 && (
        <div className={classes.discarded} role="status">
          {t('tray.discarded', { count: discarded.length })}
          <Button variant="subtle" size="compact-xs" onClick={undoDiscard}>
            {t('publish.undo')}
          </Button>
          <CloseButton size="xs" aria-label={t('common:close')} onClick={() => setDiscarded([])} />
        </div>
      )}
      <PublishDialog domain={domain} publish={publish} again={again} undo={undo} />
    </>
  );
}

/** The records of a domain: found, edited, and published together. */
export function ZoneScreen() {
  usePrefetchedRows(useDomainId());
  return <DomainFrame>{(domain) => <Zone key={domain.id} domain={domain} />}</DomainFrame>;
}
