import { Injectable } from '@nestjs/common';
import { type Caller, hasScope, type Principal, type Role, signedIn } from '../access/access.js';
import { scopesAllow } from '../access/scopes.js';
import { hostName } from '../dns/names.js';
import { dnsRecord } from '../dns/record.js';
import { denied, judgeRecord, type Verdict } from '../domains/access-rights.js';
import { DomainPolicy, idOf, type OpenDomain } from '../domains/domain-policy.js';
import { errors } from '../platform/common/errors.js';
import { said } from '../platform/common/words/reasons.js';
import { SettingsService } from '../settings/settings.service.js';
import { userPrincipal } from '../users/user-principal.js';
import { UsersRepository } from '../users/users.repository.js';
import { ApiTokensRepository } from './api-tokens.repository.js';
import { GrantsRepository } from './grants.repository.js';
import type { RecordState } from './rules/token-rules.js';
import type { ExplainInput, Explanation } from './token.dto.js';
import { judgeToken, lacksFactor, tokenPrincipal } from './token-access.js';

/** The scope that a route for this action demands. */
const scopeFor = (action: ExplainInput['action']) => (action === 'read' ? 'records:read' : 'records:write');

/** Explains rights with the functions that decide requests, in the same order. */
@Injectable()
export class ExplainService {
  constructor(
    private readonly tokens: ApiTokensRepository,
    private readonly grants: GrantsRepository,
    private readonly users: UsersRepository,
    private readonly policy: DomainPolicy,
    private readonly settings: SettingsService,
  ) {}

  /** @throws AppError 400001 no such record, 404001 not the caller's own token */
  async ofToken(caller: Caller, id: number, question: ExplainInput): Promise<Explanation> {
    const row = await this.tokens.ownWithCreator(id, signedIn(caller).userId);
    if (!row) throw errors.notFound('token');
    const usable = judgeToken(row, question.ip ?? caller.ip);
    if (!usable.allowed) return usable;
    const principal = tokenPrincipal(row);
    const scope = scopeFor(question.action);
    const scopes = principal.token?.allowedServices ?? [];
    if (!scopesAllow(scopes, question.action))
      return { allowed: false, reason: `The token lacks the scope ${scope}`, rule: null, source: 'scope' };
    const domain = await this.policy.look(principal, question.domain_id);
    const verdict = await this.inDomain(principal, domain, question);
    if (!verdict.allowed || hasScope(scopes, scope)) return verdict;
    const where = scopes.filter((name) => scopesAllow([name], question.action)).join(', ');
    return { ...verdict, reason: `${verdict.reason}; without ${scope} only at the integrations of: ${where}` };
  }

  /** What a user may do when signed in. @throws AppError 400001, 404001 */
  async ofUser(id: number, question: ExplainInput): Promise<Explanation> {
    const user = await this.users.standingWithFactor(id);
    if (!user) throw errors.notFound('user');
    const { username, role } = user;
    if (user.status !== 1) return { allowed: false, reason: 'The user is disabled', rule: null, source: 'creator' };
    if (lacksFactor(user, await this.settings.securityFor(role)) && !(await this.provesElsewhere(id)))
      return {
        allowed: false,
        reason: 'The user must have a second factor and has none',
        rule: null,
        source: 'creator',
      };
    const me = userPrincipal({ id, username, role }, null);
    const domain = await this.policy.look(me, question.domain_id);
    const verdict = await this.inDomain(me, domain, question);
    const grants = await this.wordsOf(id, role, idOf(domain, question.domain_id));
    return { ...verdict, reason: `${verdict.reason} (${grants})` };
  }

  /** Whether a sign-in at a provider counts as the second factor of a user. */
  private async provesElsewhere(userId: number): Promise<boolean> {
    const trusted = (await this.settings.offeredProviders()).filter((provider) => provider.trusted_2fa);
    const bound = await this.grants.signInProviders(userId);
    return trusted.some(({ key }) => bound.includes(key));
  }

  private async inDomain(me: Principal, domain: OpenDomain | null, question: ExplainInput): Promise<Verdict> {
    const { action } = question;
    const domain_id = idOf(domain, question.domain_id);
    const opened = this.policy.judgeDomain(me, domain_id, domain, action === 'read' ? 'read' : 'records');
    if (!opened.allowed || !domain) return opened;
    const state = await this.state(question, domain);
    const verdict = judgeRecord(domain.access, domain_id, action, state);
    if (!verdict.allowed || !me.token || scopesAllow(me.token.allowedServices, action, state)) return verdict;
    return denied('scope', said('no_scope_allows', { action, type: state.type, host: state.host }));
  }

  /** The question's record in canonical form. @throws AppError 400001 */
  private async state({ host, type, value, ttl: given }: ExplainInput, { name }: OpenDomain): Promise<RecordState> {
    const ttl = given ?? (await this.settings.read('general')).default_ttl;
    if (typeof value !== 'string') return { host: hostName(host, name), type: type.toUpperCase(), value: null, ttl };
    return dnsRecord({ host, type, value, ttl }, name);
  }

  /** What gives a user rights on a domain, in words. */
  private async wordsOf(userId: number, role: Role, domainId: number): Promise<string> {
    if (role > 1) return 'administrator: everything';
    const owned = await this.grants.isOwner(userId, domainId);
    const teams = await this.grants.ofTeams(userId, domainId);
    const words = teams.map((t) => `team ${t.name}: ${t.permission}${t.host ? ` under ${t.host}` : ''}`);
    return [...(owned ? ['owner of the domain'] : []), ...words].join(', ') || 'no grant';
  }
}
