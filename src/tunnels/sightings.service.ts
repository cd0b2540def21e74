import { Injectable, type OnModuleInit } from '@nestjs/common';
import PQueue from 'p-queue';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { within } from '../common/clock.js';
import { log } from '../common/logger.js';
import { same } from '../common/read-only.js';
import { Jobs } from '../jobs/jobs.js';
import { rulesOf, type TunnelChange, type TunnelRow, TunnelRows, wordsOf } from './tunnel-rows.js';

/** ms between two looks at the tunnels of all accounts */
const EVERY_MS = 300_000;
/** ms that an answer waits for the provider */
const LOOK_MS = 5_000;
/** accounts that are asked at once */
const PARALLEL = 4;

/** What providers say of tunnels, kept with them: status, connections, name and rules. */
@Injectable()
export class Sightings implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly connections: ProviderConnections,
    private readonly rows: TunnelRows,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('tunnels.status', EVERY_MS, (signal) => this.all(signal));
  }

  /** Asks for one, and keeps what is told. Never throws, and waits no longer than somebody likes to. */
  async look(row: TunnelRow): Promise<void> {
    if (row.state !== 'ready' || row.unsettled) return;
    const asked = this.ask(row).catch(async (error: unknown) => this.keep(row, { last_error: wordsOf(error) }));
    await within(asked, LOOK_MS);
  }

  private async ask(row: TunnelRow): Promise<void> {
    const { tunnels } = (await this.connections.of(row.account_id)).provider;
    const [owner, id] = [row.remote_account, row.tunnel_id as string];
    const remote = await tunnels.find(owner, id);
    if (!remote) return this.keep(row, { status: 'missing', connections: [], last_error: null });
    const [connections, config] = await Promise.all([tunnels.connections(owner, id), tunnels.config(owner, id)]);
    const rules = config.version === row.version ? {} : rulesOf(row, config);
    const { name, status } = remote;
    await this.keep(row, { name, status, connections, last_error: null, ...rules });
  }

  /** One list for all tunnels of an account. */
  private async all(signal: AbortSignal): Promise<void> {
    const owners = new Map<string, TunnelRow[]>();
    for (const row of await this.rows.ready()) {
      const key = `${row.account_id} ${row.remote_account}`;
      owners.set(key, [...(owners.get(key) ?? []), row]);
    }
    const queue = new PQueue({ concurrency: PARALLEL });
    await queue.addAll(
      [...owners.values()].map((rows) => async () => {
        if (!signal.aborted) await this.allOf(rows);
      }),
    );
  }

  private async allOf(rows: readonly TunnelRow[]): Promise<void> {
    const [{ account_id, remote_account }] = rows as [TunnelRow];
    try {
      const { provider } = await this.connections.of(account_id);
      const found = new Map((await provider.tunnels.list(remote_account)).map((remote) => [remote.id, remote]));
      for (const row of rows) {
        const remote = found.get(row.tunnel_id as string);
        const { name = row.name, status = 'missing' } = remote ?? {};
        const none = status !== 'healthy' && status !== 'degraded' && { connections: [] };
        await this.keep(row, { name, status, last_error: null, ...none });
      }
    } catch (error) {
      log().warn({ account: account_id, err: wordsOf(error) }, 'the tunnels of an account could not be looked at');
      for (const row of rows) await this.keep(row, { last_error: wordsOf(error) });
    }
  }

  private async keep(row: TunnelRow, seen: TunnelChange): Promise<void> {
    const news = Object.entries(seen).filter(([key, value]) => !same(value, row[key as keyof TunnelRow]));
    await this.rows.seen(row, Object.fromEntries(news));
  }
}
