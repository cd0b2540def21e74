import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/access.js';
import { makerOf } from '../access/maker.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { AuditService } from '../audit/audit.service.js';
import { allOf, errors } from '../platform/common/errors.js';
import { assertUnchanged, same } from '../platform/common/read-only.js';
import { say } from '../platform/common/words/field-text.js';
import { Db } from '../platform/database/db.js';
import { type Held, Leases } from '../platform/database/leases.js';
import type { Conditions } from '../platform/http/conditions.js';
import { underLocks } from '../providers/kit/http/deadline-context.js';
import type { RemoteRule, TunnelApi } from '../providers/tunnels.js';
import { Cnames, namesIn, taken } from './cnames.service.js';
import { fits, hostnamesOf, MAX_BYTES, readIngress } from './ingress.js';
import { leftOf, rulesOf } from './known-rules.js';
import { LOCK_WAIT_MS, Settling, targetOf, tunnelLock } from './settling.service.js';
import type { TunnelPatch, TunnelQuery, TunnelToken, TunnelView } from './tunnel.dto.js';
import { TunnelPoller } from './tunnel-poller.service.js';
import { assertSeen, nameTaken, tunnelState, tunnelView } from './tunnel-view.js';
import { type TunnelRow, TunnelsRepository } from './tunnels.repository.js';

/**
 * Tunnels of accounts. A change at a provider is stored before it begins, so that it is undone or completed when it is
 * cut off (`Settling`); no transaction is open meanwhile.
 */
