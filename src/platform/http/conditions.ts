import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { tap } from 'rxjs';
import { errors } from '../common/errors.js';
import { sha256 } from '../common/hash.js';

/** The headers that make a request conditional (RFC 9110 section 13.1). */
const HEADERS = ['If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'] as const;
type Header = (typeof HEADERS)[number];

/** Of a read these only save sending what the client has. */
const OF_READS: ReadonlySet<Header> = new Set(['If-None-Match', 'If-Modified-Since']);

export const CONDITIONS = 'zoneward:conditions';

/** Declares the conditional headers that a route honours, each with its description; others are refused. */
export const Conditional = (headers: { [header in 'If-Match' | 'If-None-Match']?: string }) =>
  applyDecorators(
    SetMetadata(CONDITIONS, Object.keys(headers)),
    ...Object.entries(headers).map(([name, description]) => ApiHeader({ name, required: false, description })),
  );

/** The conditions of a request, as its headers have them. */
export interface Conditions {
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
}

/** The conditions of this request. */
export const Given = createParamDecorator((_: unknown, context: ExecutionContext): Conditions => {
  const { headers } = context.switchToHttp().getRequest<Request>();
  return { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] };
});

/** The conditional headers of a request that its route would pass over. @param honoured those that it declares */
export const passedOver = ({ method, headers }: Request, honoured: readonly string[]): Header[] =>
  HEADERS.filter((name) => {
    const isRead = method === 'GET' || method === 'HEAD';
    return headers[name.toLowerCase()] !== undefined && !honoured.includes(name) && !(isRead && OF_READS.has(name));
  });

const digest = (value: object) => sha256(JSON.stringify(value)).slice(0, 32);

/**
 * The entity tag of what a route answers.
 * @param state what a write replaces: conditions compare it alone
 * @param view all of the answer, where it shows more than that
 */
export const entityTag = (state: object, view?: object): string =>
  `"${digest(state)}${view ? `.${digest(view)}` : ''}"`;

/** Sends the entity tag of the answer. */
export function Tagged<T extends object>(tagOf: (answer: T) => string = entityTag) {
  const interceptor: NestInterceptor<T> = {
    intercept: (context, next) =>
      next
        .handle()
        .pipe(tap((answer) => context.switchToHttp().getResponse<Response>().setHeader('ETag', tagOf(answer)))),
  };
  return UseInterceptors(interceptor);
}

const stateIn = (tag: string) => tag.trim().replace(/\.[0-9a-f]{32}"$/, '"');

/** Whether a list of entity tags, or `*`, names a state. @param tag null: there is nothing */
export const names = (list: string, tag: string | null): boolean =>
  tag !== null && (list.trim() === '*' || list.split(',').some((one) => stateIn(one) === stateIn(tag)));

/**
 * @param tag the entity tag of what is there; null: nothing
 * @param found what the answer shows of it, where it shows something
 * @throws AppError 412001 where it is not what the conditions name
 */
export function assertConditions({ ifMatch, ifNoneMatch }: Conditions, tag: string | null, found?: object): void {
  if (ifMatch !== undefined && !names(ifMatch, tag)) throw errors.precondition('if_match', {}, found);
  if (ifNoneMatch !== undefined && names(ifNoneMatch, tag)) throw errors.precondition('if_none_match', {}, found);
}
