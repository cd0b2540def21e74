import type { Request } from 'express';
import type { AppError } from '../../platform/common/errors.js';
import type { ProtocolAdapter } from '../../platform/http/protocol.js';
import { objectParser } from '../kit/requests.js';

const raw = new WeakMap<object, Buffer>();

/** The body of a delivery, octet by octet, as it was signed. */
export const bytesOf = (request: Request): Buffer => raw.get(request) ?? Buffer.alloc(0);

const failureOf = ({ message }: AppError): object => ({ error: message });

/** Deliveries as GitHub sends them: JSON with a signature, and an id by which one that is sent again is known. */
export const WEBHOOK: ProtocolAdapter = {
  prefix: '/doors/hook',
  door: 'webhook',
  parse: objectParser({ limit: '1mb', verify: (request, _response, bytes) => raw.set(request, bytes) }),
  strict: false,
  // the signature is the proof
  credential: () => null,
  success: (data) => data,
  failure: (error, response) => void response.json(failureOf(error)),
  repeats: {
    key: (request) => {
      const id = request.get('x-github-delivery') ?? request.get('x-delivery');
      return id ? `${Number(request.params.id)} ${id}` : null;
    },
    failure: failureOf,
  },
};
