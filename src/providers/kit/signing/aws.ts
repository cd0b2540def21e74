import { listOf } from '../http/body.js';
import { errorHooks, type VendorError } from '../http/errors.js';
import { type SigV4Key, signV4 } from './sigv4.js';

type Failure = { ErrorResponse?: { Error?: { Code: string; Message: string } } } & {
  InvalidChangeBatch?: { Messages?: { Message: string | string[] } };
};

/** Errors in a document of AWS (service models; recorded 2022). */
function errorsOf(body: unknown): VendorError[] {
  const { ErrorResponse, InvalidChangeBatch } = (body ?? {}) as Failure;
  if (ErrorResponse?.Error) return [{ code: ErrorResponse.Error.Code, message: ErrorResponse.Error.Message }];
  return listOf(InvalidChangeBatch?.Messages?.Message).map((message) => ({ code: 'InvalidChangeBatch', message }));
}

const AUTH = ['AccessDenied', 'InvalidClientTokenId', 'SignatureDoesNotMatch', 'ExpiredToken'];
/** A set is not there, there already, or another, than the change of it says (words of Route 53, in many issues). */
const CHANGED = [/but it (already exists|was not found)|but the values provided do not match the current values/];
const LIMITS = ['Throttling', 'ThrottlingException', 'PriorRequestNotComplete'];

/** Options of a client for a service of AWS that speaks XML: signature, errors, and what they mean. */
export const awsXml = (key: SigV4Key, notFound: readonly string[]) => ({
  answers: 'xml' as const,
  sign: (request: Parameters<typeof signV4>[0]) => signV4(request, key),
  ...errorHooks(errorsOf, { changed: CHANGED, auth: AUTH, not_found: notFound, rate_limit: LIMITS }),
});
