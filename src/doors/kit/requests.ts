import type { Request, RequestHandler } from 'express';
import { errors } from '../../platform/common/errors.js';
import { jsonParser } from '../../platform/http/json-body.js';

/** User and password of HTTP Basic; null: it is not used. */
function basicOf({ headers }: Request): { user: string; password: string } | null {
  const [, text] = /^basic +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (text === undefined) return null;
  const [user = '', ...rest] = Buffer.from(text, 'base64').toString().split(':');
  return { user, password: rest.join(':') };
}

/** The API token of a request: the password of Basic, whatever the user, or a Bearer token; null: there is none. */
export function tokenOf(request: Request): string | null {
  const [, bearer = ''] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  const given = basicOf(request)?.password ?? bearer;
  return given.startsWith('svc_') ? given : null;
}

/** The user name of HTTP Basic; '': none. */
export const userOf = (request: Request): string => basicOf(request)?.user ?? '';

/** Parses an object of JSON, whatever its type is called; no body is an empty one. */
export function objectParser(options: Parameters<typeof jsonParser>[0] = {}): RequestHandler {
  const parser = jsonParser({ type: () => true, ...options });
  return (request, response, next) =>
    parser(request, response, (error?: unknown) => {
      request.body ??= {};
      const isObject = typeof request.body === 'object' && !Array.isArray(request.body);
      next(error ?? (isObject ? undefined : errors.field('body', 'must be a JSON object')));
    });
}

export const parseObject = objectParser();
