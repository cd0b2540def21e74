import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { CookieOptions, NextFunction, Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { timeMs } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';

/** By this header a page of ours says that its session is in the cookie. CORS allows it to no page of others. */
const HEADER = 'x-zoneward-session';
/** By this one for whom it was opened: in another tab somebody else may have signed in since. */
const USER_HEADER = 'x-zoneward-user';
const PLAIN = 'zoneward_session';
/** With this prefix, on https, browsers let neither other hosts nor plain http pages set the cookie. */
const SECURE = `__Host-${PLAIN}`;

type Public = Pick<Config, 'baseUrl' | 'basePath'>;

const asksForCookie = (request: Request): boolean => request.headers[HEADER] === 'cookie';

/** Hosts of which browsers take plain http as safe, and send `Sec-Fetch-Site` to them. */
const SAFE_ANYWAY = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)|\.(localhost|onion)(:|$)/;

/**
 * Whether the browser speaks https to us. Its origin says so; where it sends none, as with GET, any hint counts, for a
 * wrong one refuses a cookie and takes none.
 */
function isSecure(request: Request, { baseUrl }: Public): boolean {
  const { origin, host = '', ...headers } = request.headers;
  if (origin) return origin.startsWith('https:');
  if (baseUrl?.startsWith('https:') && new URL(baseUrl).host === host) return true;
  if (request.secure || /\bhttps\b/i.test(String(headers['x-forwarded-proto'] ?? ''))) return true;
  return headers['sec-fetch-site'] !== undefined && !SAFE_ANYWAY.test(host);
}

const nameOf = (secure: boolean) => (secure ? SECURE : PLAIN);

const optionsOf = (secure: boolean, { basePath }: Public): CookieOptions => ({
  httpOnly: true,
  sameSite: 'strict',
  secure,
  // the prefix requires the root; else the cookie is sent to the API only
  path: secure ? '/' : `${basePath}/api`,
});

function cookieNamed({ headers }: Request, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

function readCookie(request: Request, settings: Public): string | null {
  const found = cookieNamed(request, SECURE) ?? (isSecure(request, settings) ? undefined : cookieNamed(request, PLAIN));
  return found && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(found) ? found : null;
}

/** @throws AppError 403001 when the page that sends the request is not of this service */
function assertOurPage({ headers }: Request, { baseUrl }: Public): void {
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin') return;
  const own = [headers.host, baseUrl ? new URL(baseUrl).host : undefined];
  const { origin } = headers;
  const foreign = origin !== undefined && !(URL.canParse(origin) && own.includes(new URL(origin).host));
  if (site !== undefined || foreign) throw errors.forbidden('foreign_page');
}

/**
 * Middleware that signs requests in by the cookie of a session: those without `Authorization` that say so by
 * `X-Zoneward-Session: cookie`. The cookie alone is nobody.
 */
export const cookieSessions =
  (settings: Public) =>
  (request: Request, _response: Response, next: NextFunction): void => {
    if (!asksForCookie(request)) {
      next();
      return;
    }
    assertOurPage(request, settings);
    const token = request.headers.authorization === undefined ? readCookie(request, settings) : null;
    if (token) request.headers.authorization = `Bearer ${token}`;
    next();
  };

/**
 * Removes the cookie from the browser that sent it, by either name. One that sent none keeps what it may have got
 * since: another tab can have signed in while this request was on its way.
 */
export function dropSessionCookie(request: Request, response: Response, settings: Public): void {
  if (!asksForCookie(request)) return;
  for (const secure of [false, true])
    if (cookieNamed(request, nameOf(secure)) !== undefined)
      response.clearCookie(nameOf(secure), optionsOf(secure, settings));
}

/**
 * Refuses what a page does that was opened for another user than the one whom the cookie is of by now.
 * @throws AppError 401001
 */
export function assertOpenedFor(request: Request, user: number): void {
  const opened = request.headers[USER_HEADER];
  if (asksForCookie(request) && opened !== undefined && opened !== String(user))
    throw errors.unauthenticated('session_of_another');
}

interface WithToken {
  token?: string;
}

/** Puts the JWT of an answer into the cookie, and its end in its place, where the request asks for that. */
@Injectable()
class SessionCookieInterceptor implements NestInterceptor {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    if (!asksForCookie(request)) return next.handle();
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((answer: WithToken) => this.moved(answer, request, response)));
  }

  private moved({ token, ...rest }: WithToken, request: Request, response: Response): object {
    if (token === undefined) return rest;
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
    const secure = isSecure(request, this.config);
    const maxAge = Math.max(0, exp * 1000 - timeMs());
    response.cookie(nameOf(secure), token, { ...optionsOf(secure, this.config), maxAge });
    return { ...rest, expires_at: new Date(exp * 1000).toISOString() };
  }
}

/** Of routes that answer the JWT of a session: `X-Zoneward-Session: cookie` has it put into a cookie instead. */
export const AnswersToken = () =>
  applyDecorators(
    UseInterceptors(SessionCookieInterceptor),
    ApiHeader({
      name: 'X-Zoneward-Session',
      required: false,
      description:
        '`cookie`: the JWT is put into an HttpOnly cookie, and the answer has `expires_at` in place of `token`',
      schema: { type: 'string', enum: ['cookie'] },
    }),
  );
