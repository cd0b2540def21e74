import { Button, Group, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, BASE, failureOf } from '~/api/client';
import { useEvent } from '~/api/events';
import { Empty, Failure, Loading } from '~/components/state-block';
import { sessionHeaders } from '~/session/opened-for';
import { compare } from './editor';
import type { Tray } from './tray';
import classes from './zone.module.css';

interface Props {
  domain: { id: number; name: string; permission: string };
  tray: Tray;
  set: (become: (tray: Tray) => Tray | null) => boolean;
  onPlan: (text: string) => void;
  onLeave: () => void;
}

/** A document that the service reads has 1 MiB. */
const LONGEST = 1_000_000;
/** Characters of a draft that are kept over a reload. */
const LONGEST_DRAFT = 300_000;
const TYPING_MS = 400;

async function zoneFile(id: number, signal: AbortSignal): Promise<string> {
  const path = `${BASE}/api/domains/${id}/export?format=zonefile`;
  const response = await ask(new Request(path, { headers: sessionHeaders(), signal }));
  const failure = response.ok ? null : await failureOf(response);
  if (failure) throw failure;
  return response.text();
}

/** The zone as a zone file: what differs from what is there is shown beside it, and published as any other change. */
export default function TextPart({ domain, tray, set, onPlan, onLeave }: Props) {
  const { t } = useTranslation('zone');
  const isNarrow = useMediaQuery('(max-width: 64em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const [isOld, setOld] = useState(false);
  // not below `/api/domains/{domain_id}`: an event must not take the text from under somebody's hands
  const zone = useQuery({
    queryKey: ['zone file', domain.id],
    queryFn: ({ signal }) => zoneFile(domain.id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const place = useRef<HTMLDivElement>(null);
  const text = useRef<string | null>(tray.draft ?? null);
  const [isChanged, setChanged] = useState(tray.draft !== undefined);
  const base = zone.data;
  const [wasKept, setKept] = useState(tray.draft !== undefined);
  const keep = useRef(set);
  keep.current = set;
  const label = t('text.label', { name: domain.name });
  const before = t('text.before');
  useEvent('records.changed', ({ domain_id }) => domain_id === domain.id && setOld(true));

  useEffect(() => {
    if (base === undefined || !place.current || base.length > LONGEST) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = compare(place.current, {
      before: base,
      after: text.current ?? base,
      isNarrow,
      labels: { before, after: label },
      onChange: (next) => {
        text.current = next;
        setChanged(next !== base);
        clearTimeout(timer);
        timer = setTimeout(() => {
          const fits = next !== base && next.length <= LONGEST_DRAFT;
          keep.current((now) => ({ ...now, draft: fits ? next : undefined }));
        }, TYPING_MS);
      },
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [base, isNarrow, label, before]);

  const over = async () => {
    text.current = null;
    setKept(false);
    set((now) => ({ ...now, draft: undefined }));
    setChanged(false);
    await anew();
  };
  const anew = async () => {
    setOld(false);
    await zone.refetch();
  };
  if (base === undefined)
    return zone.error ? <Failure error={zone.error} retry={zone.refetch} /> : <Loading lines={12} />;
  if (base.length > LONGEST)
    return (
      <Empty
        title={t('text.tooLong')}
        text={t('text.tooLongText')}
        action={<Button onClick={onLeave}>{t('text.leave')}</Button>}
      />
    );
  return (
    <section aria-label={t('text.title')}>
      <div className={classes.tools}>
        <Text fz="sm" c="dimmed" className={classes.count}>
          {t('text.about')}
        </Text>
        <Button variant="default" onClick={onLeave}>
          {t('text.leave')}
        </Button>
        {isChanged && (
          <Button variant="default" onClick={() => void over()}>
            {t('text.over')}
          </Button>
        )}
        <Button disabled={!isChanged} onClick={() => onPlan(text.current ?? base)}>
          {t('tray.review')}
        </Button>
      </div>
      {(isOld || wasKept) && isChanged && (
        <Group className={classes.notice} gap="sm" role="status">
          <span>{isOld ? t('text.changed') : t('text.draft')}</span>
          {isOld && (
            <Button variant="subtle" size="compact-xs" onClick={() => void anew()}>
              {t('text.anew')}
            </Button>
          )}
        </Group>
      )}
      {!isNarrow && (
        <div className={classes.editorHead}>
          <span>{before}</span>
          <span>{t('text.after')}</span>
        </div>
      )}
      <div ref={place} className={classes.editor} />
    </section>
  );
}
