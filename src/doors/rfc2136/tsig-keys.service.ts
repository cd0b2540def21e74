import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, hasScope, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import type { TsigKey } from '../../dns/tsig.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { Db } from '../../platform/database/db.js';
import { ApiTokensRepository } from '../../tokens/api-tokens.repository.js';
import { tokenPrincipal } from '../../tokens/token-access.js';
import type { TsigKeyCreated, TsigKeyInput, TsigKeyView } from './rfc2136.dto.js';
import { type StoredKey, TsigKeysRepository } from './tsig-keys.repository.js';
import { TsigSecrets } from './tsig-secrets.js';

/** Octets of a secret, as many as its hash has (RFC 2104 section 3). */
const OCTETS: Record<string, number> = {
  'hmac-md5': 16,
  'hmac-sha1': 20,
  'hmac-sha224': 28,
  'hmac-sha384': 48,
  'hmac-sha512': 64,
};
const DEFAULT = 'hmac-sha256';

/** A key with the token that it stands for. */
export interface KeyOfToken extends TsigKey {
  tokenId: number;
}

/** The TSIG keys of tokens, one for each. */
@Injectable()
export class TsigKeysService {
  constructor(
    private readonly db: Db,
    private readonly keys: TsigKeysRepository,
    private readonly secrets: TsigSecrets,
    private readonly tokens: ApiTokensRepository,
    private readonly audit: AuditService,
  ) {}

  /** @throws AppError 404001 */
  async get(me: Caller, tokenId: number): Promise<TsigKeyView> {
    await this.own(me, tokenId);
    const row = await this.keys.ofToken(tokenId);
    if (!row) throw errors.notFound('tsig_key');
    return viewOf(row);
  }

  /**
   * A key of one of the caller's tokens; the one before ends. Only this answer has its secret.
   * @throws AppError 400001, 403001 where the token could not use it, 404001
   */
  async create(me: Caller, tokenId: number, { algorithm = DEFAULT }: TsigKeyInput): Promise<TsigKeyCreated> {
    const { token } = tokenPrincipal(await this.own(me, tokenId));
    if (!hasScope(token?.allowedServices ?? [], 'rfc2136'))
      throw errors.forbidden('scope_missing', { scope: 'rfc2136' }, { required: 'rfc2136' });
    const secret = randomBytes(OCTETS[algorithm] ?? 32).toString('base64');
    const name = `zoneward-${randomBytes(6).toString('hex')}`;
    const stored = { token_id: tokenId, name, algorithm, secret: this.secrets.seal(secret), created_at: now() };
    return this.db.transaction(async (manager) => {
      // one after the other, and none for a token that is being deleted
      if (!(await this.tokens.lock(tokenId, manager))) throw errors.notFound('token');
      const before = await this.keys.ofToken(tokenId, manager);
      if (before) await this.keys.delete(before.id, manager);
      const id = await this.keys.insert(stored, manager);
      const after = viewOf(stored);
      const target = { type: 'door', id, name };
      const was = before && { before: viewOf(before) };
      await this.audit.write(manager, me, { action: 'door.key_create', target, ...was, after });
      return { ...after, secret };
    });
  }

  /** @throws AppError 404001 */
  async remove(me: Caller, tokenId: number): Promise<void> {
    await this.own(me, tokenId);
    await this.db.transaction(async (manager) => {
      const row = await this.keys.ofToken(tokenId, manager);
      if (!row || !(await this.keys.delete(row.id, manager))) throw errors.notFound('tsig_key');
      const target = { type: 'door', id: row.id, name: row.name };
      await this.audit.write(manager, me, { action: 'door.key_delete', target, before: viewOf(row) });
    });
  }

  /** The key of a name of a message; null: there is none. */
  async named(name: string): Promise<KeyOfToken | null> {
    const row = await this.keys.byName(name);
    const secret = row && this.secrets.open(row.secret);
    return row && secret ? { name: row.name, algorithm: row.algorithm, secret, tokenId: row.token_id } : null;
  }

  /** @throws AppError 404001, for tokens of other users, too */
  private async own(me: Caller, tokenId: number) {
    const row = await this.tokens.ownWithCreator(tokenId, signedIn(me).userId);
    if (!row) throw errors.notFound('token');
    return row;
  }
}

const viewOf = ({ name, algorithm, created_at }: Omit<StoredKey, 'id'>): TsigKeyView => ({
  name,
  algorithm,
  created_at,
});
