import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import type { ZoneRequest } from '../access/access.js';
import { inCidrs } from '../platform/common/cidr.js';
import { type AppError, errors } from '../platform/common/errors.js';
import type { Logger } from '../platform/common/logger.js';
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

/** The path of the first text that no database and no DNS record can hold: NUL, or half of a surrogate pair. */
function unstorable(value: unknown, path: string, depth = 0): string | null {
  if (depth > MAX_DEPTH) throw errors.field(path.slice(0, 50), 'is nested too deeply');
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? path : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const found = unstorable(key, path) ?? unstorable(item, path ? `${path}.${key}` : key, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Refuses bodies that are no object, and text that cannot be stored. */
export function plainText(request: Request, _response: Response, next: NextFunction): void {
  next(problemOf(request));
}

/** The field of the query with a NUL in it, or `path`. */
const nulIn = (url: string) => /[?&]([^=&]+)=[^&]*%00/.exec(url)?.[1] ?? 'path';

function problemOf({ url, body }: Request): AppError | undefined {
  if (url.includes('%00')) return errors.field(nulIn(url), 'holds a NUL character');
  if (body === undefined) return undefined;
  if (currentProtocol().strict && (typeof body !== 'object' || body === null || Array.isArray(body)))
    return errors.field('body', 'must be a JSON object');
  const path = unstorable(body, '');
  if (path === null) return undefined;
  return errors.field(path || 'body', 'holds a NUL character or a broken Unicode character');
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
