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

const trays = new Map<string, Held>();
const listeners = new Set<() => void>();
let hears = false;
const tell = () => {
  for (const listener of listeners) listener();
};

function read(name: string, domain: string): Held {
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

/** Another page has changed one, or all of them. */
function onStorage({ key }: { key: string | null }): void {
  if (key === null) trays.clear();
  else trays.delete(key);
  tell();
}

/** Calls `listener` at each change. What other pages change is heard of for as long as this one is open. */
export function onTrays(listener: () => void): () => void {
  if (!hears) window.addEventListener('storage', onStorage);
  hears = true;
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The tray of this name, of the domain with this one. */
export function heldTray(name: string, domain: string): Held {
  const held = trays.get(name) ?? read(name, domain);
  trays.set(name, held);
  return held;
}

/** @returns false when there is no room for it */
export function setTray(name: string, domain: string, become: (tray: Tray) => Tray | null): boolean {
  const held = heldTray(name, domain);
  // another page may have changed it just now
  const next = become((held.isKept ? read(name, domain) : held).tray);
  if (!next) return false;
  trays.set(name, { tray: next, isKept: write(name, domain, next) });
  tell();
  return true;
}
