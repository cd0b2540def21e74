/**
 * What was chosen in this browser, above what the profile says, and the scheme that the profile said last: until the
 * sign-out. `scheme.js` reads the schemes, too.
 */
export const CHOICES = {
  language: 'zoneward.language',
  scheme: 'zoneward.scheme',
  schemeOfProfile: 'zoneward.scheme-of-profile',
} as const;

/** Leaves nothing of one's own to whoever signs in next. */
export function forgetChoices(): void {
  try {
    for (const name of Object.values(CHOICES)) localStorage.removeItem(name);
  } catch {
    // storage is refused: nothing is kept
  }
}
