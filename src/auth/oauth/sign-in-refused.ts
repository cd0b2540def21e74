/**
 * A sign-in at a provider that cannot be verified, or was denied: the client gets the message, the log the reason.
 */
export class SignInRefused extends Error {
  constructor(
    /** for administrators; no secrets */
    readonly why: string,
    message = 'The sign-in could not be verified; start again',
  ) {
    super(message);
    this.name = new.target.name;
  }
}
