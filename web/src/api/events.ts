import { useEffect, useRef } from 'react';
import { sessionHeaders } from '~/session/opened-for';
import { BASE } from './client';
import { framesOf } from './frames';
import { invalidate, queryClient } from './query';
import type { components } from './schema';

type Schemas = components['schemas'];

/** What `GET /api/events` tells. */
export interface Events {
  'records.changed': Schemas['RecordsChanged'];
  'records.synced': Schemas['RecordsSynced'];
  'domain.created': Schemas['DomainCreated'];
  'domain.removed': Schemas['DomainRemoved'];
  'failover.switched': Schemas['FailoverSwitched'];
  'account.synced': Schemas['AccountSynced'];
  'job.started': Schemas['JobStarted'];
  'job.progress': Schemas['JobProgress'];
  'job.done': Schemas['JobDone'];
  'job.failed': Schemas['JobFailed'];
  'settings.changed': Schemas['SettingsChanged'];
  reset: Schemas['StreamReset'];
}
type Name = keyof Events;
type Listener = (name: Name, data: never) => void;

const listeners = new Set<Listener>();
const LONGEST_PAUSE_MS = 30_000;

/** What is read anew when something happens, by the beginning of its address. */
const STALE: Record<Name, string[]> = {
  'records.changed': ['/api/domains/{domain_id}', '/api/records', '/api/changes', '/api/plans', '/api/dashboard'],
  'records.synced': ['/api/domains', '/api/records', '/api/dashboard'],
  'domain.created': ['/api/domains', '/api/dashboard'],
  'domain.removed': ['/api/domains', '/api/dashboard', '/api/trash'],
  'failover.switched': ['/api/domains/{domain_id}/failover', '/api/dashboard'],
  'account.synced': ['/api/accounts', '/api/dashboard'],
  'job.started': ['/api/system/jobs'],
  'job.progress': [],
  'job.done': ['/api/system/jobs', '/api/dashboard'],
  'job.failed': ['/api/system/jobs', '/api/dashboard'],
  'settings.changed': ['/api/settings', '/api/site', '/api/bootstrap'],
  reset: ['/api'],
};

function tell(name: Name, data: unknown): void {
  const prefixes = STALE[name];
  if (prefixes?.length) void invalidate(...prefixes);
  for (const listener of listeners) listener(name, data as never);
}

async function read(signal: AbortSignal, from: string | undefined, seen: (id: string) => void): Promise<void> {
  const headers = { ...sessionHeaders(), Accept: 'text/event-stream', ...(from && { 'Last-Event-ID': from }) };
  const response = await fetch(`${BASE}/api/events`, { headers, signal });
  if (!response.ok || !response.body) throw new Error(`events: ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const { frames, rest } = framesOf(text + value);
    text = rest;
    for (const { id, event, data } of frames) {
      if (id) seen(id);
      if (event && event in STALE) tell(event as Name, JSON.parse(data));
    }
  }
}

/** The one stream of the page: begun by the shell, goes on behind the last event after a break. */
export function useEventStream(): void {
  useEffect(() => {
    const stop = new AbortController();
    let last: string | undefined;
    let pause = 1000;
    const run = async () => {
      while (!stop.signal.aborted) {
        await read(stop.signal, last, (id) => {
          last = id;
          pause = 1000;
        }).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
      }
    };
    void run();
    return () => stop.abort();
  }, []);
}

/** Calls `work` for each event of this name while the component is shown. */
export function useEvent<N extends Name>(name: N, work: (data: Events[N]) => void): void {
  const latest = useRef(work);
  useEffect(() => {
    latest.current = work;
  });
  useEffect(() => {
    const listener: Listener = (event, data) => {
      if (event === name) latest.current(data);
    };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [name]);
}

/** Forgets all that was read: somebody else has signed in. */
export const forgetAll = (): void => queryClient.clear();
