/** A field that was refused: `path` as in the request, `values.0.ttl`. */
export interface FieldError {
  path: string;
  message: string;
  code?: string;
}

interface FailureData {
  reason?: string;
  errors?: FieldError[];
  /** of code -2: what may be sent */
  types?: string[];
  challenge_id?: string;
  [more: string]: unknown;
}

/** A failure that the service answered. `message` is in the language of the console. */
export class ApiError extends Error {
  constructor(
    /** HTTP status */
    readonly status: number,
    /** six digits, or -2: a second factor is needed */
    readonly code: number,
    message: string,
    readonly data: FailureData,
    /** for the log of the service */
    readonly requestId: string | null,
    /** seconds after which it may be tried again; null: not said */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
    this.name = 'ApiError';
  }

  get reason(): string | undefined {
    return this.data.reason;
  }

  get fields(): FieldError[] {
    return this.data.errors ?? [];
  }
}

/** Whether the service waits for its setup. */
export const needsSetup = (error: unknown): boolean =>
  error instanceof ApiError && ['setup_needed', 'administrator_needed'].includes(error.reason ?? '');

/** The service could not be asked: no network, or nothing that answers. */
export class Unreachable extends Error {
  constructor() {
    super('unreachable');
    this.name = 'Unreachable';
  }
}
