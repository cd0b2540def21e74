import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import type { ErrorKind } from '../platform/common/errors.js';
import type { TokenRule } from '../tokens/rules/token-rules.js';

export enum Role {
  User = 1,
  Admin = 2,
  Super = 3,
}

/**
 * On a domain: reading it, changing records (all, or those under some hosts), changing the domain itself, and what is
 * its owner's: deleting it, giving rights on it.
 */
export type Right = 'read' | 'records' | 'write' | 'own';

/** What a token may be limited to; `*` = everything. */
export const SCOPES = [
  '*',
  'domains:read',
  'records:read',
  'records:write',
  'accounts:read',
  'audit:read',
  'acme',
  'ddns',
  'external-dns',
] as const;
export type Scope = (typeof SCOPES)[number];

/** Who is asking, as found out by the guard at this very request. */
export interface Principal {
  kind: 'user' | 'token';
  userId: number;
  username: string;
  /** effective: of a token, `min(max_role, the creator's role now)` */
  role: number;
  /** of a login */
  sessionId: number | null;
  /**
   * of a login: its role must show a second factor and this session did not, so it reaches only the routes that set one
   * up
   */
  lacksSecondFactor: boolean;
  /** requests a minute that the settings allow, 0 = any number */
  ratePerMinute: number;
  /** of an API token; `allowedDomains` null = all of the creator's */
  token: TokenLimits | null;
}

/** What an API token leaves of its creator's rights. */
export interface TokenLimits {
  id: number;
  name: string;
  allowedDomains: number[] | null;
  allowedServices: string[];
  /** null: no rules */
  rules: TokenRule[] | null;
}

/** Whether the scopes of a token contain one; null: any token may. */
export const hasScope = (services: readonly string[], scope: string | null): boolean =>
  scope === null || services.includes('*') || services.includes(scope);

/** Where a request comes from. */
export interface Origin {
  /** the client's address, `X-Forwarded-For` honoured only from trusted proxies */
  ip: string;
  /** cut to 255 characters */
  userAgent: string;
  requestId: string;
}

/** The person or token behind a request, or behind a job (`system`). */
export interface Caller extends Origin {
  principal: Principal | null;
}

/** What a handler demands. Declared by `@Access` on every route; the guard refuses routes without a declaration. */
export interface AccessRule {
  /** no credential needed */
  public?: true;
  /** of public routes: works while the service is not initialised, or its database is down */
  beforeSetup?: true;
  /** of public routes: which rate limit of the settings counts */
  rate?: 'login' | 'public';
  /** reached by a login that has not shown the second factor that its role must show */
  unproven?: true;
  /** at least this role */
  role?: Role;
  /** this right on the domain `:id` or `:domain_id` of the path */
  domain?: Right;
  /** the scope that an API token must have; left out: `*`; null: any token may */
  scope?: Scope | null;
  /** logged-in users only: API tokens are refused */
  noTokens?: true;
  /** API tokens that are narrowed to domains may come here, too: the list shows theirs only */
  narrowed?: true;
  /** only takes away, and calls no provider: may be done in a copy that is paused */
  inCopy?: true;
}

export const ACCESS = 'zoneward:access';
export const AUDITED = 'zoneward:audited';

/** Declares who may call a route. `@Access({})` = anybody who is signed in. */
export const Access = (rule: AccessRule) => SetMetadata(ACCESS, rule);

export const FAILS = 'zoneward:fails';

/**
 * Declares the failures of a route that do not follow from what else is declared: its access rule, body and path
 * parameters. With `secondFactor` its success may be the question for a code.
 */
export const Fails = (...kinds: ErrorKind[]) => SetMetadata(FAILS, kinds);

export const LOCATION = 'zoneward:location';

/**
 * A route that makes something names its address in `Location`: its own, and behind it what this finds in the answer.
 */
export const Makes = <T>(id: (made: T) => number) => SetMetadata(LOCATION, id);

/** What the guard and the middleware leave on a request. */
export interface ZoneRequest extends Request {
  caller: Caller;
  /** the opened domain of a route with `domain` in its access rule */
  domain?: unknown;
  /** the action that a failure will be logged under */
  auditAction?: string;
}

const of = (context: ExecutionContext) => context.switchToHttp().getRequest<ZoneRequest>();

/** The caller of this request. */
export const Me = createParamDecorator((_: unknown, context: ExecutionContext) => of(context).caller);
/** The domain that the guard opened. */
export const OnDomain = createParamDecorator((_: unknown, context: ExecutionContext) => of(context).domain);

/** The principal of a caller on a route that is not public. */
export function signedIn(caller: Caller): Principal {
  if (!caller.principal) throw new Error('a route that needs a principal was declared public');
  return caller.principal;
}
