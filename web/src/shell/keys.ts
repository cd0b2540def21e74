import { useEffect, useRef } from 'react';

const CHORD_MS = 1500;

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    Boolean(target.closest('.cm-editor')));

const isModal = () => document.querySelector('[role=dialog][aria-modal=true]') !== null;

/** A key of the screen that is open, for the list of keys. */
export interface KeyWords {
  key: string;
  words: string;
}

const said = new Set<readonly KeyWords[]>();

/** The keys of the screen that is open, as it says them. */
export const keysOfScreen = (): KeyWords[] => [...said].flat();

/** Says what the keys of a screen do, as long as it is shown: the list of keys has them. */
export function useKeyWords(words: readonly KeyWords[]): void {
  useEffect(() => {
    said.add(words);
    return () => void said.delete(words);
  }, [words]);
}

type Keys = Record<string, () => void>;

const heard = new Set<{ current: Keys }>();
let first: { key: string; at: number } | null = null;

const workOf = (name: string) => [...heard].reverse().find(({ current }) => current[name])?.current[name];

const isQuiet = (event: KeyboardEvent) => isTyping(event.target) || isModal() || event.altKey;

/** Chords come before all else: their second key is nobody else's, such as that of the row with the focus. */
function onChord(event: KeyboardEvent): void {
  const { key, timeStamp } = event;
  if (key === 'Shift') return;
  const begun = first && timeStamp - first.at < CHORD_MS ? first.key : null;
  first = null;
  if (event.ctrlKey || event.metaKey || isQuiet(event)) return;
  if (begun && key.length === 1) {
    event.preventDefault();
    event.stopPropagation();
    workOf(`${begun} ${key}`)?.();
  } else if ([...heard].some(({ current }) => Object.keys(current).some((name) => name.startsWith(`${key} `))))
    first = { key, at: timeStamp };
}

function onKey(event: KeyboardEvent): void {
  const mod = event.ctrlKey || event.metaKey;
  if (!mod && isQuiet(event)) return;
  const work = workOf(mod ? `mod+${event.key.toLowerCase()}` : event.key);
  if (!work) return;
  event.preventDefault();
  work();
}

/**
 * Keys of the whole page: single ones, such as `?`, and chords of two, such as `g d`. They are silent while somebody
 * types, and behind a dialog; `mod+k` is heard always.
 */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    if (heard.size === 0) {
      document.addEventListener('keydown', onChord, { capture: true });
      document.addEventListener('keydown', onKey);
    }
    heard.add(latest);
    return () => {
      heard.delete(latest);
      if (heard.size > 0) return;
      document.removeEventListener('keydown', onChord, { capture: true });
      document.removeEventListener('keydown', onKey);
    };
  }, []);
}
