import { useSyncExternalStore } from 'react';

let reachable = true;
const listeners = new Set<() => void>();
const comeBack = new Set<() => void>();

function set(value: boolean): void {
  if (reachable === value) return;
  reachable = value;
  for (const listener of listeners) listener();
  if (value) for (const listener of comeBack) listener();
}

export const noteReachable = (): void => set(true);
export const noteUnreachable = (): void => set(false);

/** Calls `work` each time the service can be reached again. */
export const onComeBack = (work: () => void): void => void comeBack.add(work);

/** Whether the last call reached the service. */
export const useReachable = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => reachable,
  );
