import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import sirv from 'sirv';
import { errors } from '../platform/common/errors.js';
import type { Logger } from '../platform/common/logger.js';
import { ROOT } from '../platform/common/root.js';
import type { Config } from '../platform/config/config.js';
import { pictureUrl } from '../settings/checks.js';
import type { SettingsService } from '../settings/settings.service.js';

/** Where `npm run build` puts the console. */
const FILES = join(ROOT, 'web/dist');

/** below these no page is served, whatever the request accepts */
const NO_PAGES = ['/api', '/health', '/metrics', '/assets'];

const FOR_EVER = 'public, max-age=31536000, immutable';

const policyOf = (nonce: string, images: string): string =>
  [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data:${images}`,
    "object-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'self'",
    "form-action 'self'",
  ].join('; ');

/** The origin of the background image for the policy of the page, with a blank before it; '' where there is none. */
async function imageOrigin(settings: SettingsService): Promise<string> {
  // before the setup, and while the database is down, the page is shown all the same
  const image = await settings.read('general').then(
    (general) => general.background_image,
    () => null,
  );
  const url = pictureUrl(image);
  return url ? ` ${new URL(url).origin}` : '';
}

const isBelow = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

/**
 * Serves the files of the console, and makes the middleware that answers its page: to a GET that accepts HTML, at any
 * address that is not of an API. The addresses of screens are the console's own.
 * @param foreign prefixes of foreign protocols
 */
export function serveConsole(
  front: Express,
  { basePath }: Config,
  settings: SettingsService,
  foreign: string[],
  logger: Logger,
): RequestHandler {
  const index = join(FILES, 'index.html');
  if (!existsSync(index)) {
    logger.warn({ path: FILES }, 'the console was not built, and is not served');
    return (_request, _response, next) => next();
  }
  const files = sirv(FILES, { brotli: true, gzip: true, etag: true, extensions: [] });
  const assets = readdirSync(join(FILES, 'assets')).map((name) => `/assets/${name}`);
  const paths = new Set(['/scheme.js', '/favicon.svg', ...assets]);
  front.use((request: Request, response: Response, next: NextFunction) => {
    const { method, path, headers } = request;
    if (!paths.has(path)) return next();
    if (method !== 'GET' && method !== 'HEAD') return next(errors.method(method, ['GET', 'HEAD']));
    // sirv looks for names in it, also where they are refused
    headers['accept-encoding'] = ['br', 'gzip'].filter((name) => request.acceptsEncodings(name)).join(', ');
    // files are small, and sirv takes ranges for valid that are none
    delete headers.range;
    // here, so that 304 has them, too
    response.setHeader('Cache-Control', path.startsWith('/assets/') ? FOR_EVER : 'no-cache');
    response.setHeader('Vary', 'Accept-Encoding');
    files(request, response, next);
  });
  const html = readFileSync(index, 'utf8').replaceAll('__BASE__', `${basePath}/`);
  const noPages = [...NO_PAGES, ...foreign];
  const isPage = ({ method, path, headers }: Request) =>
    (method === 'GET' || method === 'HEAD') &&
    (headers.accept ?? '').includes('text/html') &&
    !noPages.some((prefix) => isBelow(path, prefix));
  const answer = async (response: Response) => {
    const nonce = randomBytes(16).toString('base64');
    response.setHeader('Content-Security-Policy', policyOf(nonce, await imageOrigin(settings)));
    // never 304: the nonce of an old page would not be that of the new header
    response.type('html').send(html.replaceAll('__NONCE__', nonce));
  };
  return (request, response, next) => {
    if (isPage(request)) answer(response).catch(next);
    else next();
  };
}
