import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { type Actor, type AuditEntry, AuditService } from '../audit/audit.service.js';
import { after, type Cancel, now, sleep, within } from '../platform/common/clock.js';
import { FairPool } from '../platform/common/fair-pool.js';
import { Logger } from '../platform/common/logger.js';
import { same } from '../platform/common/read-only.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { Db } from '../platform/database/db.js';
import { Installation } from '../platform/database/installation.js';
import { type Held, Leases } from '../platform/database/leases.js';
import { Events } from '../platform/events/events.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { underLocks } from '../providers/kit/http/deadline-context.js';
import { ProviderError } from '../providers/kit/http/errors.js';
import type { TunnelApi } from '../providers/tunnels.js';
import { Makers } from '../tokens/makers.service.js';
import { Cnames, type NamePlaces } from './cnames.service.js';
import { hostnamesOf } from './ingress.js';
import { leftOf, rulesOf } from './known-rules.js';
import { tunnelState, wordsOf } from './tunnel-view.js';
import { type TunnelRow, TunnelsRepository } from './tunnels.repository.js';

/** ms between two searches for changes that were begun and not completed */
const EVERY_MS = 15_000;
/** rounds that a failing tunnel skips at most: it is retried every 15 s, 30 s, ..., 5 min */
const MAX_SKIPPED = 19;
/** attempts to delete a tunnel that connectors hold, and ms in between, growing */
const TRIES = 3;
const TRY_MS = 500;
/** ms that a change of a tunnel waits for another one */
export const LOCK_WAIT_MS = 60_000;
/** ms that a failed request waits until what it began is undone: that goes on after the answer, or in the next round */
const UNDO_MS = 10_000;
const STOP_WAIT_MS = 5_000;
const CUT_OFF = 'It was cut off, and undone';

/** The lock of a tunnel, held for every change of it at its provider. */
export const tunnelLock = ({ mark }: Pick<TunnelRow, 'mark'>): string => `tunnel|${mark}`;
export const targetOf = ({ id, name }: Pick<TunnelRow, 'id' | 'name'>) => ({ type: 'tunnel', id, name });

/**
 * Completes changes of tunnels that a failure or the end of a process has cut off: creations are undone, deletions go
 * on, and after changes the CNAMEs follow what the provider holds. Each step can be repeated.
 */
