import { Injectable } from '@nestjs/common';
import { type Caller, type Principal, signedIn } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { SessionsRepository } from '../auth/sessions/sessions.repository.js';
import { Notices } from '../notifications/notices.service.js';
import { allOf, errors } from '../platform/common/errors.js';
import { assertUnchanged, same } from '../platform/common/read-only.js';
import { parseTime } from '../platform/common/validation.js';
import { say } from '../platform/common/words/field-text.js';
import { Db } from '../platform/database/db.js';
import type { Conditions } from '../platform/http/conditions.js';
import { UsersRepository } from '../users/users.repository.js';
import { ApiTokensRepository } from './api-tokens.repository.js';
import { assertRules } from './rule-checks.js';
import type { TokenView } from './token.dto.js';
import type { ApiToken } from './token.entity.js';
import { assertSomeRules, assertWindow, domainsIn, plainRules, TokenChecks } from './token-checks.service.js';
import { limitsOf, type TokenLimits, widenedFields } from './token-limits.js';
import type { TokenPatch } from './token-patch.dto.js';
import { assertSeen, tokenTarget, tokenView } from './token-view.js';
import { TokensService } from './tokens.service.js';

/** How often a change is judged anew because the token became another one meanwhile. */
const ATTEMPTS = 5;

interface Judged {
  after: TokenLimits;
  /** fields whose change lets the token do more */
  widened: string[];
}

/** Changes of tokens that need no new secret. */
@Injectable()
export class TokenChanges {
  constructor(
    private readonly db: Db,
    private readonly tokens: ApiTokensRepository,
    private readonly sessions: SessionsRepository,
    private readonly users: UsersRepository,
    private readonly checks: TokenChecks,
    private readonly owned: TokensService,
    private readonly notices: Notices,
    private readonly audit: AuditService,
  ) {}

  /**
   * Changes what is given. What lets the token do more asks what creating one asks: its domains are those that the
   * creator may grant, its rules within the limits of today, and the session is still there.
   * @throws AppError 400001, 401001, 404001 also for a token of another user, 409001, 412001
   */
  async update(caller: Caller, id: number, patch: TokenPatch, conditions: Conditions): Promise<TokenView> {
    const me = signedIn(caller);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const row = await this.tokens.own(id, me.userId);
      if (!row) throw errors.notFound('token');
      assertSeen(conditions, row);
      const judged = await this.judge(me, row, patch);
      if (same(judged.after, limitsOf(row))) {
        this.audit.notNeeded(caller);
        return tokenView(row);
      }
      const stored = await this.store(caller, row, judged);
      if (!stored) continue;
      if (await this.checks.allExist(stored.allowed_domains)) return tokenView(stored);
      // one was deleted after it was judged, and perhaps searched for before it was stored
      await this.owned.forgetGone();
      return this.owned.get(caller, id);
    }
    throw errors.conflict('busy');
  }

  /** What the token would be, where that is allowed. @throws AppError 400001, 409001 */
  private async judge(me: Principal, row: ApiToken, patch: TokenPatch): Promise<Judged> {
    const before = limitsOf(row);
    const after = patched(before, patch);
    const widened = widenedFields(before, after);
    const isNew = (known: readonly number[]) => (id: number) => widened.length > 0 || !known.includes(id);
    await allOf(
      () => assertUnchanged(patch, tokenView(row)),
      () => assertSomeRules(patch.rules),
      () => {
        if (widened.length || !same(before.rules, after.rules)) assertRules(after.rules ?? [], after.allowed_domains);
      },
      () => assertWindow(after.start_time, after.end_time),
      () => {
        if (after.max_role > me.role && after.max_role !== before.max_role)
          throw errors.field('max_role', say('must be at most your own role, {role}', { role: me.role }), 'range', {
            max: me.role,
          });
      },
      () => this.checks.assertGrantable(me, after.allowed_domains.filter(isNew(before.allowed_domains)), DOMAINS),
      () => this.checks.assertGrantable(me, domainsIn(after.rules).filter(isNew(domainsIn(before.rules))), 'rules'),
    );
    if (after.is_active && after.narrowed && !after.allowed_domains.length) throw errors.conflict('token_domains_gone');
    return { after, widened };
  }

  /** @returns null when the token is not any more what was judged */
  private store(caller: Caller, row: ApiToken, { after, widened }: Judged): Promise<ApiToken | null> {
    const { userId, sessionId, username } = signedIn(caller);
    return this.db.transaction(async (manager) => {
      if (widened.length) {
        await this.users.lock(userId, manager);
        // a session that ended meanwhile must not leave a wider token behind
        if (!(await this.sessions.exists(sessionId, manager))) throw errors.unauthenticated('session_ended_meanwhile');
      }
      const now = await this.tokens.lock(row.id, manager);
      if (!now) throw errors.notFound('token');
      if (!same(limitsOf(now), limitsOf(row))) return null;
      await this.tokens.update(row.id, after, manager);
      const stored = { ...now, ...after };
      if (widened.length)
        await this.notices.tell(manager, {
          event: 'token.widened',
          text: `${username} let the API token “${stored.name}” do more (${widened.join(', ')})`,
          details: { token_id: row.id, username, fields: widened.join(', ') },
        });
      await this.audit.write(manager, caller, {
        action: 'token.update',
        target: tokenTarget(stored),
        before: tokenView(now),
        after: tokenView(stored),
      });
      return stored;
    });
  }
}

const DOMAINS = 'allowed_domains';

const timeOf = (text: string | null) => (text === null ? null : parseTime(text));

/** The limits of a token with what a body gives of them. */
function patched(before: TokenLimits, patch: TokenPatch): TokenLimits {
  const after = { ...before };
  const { allowed_domains, allowed_services, allowed_cidrs, max_unused_days, rules, start_time, end_time } = patch;
  if (patch.name !== undefined) after.name = patch.name.trim();
  // the empty list of a token whose domains were all deleted stays that of none when it is sent back
  if (allowed_domains && !same(allowed_domains, before.allowed_domains)) {
    after.allowed_domains = allowed_domains;
    after.narrowed = allowed_domains.length > 0;
  }
  if (allowed_services) after.allowed_services = allowed_services;
  if (allowed_cidrs) after.allowed_cidrs = allowed_cidrs.length ? allowed_cidrs : null;
  if (max_unused_days !== undefined) after.max_unused_days = max_unused_days;
  if (rules !== undefined && !same(plainRules(rules), before.rules)) {
    after.rules = plainRules(rules);
    after.preset = null;
  }
  if (start_time !== undefined) after.start_time = timeOf(start_time);
  if (end_time !== undefined) after.end_time = timeOf(end_time);
  if (patch.max_role !== undefined) after.max_role = patch.max_role;
  if (patch.is_active !== undefined) after.is_active = patch.is_active;
  return after;
}
