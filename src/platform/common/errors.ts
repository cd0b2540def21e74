import { now } from './clock.js';
import type { FieldText } from './words/field-text.js';

/**
 * Machine-readable reasons why a field is wrong, for translation by clients. The list is part of the API: add to it,
 * never change a meaning.
 */
export const FIELD_CODES = {
  required: 'must be given',
  format: 'is not of the form that the message describes',
  range: 'a number, or a time, outside of its bounds (`params.min`, `params.max`)',
  length: 'a text or list too short or too long (`params.min`, `params.max`)',
  choice: 'none of the allowed values (`params.values`)',
  unknown: 'no such field',
  read_only: 'cannot be changed, and differs from what is stored',
  duplicate: 'there is one already (`params.id` of the one in the way, where the caller may see it)',
  conflict: 'does not go together with another field, or with what is stored',
  unsupported: 'the provider cannot hold it',
  wrong: 'a password or code that is not right',
} as const;
export type FieldCode = keyof typeof FIELD_CODES;

/** One wrong field of a request; a list has at most one entry per path. */
export interface FieldError {
  /** Path of the field, for example `value` or `credentials.api_key`. */
  path: string;
  /** What is wrong and what is expected. */
  message: string;
  /** The same as a code for programs. */
  code: FieldCode;
  /** Values used in the message: bounds, allowed values, ids. */
  params?: Record<string, unknown>;
}

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
    super(400, 400001, mistakes.map((e) => `${e.path}: ${e.message}`).join('; '), { errors: mistakes });
    this.mistakes = mistakes;
  }
}

/** Every business code of the API with its status and meaning; the numbers are defined only here. */
export const CODES = {
  secondFactor: { status: 200, code: -2, meaning: 'login: two-factor code required' },
  validation: { status: 400, code: 400001, meaning: 'parameter validation failed' },
  unauthenticated: { status: 401, code: 401001, meaning: 'token invalid or expired' },
  forbidden: { status: 403, code: 403001, meaning: 'insufficient permission' },
  notFound: { status: 404, code: 404001, meaning: 'resource does not exist' },
  method: { status: 405, code: 405001, meaning: 'the path exists, but not with this method' },
  conflict: { status: 409, code: 409001, meaning: 'conflict with what exists' },
  suspicious: { status: 409, code: 409002, meaning: 'suspicious: confirm that this is meant' },
  precondition: { status: 412, code: 412001, meaning: 'precondition failed: it is not what was seen' },
  tooLarge: { status: 413, code: 413001, meaning: 'request body too large' },
  unapplied: { status: 422, code: 422002, meaning: 'no change of the list was applied; with `fail=any`: not all were' },
  locked: { status: 423, code: 423001, meaning: 'account locked' },
  tooMany: { status: 429, code: 429001, meaning: 'too many requests' },
  internal: { status: 500, code: 500001, meaning: 'internal error' },
  provider: { status: 500, code: 500002, meaning: 'the provider refused or failed' },
  unsupported: { status: 501, code: 501001, meaning: 'not supported by this provider or database' },
  notReady: { status: 503, code: 503001, meaning: 'not initialised yet, or the database is down' },
} as const;
export type ErrorKind = keyof typeof CODES;

/** Default `Retry-After` in seconds of a request that ran out of time. */
export const SOON_S = 5;

function make(kind: ErrorKind, message: string, data?: unknown, retryAfterSeconds?: number): AppError {
  return new AppError(CODES[kind].status, CODES[kind].code, message, data, retryAfterSeconds);
}

/** Constructors of the errors that services throw. */
export const errors = {
  validation: (list: FieldError[]) =>
    make('validation', list.map((e) => `${e.path}: ${e.message}`).join('; '), { errors: list }),
  field: (path: string, message: FieldText, code: FieldCode = 'format', params?: FieldError['params']) =>
    errors.validation([fieldError(path, message, code, params)]),
  /** @param challenge_id of a sign-in that continues at `POST /api/auth/second-factor` */
  secondFactor: (challenge_id?: string) =>
    make('secondFactor', 'Second factor needed: send totpCode or recoveryCode', {
      types: ['totp', 'recovery'],
      ...(challenge_id && { challenge_id }),
    }),
  unauthenticated: (message: string) => make('unauthenticated', message),
  /** A wrong password or code: 401001, naming the field. */
  wrong: (path: string, message: string) =>
    make('unauthenticated', message, { errors: [fieldError(path, message as FieldText, 'wrong')] }),
  forbidden: (message = 'Insufficient permission', data?: unknown) => make('forbidden', message, data),
  notFound: (what: string) => make('notFound', `${what} does not exist`),
  /** @param methods that the path supports */
  method: (method: string, methods: string[]) =>
    make('method', `The path has no ${method}, but ${methods.join(', ')}`, { methods }),
  conflict: (message: string, data?: unknown) => make('conflict', message, data),
  /** The value is already in use: 409001, naming the field. */
  taken: (path: string, message: string, params?: FieldError['params']) =>
    make('conflict', `${path}: ${message}`, { errors: [fieldError(path, message as FieldText, 'duplicate', params)] }),
  /** The request would remove more than usual: 409002 listing what would be removed; `?confirm=true` accepts it. */
  suspicious: (message: string, data: unknown) => make('suspicious', message, data),
  /** `If-Match` does not match: 412001 with the current state. */
  precondition: (message: string, data?: unknown) => make('precondition', message, data),
  /** @param result the answer of the list as of 200 */
  unapplied: (message: string, result: unknown) => make('unapplied', message, result),
  tooLarge: () => make('tooLarge', 'The request body is larger than 1 MiB'),
  locked: (message: string, retryAfterSeconds: number) => make('locked', message, undefined, retryAfterSeconds),
  tooMany: (message: string, retryAfterSeconds: number) => make('tooMany', message, undefined, retryAfterSeconds),
  /** An internal failure whose message the operator may see: 500001. */
  failed: (message: string) => make('internal', message),
  /** The deadline passed before the provider was called: 500002. */
  overdue: (message: string) => {
    const data = { provider: null, kind: 'unavailable', retryable: true, applied: 'no', retry_at: now(SOON_S * 1000) };
    return make('provider', message, data, SOON_S);
  },
  unsupported: (message: string) => make('unsupported', message),
  notReady: (message: string, retryAfterSeconds?: number) => make('notReady', message, undefined, retryAfterSeconds),
};
