import { type AppError, errors } from '../../platform/common/errors.js';

/**
 * A sign-in at a provider that cannot be verified, or was denied: the client gets the refusal, the log the reason.
 */
export class SignInRefused extends Error {
  constructor(
    /** for administrators; no secrets */
    readonly why: string,
    /** 401001 */
    readonly refusal: AppError = errors.unauthenticated('sign_in_unverified'),
  ) {
    super(refusal.message);
    this.name = new.target.name;
  }
}
