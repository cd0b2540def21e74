import type { FieldText } from './words/field-text.js';

/** The service must not start, and retrying would not help. The logged message says what is wrong and how to fix it. */
export class StartRefused extends Error {
  /** @param shown message for the setup flow, without paths and hosts */
  constructor(
    message: string,
    readonly shown: FieldText = 'The service cannot work with it; the log says why',
  ) {
    super(message);
  }
}
