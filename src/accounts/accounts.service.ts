import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Principal, Role, signedIn } from '../access/access.js';
import { type Maker, makerOf } from '../access/maker.js';
import { AuditService } from '../audit/audit.service.js';
import { now, timeMs } from '../platform/common/clock.js';
import { allOf, errors, fieldErrorsOf } from '../platform/common/errors.js';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { assertUnchanged, same } from '../platform/common/read-only.js';
import { alsoJudge } from '../platform/common/validation.js';
import { type FieldError } from '../platform/common/words/codes.js';
import { Db } from '../platform/database/db.js';
import { Events } from '../platform/events/events.js';
import { providerOf } from '../providers/registry.js';
import { AccountInput, type AccountPatch, type AccountView } from './account.dto.js';
import type { DnsAccount } from './account.entity.js';
import { auditedCredentials, shownCredentials } from './credentials.js';
import { DeletionBlockers } from './deletion-blockers.service.js';
import { type AccountRow, DnsAccountsRepository, type UsableAccount } from './dns-accounts.repository.js';
import { DomainReadersRepository } from './domain-readers.repository.js';
import { pauseOf, shownPause } from './pauses.service.js';
import { ProviderConnections } from './provider-connections.js';

/** An account as its synchronisation knows it. */
export type SyncedAccount = Pick<DnsAccount, 'id' | 'name' | 'owner_id' | 'last_error'>;

@Injectable()
export class AccountsService implements OnModuleInit {
  private leaving: (caller: Caller, domainIds: readonly number[]) => Promise<void> = async () => {};
  constructor(
    private readonly db: Db,
    private readonly accounts: DnsAccountsRepository,
    private readonly readers: DomainReadersRepository,
    private readonly blockers: DeletionBlockers,
    private readonly connections: ProviderConnections,
    private readonly events: Events,
    private readonly audit: AuditService,
  ) {
    alsoJudge(AccountInput, (input) => this.problems(input));
  }

  onModuleInit(): void {
    this.events.on('database.opened', () => this.connections.nameServers());
  }

  count(): Promise<number> {
    return this.accounts.count();
  }

  async list(query: PageQuery): Promise<{ total: number; list: AccountView[] }> {
    const { total, list } = await this.accounts.list(query);
    return { total, list: list.map((row) => this.view(row)) };
  }

  async get(id: number): Promise<AccountView> {
    return this.view(await this.row(id));
  }

  /** The accounts that somebody may use, as `assertMayUse` has it. */
  usable(me: Principal): Promise<UsableAccount[]> {
    return this.accounts.usable(me.role < Role.Admin ? me.userId : null);
  }

  /** Ordinary users may use the accounts that one of their teams was given. @throws AppError 403001, 404001 */
  async assertMayUse(me: Principal, id: number): Promise<void> {
    const shared = await this.accounts.isSharedWith(id, me.userId);
    if (me.role < Role.Admin && !shared) throw errors.forbidden('insufficient_permission');
    if (shared === undefined) throw errors.notFound('account');
  }

  /** Stores an account after its credentials proved good at the provider. @throws AppError 400001, 500002 */
  async create(caller: Caller, input: AccountInput, check: boolean): Promise<AccountView> {
    const definition = this.connections.definition(input.provider);
    const [credentials, team_id] = await allOf(
      () => this.connections.read(definition, input.credentials),
      () => this.teamId(input.team_id),
    );
    if (check) await this.connections.connect(definition, credentials).provider.check();
    return this.db.transaction(async (manager) => {
      const row = {
        provider: definition.kind,
        name: input.name.trim(),
        remark: input.remark ?? '',
        credentials: this.connections.seal(credentials),
        server_key: this.connections.server(definition, credentials),
        owner_id: signedIn(caller).userId,
        team_id,
        sync_interval_minutes: input.sync_interval_minutes ?? 0,
        sync_next_at: null,
        ...makerOf(caller),
        hold_reason: null,
        last_sync_at: null,
        last_error: null,
        paused_until: null,
        pause_reason: null,
        created_at: now(),
        updated_at: now(),
      };
      const id = await this.accounts.add(row, manager);
      const after = this.view({ ...row, id, domains_count: 0 });
      await this.audit.write(manager, caller, { action: 'account.create', target: target(after), after });
      return after;
    });
  }

