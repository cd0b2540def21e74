import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/access.js';
import { makerOf } from '../access/maker.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { AuditService } from '../audit/audit.service.js';
import { now } from '../platform/common/clock.js';
import { withoutDeadline } from '../platform/common/deadline.js';
import { allOf, errors } from '../platform/common/errors.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { Db, isDuplicate } from '../platform/database/db.js';
import { type Held, Leases } from '../platform/database/leases.js';
import { underLocks } from '../providers/kit/http/deadline-context.js';
import { ProviderError } from '../providers/kit/http/errors.js';
import type { RemoteTunnel, TunnelApi } from '../providers/tunnels.js';
import { Cnames, type NamePlaces, namesIn, taken } from './cnames.service.js';
import { heldRules, hostnamesOf, readIngress } from './ingress.js';
import { LOCK_WAIT_MS, Settling, targetOf, tunnelLock } from './settling.service.js';
import type { TunnelCreated, TunnelInput } from './tunnel.dto.js';
import { nameTaken, tunnelState, tunnelView, wordsOf } from './tunnel-view.js';
import { type TunnelRow, TunnelsRepository } from './tunnels.repository.js';
import type { Without } from './unmanaged.js';

const NO_NAMES: NamePlaces = { zones: [], unmanaged: [] };

/** Makes tunnels completely or not at all, and adopts those that a provider has. */
@Injectable()
export class Creation {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly connections: ProviderConnections,
    private readonly repository: TunnelsRepository,
    private readonly cnames: Cnames,
    private readonly settling: Settling,
    private readonly audit: AuditService,
  ) {}

  /**
   * Makes a tunnel with its rules and CNAMEs, completely or not at all; one that the provider has is adopted as it is.
   * @throws AppError 400001, 404001, 409001; ProviderError
   */
  async create(me: Caller, input: TunnelInput): Promise<TunnelCreated> {
    const { definition, provider } = await this.connections.of(input.account_id);
    const cannot = () => {
      const words = say('{provider} accounts cannot hold tunnels', { provider: definition.label });
      if (!definition.capabilities.tunnels) throw errors.field('account_id', words, 'unsupported');
    };
    const [, ingress] = await allOf(cannot, () => readIngress(input.ingress ?? []));
    const api = provider.tunnels;
    const owner = await this.owner(api, input.cloudflare_account);
    const name = input.name.trim();
    const mark = randomUUID();
    const row: Omit<TunnelRow, 'id'> = {
      account_id: input.account_id,
      remote_account: owner,
      tunnel_id: null,
      target: null,
      mark,
      name,
      state: 'creating',
      forced: false,
      status: 'inactive',
      ingress,
      version: null,
      dns_managed: input.dns_managed ?? true,
      unmanaged: [],
      connections: [],
      unsettled: null,
      settle_after: null,
      last_error: null,
      hold_reason: null,
      created_at: now(),
      ...makerOf(me),
    };
    const locks = [tunnelLock(row), `tunnel-name|${owner}|${name}`];
    const work = async (held: Held, failed: (error: unknown) => void) => {
      const [there] = await api.list(owner, name);
      if (there) return this.adopt(me, api, row, there, input.ingress !== undefined);
      const places = row.dns_managed
        ? await this.cnames.find(row.account_id, hostnamesOf(ingress), { api, owner })
        : NO_NAMES;
      const conflicts = await this.cnames.conflicts(places, null);
      if (conflicts.length) throw taken(conflicts, ingress);
      this.cnames.assertOpen(places);
      return this.make(me, api, { ...row, unmanaged: places.unmanaged }, places, held, failed);
    };
    return this.settling.answered((failed) =>
      this.leases.hold(locks, LOCK_WAIT_MS, (held) => underLocks(held.heldUntil, () => work(held, failed))),
    );
  }

  private async make(
    me: Caller,
    api: TunnelApi,
    row: Omit<TunnelRow, 'id'>,
    places: NamePlaces,
    held: Held,
    failed: (error: unknown) => void,
  ): Promise<TunnelCreated> {
    const { remote_account: owner, name, ingress } = row;
    const id = await this.db.transaction((manager) => this.repository.add(row, manager));
    let there: string | null = null;
    try {
      const made = await api.create(owner, name, row.mark).catch(async (error: unknown) => {
        // without an answer the provider may have created it, or still do so
        const unclear = error instanceof ProviderError && error.mayHaveApplied;
        if (!unclear) await this.db.transaction((manager) => this.repository.delete(id, manager));
        throw error;
      });
      if (!made) {
        await this.db.transaction((manager) => this.repository.delete(id, manager));
        throw nameTaken(name);
      }
      const { id: tunnel_id, target, status } = made.tunnel;
      there = tunnel_id;
      await this.repository.update(id, { tunnel_id, target });
      const version = await api.configure(owner, tunnel_id, { ingress, rest: {} });
      const waiting = await this.cnames.make(me, places, target, row);
      const unmanaged = [...row.unmanaged, ...waiting];
      const after: TunnelRow = { ...row, id, tunnel_id, target, version, status, unmanaged, state: 'ready' };
      await this.db.transaction(async (manager) => {
        await held.confirm(manager);
        const kept = await this.repository.update(id, { state: 'ready', version, status, unmanaged }, manager);
        // it was deleted with its account
        if (!kept) throw errors.notFound('account');
        await this.audit.write(manager, me, {
          action: 'tunnel.create',
          target: targetOf(after),
          after: tunnelState(after),
        });
      });
      return { ...tunnelView(after), token: made.token, adopted: false };
    } catch (error) {
      failed(error);
      const gone = async () => there !== null && (await api.remove(owner, there));
      // the deadline of the request may be over; `Settling` completes what is left
      await withoutDeadline(() => this.undo(me, id, held, wordsOf(error), gone)).catch(() => undefined);
      throw error;
    }
  }

  /** Undoes what was made, as far as that is possible now. */
  private async undo(me: Caller, id: number, held: Held, why: string, gone: () => Promise<unknown>): Promise<unknown> {
    const left = await this.repository.find(id);
    // it was deleted here with its account, so nothing else would undo it at the provider
    if (!left) return gone();
    await this.repository.update(id, { last_error: why });
    return this.settling.undo(left, held, me, why);
  }

  /** Adopts a tunnel that the provider has, and changes nothing there. @throws AppError 409001 */
  private async adopt(
    me: Caller,
    api: TunnelApi,
    row: Omit<TunnelRow, 'id'>,
    remote: RemoteTunnel,
    withRules: boolean,
  ): Promise<TunnelCreated> {
    const { remote_account: owner, account_id, dns_managed } = row;
    const known = await this.repository.known(remote.id, remote.mark);
    if (known) throw nameTaken(remote.name, known);
    if (remote.local) throw errors.conflict('tunnel_rules_local', { name: remote.name });
    if (withRules) throw errors.conflict('tunnel_there', { name: remote.name });
    const { version, ingress: held } = await api.config(owner, remote.id);
    const ingress = heldRules(held);
    const connections = await api.connections(owner, remote.id);
    const places = await this.cnames.find(account_id, dns_managed ? hostnamesOf(ingress) : [], { api, owner });
    const missing = await this.cnames.missing(places, remote.target);
    const unmade = namesIn(missing).map((hostname): Without => [hostname, 'unmade']);
    const after: Omit<TunnelRow, 'id'> = {
      ...row,
      tunnel_id: remote.id,
      target: remote.target,
      state: 'ready',
      status: remote.status,
      ingress,
      version,
      unmanaged: [...places.unmanaged, ...unmade],
      connections,
      created_at: remote.createdAt ?? row.created_at,
    };
    const id = await this.db
      .transaction(async (manager) => {
        const id = await this.repository.add(after, manager);
        const state = { ...tunnelState({ ...after, id }), adopted: true };
        await this.audit.write(manager, me, {
          action: 'tunnel.create',
          target: targetOf({ ...after, id }),
          after: state,
        });
        return id;
      })
      .catch((error: unknown) => {
        throw isDuplicate(error) ? nameTaken(remote.name) : error;
      });
    return { ...tunnelView({ ...after, id }), token: null, adopted: true };
  }

  /** @throws AppError 400001 where there are several, and the request names none of them */
  private async owner(api: TunnelApi, wanted: string | null | undefined): Promise<string> {
    const owners = await api.owners();
    const [only, ...others] = owners;
    if (wanted && owners.some(({ id }) => id === wanted)) return wanted;
    if (only && !others.length && !wanted) return only.id;
    const values = owners.map(({ id }) => id);
    const named = owners.map(({ id, name }) => `${id} (${name})`).join(', ');
    const words: FieldText = owners.length
      ? say('must be one of {values}', { values: named })
      : 'is required: the credentials show no account there';
    throw errors.field('cloudflare_account', words, wanted ? 'choice' : 'required', { values });
  }
}
