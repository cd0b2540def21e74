import { useEffect, useRef, useState } from 'react';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { newKey } from '~/api/new-key';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { type Edit, type Publishing, published, type Tray } from '../tray';
import { type ChangeSet, type Ending, type Plan, settle } from './settle';

type PlanInput = components['schemas']['PlanInput'];

/** What is to be published: the tray, a document, or a change set taken back. */
export interface Source {
  body: PlanInput;
  /** the edits, in the order of the changes */
  edits: Edit[];
  undoes?: number;
  /** it is of a file, or of the text of the zone */
  document?: boolean;
  /** key of the draft that it is of */
  draft?: string | undefined;
  /** whether it is still what it was made for; what is not is not shown */
  holds?: () => Promise<boolean>;
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
  | Reviewed
  | { is: 'applying'; isAway: boolean; set: ChangeSet | null }
  | { is: 'stale'; error: ApiError; differences: Difference[] }
  | Exclude<Ending, { is: 'unsent' }>;

/** A plan that is looked at, with what it is of. */
export interface Reviewed {
  is: 'review';
  plan: Plan;
  error: unknown;
  edits: readonly Edit[];
  of: Pick<Publishing, 'undoes' | 'draft'>;
  /** it was to be published before, and was not */
  isUnsent?: boolean;
}

const isSame = (one: Edit, other: Edit) => JSON.stringify(one) === JSON.stringify(other);

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
  const [done, setDone] = useState<string>();
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
      const holds = !next.holds || (await next.holds());
      if (signal.aborted) return;
      const of = { ...(next.undoes && { undoes: next.undoes }), ...(next.draft && { draft: next.draft }) };
      setPhase(holds ? { is: 'review', plan: data as Plan, error: null, edits: next.edits, of } : null);
    } catch (error) {
      if (!signal.aborted) setPhase({ is: 'unplanned', error });
    }
  };

  /** nothing of it was made: all of it stays in the tray */
  const undone = (publishing: Publishing) => set((now) => published(now, publishing, publishing.edits, [], false));

  const finish = (publishing: Publishing, ending: Ending) => {
    if (ending.is === 'ended') {
      const { changes, counts } = ending.set;
      const made = changes.filter(({ state }) => state === 'applied');
      set((now) => {
        const mine = now.edits.filter(({ key }) => publishing.edits.includes(key));
        const left = leftOf(mine, ending.set).map(({ key }) => key);
        return published(now, publishing, left, made, counts.failed + counts.not_tried === 0);
      });
      if (counts.failed + counts.not_tried === 0) setDone(publishing.draft);
      void invalidate('/api/domains/{domain_id}', '/api/changes', '/api/plans');
    } else if (ending.is === 'waiting') set((now) => ({ ...now, publishing: { ...publishing, waits: true } }));
    // all was as it shall be
    else if (ending.plan.state === 'applied') set((now) => published(now, publishing, [], [], true));
    else undone(publishing);
    if (ending.is !== 'unsent') return setPhase(ending);
    const edits = latest.current.edits.filter(({ key }) => publishing.edits.includes(key));
    setPhase({ is: 'review', plan: ending.plan, error: null, edits, of: publishing, isUnsent: true });
  };

  const run = async (publishing: Publishing, isSent: boolean, shown: Reviewed | null) => {
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
      undone(publishing);
      if (error instanceof ApiError && error.code === 412001) {
        const differences = (error.data.differences ?? []) as Difference[];
        setPhase({ is: 'stale', error, differences });
        void invalidate('/api/domains/{domain_id}');
      } else if (shown) setPhase({ ...shown, error });
      else setPhase({ is: 'unplanned', error });
    }
  };

  const apply = (shown: Reviewed, force: string[], override: string) =>
    run(
      {
        plan: shown.plan.id as number,
        key: newKey(),
        // what another page has edited since is not in it
        edits: shown.edits
          .filter((edit) => latest.current.edits.some((now) => isSame(now, edit)))
          .map(({ key }) => key),
        force,
        ...(override && { override }),
        ...(shown.of.undoes && { undoes: shown.of.undoes }),
        ...(shown.of.draft && { draft: shown.of.draft }),
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
    /** key of the draft that was published last */
    done,
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
      if (publishing) undone(publishing);
      close();
    },
  };
}

export type Publish = ReturnType<typeof usePublish>;
