/**
 * A sign-in at a provider that is not to be trusted, or was not wanted: the client gets the message, the log gets to
 * know why.
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
