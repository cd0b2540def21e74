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
  guarded: { status: 409, code: 409003, meaning: 'guarded: `data.guards` are to be named in `force`' },
  running: { status: 409, code: 409004, meaning: 'the same request, by its `Idempotency-Key`, is still running' },
  precondition: { status: 412, code: 412001, meaning: 'precondition failed: it is not what was seen' },
  tooLarge: { status: 413, code: 413001, meaning: 'request body too large' },
  reused: { status: 422, code: 422001, meaning: 'the `Idempotency-Key` was used with another request' },
  unapplied: { status: 422, code: 422002, meaning: 'no change of the list was applied; with `fail=any`: not all were' },
  locked: { status: 423, code: 423001, meaning: 'account locked' },
  unconditional: { status: 428, code: 428001, meaning: 'the domain demands `If-Match` of updates and deletions' },
  frozen: { status: 423, code: 423002, meaning: 'frozen, or outside of the windows for changes' },
  tooMany: { status: 429, code: 429001, meaning: 'too many requests' },
  internal: { status: 500, code: 500001, meaning: 'internal error' },
  provider: { status: 500, code: 500002, meaning: 'the provider refused or failed' },
  unsupported: { status: 501, code: 501001, meaning: 'not supported by this provider or database' },
  notReady: { status: 503, code: 503001, meaning: 'not initialised yet, or the database is down' },
} as const;
export type ErrorKind = keyof typeof CODES;

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
