import { randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Caller, hasScope, signedIn, type ZoneRequest } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { Proofs } from '../../auth/guard/proofs.js';
import { Places } from '../../changes/edits/edit.js';
import { fullName, hostName } from '../../dns/names.js';
import { assertMay } from '../../domains/access-rights.js';
import { DomainPolicy } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { MAX_ID } from '../../platform/common/validation.js';
import { say } from '../../platform/common/words/field-text.js';
import { Db } from '../../platform/database/db.js';
import { RrsetsService } from '../../records/rrsets/rrsets.service.js';
import { SettingsService } from '../../settings/settings.service.js';
import { ApiTokensRepository } from '../../tokens/api-tokens.repository.js';
import { tokenPrincipal } from '../../tokens/token-access.js';
import { HookSecrets } from './hook-secrets.js';
import { type HookRow, HooksRepository } from './hooks.repository.js';
import type { Delivered, DeliveryInput, HookCreated, HookInput, HookView } from './webhook.dto.js';
import { webhook } from './webhook.js';
import { bytesOf } from './webhook.protocol.js';

const MAX_PER_TOKEN = 100;

@Injectable()
export class HooksService implements OnModuleInit {
  /** by which hook a request came in */
  private readonly proven = new WeakMap<Caller, HookRow>();

  constructor(
    private readonly db: Db,
    private readonly hooks: HooksRepository,
    private readonly secrets: HookSecrets,
    private readonly tokens: ApiTokensRepository,
    private readonly policy: DomainPolicy,
    private readonly domains: DomainsService,
    private readonly places: Places,
    private readonly rrsets: RrsetsService,
    private readonly proofs: Proofs,
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
  ) {}

  onModuleInit(): void {
    this.proofs.register('webhook', (request) => this.tokenOf(request));
  }

  /** The hooks of one of the caller's tokens. @throws AppError 404001 */
  async list(me: Caller, tokenId: number): Promise<HookView[]> {
    await this.own(me, tokenId);
    const base = await this.settings.publicUrl();
    return (await this.hooks.ofToken(tokenId)).map((row) => viewOf(row, base));
  }

  /**
   * A hook of one of the caller's tokens. Only this answer has its secret.
   * @throws AppError 400001, 403001 where the token could not use it, 404001, 409001
   */
  async create(me: Caller, tokenId: number, input: HookInput): Promise<HookCreated> {
    const principal = tokenPrincipal(await this.own(me, tokenId), 'webhook');
    if (!hasScope(principal.token?.allowedServices ?? [], 'webhook'))
      throw errors.forbidden('scope_missing', { scope: 'webhook' }, { required: 'webhook' });
    const domain = await this.policy.open(principal, input.domain_id, 'records');
    const host = hostName(input.host, domain.name);
    const type = input.type.toUpperCase();
    const { definition, defaultTtl: ttl } = await this.places.of(domain);
    const { types: values } = definition.capabilities;
    if (!values.some((one) => one === type))
      throw errors.field('type', say('must be one of {values}', { values: values.join(', ') }), 'choice', { values });
    // what rules say of values can only be judged with one
    if (!domain.access.rules?.some((rule) => rule.values || rule.ttl))
      assertMay(domain.access, domain.id, 'create', { host, type, value: null, ttl });
    const secret = randomBytes(32).toString('hex');
    const base = await this.settings.publicUrl();
    const row = { token_id: tokenId, domain_id: domain.id, host, type, name: (input.name ?? '').trim() };
    return this.db.transaction(async (manager) => {
      // one after the other, and none for a token that is being deleted
      if (!(await this.tokens.lock(tokenId, manager))) throw errors.notFound('token');
      if ((await this.hooks.count(tokenId, manager)) >= MAX_PER_TOKEN)
        throw errors.conflict('too_many_hooks', { max: MAX_PER_TOKEN });
      const stored = { ...row, secret: this.secrets.seal(secret), created_at: now() };
      const id = await this.hooks.insert(stored, manager);
      const view = viewOf({ ...stored, id }, base);
      const target = targetOf({ ...row, id }, domain.name);
      await this.audit.write(manager, me, { action: 'door.hook_create', domain, target, after: view });
      return { ...view, secret };
    });
  }

  /** @throws AppError 404001 */
  async remove(me: Caller, tokenId: number, id: number): Promise<void> {
    await this.own(me, tokenId);
    const row = await this.hooks.find(id);
    if (row?.token_id !== tokenId) throw errors.notFound('hook');
    const base = await this.settings.publicUrl();
    const domain = await this.domains.reload(row.domain_id);
    await this.db.transaction(async (manager) => {
      if (!(await this.hooks.delete(id, manager))) throw errors.notFound('hook');
      const target = targetOf(row, domain.name);
      await this.audit.write(manager, me, { action: 'door.hook_delete', domain, target, before: viewOf(row, base) });
    });
  }

  /** Makes the set of the hook that the request came by what a delivery says. @throws AppError 400001, 403001, … */
  async deliver(me: Caller, { value, values }: DeliveryInput): Promise<Delivered> {
    const { domain_id, host, type } = this.proven.get(me) as HookRow;
    if (value !== undefined && values !== undefined)
      throw errors.field('values', 'goes with no "value"; send one of the two', 'conflict');
    const wanted = values ?? (value === undefined ? [] : [value]);
    if (!wanted.length) throw errors.field('value', 'must be given', 'required');
    const domain = await this.policy.open(signedIn(me), domain_id, 'records');
    const name = fullName(host, domain.name);
    me.asked = { name, domain };
    const input = { values: wanted.map((one) => ({ value: one })) };
    const { changed } = await this.rrsets.put(me, domain, { host, type, line: undefined }, input, {});
    return { name, type, values: wanted, changed };
  }

  /** The token of the hook of a path, where the body has its signature; null: it has not, or there is none. */
  private async tokenOf(request: ZoneRequest): Promise<number | null> {
    const { id } = request.params as { id: string };
    const row = /^\d{1,10}$/.test(id) && Number(id) <= MAX_ID ? await this.hooks.find(Number(id)) : null;
    const signature = request.get('x-hub-signature-256') ?? '';
    if (!row || !this.secrets.signs(row.secret, bytesOf(request), signature)) return null;
    this.proven.set(request.caller, row);
    return row.token_id;
  }

  /** @throws AppError 404001, for tokens of other users, too */
  private async own(me: Caller, tokenId: number) {
    const row = await this.tokens.ownWithCreator(tokenId, signedIn(me).userId);
    if (!row) throw errors.notFound('token');
    return row;
  }
}

function viewOf({ id, domain_id, host, type, name, created_at }: HookRow, base: string): HookView {
  return { id, url: `${base}${webhook.path}/${id}`, domain_id, host, type, name, created_at };
}

const targetOf = ({ id, host, type }: Pick<HookRow, 'id' | 'host' | 'type'>, zone: string) => ({
  type: 'door',
  id,
  name: `${host} ${type} ${zone}`,
});