  /** What is wrong with the provider or the credentials of a new account, as far as they are given. */
  private problems({ provider, credentials }: Partial<AccountInput>): FieldError[] {
    try {
      const definition = provider === undefined ? null : this.connections.definition(provider);
      if (definition && credentials) this.connections.read(definition, credentials);
      return [];
    } catch (error) {
      return fieldErrorsOf(error);
    }
  }

  /** Changes what is given; changed credentials are tried first. @throws AppError 400001, 404001, 500002 */
  async update(caller: Caller, id: number, patch: AccountPatch, check: boolean): Promise<AccountView> {
    const row = await this.row(id);
    const before = this.view(row);
    const definition = this.connections.definition(row.provider);
    const stored = this.connections.open(row.credentials);
    // the pause that the client was shown may be over by now
    const isShown = (patch as Partial<AccountView>).paused_until === row.paused_until;
    const shown = isShown ? { ...before, ...pauseOf(row) } : before;
    const [, credentials, team_id] = await allOf(
      () => assertUnchanged(patch, shown),
      () => (patch.credentials ? this.connections.read(definition, patch.credentials, stored) : stored),
      () => this.teamId(patch.team_id),
    );
    const changes: Partial<DnsAccount> = {};
    if (patch.name !== undefined && patch.name !== null) changes.name = patch.name.trim();
    if (patch.remark !== undefined) changes.remark = patch.remark ?? '';
    if (patch.team_id !== undefined) changes.team_id = team_id;
    const minutes = patch.sync_interval_minutes ?? row.sync_interval_minutes;
    if (minutes !== row.sync_interval_minutes)
      Object.assign(changes, { sync_interval_minutes: minutes, sync_next_at: null, ...makerOf(caller) });
    // a change of one on hold confirms it
    if (row.hold_reason !== null) Object.assign(changes, { hold_reason: null, ...makerOf(caller) });
    // credentials that were dropped are stored again once they are sent, even empty
    if (!same(credentials, stored) || (patch.credentials && !row.credentials)) {
      if (check) await this.connections.connect(definition, credentials).provider.check();
      changes.credentials = this.connections.seal(credentials);
      changes.server_key = this.connections.server(definition, credentials);
      // the pause was for the former credentials
      Object.assign(changes, { paused_until: null, pause_reason: null });
    }
    if (same(row, { ...row, ...changes })) {
      this.audit.notNeeded(caller);
      return before;
    }
    changes.updated_at = now();
    await this.db.transaction(async (manager) => {
      // on another server its domains are no longer the same zones
      if (changes.server_key !== undefined && changes.server_key !== row.server_key)
        await this.blockers.assertNothingInFlight('account_id', id, false, manager);
      await this.accounts.update(id, changes, manager);
      const view = this.view({ ...row, ...changes });
      const after = { ...view, credentials: auditedCredentials(definition, credentials, stored) };
      await this.audit.write(manager, caller, { action: 'account.update', target: target(view), before, after });
    });
    return this.get(id);
  }

  /** What has to be done before the domains of an account are deleted with it. */
  onLeaving(leaving: AccountsService['leaving']): void {
    this.leaving = leaving;
  }

  /**
   * Deletes an account, and with `force` its domains and tunnels; nothing happens at the provider.
   * @throws AppError 409001
   */
  async remove(caller: Caller, id: number, force: boolean): Promise<void> {
    const before = await this.get(id);
    if (force) {
      const leaving = await this.db.transaction((manager) => this.readers.ofAccount(id, manager));
      await this.leaving(caller, [...leaving.keys()]);
    }
    const removed = await this.db.transaction(async (manager) => {
      const domains = await this.readers.ofAccount(id, manager);
      const tunnels = await this.accounts.tunnelsCount(id, manager);
      if ((domains.size || tunnels) && !force) {
        throw errors.conflict('needs_force', { domains: domains.size, tunnels });
      }
      await this.blockers.assertNothingInFlight('account_id', id, force, manager);
      await this.accounts.delete(id, manager);
      await this.audit.write(manager, caller, { action: 'account.delete', target: target(before), before });
      return domains;
    });
    this.connections.forget(id);
    if (removed.size) await this.events.emit('domains.removed', removed);
  }