@Injectable()
export class Settling implements OnModuleInit, OnApplicationShutdown {
  private readonly pool = new FairPool('tunnel settling');
  /** tunnels that are being settled, or wait for that */
  private readonly going = new Map<number, Promise<void>>();
  /** by tunnel: how often it failed in a row, and how many rounds it skips */
  private readonly failing = new Map<number, { times: number; skip: number }>();
  /** tunnels that are being deleted whose secret was rotated, so that no connector has it any more */
  private readonly disarmed = new Set<number>();
  /** work that may go on after its answer */
  private readonly running = new Set<Promise<unknown>>();

  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly events: Events,
    private readonly jobs: Jobs,
    private readonly leases: Leases,
    private readonly accounts: AccountsService,
    private readonly connections: ProviderConnections,
    private readonly makers: Makers,
    private readonly repository: TunnelsRepository,
    private readonly cnames: Cnames,
    private readonly audit: AuditService,
    private readonly installation: Installation,
    @Inject(CONFIG) private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    // a start settles what the last process left
    this.events.on('database.opened', () => {
      void this.look().catch((error: Error) =>
        this.logger.warn({ err: error.message }, 'tunnels stay as they were left'),
      );
    });
    this.jobs.schedule('tunnels.settle', EVERY_MS, (signal) => this.look(signal));
  }

  /** What is cut off here is settled after the next start. */
  async onApplicationShutdown(): Promise<void> {
    await within(Promise.allSettled(this.running), STOP_WAIT_MS);
  }

  /**
   * Does work under locks. Once it reports why it `failed`, the answer waits 10 s for its end and no longer; the work
   * goes on with its locks: changes that were made before its end would be undone.
   */
  answered<T>(work: (failed: (error: unknown) => void) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let cancel: Cancel | undefined;
      const failed = (error: unknown) => {
        cancel = after(UNDO_MS, () => reject(error));
      };
      const ended = work(failed)
        .then(resolve, reject)
        .finally(() => {
          cancel?.();
          this.running.delete(ended);
        });
      this.running.add(ended);
    });
  }

  private async look(signal?: AbortSignal): Promise<void> {
    do {
      if (!this.database.open || this.installation.halted) return;
      await this.begin(await this.repository.unsettled(), signal);
      // what is cut off meanwhile does not wait for one that hangs
      if (!this.going.size || !signal) return;
      const soon = sleep(EVERY_MS, { signal, idle: true });
      await Promise.race([Promise.all(this.going.values()), soon]);
    } while (this.going.size && !signal.aborted);
  }

  /** Goes on with each that is not being worked on, and does not wait after a failure. */
  private async begin(left: TunnelRow[], signal: AbortSignal | undefined): Promise<void> {
    for (const known of [this.failing, this.disarmed])
      for (const id of known.keys()) if (!left.some((row) => row.id === id)) known.delete(id);
    const owners = left.length ? await this.accounts.owners() : new Map();
    for (const row of left) {
      const last = this.failing.get(row.id);
      if (this.going.has(row.id) || (last && last.skip-- > 0)) continue;
      const share = { user: owners.get(row.account_id) ?? null, target: row.account_id };
      const end = this.pool
        .run(share, () => this.goOn(row), signal)
        // this process ends
        .catch(() => undefined)
        .finally(() => this.going.delete(row.id));
      this.going.set(row.id, end);
    }
  }

  private async goOn(row: TunnelRow): Promise<void> {
    try {
      // a change in progress holds its lock
      if (await this.leases.isHeld([tunnelLock(row)])) return;
      const well = await this.leases.hold([tunnelLock(row)], 0, (held) =>
        underLocks(held.heldUntil, async () => ((await this.mayGoOn(row.id, held)) ? this.settle(row.id, held) : true)),
      );
      const times = (this.failing.get(row.id)?.times ?? 0) + 1;
      if (well) this.failing.delete(row.id);
      else this.failing.set(row.id, { times, skip: Math.min(2 ** (times - 1) - 1, MAX_SKIPPED) });
    } catch (error) {
      this.logger.warn({ tunnel: row.name, err: wordsOf(error) }, 'what was begun could not be looked after');
    }
  }

  /** Whether who began it may still write; else it is put on hold, and owner and administrators are notified. */
  private async mayGoOn(id: number, held: Held): Promise<boolean> {
    const row = await this.repository.find(id);
    if (!row) return true;
    // another replica was faster
    if (row.hold_reason !== null) return false;
    const { name: account, owner_id: owner } = await this.accounts.toSync(row.account_id);
    const { maker_id, maker_token_id } = row;
    const maker = maker_id === null ? { maker_id: owner, maker_token_id: null } : { maker_id, maker_token_id };
    const reason = await this.makers.noAdministrator(maker);
    if (!reason) return true;
    const begun = { creating: 'a creation', deleting: 'a deletion', ready: 'a change' }[row.state];
    const words = `tunnel ${row.name} of ${account}: ${begun} that was cut off is held: ${reason}`;
    const text = `${words}. A PUT or DELETE of the tunnel by an administrator goes on with it`;
    await this.db.transaction(async (manager) => {
      await held.confirm(manager);
      await this.repository.update(id, { hold_reason: reason }, manager);
      await this.makers.tell(manager, { text, owner, details: { tunnel_id: id, tunnel: row.name } });
      await this.audit.write(manager, 'system', { action: 'tunnel.hold', target: targetOf(row), after: { reason } });
    });
    return false;
  }

  /**
   * Completes or undoes what was begun with a tunnel, under its lock. Never throws: the error is stored with it, and it
   * is retried.
   * @returns false when it failed
   */
  async settle(id: number, held: Held): Promise<boolean> {
    const row = await this.repository.find(id);
    if (!row) return true;
    try {
      if (row.state === 'creating') await this.undo(row, held, 'system', row.last_error ?? CUT_OFF);
      else if (row.state === 'deleting') return (await this.finish(row, held, 'system')) || !row.forced;
      else if (row.unsettled) await this.follow(row, held);
      return true;
    } catch (error) {
      this.logger.warn({ tunnel: row.name, state: row.state, err: wordsOf(error) }, 'what was begun is not ended yet');
      // of a creation it holds why that failed, for the audit entry of its undoing
      if (row.state !== 'creating' && wordsOf(error) !== row.last_error)
        await this.repository.update(id, { last_error: wordsOf(error) }).catch(() => undefined);
      return false;
    }
  }

  /**
   * Deletes all that a creation has made so far, and the tunnel here.
   * @returns false when the provider may still carry the creation out
   * @throws ProviderError
   */
  async undo(row: TunnelRow, held: Held, actor: Actor, why: string): Promise<boolean> {
    const api = await this.api(row.account_id);
    let { tunnel_id, settle_after } = row;
    if (tunnel_id === null) {
      if (settle_after === null) {
        settle_after = now(this.config.unclearAfterMs);
        await this.repository.update(row.id, { settle_after });
      }
      const begun = now();
      const made = (await api.list(row.remote_account)).find(({ mark }) => mark === row.mark);
      if (!made && settle_after > begun) return false;
      tunnel_id = made?.id ?? null;
    }
    // nobody has seen its secret, so no connector can run it
    await this.takeAway(api, { ...row, tunnel_id, forced: true });
    await this.removeCnames(row, 'system');
    const entry: AuditEntry = { action: 'tunnel.create', after: tunnelState(row), result: 'failed', error: why };
    await this.forget(row, held, actor, entry);
    return true;
  }

  /**
   * Ends a deletion.
   * @returns false when connectors hold the tunnel: then it stays, or is tried again where that was forced
   * @throws ProviderError; where it was certainly not deleted, it stays
   */
  async finish(row: TunnelRow, held: Held, actor: Actor): Promise<boolean> {
    const api = await this.api(row.account_id);
    const gone = await this.takeAway(api, row).catch(async (error: unknown) => {
      const refused = error instanceof ProviderError && !error.mayHaveApplied && !error.data.retryable;
      if (refused) await this.stays(row);
      throw error;
    });
    if (!gone) {
      if (!row.forced) await this.stays(row);
      return false;
    }
    await this.removeCnames(row, actor);
    await this.forget(row, held, actor, { action: 'tunnel.delete', before: tunnelState(row) });
    return true;
  }

  /**
   * After a change that was cut off: what the provider holds counts, and the CNAMEs that were touched follow it. Where
   * none are kept, the change was to turn that on, and those that it made go.
   */
  async follow(row: TunnelRow, held: Held): Promise<void> {
    const api = await this.api(row.account_id);
    const { remote_account: owner, tunnel_id, target, account_id, dns_managed } = row;
    if (tunnel_id === null || target === null) return;
    const remote = await api.find(owner, tunnel_id);
    const rules = remote ? rulesOf(row, await api.config(owner, tunnel_id)) : row;
    const { ingress, version } = rules;
    // one that is gone gets no CNAMEs; the rules stay until it is deleted here, for the CNAMEs that they name
    const hostnames = remote && dns_managed ? hostnamesOf(ingress) : [];
    const touched = row.unsettled ?? [];
    const gone = touched.filter((hostname) => !hostnames.includes(hostname));
    const leaving = await this.cnames.find(account_id, gone);
    await this.cnames.outdate(leaving, row);
    await this.cnames.remove('system', leaving, target, row);
    const wanted = hostnames.filter((hostname) => touched.includes(hostname));
    const places = await this.cnames.find(account_id, wanted, { api, owner });
    const free = this.cnames.free(places, await this.cnames.conflicts(places, target));
    // hostnames that are refused for good are listed as unmanaged, and the tunnel is free again
    const refused = await this.cnames.makeWhereTaken('system', free, target, row);
    const others = rules.unmanaged.filter(
      ([hostname, why]) => (why === 'left' || hostnames.includes(hostname)) && !touched.includes(hostname),
    );
    const after: TunnelRow = {
      ...row,
      name: remote?.name ?? row.name,
      status: remote?.status ?? 'missing',
      ingress,
      version,
      unmanaged: [...others, ...free.unmanaged, ...refused],
      unsettled: null,
      last_error: null,
    };
    await this.db.transaction(async (manager) => {
      await held.confirm(manager);
      const { name, status, unmanaged, unsettled, last_error } = after;
      await this.repository.update(
        row.id,
        { name, status, ingress, version, unmanaged, unsettled, last_error },
        manager,
      );
      if (same(tunnelState(row), tunnelState(after))) return;
      await this.audit.write(manager, 'system', {
        action: 'tunnel.update',
        target: targetOf(after),
        before: tunnelState(row),
        after: tunnelState(after),
      });
    });
  }

  /** A deletion that failed for good: the tunnel is ready again. */
  private async stays({ id }: TunnelRow): Promise<void> {
    await this.repository.update(id, { state: 'ready', forced: false, last_error: null });
    this.disarmed.delete(id);
  }

  /** @returns false when connectors hold it */
  private async takeAway(api: TunnelApi, row: TunnelRow): Promise<boolean> {
    const { remote_account: owner, tunnel_id: id, forced } = row;
    if (id === null || (await api.remove(owner, id))) return true;
    if (!forced) return false;
    // a connector whose secret is valid would come back
    if (!this.disarmed.has(row.id)) await api.rotate(owner, id);
    this.disarmed.add(row.id);
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      await api.disconnect(owner, id);
      if (await api.remove(owner, id)) return true;
      if (attempt < TRIES) await sleep(TRY_MS * attempt);
    }
    return false;
  }

  private async removeCnames(row: TunnelRow, actor: Actor): Promise<void> {
    if (row.target === null) return;
    const places = await this.cnamesOf(row);
    await this.cnames.outdate(places, row);
    await this.cnames.remove(actor, places, row.target, row);
  }

  /** Where the CNAMEs of a tunnel are, or may be. */
  cnamesOf(row: TunnelRow): Promise<NamePlaces> {
    const kept = row.dns_managed ? [...hostnamesOf(row.ingress), ...leftOf(row)] : [];
    return this.cnames.find(row.account_id, [...new Set([...kept, ...(row.unsettled ?? [])])]);
  }

  private async forget(row: TunnelRow, held: Held, actor: Actor, entry: AuditEntry): Promise<void> {
    this.disarmed.delete(row.id);
    await this.db.transaction(async (manager) => {
      await held.confirm(manager);
      // with its account it went already
      if (await this.repository.delete(row.id, manager))
        await this.audit.write(manager, actor, { ...entry, target: targetOf(row) });
    });
  }

  private async api(accountId: number): Promise<TunnelApi> {
    return (await this.connections.of(accountId)).provider.tunnels;
  }
}
