/**
 * The service must not start, and trying again would not help. The message is for the log: it says what is wrong and
 * what to do.
 */
export class StartRefused extends Error {
  /** @param shown what whoever chooses the database in the setup flow may know: no path, no host */
  constructor(
    message: string,
    readonly shown = 'The service cannot work with it; the log says why',
  ) {
    super(message);
  }
}
