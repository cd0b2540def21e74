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

/**
 * Keys of the whole page: single ones, such as `?`, and chords of two, such as `g d`. They are silent while somebody
 * types, and behind a dialog; `mod+k` is heard always.
 */
export function useKeys(keys: Record<string, () => void>): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    let first: { key: string; at: number } | null = null;
    const onKey = (event: KeyboardEvent) => {
      const mod = event.ctrlKey || event.metaKey;
      const name = mod ? `mod+${event.key.toLowerCase()}` : event.key;
      if (mod ? !(name in latest.current) : isTyping(event.target) || isModal() || event.altKey) return;
      const chord = first && event.timeStamp - first.at < CHORD_MS ? `${first.key} ${name}` : null;
      const work = (chord && latest.current[chord]) || latest.current[name];
      first = null;
      if (work) {
        event.preventDefault();
        work();
      } else if (Object.keys(latest.current).some((key) => key.startsWith(`${name} `))) {
        first = { key: name, at: event.timeStamp };
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
