import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import {
  type ArgumentMetadata,
  applyDecorators,
  Controller,
  Injectable,
  type PipeTransform,
  SetMetadata,
  StreamableFile,
} from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import type { ModulesContainer } from '@nestjs/core';
import { ApiExcludeController } from '@nestjs/swagger';
import { type NextFunction, type Request, type RequestHandler, type Response, raw } from 'express';
import type { AppError } from '../common/errors.js';
import { validationPipe } from '../common/validation.js';
import { jsonParser, MIB, toldOf } from './json-body.js';

/** How the controllers of one protocol read requests and write answers. */
export interface ProtocolAdapter {
  /** Path prefix of its controllers: `/nic`. */
  prefix: string;
  /** The door of the settings by which it comes in; undefined: it is always open. */
  door?: string;
  /** Parses request bodies. */
  parse: RequestHandler;
  /** Bodies must be objects, and undeclared fields of a body or query are refused; otherwise they are ignored. */
  strict: boolean;
  /** The session JWT or API token of a request; null: none. */
  credential(request: Request): string | null;
  /** The answer for the result of a handler; a text is sent as `text/html` unless a type is set. */
  success(data: unknown, response: Response): unknown;
  /** Sends an error; status and `Retry-After` are already set and may be changed. */
  failure(error: AppError, response: Response): void;
  /** How a request that is sent again is known, which is carried out once; undefined: it is not. */
  repeats?: {
    /** what both have in common, beside their caller; null: nothing */
    key(request: Request): string | null;
    /** the body of a failure, as it is given again */
    failure(error: AppError): object;
  };
}

const parseJson = jsonParser({ limit: MIB });
const readBytes = raw({ limit: MIB, type: () => true });

const unread = new WeakSet<Request>();

/** Whether a request has a body that was not parsed: of a GET, or of another type than JSON. `{}` counts as none. */
export const hasUnreadBody = (request: Request): boolean => unread.has(request);

const hasBody = ({ headers }: Request) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;

/** Notes whether there is a body that nobody parses. Whether a chunked one is empty is only known once it is read. */
const noteUnread: RequestHandler = (request, response, next) => {
  if (!hasBody(request)) return next();
  readBytes(request, response, (error?: unknown) => {
    const text = Buffer.isBuffer(request.body) ? request.body.toString('latin1').trim() : '';
    request.body = undefined;
    if (text && text !== '{}') unread.add(request);
    next(toldOf(error, MIB));
  });
};

const parseOurs: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') return noteUnread(request, response, next);
  parseJson(request, response, (error?: unknown) => {
    if (error || request.body !== undefined) next(error);
    else noteUnread(request, response, next);
  });
};

/** The body of a failure in our own API. */
export const failureBody = ({ code, data, message }: AppError): object => ({
  code,
  ...(data !== undefined && { data }),
  msg: message,
});

/** The protocol of our own API: JSON under `/api`, `Authorization: Bearer`, and the `code/data/msg` envelope. */
const OURS: ProtocolAdapter = {
  prefix: '/api',
  parse: parseOurs,
  strict: true,
  credential: ({ headers }) => /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null,
  success: (data) => (data instanceof StreamableFile ? data : { code: 0, data: data ?? null, msg: 'success' }),
  failure: (error, response) => void response.json(failureBody(error)),
};

const PROTOCOL = 'zoneward:protocol';
const current = new AsyncLocalStorage<ProtocolAdapter>();

/**
 * A controller of a foreign protocol, instead of `@Controller`: guards, rate limits, services and the audit log apply
 * as for all routes. It is not part of our OpenAPI description.
 * @param path below the prefix of the protocol
 */
export const Protocol = (adapter: ProtocolAdapter, path = ''): ClassDecorator =>
  applyDecorators(SetMetadata(PROTOCOL, adapter), Controller(`${adapter.prefix}/${path}`), ApiExcludeController());

/** What is not below `/api`, and what all of that is below. */
const NAMES = ['api', 'health', 'metrics'];

/**
 * The foreign protocols that the controllers of an application speak.
 * @throws Error when a prefix is none, or leads to other controllers, too
 */
export function protocolsOf(modules: ModulesContainer): ProtocolAdapter[] {
  const found = new Set<ProtocolAdapter>();
  const taken: string[] = [];
  const spoken: string[] = [];
  for (const { metatype } of [...modules.values()].flatMap((module) => [...module.controllers.values()])) {
    if (!metatype) continue;
    const adapter = Reflect.getMetadata(PROTOCOL, metatype) as ProtocolAdapter | undefined;
    if (adapter) found.add(adapter);
    else taken.push(String(Reflect.getMetadata(PATH_METADATA, metatype)).replace(/^\/|\/$/g, ''));
  }
  for (const { prefix } of found) {
    if (!/^(\/[a-z0-9-]+)+$/.test(prefix)) throw new Error(`${prefix} is no prefix of a protocol`);
    const own = prefix.slice(1);
    const within = spoken.some((path) => isBelow(own, path) || isBelow(path, own));
    const clashes = within || taken.some((path) => isBelow(path, own)) || NAMES.includes(own.split('/')[0] as string);
    if (clashes) throw new Error(`${prefix} begins as the paths of other controllers do`);
    spoken.push(own);
  }
  return [...found];
}

const isBelow = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

/** Whether the request that is being answered is of a foreign protocol. */
export const isForeign = (): boolean => currentProtocol() !== OURS;

/** The protocol of the current request. */
export const currentProtocol = (): ProtocolAdapter => current.getStore() ?? OURS;

/** Middleware that handles requests below its prefix in a protocol. */
export const speaking =
  (adapter: ProtocolAdapter) =>
  (_request: Request, _response: Response, next: NextFunction): void => {
    current.run(adapter, next);
  };

/** Octets of a body that are read at most. Parsers read what they refuse to its end, before they say so. */
const MOST_READ = 32 * 1024 * 1024;

/** Ends the connection of a body that does not end. */
function cutOff(request: Request): void {
  let read = 0;
  request.on('data', ({ length }: Buffer) => {
    read += length;
    if (read > MOST_READ) request.destroy();
  });
}

/** Parses a body as its protocol says. */
export const parseBody: RequestHandler = (request, response, next) => {
  if (hasBody(request)) cutOff(request);
  // a foreign parser may go on in the context of the socket, in which no protocol is known
  currentProtocol().parse(request, response, isForeign() ? AsyncResource.bind(next) : next);
};

/** Validates bodies and queries as strictly as the current protocol demands. */
@Injectable()
export class ProtocolPipe implements PipeTransform {
  private readonly strict = validationPipe();
  private readonly lenient = validationPipe(false);

  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    // what guards have put on the request, and parts of its path, which pipes of their own read
    if (metadata.type !== 'body' && metadata.type !== 'query') return value;
    return (currentProtocol().strict ? this.strict : this.lenient).transform(value, metadata);
  }
}
