import { now } from './clock.js';
import { CODES, type ErrorKind, type FieldCode, type FieldError } from './words/codes.js';
import type { FieldText } from './words/field-text.js';
import {
  type Given,
  type GivenThing,
  type Params,
  type Reason,
  type ReasonOf,
  type Said,
  type Thing,
  wordsOf,
} from './words/reasons.js';

export const fieldError = (
  path: string,
  message: FieldText,
  code: FieldCode = 'format',
  params?: FieldError['params'],
): FieldError => ({ path, message, code, ...(params && { params }) });

/** An error that a client may see; every other error is answered as 500001 without details. */
export class AppError extends Error {
  /**
   * @param status HTTP status
   * @param code business code, whose first three digits are the status
   * @param data sent beside `msg`
   * @param retryAfterSeconds sent as `Retry-After`
   */
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    readonly data?: unknown,
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** The wrong fields of a validation error. @throws the error itself when it is any other error */
export function fieldErrorsOf(error: unknown): FieldError[] {
  if (error instanceof AppError && error.code === CODES.validation.code) {
    return (error.data as { errors: FieldError[] }).errors;
  }
  throw error;
}

/**
 * Runs all parts and returns their results; validation errors of several parts are reported together.
 * @throws AppError 400001, or any other error of a part
 */
export async function allOf<T extends unknown[]>(...parts: { [K in keyof T]: () => T[K] | Promise<T[K]> }): Promise<T> {
  const ends = await Promise.allSettled(parts.map(async (part) => part()));
  const list = ends.flatMap((end) => (end.status === 'rejected' ? fieldErrorsOf(end.reason) : []));
  if (list.length) throw errors.validation(list);
  return ends.map((end) => (end as PromiseFulfilledResult<unknown>).value) as T;
}

/** A record, name or value that DNS or the provider does not allow: 400001 with the wrong fields. */
export class InvalidRecord extends AppError {
  readonly mistakes: FieldError[];

