import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Response } from 'express';
import {
  ACCESS,
  type AccessRule,
  AUDITED,
  type Principal,
  Role,
  type SessionFault,
  type TokenLimits,
  type ZoneRequest,
} from '../../access/access.js';
import { FRONT_DOORS, type FrontDoor } from '../../access/doors.js';
import { domainReference } from '../../dns/domain-reference.js';
import { DomainPolicy } from '../../domains/domain-policy.js';
import { timeMs } from '../../platform/common/clock.js';
import { AppError, errors } from '../../platform/common/errors.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { isForeign } from '../../platform/http/protocol.js';
import { hasOwnRules } from '../../tokens/rules/token-rules.js';
import { assertOpenedFor, dropSessionCookie } from '../sessions/session-cookie.js';
import { SigningKey } from '../sessions/signing-key.js';
import { Admission, assertScope } from './admission.service.js';
import { Proofs } from './proofs.js';
import { ApiTokenStrategy, credentialOf, isApiToken } from './strategies.js';
import { Tickets } from './tickets.service.js';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** paths of the controllers whose routes write to providers */
const AT_PROVIDERS = /^(accounts|domains|tunnels)\b/;

/** Throws our own errors instead of those of Passport. */
const own = <T>(error: unknown, principal: T | false, reason: SessionFault | 'no_token' | 'api_token_invalid'): T => {
  if (error) throw error;
  if (principal) return principal;
  throw errors.unauthenticated(reason);
};

class JwtGuard extends AuthGuard('jwt') {
  override handleRequest<T>(error: unknown, principal: T | false, _info: unknown, context: ExecutionContext): T {
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    return own(error, principal, credentialOf(request) ? (request.sessionFault ?? 'session_invalid') : 'no_token');
  }
}

class ApiTokenGuard extends AuthGuard('api-token') {
  override handleRequest<T>(error: unknown, principal: T | false): T {
    return own(error, principal, 'api_token_invalid');
  }
}

/** The guard of all routes: whether the service is ready, who the caller is, and whether they may, in which domain. */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly jwt = new JwtGuard();
  private readonly apiToken = new ApiTokenGuard();

  constructor(
    private readonly reflector: Reflector,
    private readonly policy: DomainPolicy,
    private readonly key: SigningKey,
    private readonly admission: Admission,
    private readonly tickets: Tickets,
    private readonly proofs: Proofs,
    private readonly tokens: ApiTokenStrategy,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    const rule = this.reflector.getAllAndOverride<AccessRule | undefined>(ACCESS, targets);
    request.auditAction = this.reflector.getAllAndOverride<ZoneRequest['auditAction']>(AUDITED, targets);
    if (rule?.beforeSetup) return true;
    await this.admission.assertReady();
    // those of foreign protocols may change by GET, too
    if (isForeign() || !READS.has(request.method)) this.assertMayChange(context.getClass(), rule);
    if (!rule) throw errors.forbidden('undeclared_route');
    if (rule.public) return true;

    const principal = await this.principalOf(context, rule, request);
    request.caller.principal = principal;
    if (principal.lacksSecondFactor && !rule.unproven) {
      throw errors.forbidden('second_factor_required', {}, { required: '2fa' });
    }
    const role = rule.role ?? Role.User;
    if (principal.role < role) throw errors.forbidden('insufficient_permission', {}, { required: `role:${role}` });
    if (principal.token) this.assertTokenMayCall(rule, principal.token);
    if (rule.domain) {
      request.lacksDomain = true;
      const { domain_id } = request.params as Record<string, string>;
      const domain = await this.policy.open(principal, domainReference(domain_id ?? ''), rule.domain);
      request.lacksDomain = false;
      request.domain = domain;
      // what is said of the request from here on, such as `Location`, has the id
      request.params.domain_id = String(domain.id);
    }
    return true;
  }

  /** Who the caller is, by what the route takes. @throws AppError 400001, 401001 */
  private principalOf(context: ExecutionContext, rule: AccessRule, request: ZoneRequest): Promise<Principal> {
    if (rule.tickets && request.query.ticket !== undefined) return this.takeTicket(request);
    return rule.proof ? this.byProof(rule.proof, request) : this.signIn(context, request);
  }

  /** Who the caller is, by an API token or a JWT, which the prefix tells. @throws AppError 401 */
  private async signIn(context: ExecutionContext, request: ZoneRequest): Promise<Principal> {
    const credential = credentialOf(request);
    const token = isApiToken(credential);
    // loaded here first: Passport would turn a failure to read the key (the database is down) into 401
    if (!token) await (credential ? this.key.of(credential) : this.key.get());
    // Passport sets request.user, or handleRequest throws
    try {
      await (token ? this.apiToken : this.jwt).canActivate(context);
    } catch (error) {
      const ended = error instanceof AppError && error.status === 401;
      if (ended) dropSessionCookie(request, context.switchToHttp().getResponse<Response>(), this.config);
      throw error;
    }
    const principal = request.user as Principal;
    assertOpenedFor(request, principal.userId);
    return principal;
  }

  /** Who the caller is, by what stands for an API token. @throws AppError 401001 */
  private async byProof(door: FrontDoor, request: ZoneRequest): Promise<Principal> {
    const id = await this.proofs.of(door)(request);
    const principal = id === null ? null : await this.tokens.ofId(id, request.caller.ip, FRONT_DOORS[door].scope);
    if (!principal) throw errors.unauthenticated('api_token_invalid');
    return principal;
  }

  /** Who the caller is, by a ticket in the query. @throws AppError 400001, 401001 */
  private async takeTicket(request: ZoneRequest): Promise<Principal> {
    const proof = await this.tickets.take(request, request.query.ticket);
    const principal = await this.tickets.judge(proof, request.caller.ip, true);
    if (!principal || ('exp' in proof && proof.exp * 1000 <= timeMs())) throw errors.unauthenticated('ticket_ended');
    request.ticket = proof;
    return principal;
  }

  /** @throws AppError 503001 when the schema is of another version, or a copy would write to providers */
  private assertMayChange(controller: object, rule: AccessRule | undefined): void {
    const path = String(Reflect.getMetadata(PATH_METADATA, controller));
    const toProviders = !rule?.inCopy && (isForeign() || AT_PROVIDERS.test(path));
    this.admission.assertMayChange(toProviders);
  }

  private assertTokenMayCall(rule: AccessRule, { allowedDomains, allowedServices, rules }: TokenLimits): void {
    if (rule.noTokens) throw errors.forbidden('login_required', {}, { required: 'login' });
    assertScope(allowedServices, rule.scope === undefined ? '*' : rule.scope);
    if ((allowedDomains || hasOwnRules(rules)) && !rule.domain && !rule.narrowed) {
      throw errors.forbidden(
        'token_narrowed',
        {},
        {
          required: '*',
        },
      );
    }
  }
}
