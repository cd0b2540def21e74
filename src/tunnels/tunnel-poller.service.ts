import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { HeldNames, hostsWithin } from '../changes/gate/held-names.js';
import { timeoutSignal, within } from '../platform/common/clock.js';
import { FairPool } from '../platform/common/fair-pool.js';
import { Logger } from '../platform/common/logger.js';
import { same } from '../platform/common/read-only.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { rulesOf } from './known-rules.js';
import { wordsOf } from './tunnel-view.js';
import { type TunnelChange, type TunnelRow, TunnelsRepository } from './tunnels.repository.js';

/** ms between two polls of all tunnels */
const EVERY_MS = 300_000;
/** ms that an answer waits for the provider */
const ANSWER_MS = 5_000;
/** ms in which one poll begins new requests; the rest comes with the next poll */
const PIECE_MS = 240_000;

/** Polls providers for status, connections, name and rules of tunnels, and stores them. */
@Injectable()
export class TunnelPoller implements OnModuleInit {
  private readonly pool = new FairPool('tunnel looks');

  constructor(
    private readonly jobs: Jobs,
    private readonly accounts: AccountsService,
    private readonly connections: ProviderConnections,
    private readonly repository: TunnelsRepository,
    private readonly held: HeldNames,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('tunnels.status', EVERY_MS, (signal) => this.pollAll(signal));
    this.held.provide('tunnel', async ({ name }) => hostsWithin(await this.repository.hostnames(), name));
  }

  /** Polls one tunnel, and waits five seconds at most. Never throws. */
  async refresh(row: TunnelRow): Promise<void> {
    if (row.state !== 'ready' || row.unsettled) return;
    const asked = this.poll(row).catch(async (error: unknown) => this.store(row, { last_error: wordsOf(error) }));
    await within(asked, ANSWER_MS);
  }

  private async poll(row: TunnelRow): Promise<void> {
    const { tunnels } = (await this.connections.of(row.account_id)).provider;
    const [owner, id] = [row.remote_account, row.tunnel_id as string];
    const remote = await tunnels.find(owner, id);
    if (!remote) return this.store(row, { status: 'missing', connections: [], last_error: null });
    const [connections, config] = await Promise.all([tunnels.connections(owner, id), tunnels.config(owner, id)]);
    const rules = config.version === row.version ? {} : rulesOf(row, config);
    const { name, status } = remote;
    await this.store(row, { name, status, connections, last_error: null, ...rules });
  }

  /** Every tunnel that no change is open of: one request for all of an account. */
  private async pollAll(signal: AbortSignal): Promise<void> {
    const owners = new Map<string, TunnelRow[]>();
    for (const row of await this.repository.ready()) {
      const key = `${row.account_id} ${row.remote_account}`;
      owners.set(key, [...(owners.get(key) ?? []), row]);
    }
    const users = await this.accounts.owners();
    const enough = AbortSignal.any([signal, timeoutSignal(PIECE_MS)]);
    await Promise.all(
      [...owners.values()].map(async (rows) => {
        const [{ account_id }] = rows as [TunnelRow];
        const share = { user: users.get(account_id) ?? null, target: account_id };
        await this.pool
          .run(share, () => this.pollAccount(rows), enough)
          .catch((error) => {
            if (!enough.aborted) throw error;
          });
      }),
    );
  }

  private async pollAccount(rows: readonly TunnelRow[]): Promise<void> {
    const [{ account_id, remote_account }] = rows as [TunnelRow];
    try {
      const { provider } = await this.connections.of(account_id);
      const found = new Map((await provider.tunnels.list(remote_account)).map((remote) => [remote.id, remote]));
      for (const row of rows) {
        const remote = found.get(row.tunnel_id as string);
        const { name = row.name, status = 'missing' } = remote ?? {};
        const none = status !== 'healthy' && status !== 'degraded' && { connections: [] };
        await this.store(row, { name, status, last_error: null, ...none });
      }
    } catch (error) {
      this.logger.warn(
        { account: account_id, err: wordsOf(error) },
        'the tunnels of an account could not be looked at',
      );
      for (const row of rows) await this.store(row, { last_error: wordsOf(error) });
    }
  }

  private async store(row: TunnelRow, seen: TunnelChange): Promise<void> {
    const news = Object.entries(seen).filter(([key, value]) => !same(value, row[key as keyof TunnelRow]));
    await this.repository.updateIfUnchanged(row, Object.fromEntries(news));
  }
}
