import { useEffect, useRef, useState } from 'react';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { newKey } from '~/api/new-key';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { type Edit, type Publishing, type Tray, withdraw } from '../tray';
import { type ChangeSet, type Ending, type Plan, settle } from './settle';

type PlanInput = components['schemas']['PlanInput'];

/** What is to be published: the tray, a document, or a change set taken back. */
export interface Source {
  body: PlanInput;
  /** the edits, in the order of the changes */
  edits: Edit[];
  undoes?: number;
  document?: boolean;
}

/** One record that is not as it was when the plan was made. */
export interface Difference {
  host: string;
  type: string;
  planned_on: Plan['changes'][number]['before'];
  found: Plan['changes'][number]['after'];
}

export type Phase =
  | { is: 'planning' }
  | { is: 'unplanned'; error: unknown }
  | { is: 'review'; plan: Plan; error: unknown }
  | { is: 'applying'; isAway: boolean; set: ChangeSet | null }
  | { is: 'stale'; error: ApiError; differences: Difference[] }
  | Ending;

/** The edits that are still to be made after a list of changes ended: those of which a change failed. */
export function leftOf(edits: readonly Edit[], set: ChangeSet): Edit[] {
  const failed = set.changes.filter(({ state }) => state !== 'applied');
  const visible = set.changes.length === set.total;
  return edits.filter((edit) =>
    edit.id !== null
      ? failed.some(({ record_id }) => record_id === edit.id)
      : failed.some(
          ({ op, after }) => op === 'create' && after?.host === edit.after?.host && after?.type === edit.after?.type,
        ) ||
        (!visible && failed.length > 0),
  );
}

/**
 * The way from a difference to what became of it. What is sent is noted in the tray first, so that a page that is
 * loaded again goes on where this one was.
 */
export function usePublish(domain: number, tray: Tray, set: (become: (tray: Tray) => Tray | null) => boolean) {
  const [source, setSource] = useState<Source | null>(null);
  const [phase, setPhase] = useState<Phase | null>(null);
  const stop = useRef<AbortController | null>(null);
  const latest = useRef(tray);
  latest.current = tray;

  const begin = () => {
    stop.current?.abort();
    stop.current = new AbortController();
    return stop.current.signal;
  };

  const plan = async (next: Source) => {
    const signal = begin();
    setSource(next);
    setPhase({ is: 'planning' });
    try {
      const params = { path: { domain_id: String(domain) } };
      const { data } = await client.POST('/api/domains/{domain_id}/plans', { params, body: next.body, signal });
      setPhase({ is: 'review', plan: data as Plan, error: null });
    } catch (error) {
      if (!signal.aborted) setPhase({ is: 'unplanned', error });
    }
  };

  const finish = (publishing: Publishing, ending: Ending) => {
    if (ending.is === 'ended') {
      set((now) => {
        const mine = now.edits.filter(({ key }) => publishing.edits.includes(key));
        const left = new Set(leftOf(mine, ending.set).map(({ key }) => key));
        const done = publishing.edits.filter((key) => !left.has(key));
        const next = { ...withdraw(now, done), publishing: null };
        return publishing.document && ending.set.counts.failed === 0 ? { ...next, draft: undefined } : next;
      });
      void invalidate('/api/domains/{domain_id}', '/api/changes', '/api/plans');
    } else if (ending.is === 'waiting') set((now) => ({ ...now, publishing: { ...publishing, waits: true } }));
    else set((now) => ({ ...now, publishing: null }));
    setPhase(ending);
  };

  const run = async (publishing: Publishing, isSent: boolean, shown: Plan | null) => {
    const signal = begin();
    set((now) => ({ ...now, publishing }));
    setPhase({ is: 'applying', isAway: false, set: null });
    const tell = {
      away: (isAway: boolean) =>
        setPhase((now) => (now?.is === 'applying' && now.isAway !== isAway ? { ...now, isAway } : now)),
      progress: (list: ChangeSet) => setPhase((now) => (now?.is === 'applying' ? { ...now, set: list } : now)),
    };
    try {
      finish(publishing, await settle(domain, publishing, isSent, tell, signal));
    } catch (error) {
      if (signal.aborted) return;
      // refused: nothing was changed
      set((now) => ({ ...now, publishing: null }));
      if (error instanceof ApiError && error.code === 412001) {
        const differences = (error.data.differences ?? []) as Difference[];
        setPhase({ is: 'stale', error, differences });
        void invalidate('/api/domains/{domain_id}');
      } else if (shown) setPhase({ is: 'review', plan: shown, error });
      else setPhase({ is: 'unplanned', error });
    }
  };

  const apply = (shown: Plan, force: string[], override: string) =>
    run(
      {
        plan: shown.id as number,
        key: newKey(),
        edits: source?.edits.map(({ key }) => key) ?? [],
        force,
        ...(override && { override }),
        ...(source?.undoes && { undoes: source.undoes }),
        ...(source?.document && { document: true }),
      },
      false,
      shown,
    );

  const close = () => {
    stop.current?.abort();
    setPhase(null);
    setSource(null);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the screen opens
  useEffect(() => {
    const { publishing } = latest.current;
    if (publishing && !publishing.waits) void run(publishing, true, null);
    return () => stop.current?.abort();
  }, []);

  return {
    phase,
    source,
    plan,
    apply,
    close,
    /** looks again what became of what was sent */
    resume: () => tray.publishing && void run(tray.publishing, true, null),
    /** takes back what waits for an approval; the edits stay */
    withdraw: async () => {
      const { publishing } = latest.current;
      if (publishing) await client.DELETE('/api/plans/{id}', { params: { path: { id: publishing.plan } } });
      set((now) => ({ ...now, publishing: null }));
      close();
    },
  };
}

export type Publish = ReturnType<typeof usePublish>;
