import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { AuditService } from '../audit/audit.service.js';
import { type Caller, type Principal, Role, signedIn } from '../common/access.js';
import { now } from '../common/clock.js';
import { allOf, errors } from '../common/errors.js';
import { randomHex, sha256 } from '../common/hash.js';
import type { PageQuery } from '../common/paging.dto.js';
import type { TokenRule } from '../common/token-rules.js';
import { parseTime } from '../common/validation.js';
import { Db } from '../database/db.js';
import { listRows } from '../database/lists.js';
import { DomainsService } from '../domains/domains.service.js';
import { Events } from '../events/events.js';
import { Jobs } from '../jobs/jobs.js';
import { Notices } from '../notifications/notices.service.js';
import { UsersRepository } from '../users/users.repository.js';
import { presetRules } from './presets.js';
import { assertRules } from './rule-checks.js';
import type { GrantableDomain, TokenCreated, TokenInput, TokenSelf, TokenUseView, TokenView } from './token.dto.js';
import { ApiToken } from './token.entity.js';
import type { RuleInput } from './token-rule.dto.js';
import { TokenUses } from './token-uses.service.js';

const MAX_PER_USER = 100;
/** ms between two looks for domains that are gone */
const FORGET_MS = 3_600_000;
const SORTS = { id: 'id', name: 'name', created_at: 'created_at', last_used_at: 'last_used_at' };

/** A row as SQL answers it. */
type TokenListed = Omit<ApiToken, 'allowed_domains' | 'allowed_services' | 'allowed_cidrs' | 'rules' | 'is_active'> &
  Record<'allowed_domains' | 'allowed_services', string> &
  Record<'allowed_cidrs' | 'rules', string | null> & { is_active: boolean | number };

const unpacked = (row: TokenListed): ApiToken => ({
  ...row,
  allowed_domains: JSON.parse(row.allowed_domains),
  allowed_services: JSON.parse(row.allowed_services),
  allowed_cidrs: row.allowed_cidrs && JSON.parse(row.allowed_cidrs),
  rules: row.rules && JSON.parse(row.rules),
  is_active: Boolean(row.is_active),
});

const view = (t: ApiToken): TokenView => ({
  id: t.id,
  user_id: t.user_id,
  name: t.name,
  allowed_domains: t.allowed_domains,
  allowed_services: t.allowed_services,
  allowed_cidrs: t.allowed_cidrs ?? [],
  max_unused_days: t.max_unused_days,
  rules: t.rules,
  preset: t.preset,
  start_time: t.start_time,
  end_time: t.end_time,
  max_role: t.max_role,
  is_active: t.is_active,
  created_at: t.created_at,
  last_used_at: t.last_used_at,
  last_used_network: t.last_used_network,
  previous_until: t.previous_until && t.previous_until > now() ? t.previous_until : null,
});

const freshToken = () => `svc_${randomHex(32)}`;

/** Rules without the fields that were left out, or are null, as they are stored and shown. */
const plainRules = (rules: RuleInput[] | undefined): TokenRule[] | null =>
  rules ? JSON.parse(JSON.stringify(rules, (_key, value) => value ?? undefined)) : null;

const target = (t: ApiToken) => ({ type: 'token', id: t.id, name: t.name });

@Injectable()
export class TokensService implements OnModuleInit {
  constructor(
    @InjectRepository(ApiToken) private readonly tokens: Repository<ApiToken>,
    private readonly db: Db,
    private readonly users: UsersRepository,
    private readonly domains: DomainsService,
    private readonly events: Events,
    private readonly jobs: Jobs,
    private readonly uses: TokenUses,
    private readonly notices: Notices,
    private readonly audit: AuditService,
  ) {}

  onModuleInit(): void {
    this.events.on('domains.removed', () => this.forgetGone());
    this.jobs.schedule('tokens.forget-domains', FORGET_MS, () => this.forgetGone());
  }

  /** How many tokens somebody has. */
  async count(userId: number): Promise<number> {
    const row = await this.db.row<{ n: number }>('SELECT COUNT(*) AS n FROM api_tokens WHERE user_id = ?', [userId]);
    return Number(row?.n);
  }

