import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import type { ZoneRequest } from '../access/access.js';
import { inCidrs } from '../platform/common/cidr.js';
import { type AppError, errors } from '../platform/common/errors.js';
import type { Logger } from '../platform/common/logger.js';
import { due, turn } from '../platform/common/turns.js';
import type { Config } from '../platform/config/config.js';
import { currentProtocol } from '../platform/http/protocol.js';

/** The client's address: the socket's, or the last one in `X-Forwarded-For` that is no trusted proxy. */
function clientAddress(request: Request, trusted: Config['trustedProxies']): string {
  let address = request.socket.remoteAddress ?? '';
  if (!trusted.length) return plain(address);
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
  while (forwarded.length && inCidrs(address, trusted)) address = forwarded.pop() as string;
  return plain(address);
}

const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '').slice(0, 45);

/**
 * Sets id and client address of a request, and strips the path prefix of BASE_URL.
 */
export function requestContext(config: Config, logger: Logger) {
  const { basePath, trustedProxies } = config;
  if (trustedProxies.some(([, bits]) => bits === 0))
    logger.warn('TRUSTED_PROXIES trusts everybody: whoever reaches the service chooses the address it is counted by');
  let told = false;
  return (incoming: Request, response: Response, next: NextFunction): void => {
    const request = incoming as ZoneRequest;
    if (basePath && (request.url === basePath || request.url.startsWith(`${basePath}/`))) {
      request.url = request.url.slice(basePath.length) || '/';
    }
    // as the client sees it, also behind a proxy that strips the prefix: links are made of it
    request.originalUrl = basePath + request.url;
    if (!told && request.headers['x-forwarded-for'] && !inCidrs(request.socket.remoteAddress ?? '', trustedProxies)) {
      told = true;
      const from = plain(request.socket.remoteAddress ?? '');
      logger.warn({ from }, 'X-Forwarded-For of an address that TRUSTED_PROXIES does not name is not believed');
    }
    const given = request.headers['x-request-id'];
    const requestId = typeof given === 'string' && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID();
    request.caller = {
      ip: clientAddress(request, trustedProxies),
      userAgent: (request.headers['user-agent'] ?? '').slice(0, 255),
      requestId,
      principal: null,
    };
    response.setHeader('X-Request-Id', requestId);
    next();
  };
}

const MAX_DEPTH = 32;

/** The members of an object or a list, one at a time. */
function* membersOf(value: object): Generator<[string | number, unknown]> {
  if (Array.isArray(value)) yield* value.entries();
  else for (const key in value) yield [key, (value as Record<string, unknown>)[key]];
}

const isUnstorable = (text: unknown): boolean =>
  typeof text === 'string' && (text.includes('\0') || !text.isWellFormed());

const isPart = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Parts of a body, each within the one before, with what they are called there. */
type Open = { key: string | number; rest: ReturnType<typeof membersOf> }[];

/** What is wrong with a member of the innermost part; null: nothing. */
function wrongWith(open: Open, key: string | number, value: unknown): AppError | null {
  const path = (...more: (string | number)[]) => [...open.slice(2).map((one) => one.key), ...more].join('.');
  if (isUnstorable(key)) return unstorable(path());
  if (isUnstorable(value)) return unstorable(open.length > 1 ? path(key) : '');
  const isDeep = isPart(value) && open.length > MAX_DEPTH;
  return isDeep ? errors.field(path(key).slice(0, 50), 'is nested too deeply') : null;
}

/**
 * What no database and no DNS record can hold: a text with NUL or half of a surrogate pair, or too deep a nesting. A
 * body of a million small values leaves turns to others.
 */
async function problemIn(body: unknown): Promise<AppError | null> {
  const open: Open = [{ key: '', rest: membersOf([body]) }];
  for (let last = open.at(-1); last; last = open.at(-1)) {
    if (due()) await turn();
    const { done, value: member } = last.rest.next();
    if (done) {
      open.pop();
      continue;
    }
    const [key, value] = member;
    const wrong = wrongWith(open, key, value);
    if (wrong) return wrong;
    if (isPart(value)) open.push({ key, rest: membersOf(value) });
  }
  return null;
}

const unstorable = (path: string): AppError =>
  errors.field(path || 'body', 'holds a NUL character or a broken Unicode character');

/** Refuses bodies that are no object, and text that cannot be stored. */
export function plainText(request: Request, _response: Response, next: NextFunction): void {
  problemOf(request).then((problem) => next(problem ?? undefined), next);
}

/** The field of the query with a NUL in it, or `path`. */
const nulIn = (url: string) => /[?&]([^=&]+)=[^&]*%00/.exec(url)?.[1] ?? 'path';

async function problemOf({ url, body }: Request): Promise<AppError | null> {
  if (url.includes('%00')) return errors.field(nulIn(url), 'holds a NUL character');
  if (body === undefined) return null;
  if (currentProtocol().strict && (typeof body !== 'object' || body === null || Array.isArray(body)))
    return errors.field('body', 'must be a JSON object');
  return problemIn(body);
}

const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
};

/** Security headers of the JSON API; the documentation page sets a policy of its own. */
export function apiHeaders(_request: Request, response: Response, next: NextFunction): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  next();
}
