import { useCallback, useSyncExternalStore } from 'react';
import { useMe } from '~/session/session';
import { EMPTY, type Tray } from './tray';

/** Characters of a tray that are kept; browsers give a page some five million. */
const MAX_KEPT = 1_500_000;

interface Kept {
  domain: string;
  tray: Tray;
}

const trays = new Map<string, { tray: Tray; isKept: boolean }>();
const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};

/** One for each installation, user and domain. */
const nameOf = (user: number, domain: number) =>
  `zoneward.tray:${new URL(document.baseURI).pathname}:${user}:${domain}`;

function read(name: string, domain: string): { tray: Tray; isKept: boolean } {
  try {
    const kept = JSON.parse(localStorage.getItem(name) ?? 'null') as Kept | null;
    // an id may be another domain's, after the service was set up anew
    if (kept?.domain === domain && Array.isArray(kept.tray?.edits))
      return { tray: { ...EMPTY, ...kept.tray }, isKept: true };
  } catch {
    // storage is refused, or holds something else
  }
  return { tray: EMPTY, isKept: true };
}

function write(name: string, domain: string, tray: Tray): boolean {
  try {
    if (tray.edits.length === 0 && !tray.publishing && !tray.draft) localStorage.removeItem(name);
    else {
      const text = JSON.stringify({ domain, tray } satisfies Kept);
      if (text.length > MAX_KEPT) return false;
      localStorage.setItem(name, text);
    }
    return true;
  } catch {
    return false;
  }
}

const onStorage = ({ key }: StorageEvent) => {
  // another tab has changed it
  if (key === null) trays.clear();
  else trays.delete(key);
  tell();
};

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener('storage', onStorage);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('storage', onStorage);
  };
}

/** The tray of a domain: outlives reload and sign-in, and is the same in all tabs. */
export function useTray(id: number, domain: string) {
  const name = nameOf(useMe().id, id);
  const now = () => {
    let held = trays.get(name);
    if (!held) {
      held = read(name, domain);
      trays.set(name, held);
    }
    return held;
  };
  const { tray, isKept } = useSyncExternalStore(subscribe, now);
  const set = useCallback(
    (become: (tray: Tray) => Tray | null): boolean => {
      const next = become((trays.get(name) ?? read(name, domain)).tray);
      if (!next) return false;
      trays.set(name, { tray: next, isKept: write(name, domain, next) });
      tell();
      return true;
    },
    [name, domain],
  );
  return { tray, isKept, set };
}
