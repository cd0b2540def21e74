import { useEffect, useRef } from 'react';
import { sessionHeaders } from '~/session/opened-for';
import { BASE } from './client';
import { framesOf } from './frames';
import { queryClient } from './query';
import { type Events, isStale, STALE } from './stale';

type Name = keyof Events;
type Listener = (name: Name, data: never) => void;

const listeners = new Set<Listener>();
const LONGEST_PAUSE_MS = 30_000;

function tell(name: Name, data: unknown): void {
  void queryClient.invalidateQueries({ predicate: ({ queryKey }) => isStale(queryKey, name, data) });
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
