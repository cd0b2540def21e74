import type { RemoteRecord } from '../../dns/record.js';
import { timeMs } from '../common/clock.js';
import { AppError, CODES } from '../common/errors.js';

/**
 * - `auth`: credentials refused · `not_found`: zone or record unknown · `rate_limit`: still refused after waiting
 * - `rejected`: the other side understood and said no (its words in the message)
 * - `unavailable`: unreachable, not allowed, too slow, 5xx, or an answer that was cut or makes no sense
 * - `changed`: the record is not what whoever asks has seen (`found` says what it is); nothing was written
 */
export type OutboundErrorKind = 'auth' | 'not_found' | 'rate_limit' | 'rejected' | 'unavailable' | 'changed';

/**
 * A text that others wrote, cut: whoever points an account at a server of somebody else's must not read its pages here.
 */
export const clipped = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

/** Others' words as every database takes them: without NUL and broken Unicode. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/**
 * Of a call that may still be carried out: `once`, where what is seen of it there proves that it will not be any more;
 * `again`, where an earlier attempt may be what is seen; null: not at all.
 */
export type Late = 'once' | 'again' | null;

/** `data` of 500002. */
export interface OutboundFailure {
  /** the DNS provider's kind, such as `powerdns`; null for whatever else is called */
  provider: string | null;
  kind: OutboundErrorKind;
  /** the same request may succeed later, without anything being changed */
  retryable: boolean;
  /** `no`: it is certain that nothing was changed there; `unknown`: ask what it holds */
  applied: 'no' | 'unknown';
  /** when to try again, where that is known; `Retry-After` says it, too */
  retry_at?: string;
}

/** A call to somebody else was refused or failed: HTTP 500, code 500002, the other side's own words. */
export class OutboundError extends AppError {
  declare readonly data: OutboundFailure;
  /** of the kind `changed`: what the provider holds in place of what was seen; null when it is gone */
  found?: RemoteRecord | null;
  /** no answer came in the time that there was: what was asked for may still be carried out later */
  late: Late = null;

  constructor(
    readonly kind: OutboundErrorKind,
    message: string,
    /** false only when it is certain that nothing was changed there */
    public mayHaveApplied: boolean = kind === 'unavailable',
  ) {
    super(CODES.provider.status, CODES.provider.code, storable(clipped(message, 1000)), {
      provider: null,
      kind,
      retryable: kind === 'unavailable' || kind === 'rate_limit',
      applied: mayHaveApplied ? 'unknown' : 'no',
    } satisfies OutboundFailure);
  }

  /** Says of which DNS provider it is, and, of what only reads, that nothing was changed. */
  of(provider: string, reading: boolean): this {
    Object.assign(this.data, { provider }, reading && { applied: 'no' });
    return this;
  }

  /** Says anew whether something may have been changed there, when more is known than at the failure itself. */
  applied(mayHave: boolean): this {
    this.mayHaveApplied = mayHave;
    return Object.assign(this, { data: { ...this.data, applied: mayHave ? 'unknown' : 'no' } });
  }

  /** Says when to try again. @param at ms of `timeMs()` */
  retryAt(at: number): this {
    const seconds = Math.max(1, Math.ceil((at - timeMs()) / 1000));
    const data = { ...this.data, retry_at: new Date(at).toISOString() };
    return Object.assign(this, { data, retryAfterSeconds: seconds });
  }

  /** Says whether it may still be carried out later. */
  lateBy(late: Late): this {
    this.late = late;
    return this;
  }
}

/** The call was not made: no time was left for it, or none before the other side takes calls again. */
export class NotBegun extends OutboundError {
  constructor(kind: OutboundErrorKind, message: string) {
    super(kind, message, false);
  }
}
