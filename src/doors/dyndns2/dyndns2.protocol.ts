import { urlencoded } from 'express';
import { AppError } from '../../platform/common/errors.js';
import type { FieldError } from '../../platform/common/words/codes.js';
import type { ProtocolAdapter } from '../../platform/http/protocol.js';
import { tokenOf } from '../kit/requests.js';

/** Where other services take credentials in the query, which ends in logs. */
const SECRETS = ['username', 'user', 'password', 'pass', 'passwd', 'token', 'key'];

const form = urlencoded({ extended: false });

/** The word for what went wrong with one host. */
export function wordOf(error: unknown): string {
  if (!(error instanceof AppError)) return '911';
  const { status, code } = error;
  const { reason, errors = [] } = (error.data ?? {}) as { reason?: string; errors?: FieldError[] };
  if (code === 500002) return 'dnserr';
  // it waits for an approval: the client asks again meanwhile
  if (reason === 'waits_for_approval') return '911';
  if (status === 400) return wordOfField(errors[0]);
  if (status === 404) return 'nohost';
  if (status === 403) return reason === 'token_domain_denied' ? 'nohost' : '!yours';
  // other records are in the way, or a guard is
  if (status === 409) return 'dnserr';
  return '911';
}

function wordOfField({ path, code }: Partial<FieldError> = {}): string {
  if (path === 'offline') return '!donator';
  if (path === 'hostname') return code === 'length' ? 'numhost' : 'notfqdn';
  // other fields are those of a record: others are in its way
  return ['myip', 'myipv6', 'ip6lanprefix', 'body'].includes(path ?? '') ? 'badsys' : 'dnserr';
}

/** The word for a request that was refused as a whole. */
function refusalOf(error: AppError): string {
  if (error.status === 401 || error.status === 403) return 'badauth';
  return error.status === 405 ? 'badagent' : wordOf(error);
}

/** What Dyn's clients speak: a word a line, with 200; only what they take from the status has another one. */
export const DYNDNS2: Omit<ProtocolAdapter, 'prefix'> = {
  door: 'dyndns2',
  parse: (request, response, next) =>
    form(request, response, (error?: unknown) => {
      request.body ??= {};
      next(error);
    }),
  strict: false,
  credential: (request) => (SECRETS.some((name) => name in request.query) ? null : tokenOf(request)),
  success(data, response) {
    response.type('text/plain');
    return data;
  },
  failure(error, response) {
    const word = refusalOf(error);
    if (word === 'badauth') response.status(401).setHeader('WWW-Authenticate', 'Basic realm="Zoneward"');
    else if (error.status !== 404) response.status(200);
    response.type('text/plain').send(word);
  },
};
