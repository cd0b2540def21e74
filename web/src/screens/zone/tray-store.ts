import { useCallback, useSyncExternalStore } from 'react';
import { useMe } from '~/session/session';
import { keptName } from '~/state/kept';
import { keptTrays } from './kept-trays';
import type { Tray } from './tray';

const trays = keptTrays({
  storage: () => localStorage,
  hear: (listener) => window.addEventListener('storage', ({ key }) => listener(key)),
});

/** The tray of a domain: outlives reload and sign-in, and is the same in all pages of this browser. */
export function useTray(id: number, domain: string) {
  const name = `${keptName('tray', useMe().id)}:${id}`;
  const { tray, isKept } = useSyncExternalStore(trays.on, () => trays.held(name, domain));
  const set = useCallback(
    (become: (tray: Tray) => Tray | null): boolean => trays.set(name, domain, become),
    [name, domain],
  );
  return { tray, isKept, set };
}
