import type { Request } from 'express';
import type { AppError } from '../../platform/common/errors.js';
import { MIB } from '../../platform/http/json-body.js';
import type { ProtocolAdapter } from '../../platform/http/protocol.js';
import { objectParser } from '../kit/requests.js';

const raw = new WeakMap<object, Buffer>();

/** The body of a delivery, octet by octet, as it was signed. */
export const bytesOf = (request: Request): Buffer => raw.get(request) ?? Buffer.alloc(0);

/** Which of these it is, nobody learns who has not the secret. */
const UNKNOWN = 'The signature is wrong, there is no such hook, or its token has ended';

const failureOf = ({ status, message }: AppError): object => ({ error: status === 401 ? UNKNOWN : message });

/** Deliveries as GitHub sends them: JSON with a signature, and an id by which one that is sent again is known. */
export const WEBHOOK: ProtocolAdapter = {
  prefix: '/doors/hook',
  door: 'webhook',
  parse: objectParser({ limit: MIB, verify: (request, _response, bytes) => raw.set(request, bytes) }),
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