  /** Ends the pause of an account, at all replicas. @throws AppError 404001 */
  async resume(caller: Caller, id: number): Promise<AccountView> {
    const { paused_until, pause_reason, ...account } = await this.get(id);
    const before = { paused_until, pause_reason };
    const after = { paused_until: null, pause_reason: null };
    await this.db.transaction(async (manager) => {
      await this.accounts.update(id, after, manager);
      await this.audit.write(manager, caller, { action: 'account.resume', target: target(account), before, after });
    });
    this.connections.resumed(id);
    return this.get(id);
  }

  /** What a synchronisation needs. @throws AppError 404001 */
  async toSync(id: number): Promise<SyncedAccount> {
    const { name, owner_id, last_error } = await this.row(id);
    return { id, name, owner_id, last_error };
  }

  /** Accounts whose next synchronisation is due, with who set the interval. */
  async dueForSync(): Promise<(Maker & Pick<DnsAccount, 'id' | 'owner_id'>)[]> {
    const due = await this.accounts.dueForSync(now());
    return due.map((row) => ({ ...row, maker_id: row.maker_id ?? row.owner_id }));
  }

  /** The owner of each account, by the account's id. */
  owners(): Promise<Map<number, number | null>> {
    return this.accounts.owners();
  }

  /** It is not synchronised by interval any more, until somebody confirms it. @returns false when it was on hold */
  hold(manager: EntityManager, id: number, reason: string): Promise<boolean> {
    return this.accounts.hold(id, reason, manager);
  }

  /** Whoever asks for a synchronisation of one on hold confirms that it goes on by interval. */
  confirm(id: number, maker: Maker): Promise<void> {
    return this.accounts.release(id, maker);
  }

  /** The synchronisation that was due will be done; the next one comes after the account's interval. */
  async syncPlanned(id: number): Promise<void> {
    const minutes = await this.accounts.syncInterval(id);
    await this.accounts.planSync(id, nextSync(id, minutes * 60_000, timeMs()));
  }

  /** A synchronisation came to its end. @param error what went wrong on the way */
  async synced(manager: EntityManager, id: number, error: string | null): Promise<void> {
    await this.accounts.update(id, { last_sync_at: now(), last_error: error }, manager);
  }

  /** A synchronisation changed nothing. */
  async syncFailed(manager: EntityManager, id: number, error: string): Promise<void> {
    await this.accounts.setError(id, error, manager);
  }

  private async row(id: number): Promise<AccountRow> {
    const row = await this.accounts.find(id);
    if (!row) throw errors.notFound('account');
    return row;
  }

  private async teamId(id: number | null | undefined): Promise<number | null> {
    if (id === null || id === undefined) return null;
    if (!(await this.accounts.teamExists(id))) throw errors.field('team_id', 'is no team');
    return id;
  }

  private view(row: AccountRow): AccountView {
    const definition = providerOf(row.provider);
    return {
      id: row.id,
      provider: row.provider,
      name: row.name,
      remark: row.remark,
      owner_id: row.owner_id,
      team_id: row.team_id,
      credentials: shownCredentials(definition, this.connections.open(row.credentials)),
      domains_count: Number(row.domains_count),
      sync_interval_minutes: row.sync_interval_minutes,
      last_sync_at: row.last_sync_at,
      last_error: row.last_error,
      hold_reason: row.hold_reason,
      ...shownPause(row),
      created_at: row.created_at,
    };
  }
}

const target = (account: Pick<AccountView, 'id' | 'name'>) => ({ type: 'account', id: account.id, name: account.name });

/** Multiples of it, taken modulo 1, are far apart: the golden ratio. */
const APART = 0.618033988749895;

/**
 * When an account is synchronised next, half an interval from now at the earliest. Each one has a moment of its own in
 * the interval, so that those that were added together, or have waited together for a start, are spread over it.
 * @param interval ms; 0: it is not any more
 */
export function nextSync(id: number, interval: number, at: number): string {
  const moment = ((id * APART) % 1) * interval;
  const rounds = interval && Math.ceil((at + interval / 2 - moment) / interval);
  return new Date(interval ? rounds * interval + moment : at).toISOString();
}
