import { Button, Group, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, BASE, failureOf } from '~/api/client';
import { useEvent } from '~/api/events';
import { newKey } from '~/api/new-key';
import { Empty, Failure, Loading } from '~/components/state-block';
import { sessionHeaders } from '~/session/opened-for';
import { compare } from './editor';
import { takeIn } from './take-in';
import type { Draft, Tray } from './tray';
import classes from './zone.module.css';

interface Props {
  domain: { id: number; name: string; permission: string };
  tray: Tray;
  set: (become: (tray: Tray) => Tray | null) => boolean;
  /** key of the draft that was published last */
  done: string | undefined;
  /** @param holds whether the zone is still what the text was made of */
  onPlan: (draft: Draft, holds: () => Promise<boolean>) => void;
  onLeave: () => void;
}

/** A document that the service reads has 1 MiB. */
const LONGEST = 1_000_000;
/** Characters of a draft that are kept over a reload. */
const LONGEST_DRAFT = 300_000;
const TYPING_MS = 400;
/** Events come in many where a long list is made. */
const EVENTS_MS = 1000;

async function zoneFile(id: number, signal: AbortSignal): Promise<string> {
  const path = `${BASE}/api/domains/${id}/export?format=zonefile`;
  const response = await ask(new Request(path, { headers: sessionHeaders(), signal }));
  const failure = response.ok ? null : await failureOf(response);
  if (failure) throw failure;
  return response.text();
}

/** The zone as a zone file: what differs from what is there is shown beside it, and published as any other change. */
export default function TextPart({ domain, tray, set, done, onPlan, onLeave }: Props) {
  const { t } = useTranslation('zone');
  const isNarrow = useMediaQuery('(max-width: 64em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const isReadOnly = domain.permission === 'read';
  // not below `/api/domains/{domain_id}`: an event must not take the text from under somebody's hands
  const zone = useQuery({
    queryKey: ['zone file', domain.id],
    queryFn: ({ signal }) => zoneFile(domain.id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const now = zone.data;
  const place = useRef<HTMLDivElement>(null);
  const draft = useRef<Draft | null>(tray.draft ?? null);
  /** what the editor begins with: another object is another beginning */
  const [begun, setBegun] = useState(tray.draft);
  const [isChanged, setChanged] = useState(tray.draft !== undefined);
  const [isTooLong, setTooLong] = useState(false);
  const [wasKept, setKept] = useState(tray.draft !== undefined);
  const label = t('text.label', { name: domain.name });
  const before = t('text.before');
  const isOld = now !== undefined && begun !== undefined && now !== begun.base && !tray.publishing?.draft;

  const latest = useRef(set);
  latest.current = set;
  const kept = useRef(tray.draft?.key);
  const keep = useRef(() => undefined as unknown);
  keep.current = () => {
    const { current } = draft;
    const fits = current && current.text !== current.base && current.text.length <= LONGEST_DRAFT;
    const mine = kept.current;
    kept.current = fits ? current.key : undefined;
    // one that another page keeps stays, where there is none here
    return latest.current((held) =>
      fits || held.draft?.key === mine ? { ...held, draft: fits ? current : undefined } : held,
    );
  };
  const begin = (base: string, text = base) => {
    draft.current = { key: newKey(), text, base };
    setBegun(draft.current);
    setChanged(text !== base);
    setTooLong(false);
    setKept(false);
    keep.current();
  };

  const soon = useRef<ReturnType<typeof setTimeout>>(undefined);
  const look = () => {
    clearTimeout(soon.current);
    soon.current = setTimeout(() => void zone.refetch(), EVENTS_MS);
  };
  useEvent('records.changed', ({ domain_id }) => domain_id === domain.id && look());
  useEvent('records.synced', ({ domain_id }) => domain_id === domain.id && look());
  useEvent('reset', look);
  useEffect(() => () => clearTimeout(soon.current), []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: when the zone is another one
  useEffect(() => {
    if (now !== undefined && !isChanged && begun?.base !== now) begin(now);
  }, [now, isChanged]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when a text was published
  useEffect(() => {
    if (done === undefined) return;
    const isThis = done === draft.current?.key;
    void zone.refetch().then(({ data }) => isThis && data !== undefined && begin(data));
  }, [done]);

  const shown = begun && begun.base.length <= LONGEST ? begun : undefined;
  useEffect(() => {
    if (shown === undefined || !place.current) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      keep.current();
    };
    const end = compare(place.current, {
      before: shown.base,
      after: draft.current?.text ?? shown.text,
      isNarrow,
      isReadOnly,
      labels: { before, after: label },
      onChange: (text) => {
        draft.current = { key: newKey(), text, base: shown.base };
        setChanged(text !== shown.base);
        setTooLong(text !== shown.base && text.length > LONGEST_DRAFT);
        clearTimeout(timer);
        timer = setTimeout(flush, TYPING_MS);
      },
    });
    window.addEventListener('pagehide', flush);
    return () => {
      window.removeEventListener('pagehide', flush);
      flush();
      end();
    };
  }, [shown, isNarrow, isReadOnly, label, before]);

  const plan = () => {
    const { current } = draft;
    if (!current) return;
    keep.current();
    onPlan(current, async () => {
      const { data, error } = await zone.refetch();
      if (error) throw error;
      return data === current.base;
    });
  };
  if (now === undefined || begun === undefined)
    return zone.error ? <Failure error={zone.error} retry={zone.refetch} /> : <Loading lines={12} />;
  if (!shown)
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
          <Button variant="default" onClick={() => begin(now)}>
            {t('text.over')}
          </Button>
        )}
        {!isReadOnly && (
          <Button disabled={!isChanged || isOld} onClick={plan}>
            {t('tray.review')}
          </Button>
        )}
      </div>
      {isChanged && (isOld || wasKept || isTooLong) && (
        <Group className={classes.notice} gap="sm" role="status">
          <span>{isOld ? t('text.changed') : isTooLong ? t('text.notKept') : t('text.draft')}</span>
          {isOld && (
            <Button
              variant="subtle"
              size="compact-xs"
              onClick={() => begin(now, takeIn(draft.current?.text ?? now, shown.base, now))}
            >
              {t('text.takeIn')}
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
