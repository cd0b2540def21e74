import { OutboundError, type OutboundErrorKind } from '../../../platform/outbound/outbound-error.js';

/** What adapters throw: providers are among those whom the service calls. */
export {
  clipped,
  type Late,
  NotBegun,
  OutboundError as ProviderError,
  type OutboundErrorKind as ProviderErrorKind,
  storable,
} from '../../../platform/outbound/outbound-error.js';

/**
 * Any failure as a ProviderError; what is not one counts as "unavailable". A TypeError of the language is as a rule an
 * answer with a part of another form, such as null for a zone.
 */
export function asProviderError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const words = error instanceof Error ? error.message : String(error);
  const isForm = error instanceof TypeError && !('code' in error);
  return new OutboundError('unavailable', isForm ? `The provider's answer is of another form: ${words}` : words);
}

/** The error for a successful answer that lacks a required part. */
export const cutShort = (what: string): OutboundError =>
  new OutboundError('unavailable', `The provider's answer is cut short: it has no ${what}`);

/** A required part of a successful answer. @throws ProviderError when it is missing */
export function needed<T>(part: T | null | undefined | false | '' | 0, what: string): T {
  if (!part) throw cutShort(what);
  return part;
}

/** A required list of a successful answer. @throws ProviderError when it is missing, or no list */
export function neededList<T>(list: readonly T[] | null | undefined, what: string): readonly T[] {
  if (!Array.isArray(list)) throw cutShort(what);
  return list;
}

/** A number that is an id, as text. @throws ProviderError for one that JSON has rounded: it would be that of another */
export function idText(id: unknown): string {
  if (Number.isSafeInteger(id)) return String(id);
  throw cutShort('id');
}

/** One of the errors in a vendor's answer. */
export interface VendorError {
  /** left out where the vendor has words alone */
  code?: string | number;
  message: string;
}

/**
 * Hooks of a client for a vendor whose answers, with a status of success or not, hold an error, or a list of them.
 * @param errorsOf what is wrong by an answer; none, or nothing, when it is no error
 * @param kinds codes, and how messages look, by the kind that they are; the first kind that holds one of an answer's
 * wins
 * @param statuses kinds of HTTP statuses that mean something else than usual
 */
export function errorHooks(
  errorsOf: (body: unknown) => VendorError | readonly VendorError[] | false | undefined,
  kinds: Partial<Record<OutboundErrorKind, readonly (string | number | RegExp)[]>>,
  statuses: Readonly<Record<number, OutboundErrorKind>> = {},
) {
  const all = (body: unknown): VendorError[] => [errorsOf(body) || []].flat();
  const told = ({ code, message }: VendorError) => (code === undefined ? message : `${message} (code ${code})`);
  return {
    failed: (body: unknown) => all(body).length > 0,
    errorMessage: (body: unknown) => all(body).map(told).join('; ') || undefined,
    errorKind: (status: number, body: unknown) =>
      (Object.keys(kinds) as OutboundErrorKind[]).find((kind) =>
        all(body).some(({ code, message }) =>
          kinds[kind]?.some((sign) => (sign instanceof RegExp ? sign.test(message) : sign === code)),
        ),
      ) ?? statuses[status],
  };
}

/**
 * `errorsOf` of a vendor whose answers say by two of their fields, such as `code` and `msg`, what went wrong.
 * @param fine codes of success; without a code it is one, too
 */
export const errorIn =
  (code: string, message: string, fine: readonly (string | number)[] = []) =>
  (body: unknown): VendorError | false => {
    const { [code]: is, [message]: words } = (body ?? {}) as Record<string, string | number | null | undefined>;
    return (
      is !== undefined && is !== null && is !== '' && !fine.includes(is) && { code: is, message: `${words ?? ''}` }
    );
  };

/** `errorMessage` of a vendor that says what went wrong in these fields of its answer: as text, or as anything else. */
export const wordsIn =
  (...fields: readonly string[]) =>
  (body: unknown): string | undefined => {
    const said = (body ?? {}) as Record<string, unknown>;
    const words = fields.flatMap((field) => said[field] || []);
    return words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(': ') || undefined;
  };

/**
 * What was asked for, or null where there is no such thing.
 * @param words how the vendor says that it is this that is missing; left out: any "not found" does
 * @throws ProviderError for all other failures
 */
export const orNull = <T>(asked: Promise<T>, words = /(?:)/): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof OutboundError && error.kind === 'not_found' && words.test(error.message)) return null;
    throw error;
  });

/** What a status of failure means, where the provider's words do not say it. */
export function kindOf(status: number): OutboundErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limit';
  return status >= 500 ? 'unavailable' : 'rejected';
}

/** Why a call got no answer. @param timeoutMs of its attempt */
export function connectionWords(error: unknown, timeoutMs: number): string {
  const e = error as { name?: string; code?: string; message?: string };
  if (e.name === 'TimeoutError') return `The provider did not answer within ${timeoutMs / 1000} s`;
  if (e.code === 'EOUTBOUND') return e.message ?? 'The address is not allowed';
  return `The provider cannot be reached or broke the connection (${e.code ?? e.message ?? 'unknown error'})`;
}
