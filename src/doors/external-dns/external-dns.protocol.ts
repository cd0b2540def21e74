import { StreamableFile } from '@nestjs/common';
import type { Request } from 'express';
import { errors } from '../../platform/common/errors.js';
import type { FieldError } from '../../platform/common/words/codes.js';
import { say } from '../../platform/common/words/field-text.js';
import { jsonParser, MIB } from '../../platform/http/json-body.js';
import type { ProtocolAdapter } from '../../platform/http/protocol.js';
import { tokenOf } from '../kit/requests.js';

/** Clients compare it as a text. */
export const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1';

/** some 20 000 endpoints without labels */
const parser = jsonParser({ type: () => true, limit: 4 * MIB });

const plain = (type: string): string => type.toLowerCase().replace(/\s/g, '');

/** Another version of the protocol, or of its media types, is none that is spoken here. */
function assertSpoken(request: Request): void {
  const accepted = plain(request.get('accept') ?? '*/*');
  if (!accepted.includes('*/*') && !accepted.includes('application/*') && !accepted.split(',').includes(MEDIA_TYPE))
    throw errors.field('Accept', say('must be one of {values}', { values: MEDIA_TYPE }), 'choice');
  const sent = plain(request.get('content-type') ?? MEDIA_TYPE);
  if (request.method === 'POST' && sent !== MEDIA_TYPE && !sent.startsWith('application/json'))
    throw errors.field('Content-Type', say('must be one of {values}', { values: MEDIA_TYPE }), 'choice');
}

/** Statuses of headers that name no form which is spoken here. */
const OF_HEADERS: Record<string, number> = { Accept: 406, 'Content-Type': 415 };

/** What passes by itself, or once somebody agreed: a client ends at 4xx, and comes again after 5xx. */
const PASSING = new Set([409, 412, 423, 429]);

export const EXTERNAL_DNS: ProtocolAdapter = {
  prefix: '/doors/external-dns',
  door: 'external-dns',
  parse(request, response, next) {
    assertSpoken(request);
    // of who shows no token nothing is read
    if (tokenOf(request) === null) next();
    else parser(request, response, next);
  },
  strict: false,
  credential: tokenOf,
  success(data, response) {
    if (data === undefined) return data;
    // as octets: to a text a charset would be added
    response.setHeader('Content-Type', MEDIA_TYPE);
    return new StreamableFile(Buffer.from(JSON.stringify(data)));
  },
  failure({ status, data, message }, response) {
    const { errors: [first] = [] } = (data ?? {}) as { errors?: FieldError[] };
    if (status === 401) response.setHeader('WWW-Authenticate', 'Basic realm="Zoneward"');
    if (PASSING.has(status)) response.status(503);
    else if (status === 400 && first && first.path in OF_HEADERS) response.status(OF_HEADERS[first.path] as number);
    response.type('text/plain').send(message);
  },
};
