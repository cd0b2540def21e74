import { useSyncExternalStore } from 'react';

let hasEnded = false;
let waiting: { go: () => void; stop: (reason: unknown) => void }[] = [];
const listeners = new Set<() => void>();

function set(value: boolean): void {
  hasEnded = value;
  for (const listener of listeners) listener();
}

/** The session has ended: the dialog to sign in opens above the page. */
export const ended = (): void => set(true);

/** Somebody has signed in: what waits goes on. */
export function signedInAgain(): void {
  const went = waiting;
  waiting = [];
  set(false);
  for (const { go } of went) go();
}

/** Waits for the next sign-in. */
export const whenSignedIn = (signal: AbortSignal): Promise<void> =>
  new Promise((go, stop) => {
    waiting.push({ go, stop });
    signal.addEventListener('abort', () => stop(signal.reason), { once: true });
  });

export const useEnded = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => hasEnded,
  );
