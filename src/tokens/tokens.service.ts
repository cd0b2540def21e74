import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Caller, type Principal, signedIn } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { SessionsRepository } from '../auth/sessions/sessions.repository.js';
import { DomainsService } from '../domains/domains.service.js';
import { Notices } from '../notifications/notices.service.js';
import { now } from '../platform/common/clock.js';
import { allOf, errors } from '../platform/common/errors.js';
import { randomHex, sha256 } from '../platform/common/hash.js';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { parseTime } from '../platform/common/validation.js';
import { Db } from '../platform/database/db.js';
import { Events } from '../platform/events/events.js';
import type { Conditions } from '../platform/http/conditions.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { UsersRepository } from '../users/users.repository.js';
import { ApiTokensRepository } from './api-tokens.repository.js';
import { presetRules } from './presets.js';
import { assertRules } from './rule-checks.js';
import type { GrantableDomain, TokenCreated, TokenInput, TokenSelf, TokenUseView, TokenView } from './token.dto.js';
import type { ApiToken } from './token.entity.js';
import { assertSomeRules, assertWindow, domainsIn, plainRules, TokenChecks } from './token-checks.service.js';
import { TokenUses } from './token-uses.service.js';
import { assertSeen, tokenTarget, tokenView } from './token-view.js';

const MAX_PER_USER = 100;
/** ms between two searches for deleted domains */
const FORGET_MS = 3_600_000;
/** changes of a token whose domains were all deleted */
const NO_DOMAINS = { allowed_domains: [], is_active: false };

const freshToken = () => `svc_${randomHex(32)}`;

