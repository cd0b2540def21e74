import { timeMs } from '../../../platform/common/clock.js';
import { errorHooks } from '../http/errors.js';
import type { OutgoingRequest } from '../http/http-client.js';
import { canonicalHeaders, canonicalPath, canonicalQuery, compactTime, hash, hmac } from './canonical.js';

/** Whose signature, and for what. */
interface VolcengineKey {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  service: string;
}

/**
 * A request with the headers of Volcengine's HMAC-SHA256: that of AWS without the prefix of the key (checked with what
 * its SDK computes). Of a body the hash is a header of its own.
 * @param now the date in the signature
 */
export function signVolcengine(
  request: OutgoingRequest,
  key: VolcengineKey,
  now = new Date(timeMs()),
): OutgoingRequest {
  const { method, url, body } = request;
  const date = compactTime(now);
  const scope = `${date.slice(0, 8)}/${key.region}/${key.service}/request`;
  const headers: Record<string, string> = { ...request.headers, 'x-date': date };
  if (body !== undefined) headers['x-content-sha256'] = hash(body);
  const signed = canonicalHeaders({ ...headers, host: url.host }, (name) => name === 'host' || name.startsWith('x-'));
  const names = signed.map(([name]) => name).join(';');
  const lines = signed.map(([name, value]) => `${name}:${value}`);
  const canonical = [
    method,
    canonicalPath(url),
    canonicalQuery(url.searchParams),
    ...lines,
    '',
    names,
    hash(body ?? ''),
  ];
  const toSign = ['HMAC-SHA256', date, scope, hash(canonical.join('\n'))].join('\n');
  const derived = scope.split('/').reduce<string | Buffer>(hmac, key.secretAccessKey);
  const credential = `Credential=${key.accessKeyId}/${scope}`;
  const signature = hmac(derived, toSign).toString('hex');
  headers.authorization = `HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...request, headers };
}

type Failure = { ResponseMetadata?: { Error?: { Code: string; Message: string } } };

/** Options of a client for a service of Volcengine: signature, errors, and what they mean (error list of 2025). */
export const volcengineClient = (key: VolcengineKey) => ({
  sign: (request: OutgoingRequest) => signVolcengine(request, key),
  ...errorHooks(
    (body) => {
      const error = (body as Failure | undefined)?.ResponseMetadata?.Error;
      return error ? [{ code: error.Code, message: error.Message }] : [];
    },
    {
      not_found: ['ErrZoneNotFound', 'ErrDBNotFound'],
      rate_limit: ['FlowLimitExceeded', 'ExceededFlowLimit'],
      auth: [
        ...['InvalidAccessKey', 'SignatureDoesNotMatch', 'InvalidCredential', 'AccessDenied'],
        ...['MissingAuthenticationToken', 'ErrMissingAccountParameter'],
      ],
    },
  ),
});
