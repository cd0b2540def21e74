import { EMPTY, type Tray } from './tray.js';

/** Characters of a tray that are kept; browsers give a page some five million. */
const MAX_KEPT = 1_500_000;

interface Kept {
  domain: string;
  tray: Tray;
}

interface Held {
  tray: Tray;
  /** false: in this page alone */
  isKept: boolean;
}

interface Browser {
  /** throws where it is refused */
  storage(): {
    getItem(name: string): string | null;
    setItem(name: string, text: string): void;
    removeItem(name: string): void;
  };
  /** Calls `listener` when another page has changed what is kept by this name; null: all of it. */
  hear(listener: (name: string | null) => void): void;
}

/** The trays of a browser, which all of its pages share. */
export function keptTrays({ storage, hear }: Browser) {
  const trays = new Map<string, Held>();
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  // for as long as the page is open, whatever screen it shows
  hear((name) => {
    if (name === null) trays.clear();
    else trays.delete(name);
    tell();
  });

  const read = (name: string, domain: string): Held => {
    try {
      const kept = JSON.parse(storage().getItem(name) ?? 'null') as Kept | null;
      // an id may be another domain's, after the service was set up anew
      if (kept?.domain === domain && Array.isArray(kept.tray?.edits))
        return { tray: { ...EMPTY, ...kept.tray }, isKept: true };
    } catch {
      // storage is refused, or holds something else
    }
    return { tray: EMPTY, isKept: true };
  };

  const write = (name: string, domain: string, tray: Tray): boolean => {
    try {
      if (tray.edits.length === 0 && !tray.publishing && !tray.draft) storage().removeItem(name);
      else {
        const text = JSON.stringify({ domain, tray } satisfies Kept);
        if (text.length > MAX_KEPT) return false;
        storage().setItem(name, text);
      }
      return true;
    } catch {
      return false;
    }
  };

  const held = (name: string, domain: string): Held => {
    const found = trays.get(name) ?? read(name, domain);
    trays.set(name, found);
    return found;
  };

  return {
    /** Calls `listener` at each change. @returns what ends that */
    on: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** The tray of this name, of the domain with this one. */
    held,
    /** @returns false when there is no room for it */
    set: (name: string, domain: string, become: (tray: Tray) => Tray | null): boolean => {
      const now = held(name, domain);
      // another page may have changed it just now
      const next = become((now.isKept ? read(name, domain) : now).tray);
      if (!next) return false;
      trays.set(name, { tray: next, isKept: write(name, domain, next) });
      tell();
      return true;
    },
  };
}
