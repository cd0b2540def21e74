import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import type { ErrorKind } from '../platform/common/words/codes.js';
import type { TokenRule } from '../tokens/rules/token-rules.js';
import type { AuditAction } from './audit-actions.js';
import { FRONT_DOORS, type FrontDoor } from './doors.js';
import type { Scope } from './scopes.js';

export type { Scope };

export enum Role {
  User = 1,
  Admin = 2,
  Super = 3,
}

/**
 * Rights on a domain: read it, change records (all, or those of some hosts), change the domain itself, and those of its
 * owner: delete it, grant rights on it.
 */
export type Right = 'read' | 'records' | 'write' | 'own';

/** The authenticated user or token, as determined by the guard for this request. */
export interface Principal {
  kind: 'user' | 'token';
  userId: number;
  username: string;
  /** The language of the user, or of the token's creator; undefined: not known. */
  language?: string;
  /** Effective role: of a token, `min(max_role, the creator's current role)`. */
  role: number;
  /** Of a session. */
  sessionId: number | null;
  /** Of a session: when its JWT has lived half of its life, in ms. */
  renewAt?: number;
  /**
   * Of a session: its role requires a second factor that the session has not shown, so only the routes to set one up
   * are available.
   */
  lacksSecondFactor: boolean;
  /** Allowed requests per minute by the settings, 0 = unlimited. */
  ratePerMinute: number;
  /** Of an API token; `allowedDomains` null = all of the creator's. */
  token: TokenLimits | null;
}

/** How an API token restricts its creator's rights. */
export interface TokenLimits {
  id: number;
  name: string;
  allowedDomains: number[] | null;
  allowedServices: string[];
  /** Its own rules within those that its scopes imply; null: no rules. */
  rules: TokenRule[] | null;
}

/** Whether a token's scopes include one; null: no scope is needed. */
export const hasScope = (services: readonly string[], scope: string | null): boolean =>
  scope === null || services.includes('*') || services.includes(scope);

/** Origin of a request. */
export interface Origin {
  /** The client's address; `X-Forwarded-For` is used only from trusted proxies. */
  ip: string;
  /** Truncated to 255 characters. */
  userAgent: string;
  requestId: string;
}

/** What a request says of the way in which it wants records changed, beside the changes. */
export interface Intent {
  /** it wants to know what would be done, and nothing done */
  dryRun: boolean;
  /** guards that it means to meet */
  force: readonly string[];
  /** why it is to be done in spite of a freeze */
  override?: string | undefined;
}

/** The scope by which a token writes records that came in by a door; null: by our own API. */
export const writingScope = (door: FrontDoor | null): Scope => (door ? FRONT_DOORS[door].scope : 'records:write');

/** Who sent a request, or `system` for a job. */
export interface Caller extends Origin {
  principal: Principal | null;
  /** the door that it came by; undefined: our own API */
  door?: FrontDoor;
  /** of a request by a door: the name that it is about, and its domain, for the log */
  asked?: { name: string; domain: { id: number; name: string } | null };
  /** of writes of records; undefined: nothing */
  intent?: Intent;
  /** guards that its changes have met, as far as these only warn */
  warnings?: Set<string>;
}

/** What a handler requires. Declared by `@Access` on every route; the guard refuses routes without a declaration. */
export interface AccessRule {
  /** No credential needed. */
  public?: true;
  /** Of public routes: works before initialisation and while the database is unavailable. */
  beforeSetup?: true;
  /** Of public routes: the rate limit of the settings that applies. */
  rate?: 'login' | 'public';
  /** Available to a session that has not shown its required second factor. */
  unproven?: true;
  /** Minimum role. */
  role?: Role;
  /** Required right on the domain `:domain_id` of the path, which is its id or its name. */
  domain?: Right;
  /** Scope that an API token needs; omitted: `*`; null: none. */
  scope?: Scope | null;
  /** A `ticket` in the query takes the place of a credential. */
  tickets?: true;
  /** A credential of another kind takes the place of an API token, which it stands for: see `Proofs`. */
  proof?: FrontDoor;
  /** Sessions only: API tokens are refused. */
  noTokens?: true;
  /** Also open to API tokens restricted to domains: the list shows only theirs. */
  narrowed?: true;
  /** Only removes things and calls no provider: allowed in a paused copy. */
  inCopy?: true;
}

export const ACCESS = 'zoneward:access';
export const AUDITED = 'zoneward:audited';

/** Declares who may call a route. `@Access({})` = any authenticated caller. */
export const Access = (rule: AccessRule) => SetMetadata(ACCESS, rule);

export const FAILS = 'zoneward:fails';

/**
 * Declares the errors of a route beyond those implied by its access rule, body and path parameters. With
 * `secondFactor`, a success may be the request for a code.
 */
export const Fails = (...kinds: ErrorKind[]) => SetMetadata(FAILS, kinds);

export const LOCATION = 'zoneward:location';

/** What `@Makes` declares. */
export interface Made<T = unknown> {
  id: (made: T) => number | null;
  /** path of the collection; left out: that of the route */
  at?: string | undefined;
}

/**
 * Declares that a route creates something and sends its address in `Location`: the path of its collection followed by
 * the id taken from the answer; null: it was not stored.
 */
export const Makes = <T>(id: Made<T>['id'], at?: string) => SetMetadata(LOCATION, { id, at } satisfies Made<T>);

export const GOES_ON = 'zoneward:goes-on';

/**
 * Declares that a route may answer 202 with something that goes on, and sends in `Location` where to ask about it.
 * @param path from the answer and the parameters of the request's path; null: nowhere
 */
export const GoesOn = <T>(path: (answer: T, params: Record<string, string>) => string | null) =>
  SetMetadata(GOES_ON, path);

/** What is wrong with a JWT: it is none of ours, its time is over, or its session has ended. */
export type SessionFault = 'session_invalid' | 'session_expired' | 'session_ended';

/** Properties that the guard and the middleware add to a request. */
export interface ZoneRequest extends Request {
  caller: Caller;
  /** All but the right on the domain of the path is in order. */
  lacksDomain?: boolean;
  /** The domain loaded for a route with `domain` in its access rule. */
  domain?: unknown;
  /** What a ticket stands for, where one opened this request. */
  ticket?: unknown;
  /** Why the JWT of this request is not taken, where its signature is right. */
  sessionFault?: SessionFault;
  /** The audit action of a failure. */
  auditAction?: AuditAction | undefined;
}

const of = (context: ExecutionContext) => context.switchToHttp().getRequest<ZoneRequest>();

/** The caller of this request. */
export const Me = createParamDecorator((_: unknown, context: ExecutionContext) => of(context).caller);
/** The domain loaded by the guard. */
export const OnDomain = createParamDecorator((_: unknown, context: ExecutionContext) => of(context).domain);

/** The principal of a caller; only for routes that are not public. */
export function signedIn(caller: Caller): Principal {
  if (!caller.principal) throw new Error('a route that needs a principal was declared public');
  return caller.principal;
}
