import { localStorageColorSchemeManager, type MantineColorScheme } from '@mantine/core';
import { CHOICES } from './session/choices';

const kept = localStorageColorSchemeManager({ key: CHOICES.scheme });
const ofProfile = localStorageColorSchemeManager({ key: CHOICES.schemeOfProfile });
let isChoice = true;

/** Keeps the colour scheme that is chosen in this browser; without a choice, that of the profile is shown. */
export const schemeManager: typeof kept = {
  ...kept,
  get: (otherwise) => {
    const chosen = kept.get('auto');
    return chosen === 'auto' ? ofProfile.get(otherwise) : chosen;
  },
  set: (scheme) => {
    // what is chosen goes into the profile, too
    ofProfile.set(scheme);
    if (isChoice) kept.set(scheme);
  },
};

/** Has the page shown in the scheme of the profile, now and when it is loaded again, where none is chosen here. */
export function showSchemeOfProfile(scheme: MantineColorScheme, show: (scheme: MantineColorScheme) => void): void {
  if (kept.get('auto') !== 'auto' || ofProfile.get('auto') === scheme) return;
  isChoice = false;
  show(scheme);
  isChoice = true;
}
