import { OutboundError, type OutboundErrorKind } from '../outbound/outbound-error.js';

/** What adapters throw: providers are among those whom the service calls. */
export {
  clipped,
  type Late,
  NotBegun,
  OutboundError as ProviderError,
  type OutboundErrorKind as ProviderErrorKind,
  storable,
} from '../outbound/outbound-error.js';

/** Any failure as a ProviderError; what is not one is a defect of an adapter and counts as "unavailable". */
export const asProviderError = (error: unknown): OutboundError =>
  error instanceof OutboundError
    ? error
    : new OutboundError('unavailable', error instanceof Error ? error.message : String(error));

/** An answer of success without what it has to hold. */
export const cutShort = (what: string): OutboundError =>
  new OutboundError('unavailable', `The provider's answer is cut short: it has no ${what}`);

/** One of the errors in a vendor's answer. */
export interface VendorError {
  code: string | number;
  message: string;
}

/**
 * Hooks of a client for a vendor whose answers, with a status of success or not, list their errors with codes.
 * @param errorsOf the errors of an answer, none when it is none
 * @param kinds codes by the kind that they are; the first kind that holds one of an answer's wins
 * @param statuses kinds of HTTP statuses that mean something else than usual
 */
export const errorHooks = (
  errorsOf: (body: unknown) => readonly VendorError[],
  kinds: Partial<Record<OutboundErrorKind, readonly (string | number)[]>>,
  statuses: Readonly<Record<number, OutboundErrorKind>> = {},
) => ({
  failed: (body: unknown) => errorsOf(body).length > 0,
  errorMessage: (body: unknown) =>
    errorsOf(body)
      .map(({ code, message }) => `${message} (code ${code})`)
      .join('; ') || undefined,
  errorKind: (status: number, body: unknown) =>
    (Object.keys(kinds) as OutboundErrorKind[]).find((kind) =>
      errorsOf(body).some(({ code }) => kinds[kind]?.includes(code)),
    ) ?? statuses[status],
});

/** What was asked for, or null where there is no such thing. @throws ProviderError for all other failures */
export const orNull = <T>(asked: Promise<T>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof OutboundError && error.kind === 'not_found') return null;
    throw error;
  });
