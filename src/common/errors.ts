/** One wrong field of a request. */
export interface FieldError {
  /** Where it is, for example `value` or `credentials.api_key`. */
  path: string;
  /** What is wrong and what would be right. */
  message: string;
}

/** A failure that a client may see. Everything else is answered as 500001 without details. */
export class AppError extends Error {
  /**
   * @param status HTTP status
   * @param code business code, its first three digits are the status
   * @param data what goes out beside `msg`
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

/** A record, name or value that DNS or the provider does not allow: 400001, naming the fields. */
export class InvalidRecord extends AppError {
  constructor(path: string, message: string) {
    super(400, 400001, `${path}: ${message}`, { errors: [{ path, message }] satisfies FieldError[] });
  }
}

/** Every business code of the API, with its status and meaning. This is the only place that knows the numbers. */
export const CODES = {
  secondFactor: { status: 200, code: -2, meaning: 'login: two-factor code required' },
  validation: { status: 400, code: 400001, meaning: 'parameter validation failed' },
  unauthenticated: { status: 401, code: 401001, meaning: 'token invalid or expired' },
  forbidden: { status: 403, code: 403001, meaning: 'insufficient permission' },
  notFound: { status: 404, code: 404001, meaning: 'resource does not exist' },
  conflict: { status: 409, code: 409001, meaning: 'conflict with what exists' },
  tooLarge: { status: 413, code: 413001, meaning: 'request body too large' },
  locked: { status: 423, code: 423001, meaning: 'account locked' },
  tooMany: { status: 429, code: 429001, meaning: 'too many requests' },
  internal: { status: 500, code: 500001, meaning: 'internal error' },
  provider: { status: 500, code: 500002, meaning: 'the provider refused or failed' },
  unsupported: { status: 501, code: 501001, meaning: 'not supported by this provider or database' },
  notReady: { status: 503, code: 503001, meaning: 'not initialised yet, or the database is down' },
} as const;

function make(kind: keyof typeof CODES, message: string, data?: unknown, retryAfterSeconds?: number): AppError {
  return new AppError(CODES[kind].status, CODES[kind].code, message, data, retryAfterSeconds);
}

/** The failures that services throw. */
export const errors = {
  validation: (list: FieldError[]) =>
    make('validation', list.map((e) => `${e.path}: ${e.message}`).join('; '), { errors: list }),
  field: (path: string, message: string) => errors.validation([{ path, message }]),
  malformed: (message: string) => make('validation', message),
  secondFactor: () =>
    make('secondFactor', 'Second factor needed: send totpCode or recoveryCode', { types: ['totp', 'recovery'] }),
  unauthenticated: (message: string) => make('unauthenticated', message),
  /** A password or code that is not right: 401001, naming the field. */
  wrong: (path: string, message: string) => make('unauthenticated', message, { errors: [{ path, message }] }),
  forbidden: (message = 'Insufficient permission', data?: unknown) => make('forbidden', message, data),
  notFound: (what: string) => make('notFound', `${what} does not exist`),
  conflict: (message: string) => make('conflict', message),
  tooLarge: () => make('tooLarge', 'The request body is larger than 1 MiB'),
  locked: (message: string, retryAfterSeconds: number) => make('locked', message, undefined, retryAfterSeconds),
  tooMany: (message: string, retryAfterSeconds: number) => make('tooMany', message, undefined, retryAfterSeconds),
  unsupported: (message: string) => make('unsupported', message),
  notReady: (message: string, retryAfterSeconds?: number) => make('notReady', message, undefined, retryAfterSeconds),
};
