import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { type Caller, hasScope, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import type { TsigKey } from '../../dns/tsig.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { assertUnchanged } from '../../platform/common/read-only.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { Db } from '../../platform/database/db.js';
import { mayConnect } from '../../platform/outbound/guard.js';
import { ApiTokensRepository } from '../../tokens/api-tokens.repository.js';
import { tokenPrincipal } from '../../tokens/token-access.js';
import type { TsigKeyCreated, TsigKeyInput, TsigKeyUpdate, TsigKeyView } from './rfc2136.dto.js';
import { addressOf, targetOf } from './targets.js';
import { type StoredKey, TsigKeysRepository } from './tsig-keys.repository.js';
import { type StoredSecondary, TsigSecondariesRepository } from './tsig-secondaries.repository.js';
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
    private readonly secondaries: TsigSecondariesRepository,
    private readonly audit: AuditService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** @throws AppError 404001 */
  async get(me: Caller, tokenId: number): Promise<TsigKeyView> {
    await this.own(me, tokenId);
    const row = await this.keys.ofToken(tokenId);
    if (!row) throw errors.notFound('tsig_key');
    return viewOf(row, await this.secondaries.ofToken(tokenId));
  }

  /**
   * Changes which name servers are told of changes.
   * @throws AppError 400001, 404001
   */
  async update(me: Caller, tokenId: number, patch: TsigKeyUpdate): Promise<TsigKeyView> {
    await this.own(me, tokenId);
    const targets = this.targetsIn(patch.notify);
    await this.db.transaction(async (manager) => {
      if (!(await this.tokens.lock(tokenId, manager))) throw errors.notFound('token');
      const row = await this.keys.ofToken(tokenId, manager);
      if (!row) throw errors.notFound('tsig_key');
      const before = await this.secondaries.ofToken(tokenId, manager);
      const view = viewOf(row, before);
      assertUnchanged(patch, view);
      const gone = before.filter(({ target }) => !targets.includes(target));
      const fresh = targets.filter((target) => !view.notify.includes(target));
      if (!gone.length && !fresh.length) return this.audit.notNeeded(me);
      for (const { id } of gone) await this.secondaries.delete(id, manager);
      for (const target of fresh) await this.secondaries.insert(tokenId, target, manager);
      const after = viewOf(row, await this.secondaries.ofToken(tokenId, manager));
      const target = { type: 'door', id: row.id, name: row.name };
      const notify = (of: TsigKeyView) => ({ notify: of.notify });
      await this.audit.write(manager, me, {
        ...{ action: 'door.key_update', target, before: notify(view), after: notify(after) },
      });
    });
    return this.get(me, tokenId);
  }

  /** @throws AppError 400001 */
  private targetsIn(notify: readonly string[]): string[] {
    const targets = notify.map((text, i) => {
      const target = targetOf(text);
      if (!target) throw errors.field(`notify.${i}`, 'must be a name or an address, with a port or without');
      const { host } = addressOf(target);
      if (isIP(host) && !mayConnect(host, this.config.outboundDeny, this.config.outboundAllow))
        throw errors.field(`notify.${i}`, 'Connections to this address are not allowed (outbound rules)');
      return target;
    });
    const twice = targets.findIndex((target, i) => targets.indexOf(target) < i);
    if (twice >= 0) throw errors.field(`notify.${twice}`, 'is named twice', 'duplicate');
    return targets;
  }

  /**
   * A key of one of the caller's tokens; the one before ends. Only this answer has its secret.
   * @throws AppError 400001, 403001 where the token could not use it, 404001
   */
  async create(me: Caller, tokenId: number, { algorithm = DEFAULT }: TsigKeyInput): Promise<TsigKeyCreated> {
    const { token } = tokenPrincipal(await this.own(me, tokenId), 'rfc2136');
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
      const secondaries = await this.secondaries.ofToken(tokenId, manager);
      const after = viewOf(stored, secondaries);
      const target = { type: 'door', id, name };
      const was = before && { before: viewOf(before, secondaries) };
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
      const secondaries = await this.secondaries.ofToken(tokenId, manager);
      for (const { id } of secondaries) await this.secondaries.delete(id, manager);
      const before = viewOf(row, secondaries);
      await this.audit.write(manager, me, { action: 'door.key_delete', target, before });
    });
  }

  /** The key of a name of a message; null: there is none. */
  async named(name: string): Promise<KeyOfToken | null> {
    return this.opened(await this.keys.byName(name));
  }

  /** null: it has none. */
  async ofToken(tokenId: number): Promise<KeyOfToken | null> {
    return this.opened(await this.keys.ofToken(tokenId));
  }

  private opened(row: StoredKey | undefined): KeyOfToken | null {
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

const viewOf = (
  { name, algorithm, created_at }: Omit<StoredKey, 'id'>,
  secondaries: readonly StoredSecondary[],
): TsigKeyView => ({
  ...{ name, algorithm, created_at },
  notify: secondaries.map(({ target }) => target),
  notified: secondaries.flatMap(({ target, told_at, zone, error }) =>
    told_at === null ? [] : [{ target, zone: zone as string, told_at, error }],
  ),
});