@Injectable()
export class TunnelsService {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly connections: ProviderConnections,
    private readonly repository: TunnelsRepository,
    private readonly cnames: Cnames,
    private readonly settling: Settling,
    private readonly poller: TunnelPoller,
    private readonly audit: AuditService,
  ) {}

  async list(query: TunnelQuery): Promise<{ total: number; list: TunnelView[] }> {
    const { total, list } = await this.repository.list(query);
    return { total, list: list.map(tunnelView) };
  }

  /** As the provider has it now, or, without an answer in time, as of the last poll. @throws AppError 404001 */
  async get(id: number): Promise<TunnelView> {
    await this.poller.refresh(await this.row(id));
    return tunnelView(await this.row(id));
  }

  /**
   * Changes name, rules and whether CNAMEs are kept; these follow the rules. The rest of the configuration at the
   * provider stays.
   * @throws AppError 400001, 404001, 409001 also when somebody else has changed the configuration since, 412001;
   * ProviderError
   */
  async update(me: Caller, id: number, patch: TunnelPatch, conditions: Conditions): Promise<TunnelView> {
    await this.settling.answered((failed) =>
      this.locked(me, id, async (row, held) => {
        assertSeen(conditions, row);
        try {
          await this.change(me, row, patch, held);
        } catch (error) {
          failed(error);
          await this.settling.settle(id, held);
          throw error;
        }
      }),
    );
    return tunnelView(await this.row(id));
  }

  private async change(me: Caller, row: TunnelRow, patch: TunnelPatch, held: Held): Promise<void> {
    const { id, account_id, remote_account: owner } = row;
    const [tunnelId, target] = [row.tunnel_id as string, row.target as string];
    const [, ingress] = await allOf(
      () => assertUnchanged(patch, tunnelView(row)),
      () => (patch.ingress ? readIngress(patch.ingress, row.ingress) : row.ingress),
    );
    const name = patch.name?.trim() ?? row.name;
    const dns_managed = patch.dns_managed ?? row.dns_managed;
    const expected = patch.version ?? row.version;
    const api = (await this.connections.of(account_id)).provider.tunnels;
    const rules = !same(ingress, row.ingress);
    const { before, hostnames, removed } = hostnamesOfChange(row, ingress, dns_managed);
    const idle = !rules && name === row.name && dns_managed === row.dns_managed;
    await this.assertVersion(api, row, expected, !idle);
    if (name !== row.name && (await api.list(owner, name)).some((other) => other.id !== tunnelId))
      throw nameTaken(name);
    const places = await this.cnames.missing(await this.cnames.find(account_id, hostnames, { api, owner }), target);
    const fresh = new Set(hostnames.filter((hostname) => !before.includes(hostname)));
    const conflicts = await this.cnames.conflicts(places, target);
    const news = conflicts.filter(({ hostname }) => fresh.has(hostname));
    if (news.length) throw taken(news, ingress);
    // conflicts from before may remain
    const free = this.cnames.free(places, conflicts);
    const make = namesIn(free);
    const { unmanaged } = free;
    if (idle && !make.length && same(unmanaged, row.unmanaged)) return this.audit.notNeeded(me);
    const unsettled = [...new Set([...make, ...removed])];
    if (!fits(unsettled)) throw tooMany();
    const leaving = await this.cnames.find(account_id, removed);
    this.cnames.assertOpen(free, leaving);
    await this.repository.update(id, { unsettled, ...makerOf(me) });
    await this.cnames.outdate(leaving, row);
    const tunnel = { ...row, name, ...makerOf(me) };
    const waiting = await this.cnames.make(me, free, target, tunnel);
    const version = rules ? await this.configure(api, row, expected, ingress) : row.version;
    if (name !== row.name && !(await api.rename(owner, tunnelId, name))) throw nameTaken(name);
    const after = {
      ...row,
      ingress,
      version,
      name,
      dns_managed,
      unmanaged: [...unmanaged, ...waiting],
      unsettled: removed.length ? removed : null,
    };
    await this.store(me, row, after, held);
    if (!removed.length) return;
    await this.cnames.remove(me, leaving, target, tunnel);
    await this.repository.update(id, { unsettled: null });
  }

  private async store(me: Caller, row: TunnelRow, after: TunnelRow, held: Held): Promise<void> {
    const { ingress, version, name, dns_managed, unmanaged, unsettled } = after;
    const changes = { ingress, version, name, dns_managed, unmanaged, unsettled, last_error: null };
    await this.db.transaction(async (manager) => {
      await held.confirm(manager);
      if (!(await this.repository.update(row.id, changes, manager))) throw errors.notFound('tunnel');
      await this.audit.write(manager, me, {
        action: 'tunnel.update',
        target: targetOf(after),
        before: tunnelState(row),
        after: tunnelState(after),
      });
    });
  }

  /** Checks the version right before the rules are written: the provider does not keep writers apart. */
  private async configure(
    api: TunnelApi,
    row: TunnelRow,
    expected: number | null,
    ingress: RemoteRule[],
  ): Promise<number> {
    const { rest } = await this.assertVersion(api, row, expected, true);
    return api.configure(row.remote_account, row.tunnel_id as string, { ingress, rest });
  }

  /** @throws AppError 409001 when the configuration has another version than expected */
  private async assertVersion(api: TunnelApi, row: TunnelRow, expected: number | null, ask: boolean) {
    const config = ask ? await api.config(row.remote_account, row.tunnel_id as string) : null;
    const { version, rest } = config ?? { version: row.version, rest: {} };
    if (expected !== null && version !== expected) {
      if (config) await this.repository.updateIfUnchanged(row, rulesOf(row, config));
      throw errors.conflict('tunnel_version', { version: version ?? 0, expected });
    }
    return { rest };
  }

  /**
   * Deletes a tunnel with its CNAMEs, at the provider, too.
   * @throws AppError 404001, 409001 while connectors hold it, 412001; ProviderError
   */
  async remove(me: Caller, id: number, force: boolean, conditions: Conditions): Promise<void> {
    await this.holding(id, async (held) => {
      const row = await this.row(id);
      assertSeen(conditions, row);
      if (row.state === 'creating') {
        await this.repository.update(id, { hold_reason: null, ...makerOf(me) });
        if (await this.settling.undo(row, held, me, row.last_error ?? 'It was deleted while it was made')) return;
        throw errors.conflict('tunnel_being_created');
      }
      if (row.state === 'ready') await this.assertDeletable(row, force);
      const forced = force || row.forced;
      await this.repository.update(id, { state: 'deleting', forced, hold_reason: null, ...makerOf(me) });
      if (await this.settling.finish({ ...row, state: 'deleting', forced }, held, me)) return;
      if (!forced) throw inUse();
      throw errors.conflict('tunnel_connectors_left');
    });
  }

  /** @throws AppError 409001 where connectors hold it; 423002 where its CNAMEs are frozen; ProviderError */
  private async assertDeletable(row: TunnelRow, force: boolean): Promise<void> {
    this.cnames.assertOpen(await this.settling.cnamesOf(row));
    if (force) return;
    const { provider } = await this.connections.of(row.account_id);
    if ((await provider.tunnels.connections(row.remote_account, row.tunnel_id as string)).length) throw inUse();
  }

  /** Another run token; connectors with the old one run until they are restarted. @throws AppError 409001 */
  async rotate(me: Caller, id: number): Promise<TunnelToken> {
    return this.locked(me, id, async (row) => {
      const { provider } = await this.connections.of(row.account_id);
      // first, since a call that is cut off may have had its effect; a failure has an entry of its own
      await this.audit.append(me, { action: 'tunnel.rotate', target: targetOf(row) });
      return { token: await provider.tunnels.rotate(row.remote_account, row.tunnel_id as string) };
    });
  }

  /** Works on a tunnel once earlier changes of it are completed. @throws AppError 404001, 409001 */
  private async locked<T>(me: Caller, id: number, work: (row: TunnelRow, held: Held) => Promise<T>): Promise<T> {
    return this.holding(id, async (held) => {
      // a change on hold goes on with the right of who makes this request
      await this.repository.release(id, makerOf(me));
      await this.settling.settle(id, held);
      const row = await this.row(id);
      if (row.state === 'ready' && !row.unsettled) return work(row, held);
      if (row.last_error) throw errors.conflict('tunnel_unfinished_because', { why: row.last_error });
      throw errors.conflict('tunnel_unfinished');
    });
  }

  private async holding<T>(id: number, work: (held: Held) => Promise<T>): Promise<T> {
    return this.leases.hold([tunnelLock(await this.row(id))], LOCK_WAIT_MS, (held) =>
      underLocks(held.heldUntil, () => work(held)),
    );
  }

  private async row(id: number): Promise<TunnelRow> {
    const row = await this.repository.find(id);
    if (!row) throw errors.notFound('tunnel');
    return row;
  }
}

const tooMany = () =>
  errors.field(
    'ingress',
    say('adds and takes away more than {max} bytes of hostnames: do it in steps', { max: MAX_BYTES }),
    'length',
    {
      max: MAX_BYTES,
    },
  );
const inUse = () => errors.conflict('tunnel_needs_force');

/** The hostnames that have CNAMEs before and after a change, and those of them that are given up. */
function hostnamesOfChange(row: TunnelRow, ingress: RemoteRule[], dnsManaged: boolean) {
  const before = row.dns_managed ? [...hostnamesOf(row.ingress), ...leftOf(row)] : [];
  const hostnames = dnsManaged ? hostnamesOf(ingress) : [];
  const removed = dnsManaged ? before.filter((hostname) => !hostnames.includes(hostname)) : [];
  return { before, hostnames, removed };
}
