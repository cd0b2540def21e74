import { AppError, CODES } from '../common/errors.js';

/**
 * - `auth`: credentials refused · `not_found`: zone or record unknown · `rate_limit`: still refused after waiting
 * - `rejected`: the provider understood and said no (its words in the message)
 * - `unavailable`: unreachable, too slow, 5xx, or an answer that was cut or makes no sense
 */
export type ProviderErrorKind = 'auth' | 'not_found' | 'rate_limit' | 'rejected' | 'unavailable';

/** A text that others wrote, cut: whoever points an account at a server of somebody else's must not read its pages here. */
export const clipped = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text);
/** `data` of 500002. */
export interface ProviderFailure {
  /** the provider's kind, such as `powerdns`; null for an identity provider */
  provider: string | null;
  kind: ProviderErrorKind;
  /** the same request may succeed later, without anything being changed */
  retryable: boolean;
  /** `no`: it is certain that nothing was changed at the provider; `unknown`: ask it what it holds */
  applied: 'no' | 'unknown';
}

/** A provider refused or failed: HTTP 500, code 500002, the provider's own words. */
export class ProviderError extends AppError {
  declare readonly data: ProviderFailure;

  constructor(
    readonly kind: ProviderErrorKind,
    message: string,
    /** false only when it is certain that nothing was changed at the provider */
    readonly mayHaveApplied: boolean = kind === 'unavailable',
  ) {
    super(CODES.provider.status, CODES.provider.code, clipped(message, 1000), {
      provider: null,
      kind,
      retryable: kind === 'unavailable' || kind === 'rate_limit',
      applied: mayHaveApplied ? 'unknown' : 'no',
    } satisfies ProviderFailure);
  }

  /** Says of which provider it is, and, of what only reads, that nothing was changed. */
  of(provider: string, reading: boolean): this {
    Object.assign(this.data, { provider }, reading && { applied: 'no' });
    return this;
  }
}

/** Any failure as a ProviderError; what is not one is a defect of an adapter and counts as "unavailable". */
export const asProviderError = (error: unknown): ProviderError =>
  error instanceof ProviderError
    ? error
    : new ProviderError('unavailable', error instanceof Error ? error.message : String(error));
