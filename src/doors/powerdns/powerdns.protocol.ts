import { StreamableFile } from '@nestjs/common';
import type { Request } from 'express';
import type { AppError } from '../../platform/common/errors.js';
import type { FieldError } from '../../platform/common/words/codes.js';
import { jsonParser, MIB } from '../../platform/http/json-body.js';
import type { ProtocolAdapter } from '../../platform/http/protocol.js';
import { PASSING } from '../kit/passing.js';

const JSON_TYPE = 'application/json';

/** some 10 000 records */
const parser = jsonParser({ type: () => true, limit: 2 * MIB });

/** The API token of a request; null: there is none. Logins are none. */
function keyOf(request: Request): string | null {
  const key = request.get('x-api-key')?.trim() ?? '';
  return key.startsWith('svc_') ? key : null;
}

/** Whether a client wants JSON, as PowerDNS finds out: by `Accept`, or without one by the type of what it sends. */
export const wantsJson = (request: Request): boolean =>
  (request.get('accept') ?? request.get('content-type') ?? '').toLowerCase().includes(JSON_TYPE);

/** The status by which PowerDNS would say so: what can be mended is 422, what passes by itself 503. */
function statusOf({ status, data }: AppError, method: string): number {
  const { reason = '', errors: [first] = [] } = (data ?? {}) as { reason?: string; errors?: FieldError[] };
  if (status === 400) return first?.path === 'body' || first?.path === 'path' ? 400 : 422;
  if (status === 423 || status === 412) return 503;
  if (status === 409) {
    if (PASSING.has(reason)) return 503;
    return reason === 'domain_exists' && method === 'POST' ? 409 : 422;
  }
  // the provider makes no zones
  return status === 501 ? 422 : status;
}

/** The REST API of PowerDNS. Clients take 2xx for done, some without a look at the body. */
export const POWERDNS: ProtocolAdapter = {
  prefix: '/doors/powerdns',
  door: 'powerdns',
  parse(request, response, next) {
    // of who shows no token nothing is read
    if (keyOf(request) === null) next();
    else parser(request, response, next);
  },
  strict: false,
  credential: keyOf,
  success(data) {
    if (data === undefined || data instanceof StreamableFile) return data;
    const bytes = Buffer.from(JSON.stringify(data));
    return new StreamableFile(bytes, { type: JSON_TYPE, length: bytes.length });
  },
  failure(error, response) {
    const { req: request } = response;
    const status = statusOf(error, request.method);
    const isJson = status === 422 || wantsJson(request);
    const body = Buffer.from(isJson ? JSON.stringify({ error: error.message }) : error.message);
    response.status(status);
    // some clients compare the type as a text: nothing stands behind it
    response.setHeader('Content-Type', isJson ? JSON_TYPE : 'text/plain; charset=utf-8');
    response.setHeader('Content-Length', body.length);
    response.end(request.method === 'HEAD' ? undefined : body);
  },
};
