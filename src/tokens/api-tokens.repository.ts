import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { Db } from '../platform/database/db.js';
import { listRows } from '../platform/database/lists.js';
import { HAS_FACTOR } from '../users/users.repository.js';
import { ApiToken } from './token.entity.js';

/** A token with its creator and the security settings, as one statement reads them. */
export interface TokenRow {
  id: number;
  user_id: number;
  name: string;
  narrowed: boolean | number;
  allowed_domains: string;
  allowed_services: string;
  allowed_cidrs: string | null;
  rules: string | null;
  max_unused_days: number | null;
  start_time: string | null;
  end_time: string | null;
  max_role: number;
  /** of the creator */
  language: string;
  is_active: boolean | number;
  created_at: string;
  last_used_at: string | null;
  username: string;
  role: number;
  status: number;
  /** the creator has an authenticator app or a passkey */
  has_factor: boolean | number;
  security: string | null;
}

/** SELECT of a `TokenRow`; a WHERE follows. */
const SELECT_TOKEN = `SELECT t.id, t.user_id, t.name, t.narrowed, t.allowed_domains, t.allowed_services,
    t.allowed_cidrs, t.rules, t.max_unused_days, t.start_time, t.end_time, t.max_role, t.is_active, t.created_at,
    t.last_used_at, u.username, u.language, u.role, u.status,
    ${HAS_FACTOR} AS has_factor,
    (SELECT content FROM settings WHERE name = 'security') AS security
  FROM api_tokens t JOIN users u ON u.id = t.user_id`;

const SORTS = { id: 'id', name: 'name', created_at: 'created_at', last_used_at: 'last_used_at' };

/** Valid at one time, not used since another, and not reported as unused since its last use. */
const UNUSED = `is_active AND COALESCE(last_used_at, created_at) < ?
  AND (unused_told_at IS NULL OR unused_told_at < last_used_at) AND (end_time IS NULL OR end_time > ?)`;

/** A row as SQL answers it. */
type RawToken = Omit<ApiToken, 'allowed_domains' | 'allowed_services' | 'allowed_cidrs' | 'rules' | 'is_active'> &
  Record<'allowed_domains' | 'allowed_services', string> &
  Record<'allowed_cidrs' | 'rules', string | null> & { is_active: boolean | number };

const parsed = (row: RawToken): ApiToken => ({
  ...row,
  allowed_domains: JSON.parse(row.allowed_domains),
  allowed_services: JSON.parse(row.allowed_services),
  allowed_cidrs: row.allowed_cidrs && JSON.parse(row.allowed_cidrs),
  rules: row.rules && JSON.parse(row.rules),
  is_active: Boolean(row.is_active),
});

/** The statements of the table `api_tokens`. */
@Injectable()
export class ApiTokensRepository {
  constructor(private readonly db: Db) {}

  /** The token of this secret, also of the one before its last rotation until that ends: once for each request. */
  bySecret(hash: string, at: string): Promise<TokenRow | undefined> {
    const sql = `${SELECT_TOKEN} WHERE t.token_hash = ? OR (t.previous_hash = ? AND t.previous_until > ?)`;
    return this.db.row(sql, [hash, hash, at]);
  }

  withCreator(id: number): Promise<TokenRow | undefined> {
    return this.db.row(`${SELECT_TOKEN} WHERE t.id = ?`, [id]);
  }

  /** A token of this very user. */
  ownWithCreator(id: number, userId: number): Promise<TokenRow | undefined> {
    return this.db.row(`${SELECT_TOKEN} WHERE t.id = ? AND t.user_id = ?`, [id, userId]);
  }

  get(id: number): Promise<ApiToken> {
    return this.db.source.manager.findOneByOrFail(ApiToken, { id });
  }

  /** A token of this very user. */
  own(id: number, userId: number): Promise<ApiToken | null> {
    return this.db.source.manager.findOneBy(ApiToken, { id, user_id: userId });
  }

