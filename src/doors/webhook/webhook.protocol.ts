import { json, type Request } from 'express';
import type { AppError } from '../../platform/common/errors.js';
import { errors } from '../../platform/common/errors.js';
import type { ProtocolAdapter } from '../../platform/http/protocol.js';

const raw = new WeakMap<object, Buffer>();

/** The body of a delivery, octet by octet, as it was signed. */
export const bytesOf = (request: Request): Buffer => raw.get(request) ?? Buffer.alloc(0);

const parser = json({ type: () => true, limit: '1mb', verify: (request, _response, bytes) => raw.set(request, bytes) });

const failureOf = ({ message }: AppError): object => ({ error: message });

/** Deliveries as GitHub sends them: JSON with a signature, and an id by which one that is sent again is known. */
export const WEBHOOK: ProtocolAdapter = {
  prefix: '/doors/hook',
  door: 'webhook',
  parse: (request, response, next) =>
    parser(request, response, (error?: unknown) => {
      request.body ??= {};
      const isObject = typeof request.body === 'object' && !Array.isArray(request.body);
      next(error ?? (isObject ? undefined : errors.field('body', 'must be a JSON object')));
    }),
  strict: false,
  // the signature is the proof
  credential: () => null,
  success: (data) => data,
  failure: (error, response) => void response.json(failureOf(error)),
  repeats: {
    key: (request) => {
      const id = request.get('x-github-delivery') ?? request.get('x-delivery');
      return id ? `${request.path} ${id}` : null;
    },
    failure: failureOf,
  },
};
