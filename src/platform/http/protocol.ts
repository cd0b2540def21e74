import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type ArgumentMetadata,
  applyDecorators,
  Controller,
  Injectable,
  type PipeTransform,
  SetMetadata,
  StreamableFile,
} from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { ApiExcludeController } from '@nestjs/swagger';
import { json, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { AppError } from '../common/errors.js';
import { validationPipe } from '../common/validation.js';

/** What the controllers of one protocol take from their clients, and how they answer. */
export interface ProtocolAdapter {
  /** where the paths of its controllers begin: `/nic` */
  prefix: string;
  /** parses the bodies of its requests */
  parse: RequestHandler;
  /** bodies must be objects, and fields of a body or query that no DTO names are refused; else these are left aside */
  strict: boolean;
  /** the session's JWT or the API token that a request carries; null: none */
  credential(request: Request): string | null;
  /** what is sent for the result of a handler */
  success(data: unknown): unknown;
  /** sends a failure; status and `Retry-After` are set, and may be set anew */
  failure(error: AppError, response: Response): void;
}

const parseJson = json({ limit: '1mb', strict: false });

/** The protocol of our own API: JSON under `/api`, `Authorization: Bearer`, and the `code/data/msg` envelope. */
const OURS: ProtocolAdapter = {
  prefix: '/api',
  parse: (request, response, next) => (request.method === 'GET' ? next() : parseJson(request, response, next)),
  strict: true,
  credential: ({ headers }) => /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null,
  success: (data) => (data instanceof StreamableFile ? data : { code: 0, data: data ?? null, msg: 'success' }),
  failure({ code, data, message }, response) {
    response.json({ code, ...(data !== undefined && { data }), msg: message });
  },
};

const PROTOCOL = 'zoneward:protocol';
const current = new AsyncLocalStorage<ProtocolAdapter>();

/**
 * A controller of a foreign protocol, in place of `@Controller`: guards, rate limits, services and the audit log are
 * those of all routes. It is not part of our OpenAPI description.
 * @param path below the prefix of the protocol
 */
export const Protocol = (adapter: ProtocolAdapter, path = ''): ClassDecorator =>
  applyDecorators(SetMetadata(PROTOCOL, adapter), Controller(`${adapter.prefix}/${path}`), ApiExcludeController());

/** The foreign protocols that the controllers of an application speak. */
export const protocolsOf = (modules: ModulesContainer): ProtocolAdapter[] => {
  const controllers = [...modules.values()].flatMap((module) => [...module.controllers.values()]);
  const found = controllers.map(({ metatype }) => metatype && Reflect.getMetadata(PROTOCOL, metatype));
  return [...new Set<ProtocolAdapter | undefined>(found)].filter((one) => one !== undefined);
};

/** The protocol of the request that is being answered. */
export const currentProtocol = (): ProtocolAdapter => current.getStore() ?? OURS;

/** Answers the requests below its prefix in a protocol. */
export const speaking =
  (adapter: ProtocolAdapter) =>
  (_request: Request, _response: Response, next: NextFunction): void => {
    current.run(adapter, next);
  };

/** Parses a body as its protocol says. */
export const parseBody: RequestHandler = (request, response, next) => currentProtocol().parse(request, response, next);

/** Validates bodies and queries as strictly as the protocol of the request demands. */
@Injectable()
export class ProtocolPipe implements PipeTransform {
  private readonly strict = validationPipe();
  private readonly lenient = validationPipe(false);

  transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    return (currentProtocol().strict ? this.strict : this.lenient).transform(value, metadata);
  }
}