  /** A page of the caller's tokens, newest last unless sorted otherwise. @throws AppError 400001 */
  async list(me: Principal, query: PageQuery): Promise<{ total: number; list: TokenView[] }> {
    const { total, list } = await listRows<TokenListed>(this.db, query, {
      columns: '*',
      from: 'api_tokens',
      where: 'user_id = ?',
      values: [me.userId],
      sorts: SORTS,
      fallback: 'id',
      id: 'id',
      search: ['LOWER(name)'],
    });
    return { total, list: list.map((row) => view(unpacked(row))) };
  }

  /**
   * A new token with the creator's role. The plaintext is in this answer and nowhere else.
   * @throws AppError 400001, 409001
   */
  async create(caller: Caller, input: TokenInput): Promise<TokenCreated> {
    const me = signedIn(caller);
    const start = input.start_time ? parseTime(input.start_time) : null;
    const end = input.end_time ? parseTime(input.end_time) : null;
    const allowed = input.allowed_domains ?? [];
    const [rules] = await allOf(
      () => this.rulesOf(me, input, allowed),
      () => {
        if (start && end && start >= end) throw errors.field('end_time', 'must be later than start_time', 'conflict');
      },
      () => this.assertGrantable(me, allowed, 'allowed_domains'),
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
      // a session that was ended meanwhile must leave nothing behind
      if (!(await this.db.row('SELECT id FROM sessions WHERE id = ?', [me.sessionId], manager)))
        throw errors.unauthenticated('Your session has ended; sign in again');
      if ((await manager.countBy(ApiToken, { user_id: me.userId })) >= MAX_PER_USER) {
        throw errors.conflict(`A user may have ${MAX_PER_USER} tokens; delete one first`);
      }
      const inserted = await manager.insert(ApiToken, row);
      const created = { ...row, id: Number(inserted.identifiers[0]?.id) } as ApiToken;
      await this.notices.tell(manager, {
        event: 'token.created',
        text: `${me.username} made the API token “${created.name}”`,
        details: { token_id: created.id, username: me.username },
      });
      await this.audit.write(manager, caller, {
        action: 'token.create',
        target: target(created),
        after: view(created),
      });
      return { token, tokenData: view(created) };
    });
  }

  async remove(caller: Caller, id: number): Promise<void> {
    const row = await this.own(caller, id);
    await this.db.transaction(async (manager) => {
      await manager.delete(ApiToken, { id });
      await this.audit.write(manager, caller, { action: 'token.delete', target: target(row), before: view(row) });
    });
  }

  /**
   * A new secret for the same token. The old one works for `overlapMinutes` more, so that a pipeline can be changed
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
      // of two rotations at once one wins, and the loser's secret is never given out
      const where = { id, token_hash: row.token_hash };
      const { affected } = await manager.update(ApiToken, where, { token_hash: sha256(token), ...previous });
      if (!affected) throw errors.conflict('The token was rotated just now');
      await this.audit.write(manager, caller, {
        action: 'token.rotate',
        target: target(row),
        after: { overlap_minutes: overlapMinutes, previous_until: previous.previous_until },
      });
    });
    return { token, tokenData: view({ ...row, ...previous }) };
  }

  /** How often a token was used. @throws AppError 404001 */
  async usesOf(caller: Caller, id: number): Promise<TokenUseView[]> {
    await this.own(caller, id);
    return this.uses.of(id);
  }

  /** The token of this very request. @throws AppError 403001 for a login */
  async self(caller: Caller): Promise<TokenSelf> {
    const { token, role, username } = signedIn(caller);
    if (!token) throw errors.forbidden('Only an API token can ask what it may do; GET /api/tokens lists yours');
    return { ...view(await this.tokens.findOneByOrFail({ id: token.id })), role, username };
  }

  async setActive(caller: Caller, id: number, is_active: boolean): Promise<TokenView> {
    const row = await this.own(caller, id);
    if (is_active && row.narrowed && row.allowed_domains.length === 0) {
      throw errors.conflict('All domains of this token were deleted; create a new token');
    }
    await this.db.transaction(async (manager) => {
      await manager.update(ApiToken, { id }, { is_active });
      await this.audit.write(manager, caller, {
        action: 'token.status',
        target: target(row),
        before: view(row),
        after: view({ ...row, is_active }),
      });
    });
    return view({ ...row, is_active });
  }

  /** Notes that a token is used. */
  async touch(id: number, network: string): Promise<void> {
    const sql = 'UPDATE api_tokens SET last_used_at = ?, last_used_network = ? WHERE id = ?';
    await this.db.note(sql, [now(), network, id]);
  }

  /** What somebody else is told of a user's tokens. */
  async heldBy(manager: EntityManager, userId: number): Promise<Pick<ApiToken, 'id' | 'name' | 'is_active'>[]> {
    const rows = await manager.find(ApiToken, { where: { user_id: userId }, order: { id: 'ASC' } });
    return rows.map(({ id, name, is_active }) => ({ id, name, is_active }));
  }

  /** Deletes all of a user. @returns how many */
  removeAll(manager: EntityManager, userId: number): Promise<number> {
    return this.db.run('DELETE FROM api_tokens WHERE user_id = ?', [userId], manager);
  }

  /** What the caller may grant to a token. @throws AppError 400001 */
  async grantable(me: Principal, query: PageQuery): Promise<{ total: number; list: GrantableDomain[] }> {
    const { total, list } = await this.domains.list(me, query);
    return {
      total,
      list: list.map(({ id, name, account_name, permission }) => ({ id, name, account_name, permission })),
    };
  }

  /** @throws AppError 404 for tokens of other users, too: their ids tell nothing */
  private async own(caller: Caller, id: number): Promise<ApiToken> {
    const row = await this.tokens.findOneBy({ id, user_id: signedIn(caller).userId });
    if (!row) throw errors.notFound('Token');
    return row;
  }

  /**
   * The rules that a new token gets, by themselves or by a preset.
   * @throws AppError 400001 naming all that is wrong with them
   */
  private async rulesOf(me: Principal, { rules: given, preset }: TokenInput, allowed: number[]) {
    if (given && preset) throw errors.field('preset', 'stands for rules; send one of the two', 'conflict');
    if (given?.length === 0)
      throw errors.field('rules', 'must not be empty: it would allow nothing; leave it out', 'length', { min: 1 });
    const rules = preset ? presetRules(preset) : plainRules(given);
    const named = [...new Set(rules?.flatMap((rule) => rule.domains ?? []))];
    await allOf(
      () => assertRules(rules ?? [], allowed),
      () => this.assertGrantable(me, named, 'rules'),
    );
    return rules;
  }

  private async assertGrantable(me: Principal, ids: number[], path: string): Promise<void> {
    if (!ids.length) return;
    const mine = await this.domains.readableIds(me, ids);
    const foreign = ids.filter((id) => !mine.has(id));
    if (foreign.length) {
      const words = me.role >= Role.Admin ? 'no domain has the id' : 'you have no access to the domain';
      throw errors.field(path, `${words} ${foreign.slice(0, 10).join(', ')}`);
    }
  }

  /**
   * Domains that are gone leave the lists of tokens; a list that becomes empty disables its token, since empty would
   * mean all. Until then a token holds ids of nothing, which never come again: so it is done after the removal, and
   * what failed, or a process that died left undone, is done by the job.
   */
  private async forgetGone(): Promise<void> {
    const narrowed = await this.tokens.find({ select: { id: true, allowed_domains: true }, where: { narrowed: true } });
    const named = [...new Set(narrowed.flatMap((token) => token.allowed_domains))];
    const known = await this.domains.existing(named);
    const stays = (domain: number) => known.has(domain);
    for (const { id, allowed_domains } of narrowed) {
      if (allowed_domains.every(stays)) continue;
      await this.db.transaction(async (manager) => {
        await this.db.lock(manager, 'api_tokens', { id });
        const token = await manager.findOneBy(ApiToken, { id });
        if (!token) return;
        const left = token.allowed_domains.filter(stays);
        await manager.update(ApiToken, { id }, { allowed_domains: left, ...(!left.length && { is_active: false }) });
      });
    }
  }
}
