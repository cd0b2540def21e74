import { json, type Request, type RequestHandler } from 'express';
import { errors } from '../../platform/common/errors.js';

/** The API token of a request: the password of Basic, whatever the user, or a Bearer token; null: there is none. */
export function tokenOf({ headers }: Request): string | null {
  const [, scheme = '', text = ''] = /^(basic|bearer) +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const given = isBasic
    ? Buffer.from(text, 'base64')
        .toString()
        .replace(/^[^:]*:/, '')
    : text;
  return given.startsWith('svc_') ? given : null;
}

const anyType = json({ type: () => true, strict: false });

/** Parses an object of JSON, whatever its type is called; no body is an empty one. */
export const parseObject: RequestHandler = (request, response, next) =>
  anyType(request, response, (error?: unknown) => {
    request.body ??= {};
    const isObject = typeof request.body === 'object' && !Array.isArray(request.body);
    next(error ?? (isObject ? undefined : errors.field('body', 'must be a JSON object')));
  });

/** The user name of HTTP Basic; '': none. */
export function userOf({ headers }: Request): string {
  const [, text = ''] = /^basic +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  return Buffer.from(text, 'base64').toString().split(':')[0] as string;
}
