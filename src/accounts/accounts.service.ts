import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { AuditService } from '../audit/audit.service.js';
import { type Caller, signedIn } from '../common/access.js';
import { now } from '../common/clock.js';
import { allOf, errors, type FieldError, fieldErrorsOf } from '../common/errors.js';
import { type Maker, makerOf } from '../common/maker.js';
import type { PageQuery } from '../common/paging.dto.js';
import { assertUnchanged, same } from '../common/read-only.js';
import { alsoJudge } from '../common/validation.js';
import { Db } from '../database/db.js';
import { listRows } from '../database/lists.js';
import { Events } from '../events/events.js';
import { providerOf } from '../providers/registry.js';
import { AccountInput, type AccountPatch, type AccountView } from './account.dto.js';
import { DnsAccount } from './account.entity.js';
import { auditedCredentials, readCredentials, shownCredentials } from './credentials.js';
import { readersOf } from './domain-readers.js';
import { assertNothingInFlight } from './in-flight.js';
import { pauseOf, shownPause } from './pauses.service.js';
import { ProviderConnections } from './provider-connections.js';

/** An account as its synchronisation knows it. */
export type SyncedAccount = Pick<DnsAccount, 'id' | 'name' | 'owner_id' | 'last_error'>;

type Row = DnsAccount & { domains_count: number | string };

const COLUMNS = 'a.*, (SELECT COUNT(*) FROM domains d WHERE d.account_id = a.id) AS domains_count';

@Injectable()
export class AccountsService implements OnModuleInit {
  private leaving: (caller: Caller, domainIds: readonly number[]) => Promise<void> = async () => {};
  constructor(
    @InjectRepository(DnsAccount) private readonly accounts: Repository<DnsAccount>,
    private readonly db: Db,
    private readonly connections: ProviderConnections,
    private readonly events: Events,
    private readonly audit: AuditService,
  ) {
    alsoJudge(AccountInput, (input) => this.problems(input));
  }

  onModuleInit(): void {
    this.events.on('database.opened', () => this.connections.nameServers());
  }

  async count(): Promise<number> {
    return Number((await this.db.row<{ n: number }>('SELECT COUNT(*) AS n FROM dns_accounts'))?.n);
  }

  async list(query: PageQuery): Promise<{ total: number; list: AccountView[] }> {
    const { total, list } = await listRows<Row>(this.db, query, {
      columns: COLUMNS,
      from: 'dns_accounts a',
      where: '1 = 1',
      values: [],
      sorts: { id: 'a.id', name: 'a.name', provider: 'a.provider', created_at: 'a.created_at' },
      fallback: 'id',
      id: 'a.id',
      search: ['LOWER(a.name)'],
    });
    return { total, list: list.map((row) => this.view(row)) };
  }

  async get(id: number): Promise<AccountView> {
    const row = await this.db.row<Row>(`SELECT ${COLUMNS} FROM dns_accounts a WHERE a.id = ?`, [id]);
    if (!row) throw errors.notFound('Account');
    return this.view(row);
  }

