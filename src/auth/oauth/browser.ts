import type { CookieOptions, Request, Response } from 'express';
import { errors } from '../../platform/common/errors.js';
import { randomHex } from '../../platform/common/hash.js';
import { say } from '../../platform/common/words/field-text.js';

const LIFE_MS = 10 * 60_000;

/** With this prefix, on https, browsers let neither other hosts nor plain http pages set the cookie. */
const nameOf = (publicUrl: string) => (publicUrl.startsWith('https:') ? '__Host-zoneward_oauth' : 'zoneward_oauth');

function optionsOf(publicUrl: string): CookieOptions {
  const { protocol, pathname } = new URL(publicUrl);
  const secure = protocol === 'https:';
  return {
    httpOnly: true,
    sameSite: 'lax',
    secure,
    // the prefix requires the root; else the cookie is sent to the API only
    path: secure ? '/' : `${pathname.replace(/\/+$/, '')}/api`,
  };
}

/** The value of the cookie that binds a flow to its browser; null when there is none. */
export function browserOf(request: Request, publicUrl: string): string | null {
  const name = nameOf(publicUrl);
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  return value && /^[0-9a-f]{64}$/.test(value) ? value : null;
}

/**
 * Sets the cookie in the browser that begins a flow. An existing value is kept: else one of two tabs would fail.
 * @returns the value
 */
export function markBrowser(request: Request, response: Response, publicUrl: string): string {
  const value = browserOf(request, publicUrl) ?? randomHex(32);
  response.cookie(nameOf(publicUrl), value, { ...optionsOf(publicUrl), maxAge: LIFE_MS });
  return value;
}

/** Removes the cookie. */
export function unmarkBrowser(response: Response, publicUrl: string): void {
  response.clearCookie(nameOf(publicUrl), optionsOf(publicUrl));
}

/**
 * Where the provider sends the browser back to. It must be below the public address, so that codes reach no other site.
 * @throws AppError 400001 naming `redirect`
 */
export function redirectUri(publicUrl: string, redirect = '/oauth/callback'): string {
  const wrong = errors.field(
    'redirect',
    say('must be an address below {url}, or a path, without query', { url: publicUrl }),
  );
  // browsers take a backslash, a tab or a second slash at the start as another host
  if (/[\s\\]/.test(redirect) || redirect.startsWith('//')) throw wrong;
  const text = redirect.startsWith('/') ? publicUrl + redirect : redirect;
  if (!URL.canParse(text)) throw wrong;
  const [url, base] = [new URL(text), new URL(publicUrl)];
  const inside = url.origin === base.origin && url.pathname.startsWith(`${base.pathname.replace(/\/+$/, '')}/`);
  if (!inside || url.username || url.password || /[?#]/.test(text)) throw wrong;
  return url.href;
}