  /** Locks and finds a token. */
  async lock(id: number, manager: EntityManager): Promise<ApiToken | null> {
    await this.db.lock(manager, 'api_tokens', { id });
    return manager.findOneBy(ApiToken, { id });
  }

  /** A page of the tokens of a user. @throws AppError 400001 for an unknown `sort` */
  async list(userId: number, query: PageQuery): Promise<{ total: number; list: ApiToken[] }> {
    const { total, list } = await listRows<RawToken>(this.db, query, {
      columns: '*',
      from: 'api_tokens',
      where: 'user_id = ?',
      values: [userId],
      sorts: SORTS,
      fallback: 'id',
      id: 'id',
      search: ['LOWER(name)'],
    });
    return { total, list: list.map(parsed) };
  }

  /** What others are shown of the tokens of a user. */
  async heldBy(userId: number, manager: EntityManager): Promise<Pick<ApiToken, 'id' | 'name' | 'is_active'>[]> {
    const rows = await manager.find(ApiToken, { where: { user_id: userId }, order: { id: 'ASC' } });
    return rows.map(({ id, name, is_active }) => ({ id, name, is_active }));
  }

  async count(userId: number, manager?: EntityManager): Promise<number> {
    const sql = 'SELECT COUNT(*) AS n FROM api_tokens WHERE user_id = ?';
    return Number((await this.db.row<{ n: number }>(sql, [userId], manager))?.n);
  }

  /** The tokens that are narrowed to domains. */
  narrowed(): Promise<Pick<ApiToken, 'id' | 'allowed_domains'>[]> {
    const columns = { id: true, allowed_domains: true };
    return this.db.source.manager.find(ApiToken, { select: columns, where: { narrowed: true } });
  }

  /** @returns the id of the new token */
  async insert(row: Omit<ApiToken, 'id' | 'user'>, manager: EntityManager): Promise<number> {
    const { identifiers } = await manager.insert(ApiToken, row);
    return Number(identifiers[0]?.id);
  }

  async update(id: number, changes: Partial<ApiToken>, manager: EntityManager): Promise<void> {
    await manager.update(ApiToken, { id }, changes);
  }

  /** Replaces a secret. @returns false when it is not `before` any more */
  async replaceSecret(
    id: number,
    before: string,
    changes: Pick<ApiToken, 'token_hash' | 'previous_hash' | 'previous_until'>,
    manager: EntityManager,
  ): Promise<boolean> {
    const { affected } = await manager.update(ApiToken, { id, token_hash: before }, changes);
    return Boolean(affected);
  }

  /** Stores when and where from a token was used last, where the database can write. */
  async touch(id: number, at: string, network: string): Promise<void> {
    await this.db.note('UPDATE api_tokens SET last_used_at = ?, last_used_network = ? WHERE id = ?', [at, network, id]);
  }

  async delete(id: number, manager: EntityManager): Promise<void> {
    await manager.delete(ApiToken, { id });
  }

  /** @returns how many */
  deleteAll(userId: number, manager: EntityManager): Promise<number> {
    return this.db.run('DELETE FROM api_tokens WHERE user_id = ?', [userId], manager);
  }

  /** The tokens that are valid at `at`, were not used since `since`, and were not reported since their last use. */
  unused(since: string, at: string): Promise<Pick<ApiToken, 'id' | 'user_id' | 'name' | 'last_used_at'>[]> {
    const sql = `SELECT id, user_id, name, last_used_at FROM api_tokens WHERE ${UNUSED} ORDER BY id`;
    return this.db.rows(sql, [since, at]);
  }

  /** Marks a token as reported. @returns false when it was used or reported meanwhile */
  async markReported(id: number, since: string, at: string, manager: EntityManager): Promise<boolean> {
    const sql = `UPDATE api_tokens SET unused_told_at = ? WHERE id = ? AND ${UNUSED}`;
    return (await this.db.run(sql, [at, id, since, at], manager)) > 0;
  }
}
