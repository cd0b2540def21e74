import { localStorageColorSchemeManager } from '@mantine/core';
import { CHOICES } from './session/choices';

const kept = localStorageColorSchemeManager({ key: CHOICES.scheme });
let isChoice = true;

/** Keeps the colour scheme that is chosen in this browser. */
export const schemeManager: typeof kept = { ...kept, set: (scheme) => isChoice && kept.set(scheme) };

/** Has the page shown in a scheme that is not chosen here, such as that of the profile. */
export function showScheme(work: () => void): void {
  isChoice = false;
  work();
  isChoice = true;
}
