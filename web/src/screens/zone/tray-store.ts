import { useCallback, useSyncExternalStore } from 'react';
import { useMe } from '~/session/session';
import { keptName } from '~/state/kept';
import { heldTray, onTrays, setTray } from './kept-trays';
import type { Tray } from './tray';

/** The tray of a domain: outlives reload and sign-in, and is the same in all pages of this browser. */
export function useTray(id: number, domain: string) {
  const name = `${keptName('tray', useMe().id)}:${id}`;
  const { tray, isKept } = useSyncExternalStore(onTrays, () => heldTray(name, domain));
  const set = useCallback(
    (become: (tray: Tray) => Tray | null): boolean => setTray(name, domain, become),
    [name, domain],
  );
  return { tray, isKept, set };
}
