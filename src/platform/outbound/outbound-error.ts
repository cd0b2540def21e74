import type { RemoteRecord } from '../../dns/record.js';
import { timeMs } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { CODES } from '../common/words/codes.js';

/**
 * - `auth`: credentials refused · `not_found`: zone or record unknown · `rate_limit`: still limited after waiting
 * - `rejected`: the other side refused the request (its message is included)
 * - `unavailable`: unreachable, not allowed, timed out, 5xx, or a truncated or invalid answer
 * - `changed`: the record differs from what the caller has seen (`found` is its state); nothing was written
 */
export type OutboundErrorKind = 'auth' | 'not_found' | 'rate_limit' | 'rejected' | 'unavailable' | 'changed';

/** Truncates a foreign text: an account pointed at someone else's server must not expose its pages. */
export const clipped = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

/** Makes a foreign text storable in every database: without NUL and invalid Unicode. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/**
 * Whether a call may still be carried out later. `once`: yes, and seeing its effect proves that it will not happen
 * again; `again`: yes, but the effect seen may be that of an earlier attempt; null: no.
 */
export type Late = 'once' | 'again' | null;

/** `data` of 500002. */
export interface OutboundFailure {
  reason: `provider_${OutboundErrorKind}`;
  /** The DNS provider's kind, such as `powerdns`; null for other services. */
  provider: string | null;
  kind: OutboundErrorKind;
  /** Whether the same request may succeed later without changes. */
  retryable: boolean;
  /** `no`: certainly nothing was changed there; `unknown`: check its state. */
  applied: 'no' | 'unknown';
  /** When to retry, if known; also sent as `Retry-After`. */
  retry_at?: string;
}

/** A call to another service was refused or failed: HTTP 500, code 500002, with its message. */
export class OutboundError extends AppError {
  declare readonly data: OutboundFailure;
  /** For `changed`: the record that the provider holds instead; null if it is gone. */
  found?: RemoteRecord | null;
  /** The call timed out and may still be carried out. */
  late: Late = null;

  constructor(
    readonly kind: OutboundErrorKind,
    message: string,
    /** false only if certainly nothing was changed there */
    public mayHaveApplied: boolean = kind === 'unavailable',
  ) {
    super(CODES.provider.status, CODES.provider.code, storable(clipped(message, 1000)), {
      reason: `provider_${kind}`,
      provider: null,
      kind,
      retryable: kind === 'unavailable' || kind === 'rate_limit',
      applied: mayHaveApplied ? 'unknown' : 'no',
    } satisfies OutboundFailure);
  }

  /** Sets the DNS provider; for a reading call also that nothing was changed. */
  of(provider: string, reading: boolean): this {
    Object.assign(this.data, { provider }, reading && { applied: 'no' });
    return this;
  }

  /** Sets whether something may have been changed there, once more is known. */
  applied(mayHave: boolean): this {
    this.mayHaveApplied = mayHave;
    return Object.assign(this, { data: { ...this.data, applied: mayHave ? 'unknown' : 'no' } });
  }

  /** Sets when to retry. @param at ms of `timeMs()` */
  retryAt(at: number): this {
    const seconds = Math.max(1, Math.ceil((at - timeMs()) / 1000));
    const data = { ...this.data, retry_at: new Date(at).toISOString() };
    return Object.assign(this, { data, retryAfterSeconds: seconds });
  }

  /** Sets whether the call may still be carried out. */
  lateBy(late: Late): this {
    this.late = late;
    return this;
  }
}

/** The call was not made: the deadline has passed, or passes before the rate limit allows a call. */
export class NotBegun extends OutboundError {
  constructor(kind: OutboundErrorKind, message: string) {
    super(kind, message, false);
  }
}