@Injectable()
export class TokensService implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly tokens: ApiTokensRepository,
    private readonly sessions: SessionsRepository,
    private readonly users: UsersRepository,
    private readonly domains: DomainsService,
    private readonly events: Events,
    private readonly jobs: Jobs,
    private readonly uses: TokenUses,
    private readonly checks: TokenChecks,
    private readonly notices: Notices,
    private readonly audit: AuditService,
  ) {}

  onModuleInit(): void {
    this.events.on('domains.removed', () => this.forgetGone());
    this.jobs.schedule('tokens.forget-domains', FORGET_MS, () => this.forgetGone());
  }

  /** The number of tokens of a user. */
  count(userId: number): Promise<number> {
    return this.tokens.count(userId);
  }

  /** A page of the caller's tokens, newest last unless sorted otherwise. @throws AppError 400001 */
  async list(me: Principal, query: PageQuery): Promise<{ total: number; list: TokenView[] }> {
    const { total, list } = await this.tokens.list(me.userId, query);
    return { total, list: list.map(tokenView) };
  }

  /** @throws AppError 404001, also for a token of another user */
  async get(caller: Caller, id: number): Promise<TokenView> {
    return tokenView(await this.own(caller, id));
  }

  /**
   * A new token with the creator's role. Only this answer has the plaintext.
   * @throws AppError 400001, 409001
   */
  async create(caller: Caller, input: TokenInput): Promise<TokenCreated> {
    const me = signedIn(caller);
    const start = input.start_time ? parseTime(input.start_time) : null;
    const end = input.end_time ? parseTime(input.end_time) : null;
    const allowed = input.allowed_domains ?? [];
    const [rules] = await allOf(
      () => this.rulesOf(me, input, allowed),
      () => assertWindow(start, end),
      () => this.checks.assertGrantable(me, allowed, 'allowed_domains'),
    );
    const token = freshToken();
    const row: Omit<ApiToken, 'id' | 'user'> = {
      user_id: me.userId,
      name: input.name.trim(),
      token_hash: sha256(token),
      narrowed: allowed.length > 0,
      allowed_domains: allowed,
      allowed_services: input.allowed_services ?? ['*'],
      allowed_cidrs: input.allowed_cidrs?.length ? input.allowed_cidrs : null,
      max_unused_days: input.max_unused_days ?? null,
      rules,
      preset: input.preset?.name ?? null,
      start_time: start,
      end_time: end,
      max_role: me.role,
      is_active: true,
      created_at: now(),
      last_used_at: null,
      last_used_network: null,
      previous_hash: null,
      previous_until: null,
      unused_told_at: null,
    };
    return this.db.transaction(async (manager) => {
      // parallel creations would all count before any of them inserts
      await this.users.lock(me.userId, manager);
      // a session that ended meanwhile must not leave a token behind
      if (!(await this.sessions.exists(me.sessionId, manager))) throw errors.unauthenticated('session_ended_meanwhile');
      if ((await this.tokens.count(me.userId, manager)) >= MAX_PER_USER) {
        throw errors.conflict('too_many_tokens', { max: MAX_PER_USER });
      }
      const created: ApiToken = { ...row, id: await this.tokens.insert(row, manager) };
      await this.notices.tell(manager, {
        event: 'token.created',
        text: `${me.username} made the API token “${created.name}”`,
        details: { token_id: created.id, username: me.username },
      });
      await this.audit.write(manager, caller, {
        action: 'token.create',
        target: tokenTarget(created),
        after: tokenView(created),
      });
      return { token, tokenData: tokenView(created) };
    });
  }

  /** @throws AppError 404001, 412001 */
  async remove(caller: Caller, id: number, conditions: Conditions): Promise<void> {
    await this.own(caller, id);
    await this.db.transaction(async (manager) => {
      const row = await this.tokens.lock(id, manager);
      if (!row) throw errors.notFound('token');
      assertSeen(conditions, row);
      await this.tokens.delete(id, manager);
      await this.audit.write(manager, caller, {
        action: 'token.delete',
        target: tokenTarget(row),
        before: tokenView(row),
      });
    });
  }

  /**
   * A new secret for the same token. The old one works for `overlapMinutes` more, so that clients can be switched
   * without a gap.
   * @throws AppError 404001
   */
  async rotate(caller: Caller, id: number, overlapMinutes: number): Promise<TokenCreated> {
    const row = await this.own(caller, id);
    const token = freshToken();
    const previous = overlapMinutes
      ? { previous_hash: row.token_hash, previous_until: now(overlapMinutes * 60_000) }
      : { previous_hash: null, previous_until: null };
    await this.db.transaction(async (manager) => {
      // of two concurrent rotations one wins, and the secret of the other is never returned
      const changes = { token_hash: sha256(token), ...previous };
      if (!(await this.tokens.replaceSecret(id, row.token_hash, changes, manager)))
        throw errors.conflict('token_rotated');
      await this.audit.write(manager, caller, {
        action: 'token.rotate',
        target: tokenTarget(row),
        after: { overlap_minutes: overlapMinutes, previous_until: previous.previous_until },
      });
    });
    return { token, tokenData: tokenView({ ...row, ...previous }) };
  }

  /** The uses of a token. @throws AppError 404001 */
  async usesOf(caller: Caller, id: number): Promise<TokenUseView[]> {
    await this.own(caller, id);
    return this.uses.of(id);
  }

  /** The token of this request. @throws AppError 403001 for a login */
  async self(caller: Caller): Promise<TokenSelf> {
    const { token, role, username } = signedIn(caller);
    if (!token) throw errors.forbidden('token_only');
    return { ...tokenView(await this.tokens.get(token.id)), role, username };
  }

  async setActive(caller: Caller, id: number, is_active: boolean): Promise<TokenView> {
    const row = await this.own(caller, id);
    if (is_active && row.narrowed && row.allowed_domains.length === 0) {
      throw errors.conflict('token_domains_gone');
    }
    await this.db.transaction(async (manager) => {
      await this.tokens.update(id, { is_active }, manager);
      await this.audit.write(manager, caller, {
        action: 'token.status',
        target: tokenTarget(row),
        before: tokenView(row),
        after: tokenView({ ...row, is_active }),
      });
    });
    return tokenView({ ...row, is_active });
  }

  /** A page of the domains that the caller may grant to a token. @throws AppError 400001 */
  async grantable(me: Principal, query: PageQuery): Promise<{ total: number; list: GrantableDomain[] }> {
    const { total, list } = await this.domains.list(me, query);
    return {
      total,
      list: list.map(({ id, name, account_name, permission }) => ({ id, name, account_name, permission })),
    };
  }

  /** @throws AppError 404001, for tokens of other users, too: ids reveal nothing */
  private async own(caller: Caller, id: number): Promise<ApiToken> {
    const row = await this.tokens.own(id, signedIn(caller).userId);
    if (!row) throw errors.notFound('token');
    return row;
  }

  /**
   * The rules of a new token, given or of a preset.
   * @throws AppError 400001 naming all that is wrong with them
   */
  private async rulesOf(me: Principal, { rules: given, preset }: TokenInput, allowed: number[]) {
    if (given && preset) throw errors.field('preset', 'stands for rules; send one of the two', 'conflict');
    assertSomeRules(given);
    const rules = preset ? presetRules(preset) : plainRules(given);
    await allOf(
      () => assertRules(rules ?? [], allowed),
      () => this.checks.assertGrantable(me, domainsIn(rules), 'rules'),
    );
    return rules;
  }

  /**
   * Removes deleted domains from the lists of tokens, and disables a token whose list becomes empty, since empty would
   * mean all. Runs after the deletion, since ids are never reused, and as a job that repeats what failed.
   */
  async forgetGone(): Promise<void> {
    const narrowed = await this.tokens.narrowed();
    const named = [...new Set(narrowed.flatMap((token) => token.allowed_domains))];
    const known = await this.domains.existing(named);
    const gone = new Set(named.filter((domain) => !known.has(domain)));
    const isGone = (domain: number) => gone.has(domain);
    for (const { id, allowed_domains } of narrowed) {
      if (!allowed_domains.some(isGone)) continue;
      await this.db.transaction(async (manager) => {
        const token = await this.tokens.lock(id, manager);
        // its list may have been changed since it was read, to domains that were not looked at here
        if (!token?.allowed_domains.some(isGone)) return;
        const left = token.allowed_domains.filter((domain) => !isGone(domain));
        await this.tokens.update(id, left.length ? { allowed_domains: left } : NO_DOMAINS, manager);
      });
    }
  }
}
