import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hasScope, type Principal, Role, type Scope } from '../access/access.js';
import type { Maker } from '../access/maker.js';
import { type DomainAccess, WRITE } from '../domains/access-rights.js';
import { DomainPolicy, type OpenDomain } from '../domains/domain-policy.js';
import { Mailer } from '../notifications/mailer.service.js';
import { Notices } from '../notifications/notices.service.js';
import { now } from '../platform/common/clock.js';
import { SettingsService } from '../settings/settings.service.js';
import { userPrincipal } from '../users/user-principal.js';
import { UsersRepository } from '../users/users.repository.js';
import { ApiTokensRepository } from './api-tokens.repository.js';
import { tokenEnd, tokenPrincipal } from './token-access.js';

/** What is held because its maker lost the right, as the owner and the administrators are notified of it. */
export interface HeldThing {
  /** one line: what is held, why, and how to release it */
  text: string;
  domain?: string;
  /** user who is notified beside the administrators */
  owner: number | null;
  details?: Record<string, string | number | null>;
}

const NOBODY = 'nobody is known who made it';

/**
 * Background work runs with the right of its maker, judged when it runs, by the policy that judges requests. Networks
 * and second factors concern requests only, and are not checked here.
 */
@Injectable()
export class Makers {
  constructor(
    private readonly tokens: ApiTokensRepository,
    private readonly users: UsersRepository,
    private readonly policy: DomainPolicy,
    private readonly notices: Notices,
    private readonly mailer: Mailer,
    private readonly settings: SettingsService,
  ) {}

  /**
   * The principal of a maker, or the reason why there is none.
   * @param at scope of the integration in use; null: the API
   */
  async principal({ maker_id, maker_token_id }: Maker, at: Scope | null = null): Promise<Principal | string> {
    if (maker_id === null) return NOBODY;
    const user = await this.users.standing(maker_id);
    if (!user) return 'the user who made it was deleted';
    const { username, role, status } = user;
    if (status !== 1) return `the user ${username}, who made it, is disabled`;
    if (maker_token_id === null) return userPrincipal({ id: maker_id, username, role }, null);
    const row = await this.tokens.withCreator(maker_token_id);
    if (!row) return `the token of ${username}, by which it was made, was deleted`;
    const end = tokenEnd(row);
    return end ? `${end.reason} (“${row.name}” of ${username}, by which it was made)` : tokenPrincipal(row, at);
  }

  /**
   * The rights of a maker in each of these domains, where they still suffice.
   * @returns by domain; a text says why they do not
   */
  async inDomains(
    maker: Maker,
    ids: readonly number[],
    need: 'records' | 'write',
    scope: Scope,
  ): Promise<Map<number, string | { principal: Principal; access: DomainAccess }>> {
    const principal = await this.principal(maker, scope);
    if (typeof principal === 'string') return new Map(ids.map((id) => [id, principal]));
    const { token, username } = principal;
    if (!hasScope(token?.allowedServices ?? ['*'], scope))
      return new Map(ids.map((id) => [id, `the token “${token?.name}” of ${username} lacks the scope ${scope}`]));
    const levels = await this.policy.levels(principal, ids);
    return new Map(
      ids.map((id) => {
        const { level, hosts } = levels.get(id) ?? { level: 0, hosts: [] };
        const access = { level, hosts: level >= WRITE ? [] : hosts, rules: token?.rules ?? null };
        const { allowed } = this.policy.judgeDomain(principal, id, { id, access } as OpenDomain, need);
        return [id, allowed ? { principal, access } : `${username}, who made it, may not write the domain any more`];
      }),
    );
  }

  /** Why a maker may no longer do what needs an administrator; null: they may. */
  async noAdministrator(maker: Maker): Promise<string | null> {
    const principal = await this.principal(maker);
    if (typeof principal === 'string') return principal;
    return principal.role >= Role.Admin ? null : `${principal.username}, who made it, is no administrator any more`;
  }

  /**
   * Notifies the channels of `rights.ended`, and by mail the owner and all administrators, in the transaction that
   * holds something.
   */
  async tell(manager: EntityManager, { text, domain, owner, details }: HeldThing): Promise<void> {
    await this.notices.tell(manager, { event: 'rights.ended', text, domain, details });
    const { enabled, host } = await this.settings.read('smtp', manager);
    if (!enabled || !host) return;
    const readers = await this.users.readers(owner ?? 0, manager);
    const values = { event: 'rights.ended', text, domain: domain ?? '', time: now() };
    for (const { email, ...reader } of readers) await this.mailer.queue(manager, email, 'notice', reader, values);
  }
}
