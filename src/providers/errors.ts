import { AppError, CODES } from '../common/errors.js';

/**
 * - `auth`: credentials refused · `not_found`: zone or record unknown · `rate_limit`: still refused after waiting
 * - `rejected`: the provider understood and said no (its words in the message)
 * - `unavailable`: unreachable, too slow, 5xx, or an answer that was cut or makes no sense
 */
export type ProviderErrorKind = 'auth' | 'not_found' | 'rate_limit' | 'rejected' | 'unavailable';

/** A provider refused or failed: HTTP 500, code 500002, the provider's own words. */
export class ProviderError extends AppError {
  constructor(
    readonly kind: ProviderErrorKind,
    message: string,
    /** false only when it is certain that nothing was changed at the provider */
    readonly mayHaveApplied: boolean = kind === 'unavailable',
  ) {
    super(CODES.provider.status, CODES.provider.code, message);
  }
}

/** Any failure as a ProviderError; what is not one is a defect of an adapter and counts as "unavailable". */
export const asProviderError = (error: unknown): ProviderError =>
  error instanceof ProviderError
    ? error
    : new ProviderError('unavailable', error instanceof Error ? error.message : String(error));