  constructor(where: FieldError[]);
  constructor(where: string, message: FieldText, code?: FieldCode, params?: FieldError['params']);
  constructor(where: string | FieldError[], message?: FieldText, code?: FieldCode, params?: FieldError['params']) {
    const mistakes = typeof where === 'string' ? [fieldError(where, message as FieldText, code, params)] : where;
    super(400, 400001, mistakes.map((e) => `${e.path}: ${e.message}`).join('; '), {
      reason: 'invalid_fields',
      errors: mistakes,
    });
    this.mistakes = mistakes;
  }
}

/** Default `Retry-After` in seconds of a request that ran out of time. */
export const SOON_S = 5;

function make(kind: ErrorKind, message: string, data: ErrorData, retryAfterSeconds?: number): AppError {
  return new AppError(CODES[kind].status, CODES[kind].code, message, data, retryAfterSeconds);
}

/** What `data` of every error has. */
export interface ErrorData {
  /** A key of `REASONS`. */
  reason: Reason;
  /** The values in the message, where there are any. */
  params?: Params;
  [more: string]: unknown;
}

/** `data` of an error with a reason: what is given, the reason, and the values of its words. */
export const because = (reason: Reason, params?: Params, data?: object): ErrorData => ({
  ...data,
  reason,
  ...(params && Object.keys(params).length && { params }),
});

function say(kind: ErrorKind, reason: Reason, params?: Params, data?: object, retryAfterSeconds?: number): AppError {
  return make(kind, wordsOf('en', reason, params), because(reason, params, data), retryAfterSeconds);
}

/** A constructor of errors of one kind: the reason, the values of its words, and what else `data` has. */
const of =
  <K extends ErrorKind>(kind: K) =>
  <R extends ReasonOf<K>>(reason: R, ...[params, data]: Given<R, [data?: object]>): AppError =>
    say(kind, reason, params, data);

/** The same for errors that say when to try again. */
const waiting =
  <K extends ErrorKind>(kind: K) =>
  <R extends ReasonOf<K>>(reason: R, retryAfterSeconds?: number, ...[params]: Given<R, []>): AppError =>
    say(kind, reason, params, undefined, retryAfterSeconds);

/** Constructors of the errors that services throw. */
export const errors = {
  validation: (list: FieldError[]) =>
    make('validation', list.map((e) => `${e.path}: ${e.message}`).join('; '), {
      reason: 'invalid_fields',
      errors: list,
    }),
  field: (path: string, message: FieldText, code: FieldCode = 'format', params?: FieldError['params']) =>
    errors.validation([fieldError(path, message, code, params)]),
  /** @param challenge_id of a sign-in that continues at `POST /api/auth/second-factor` */
  secondFactor: (challenge_id?: string) =>
    say('secondFactor', 'second_factor_needed', undefined, {
      types: ['totp', 'recovery'],
      ...(challenge_id && { challenge_id }),
    }),
  unauthenticated: of('unauthenticated'),
  /** A wrong password or code: 401001, naming the field. */
  wrong: (path: string, reason: ReasonOf<'unauthenticated'>) =>
    say('unauthenticated', reason, undefined, {
      errors: [fieldError(path, wordsOf('en', reason) as FieldText, 'wrong')],
    }),
  forbidden: of('forbidden'),
  /** The same for a reason that is found before it is known whether it ends anything. */
  denied: ({ reason, params }: Said, data: object) => say('forbidden', reason, params, data),
  notFound: <T extends Thing>(what: T, ...[params]: GivenThing<T>) => say('notFound', 'not_found', { what, ...params }),
  /** @param methods that the path supports */
  method: (method: string, methods: string[]) =>
    say('method', 'method_not_allowed', { method, methods: methods.join(', ') }, { methods }),
  conflict: of('conflict'),
  /** The value is already in use: 409001, naming the field. @param known of what is in the way */
  taken: <R extends ReasonOf<'conflict'>>(
    path: string,
    reason: R,
    ...[params, known]: Given<R, [known?: FieldError['params']]>
  ) => {
    const words = wordsOf('en', reason, params);
    return make(
      'conflict',
      `${path}: ${words}`,
      because(reason, params, { errors: [fieldError(path, words as FieldText, 'duplicate', known)] }),
    );
  },
  /** The request would remove more than usual: 409002 listing what would be removed; `?confirm=true` accepts it. */
  suspicious: of('suspicious'),
  /** Guards that were not named: 409003. */
  guarded: of('guarded'),
  /** The same request is still being carried out: 409004. */
  running: waiting('running'),
  /** `If-Match` does not match: 412001 with the current state. */
  precondition: of('precondition'),
  /** Something has to be named by `If-Match`: 428001. */
  unconditional: of('unconditional'),
  /** The `Idempotency-Key` was used with another request: 422001. */
  reused: of('reused'),
  /** @param result the answer of the list as of 200 */
  unapplied: (lost: number, total: number, result: object) =>
    say('unapplied', 'changes_not_applied', { lost, total }, result),
  /** @param max with its unit */
  tooLarge: (max: string) => say('tooLarge', 'body_too_large', { max }),
  locked: waiting('locked'),
  tooMany: waiting('tooMany'),
  /** Changes have to wait: 423002. @param seconds until they need not */
  frozen: <R extends ReasonOf<'frozen'>>(reason: R, seconds: number, ...[params, data]: Given<R, [data?: object]>) =>
    say('frozen', reason, params, data, seconds),
  /** An internal failure whose message the operator may see: 500001. */
  failed: of('internal'),
  /** The deadline passed before the provider was called: 500002. */
  overdue: () => {
    const data = { provider: null, kind: 'unavailable', retryable: true, applied: 'no', retry_at: now(SOON_S * 1000) };
    return say('provider', 'overdue', undefined, data, SOON_S);
  },
  unsupported: of('unsupported'),
  notReady: waiting('notReady'),
};