  /** Stores an account after its credentials proved good at the provider. @throws AppError 400001, 500002 */
  async create(caller: Caller, input: AccountInput, check: boolean): Promise<AccountView> {
    const definition = this.connections.definition(input.provider);
    const [credentials, team_id] = await allOf(
      () => readCredentials(definition, input.credentials),
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
      const inserted = await manager.insert(DnsAccount, row);
      const id = Number(inserted.identifiers[0]?.id);
      const after = this.view({ ...row, id, domains_count: 0 } as Row);
      await this.audit.write(manager, caller, { action: 'account.create', target: target(after), after });
      return after;
    });
  }

  /** What is wrong with the provider or the credentials of a new account, as far as they are given. */
  private problems({ provider, credentials }: Partial<AccountInput>): FieldError[] {
    try {
      const definition = provider === undefined ? null : this.connections.definition(provider);
      if (definition && credentials) readCredentials(definition, credentials);
      return [];
    } catch (error) {
      return fieldErrorsOf(error);
    }
  }

  /** Changes what is given; changed credentials are tried first. @throws AppError 400001, 404001, 500002 */
  async update(caller: Caller, id: number, patch: AccountPatch, check: boolean): Promise<AccountView> {
    const row = await this.accounts.findOneBy({ id });
    if (!row) throw errors.notFound('Account');
    const before = await this.get(id);
    const definition = this.connections.definition(row.provider);
    const stored = this.connections.open(row.credentials);
    // a pause that was shown may be over by now
    const isShown = (patch as Partial<AccountView>).paused_until === row.paused_until;
    const shown = isShown ? { ...before, ...pauseOf(row) } : before;
    const [, credentials, team_id] = await allOf(
      () => assertUnchanged(patch, shown),
      () => (patch.credentials ? readCredentials(definition, patch.credentials, stored) : stored),
      () => this.teamId(patch.team_id),
    );
    const changes: Partial<DnsAccount> = {};
    if (patch.name !== undefined && patch.name !== null) changes.name = patch.name.trim();
    if (patch.remark !== undefined) changes.remark = patch.remark ?? '';
    if (patch.team_id !== undefined) changes.team_id = team_id;
    const minutes = patch.sync_interval_minutes ?? row.sync_interval_minutes;
    if (minutes !== row.sync_interval_minutes)
      Object.assign(changes, { sync_interval_minutes: minutes, sync_next_at: null, ...makerOf(caller) });
    // whoever changes a held one confirms it
    if (row.hold_reason !== null) Object.assign(changes, { hold_reason: null, ...makerOf(caller) });
    // dropped ones are there again once they are sent, though there be none
    if (!same(credentials, stored) || (patch.credentials && !row.credentials)) {
      if (check) await this.connections.connect(definition, credentials).provider.check();
      changes.credentials = this.connections.seal(credentials);
      changes.server_key = this.connections.server(definition, credentials);
      // the provider has paused the former ones
      Object.assign(changes, { paused_until: null, pause_reason: null });
    }
    if (same(row, { ...row, ...changes })) {
      this.audit.notNeeded(caller);
      return before;
    }
    changes.updated_at = now();
    await this.db.transaction(async (manager) => {
      // its domains would be none of their zones any more
      if (changes.server_key !== undefined && changes.server_key !== row.server_key)
        await assertNothingInFlight(this.db, manager, 'account_id', id, false);
      await manager.update(DnsAccount, { id }, changes);
      const view = this.view({ ...row, ...changes, domains_count: before.domains_count } as Row);
      const after = { ...view, credentials: auditedCredentials(definition, credentials, stored) };
      await this.audit.write(manager, caller, { action: 'account.update', target: target(view), before, after });
    });
    return this.get(id);
  }

  /** What has to be done before the domains of an account go with it. */
  onLeaving(leaving: AccountsService['leaving']): void {
    this.leaving = leaving;
  }

  /**
   * Forgets an account, and with `force` its domains and tunnels; nothing happens at the provider.
   * @throws AppError 409001
   */
  async remove(caller: Caller, id: number, force: boolean): Promise<void> {
    const before = await this.get(id);
    if (force) {
      const leaving = await this.db.transaction((manager) => readersOf(this.db, manager, 'account_id', id));
      await this.leaving(caller, [...leaving.keys()]);
    }
    const removed = await this.db.transaction(async (manager) => {
      const domains = await readersOf(this.db, manager, 'account_id', id);
      const sql = 'SELECT COUNT(*) AS n FROM tunnels WHERE account_id = ?';
      const tunnels = Number((await this.db.row<{ n: number | string }>(sql, [id], manager))?.n);
      const has = [domains.size && `${domains.size} domains`, tunnels && `${tunnels} tunnels`].filter(Boolean);
      if (has.length && !force) {
        throw errors.conflict(`The account has ${has.join(' and ')}; delete them first, or use ?force=true`);
      }
      await assertNothingInFlight(this.db, manager, 'account_id', id, force);
      await manager.delete(DnsAccount, { id });
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
      await manager.update(DnsAccount, { id }, after);
      await this.audit.write(manager, caller, { action: 'account.resume', target: target(account), before, after });
    });
    this.connections.resumed(id);
    return this.get(id);
  }

  /** What a synchronisation needs. @throws AppError 404001 */
  async toSync(id: number): Promise<SyncedAccount> {
    const account = await this.accounts.findOne({
      select: { id: true, name: true, owner_id: true, last_error: true },
      where: { id },
    });
    if (!account) throw errors.notFound('Account');
    return account;
  }

  /** Accounts whose next synchronisation is due, with who set the interval. */
  async dueForSync(): Promise<(Maker & Pick<DnsAccount, 'id' | 'owner_id'>)[]> {
    const rows = await this.db.rows<Maker & { id: number; owner_id: number | null }>(
      `SELECT id, owner_id, maker_id, maker_token_id FROM dns_accounts
        WHERE sync_interval_minutes > 0 AND (sync_next_at IS NULL OR sync_next_at <= ?) AND hold_reason IS NULL
        ORDER BY sync_next_at`,
      [now()],
    );
    return rows.map(({ id, owner_id, maker_id, maker_token_id }) => ({
      id,
      owner_id,
      maker_id: maker_id ?? owner_id,
      maker_token_id,
    }));
  }

  /** Whose the accounts are, by their ids. */
  async owners(): Promise<Map<number, number | null>> {
    const rows = await this.db.rows<Pick<DnsAccount, 'id' | 'owner_id'>>('SELECT id, owner_id FROM dns_accounts');
    return new Map(rows.map(({ id, owner_id }) => [id, owner_id]));
  }

  /** It is not synchronised by itself any more, until somebody confirms it. @returns false when that was known */
  async hold(manager: EntityManager, id: number, reason: string): Promise<boolean> {
    const sql = 'UPDATE dns_accounts SET hold_reason = ? WHERE id = ? AND hold_reason IS NULL';
    return (await this.db.run(sql, [reason, id], manager)) > 0;
  }

  /** Whoever asks for a synchronisation of a held one confirms that it goes on by itself. */
  async confirm(id: number, { maker_id, maker_token_id }: Maker): Promise<void> {
    await this.db.run(
      `UPDATE dns_accounts SET hold_reason = NULL, maker_id = ?, maker_token_id = ?
        WHERE id = ? AND hold_reason IS NOT NULL`,
      [maker_id, maker_token_id, id],
    );
  }

  /** The synchronisation that was due will be done; the next one comes after the account's interval. */
  async syncPlanned(id: number): Promise<void> {
    const row = await this.db.row<{ minutes: number }>(
      'SELECT sync_interval_minutes AS minutes FROM dns_accounts WHERE id = ?',
      [id],
    );
    const next = now(Number(row?.minutes ?? 0) * 60_000);
    await this.db.run('UPDATE dns_accounts SET sync_next_at = ? WHERE id = ?', [next, id]);
  }

  /** A synchronisation came to its end. @param error what went wrong on the way */
  async synced(manager: EntityManager, id: number, error: string | null): Promise<void> {
    await manager.update(DnsAccount, { id }, { last_sync_at: now(), last_error: error });
  }

  /** A synchronisation changed nothing. */
  async syncFailed(manager: EntityManager, id: number, error: string): Promise<void> {
    await this.db.run('UPDATE dns_accounts SET last_error = ? WHERE id = ?', [error, id], manager);
  }

  private async teamId(id: number | null | undefined): Promise<number | null> {
    if (id === null || id === undefined) return null;
    if (!(await this.db.row('SELECT id FROM teams WHERE id = ?', [id]))) throw errors.field('team_id', 'is no team');
    return id;
  }

  private view(row: Row): AccountView {
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
